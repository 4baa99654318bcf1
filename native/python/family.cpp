// Family and its iterators: sets of variables as Python sees them.
#include "../family.hpp"
#include "common.hpp"
#include "set_iterator.hpp"

namespace quia {

namespace {

Family family_of(const std::vector<std::vector<std::int32_t>>& sets) {
  std::vector<std::int32_t> variables;
  for (const auto& set : sets) variables.insert(variables.end(), set.begin(), set.end());
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  if (!variables.empty() && variables.front() < 0) throw nb::value_error("a variable is negative");
  SetTable table(variables.size());
  for (const auto& set : sets) {
    Word* row = table.add();
    for (const std::int32_t variable : set)
      put(row, std::lower_bound(variables.begin(), variables.end(), variable) - variables.begin());
  }
  keep_minimal(table);
  return Family(std::move(variables), std::move(table), true);
}

const std::int64_t* family_costs(const Family& family, const std::optional<Array<std::int64_t>>& costs) {
  return checked_costs(costs, family.variables().empty() ? 0 : static_cast<std::size_t>(family.variables().back()) + 1);
}

nb::dict by_key(const auto& counts) {
  nb::dict result;
  for (const auto& [key, count] : counts) result[nb::int_(key)] = to_python(count);
  return result;
}

}  // namespace

void bind_family(nb::module_& module) {
  nb::class_<SetIterator>(module, "SetIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &SetIterator::next)
      .def_prop_ro("complete", &SetIterator::complete);
  nb::class_<Family>(module, "Family")
      .def(
          "__init__",
          [](Family* self, const std::vector<std::vector<std::int32_t>>& sets) { new (self) Family(family_of(sets)); },
          "sets"_a)
      .def_prop_ro("complete", &Family::complete)
      .def_prop_ro("variables", [](const Family& family) { return nb::tuple(nb::cast(family.variables())); })
      .def_prop_ro("bytes", &Family::bytes)
      .def_prop_ro("is_zdd", [](const Family& family) { return static_cast<bool>(family.zdd()); })
      .def_prop_ro("node_count", [](const Family& family) { return family.zdd() ? family.zdd()->node_count() : 0; })
      .def("nodes",
           [](const Family& family) {
             std::vector<std::int32_t> variable, low, high;
             if (!family.zdd()) throw nb::value_error("the family is a table; it has no nodes");
             for (const Node& node : family.zdd()->nodes) {
               const bool is_inner = variable.size() > unit;
               variable.push_back(is_inner ? family.variables()[family.zdd()->member_at[node.level]] : -1);
               low.push_back(is_inner ? static_cast<std::int32_t>(node.low) : -1);
               high.push_back(is_inner ? static_cast<std::int32_t>(node.high) : -1);
             }
             const auto root = static_cast<std::int32_t>(family.zdd()->root);
             return nb::make_tuple(to_numpy(std::move(variable)), to_numpy(std::move(low)), to_numpy(std::move(high)),
                                   root);
           })
      .def(
          "count",
          [](const Family& family, std::optional<double> timeout, std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            return to_python(without_gil([&] { return family.count(budget); }));
          },
          nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "counts_by_length",
          [](const Family& family, std::optional<double> timeout, std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            return by_key(without_gil([&] { return family.counts_by_length(budget); }));
          },
          nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "counts_by_variable",
          [](const Family& family, std::optional<double> timeout, std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            return by_key(without_gil([&] { return family.counts_by_variable(budget); }));
          },
          nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def("contains", &Family::contains, "members"_a)
      .def(
          "restrict",
          [](const Family& family, const std::vector<std::int32_t>& containing,
             const std::vector<std::int32_t>& avoiding, std::optional<double> timeout, std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            return without_gil([&] { return family.restricted(containing, avoiding, budget); });
          },
          "containing"_a = std::vector<std::int32_t>(), "avoiding"_a = std::vector<std::int32_t>(), nb::kw_only(),
          "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "sample",
          [](const Family& family, std::size_t n, std::uint64_t seed, std::optional<double> timeout,
             std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            const SetTable chosen = without_gil([&] { return family.sampled(n, seed, budget); });
            nb::list result;
            for (std::size_t i = 0; i < chosen.size(); ++i)
              result.append(to_tuple(chosen.row(i), chosen.words, family.variables()));
            return result;
          },
          "n"_a, "seed"_a, nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "shortest",
          [](const Family& family, Costs costs) {
            Budget budget = make_budget();
            const std::int64_t* prices = family_costs(family, costs);
            return without_gil([&] { return family.shortest(prices, budget); });
          },
          "costs"_a = nb::none())
      .def(
          "listing",
          [](const Family& family, Costs costs, std::optional<double> timeout, std::int64_t memory) {
            const std::int64_t* prices = family_costs(family, costs);
            Budget budget = make_budget(timeout, memory);
            auto listing = without_gil([&] { return family.listing(prices, budget); });
            return new SetIterator(family.variables(), std::move(listing), budget.seconds_left(), budget.memory());
          },
          "costs"_a = nb::none(), nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory,
          nb::rv_policy::take_ownership)
      .def(
          "dual",
          [](const Family& family, bool shortest, Costs costs, std::optional<double> timeout, std::int64_t memory,
             std::size_t few) {
            const std::int64_t* prices = family_costs(family, costs);
            Budget budget = make_budget(timeout, memory);
            return without_gil(
                [&] { return shortest ? family.shortest_dual(prices, budget, few) : family.dual(budget, few); });
          },
          nb::kw_only(), "shortest"_a = false, "costs"_a = nb::none(), "timeout"_a = nb::none(),
          "memory"_a = default_memory, "few"_a = Family::few_clauses)
      .def(
          "hitting_sets",
          [](const Family& family, Costs costs, bool shortest, std::optional<double> timeout, std::int64_t memory) {
            const std::int64_t* prices = family_costs(family, costs);
            Budget budget = make_budget(timeout, memory);
            HittingSets hitting = without_gil([&] { return family.hitting_sets(prices, shortest, budget); });
            return new SetIterator(family.variables(), std::move(hitting), budget.seconds_left(), budget.memory());
          },
          nb::kw_only(), "costs"_a = nb::none(), "shortest"_a = false, "timeout"_a = nb::none(),
          "memory"_a = default_memory, nb::rv_policy::take_ownership)
      .def(
          "one_hitting_set",
          [](const Family& family, Costs costs, std::int64_t memory) {
            const std::int64_t* prices = family_costs(family, costs);
            Budget budget = make_budget({}, memory);
            const auto set = without_gil([&] { return family.one_hitting_set(prices, budget); });
            if (set.empty()) throw nb::value_error("nothing hits the empty set");
            return to_tuple(set.data(), set.size(), family.variables());
          },
          nb::kw_only(), "costs"_a = nb::none(), "memory"_a = default_memory);
}

}  // namespace quia
