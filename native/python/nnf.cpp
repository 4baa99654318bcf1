// Nnf: questions to a monotone formula, and to a class formula of a circuit.
#include "../class_formula.hpp"
#include "../family.hpp"
#include "../nnf_reasons.hpp"
#include "common.hpp"

namespace quia {

namespace {

std::span<const Fate> checked_fate(const Nnf& nnf, const Array<std::uint8_t>& fate) {
  if (fate.size() != nnf.node_count())
    throw std::invalid_argument("fate has " + std::to_string(fate.size()) + " entries for " +
                                std::to_string(nnf.node_count()) + " nodes");
  for (const std::uint8_t each : span(fate))
    if (each > 2) throw std::invalid_argument("a fate is " + std::to_string(each));
  return {reinterpret_cast<const Fate*>(fate.data()), fate.size()};
}

NnfKind checked_gate(std::uint8_t kind) {
  if (kind != 3 && kind != 4) throw std::invalid_argument("kind is " + std::to_string(kind) + "; gates are 3 and 4");
  return static_cast<NnfKind>(kind);
}

}  // namespace

void bind_nnf(nb::module_& module) {
  nb::class_<Nnf>(module, "Nnf")
      .def(
          "__init__",
          [](Nnf* self, Array<std::uint8_t> kind, Array<std::int32_t> literal, Array<std::int64_t> child_start,
             Array<std::int32_t> child) { new (self) Nnf(span(kind), span(literal), span(child_start), span(child)); },
          "kind"_a, "literal"_a, "child_start"_a, "child"_a)
      .def_prop_ro("node_count", &Nnf::node_count)
      .def(
          "necessary",
          [](const Nnf& nnf, bool shortest, Frozen frozen, Costs costs, std::optional<double> timeout,
             std::int64_t memory) {
            const auto variables = static_cast<std::size_t>(nnf.most_variable() + 1);
            const std::uint8_t* fixed = checked_frozen(frozen, variables);
            const std::int64_t* prices = checked_costs(costs, variables);
            Budget budget = make_budget(timeout, memory);
            return without_gil([&] { return nnf.necessary(shortest, fixed, prices, budget); });
          },
          nb::kw_only(), "shortest"_a = false, "frozen"_a = nb::none(), "costs"_a = nb::none(),
          "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "values",
          [](const Nnf& nnf, Array<std::uint8_t> fate) {
            const auto fates = checked_fate(nnf, fate);
            Budget budget = make_budget();
            return to_numpy(without_gil([&] { return values(nnf, fates, budget); }));
          },
          "fate"_a)
      .def(
          "replaced",
          [](const Nnf& nnf, Array<std::uint8_t> fate) {
            const auto fates = checked_fate(nnf, fate);
            Budget budget = make_budget();
            return to_arrays(without_gil([&] { return replaced(nnf, fates, budget); }));
          },
          "fate"_a)
      .def(
          "shared_variable",
          [](const Nnf& nnf, std::uint8_t kind) -> nb::object {
            const NnfKind gate = checked_gate(kind);
            Budget budget = make_budget();
            const auto found = without_gil([&] { return shared_variable(nnf, gate, budget); });
            return found ? nb::object(nb::make_tuple(found->node, found->variable)) : nb::none();
          },
          "kind"_a)
      .def(
          "sharing",
          [](const Nnf& nnf, std::uint8_t kind) {
            const NnfKind gate = checked_gate(kind);
            Budget budget = make_budget();
            auto found = without_gil([&] { return sharing(nnf, gate, budget); });
            return nb::make_tuple(to_numpy(std::move(found.node)), to_numpy(std::move(found.variables)));
          },
          "kind"_a);
}

}  // namespace quia
