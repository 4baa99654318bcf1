// Ensemble: questions to many trees whose leaves are summed.
#include "../ensemble.hpp"
#include "../inquiry.hpp"
#include "common.hpp"

#include <mutex>

namespace quia {

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const std::uint8_t> checked_keeps(const Array<std::uint8_t>& keeps, const Ensemble& ensemble) {
  if (keeps.size() != static_cast<std::size_t>(ensemble.class_count()))
    throw std::invalid_argument("keeps has " + std::to_string(keeps.size()) + " entries; the ensemble has " +
                                std::to_string(ensemble.class_count()) + " classes");
  return span(keeps);
}

// The question's own instance: states may be unknown, -1.
void check_own(const Ensemble& ensemble, const Array<std::int32_t>& states) {
  if (states.size() != ensemble.variable_count())
    throw std::invalid_argument("there are " + std::to_string(states.size()) + " states; the ensemble has " +
                                std::to_string(ensemble.variable_count()) + " variables");
  for (std::size_t v = 0; v < states.size(); ++v)
    if (states.data()[v] < -1 || states.data()[v] >= ensemble.state_counts()[v])
      throw std::invalid_argument("state " + std::to_string(states.data()[v]) + " of variable " + std::to_string(v) +
                                  " is out of bounds");
}

Domain checked_domain(const Ensemble& ensemble, const Array<std::int32_t>& bounded, const Array<std::int64_t>& start,
                      const Array<std::int32_t>& low, const Array<std::int32_t>& high) {
  const Box box{span(bounded), span(start), span(low), span(high)};
  check_box(box, ensemble.state_counts());
  return Domain(ensemble, box);
}

// An inquiry keeps what it has found, so that one thread at a time may ask.
struct Asked {
  Asked(const Ensemble& of, std::span<const std::int32_t> own, std::span<const std::uint8_t> keeps)
      : ensemble(of), states(own.begin(), own.end()), inquiry(of, own, keeps) {}

  void check_order(std::span<const std::int32_t> order, const Domain& worlds) const {
    std::vector<std::uint8_t> is_given(ensemble.variable_count());
    for (const std::int32_t v : order) {
      if (v < 0 || static_cast<std::size_t>(v) >= is_given.size() || is_given[v])
        throw std::invalid_argument("order has variable " + std::to_string(v) + " twice, or there is none");
      is_given[v] = 1;
      if (!worlds.allows(v, states[v]))
        throw std::invalid_argument("the box does not hold the state of variable " + std::to_string(v));
    }
  }

  const Ensemble& ensemble;
  const std::vector<std::int32_t> states;
  Inquiry inquiry;
  std::mutex mutex;
};

}  // namespace

void bind_ensemble(nb::module_& module) {
  nb::class_<Ensemble>(module, "Ensemble")
      .def(
          "__init__",
          [](Ensemble* self, Array<std::int64_t> start, Array<std::int32_t> test, Array<std::int32_t> yes,
             Array<std::int32_t> no, Matrix values, Array<std::int32_t> test_variable, Array<std::int64_t> range_start,
             Array<std::int32_t> low, Array<std::int32_t> high, Array<std::int32_t> state_counts,
             Array<std::int32_t> outputs, Array<double> begin, Array<double> end, Array<std::int64_t> group_trees,
             Array<double> group_divisor, Array<double> group_weight, double divisor, bool single, std::int32_t rule,
             Array<double> cuts) {
            EnsembleArrays arrays;
            arrays.start = span(start);
            arrays.test = span(test);
            arrays.yes = span(yes);
            arrays.no = span(no);
            arrays.values = {values.data(), values.size()};
            arrays.width = values.shape(1);
            arrays.test_variable = span(test_variable);
            arrays.range_start = span(range_start);
            arrays.low = span(low);
            arrays.high = span(high);
            arrays.state_counts = span(state_counts);
            arrays.outputs = span(outputs);
            arrays.begin = span(begin);
            arrays.end = span(end);
            arrays.group_trees = span(group_trees);
            arrays.group_divisor = span(group_divisor);
            arrays.group_weight = span(group_weight);
            arrays.divisor = divisor;
            arrays.single = single;
            arrays.rule = rule;
            arrays.cuts = span(cuts);
            new (self) Ensemble(arrays);
          },
          "start"_a, "test"_a, "yes"_a, "no"_a, "values"_a, "test_variable"_a, "range_start"_a, "low"_a, "high"_a,
          "state_counts"_a, "outputs"_a, "begin"_a, "end"_a, "group_trees"_a, "group_divisor"_a, "group_weight"_a,
          nb::kw_only(), "divisor"_a, "single"_a, "rule"_a, "cuts"_a)
      .def(
          "scores",
          [](const Ensemble& ensemble, Array<std::int32_t> states) {
            ensemble.check_states(span(states));
            std::vector<std::int32_t> leaves;
            std::vector<double> scores(ensemble.score_count());
            for (std::size_t tree = 0; tree < ensemble.tree_count(); ++tree)
              leaves.push_back(ensemble.leaf(tree, states.data()));
            ensemble.scores_of(leaves.data(), scores.data());
            return to_numpy(std::move(scores));
          },
          "states"_a)
      .def_prop_ro("influence",
                   [](const Ensemble& ensemble) { return to_numpy(std::vector<double>(ensemble.influence())); })
      .def(
          "decide_rows",
          [](const Ensemble& ensemble, Rows rows) {
            const std::size_t width = ensemble.variable_count();
            if (rows.shape(1) != width)
              throw std::invalid_argument("rows have " + std::to_string(rows.shape(1)) + " states; the ensemble has " +
                                          std::to_string(width) + " variables");
            std::vector<std::int32_t> classes(rows.shape(0)), leaves;
            std::vector<double> scores;
            Budget budget = make_budget();
            without_gil([&] {
              for (std::size_t row = 0; row < classes.size(); ++row) {
                budget.step(ensemble.tree_count());
                const std::span<const std::int32_t> states(rows.data() + row * width, width);
                ensemble.check_states(states);
                classes[row] = ensemble.decide(states.data(), leaves, scores);
              }
            });
            return to_numpy(std::move(classes));
          },
          "rows"_a)
      .def(
          "paired",
          [](const Ensemble& ensemble, std::int32_t variable, std::int32_t first, std::int32_t second,
             std::optional<double> timeout, std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            return without_gil([&] { return ensemble.paired(variable, first, second, budget); });
          },
          "variable"_a, "first"_a, "second"_a, nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory);

  nb::class_<Asked>(module, "Inquiry")
      .def(
          "__init__",
          [](Asked* self, const Ensemble& ensemble, Array<std::int32_t> states, Array<std::uint8_t> keeps) {
            check_own(ensemble, states);
            new (self) Asked(ensemble, span(states), checked_keeps(keeps, ensemble));
          },
          "ensemble"_a, "states"_a, "keeps"_a, nb::keep_alive<1, 2>())
      .def(
          "escape",
          [](Asked& asked, Array<std::int32_t> bounded, Array<std::int64_t> start, Array<std::int32_t> low,
             Array<std::int32_t> high, std::optional<double> timeout, std::int64_t memory) {
            const Domain domain = checked_domain(asked.ensemble, bounded, start, low, high);
            Budget budget = make_budget(timeout, memory);
            return without_gil([&] {
              const std::lock_guard lock(asked.mutex);
              return asked.inquiry.escape(domain, budget);
            });
          },
          "bounded"_a, "start"_a, "low"_a, "high"_a, nb::kw_only(), "timeout"_a = nb::none(),
          "memory"_a = default_memory)
      .def(
          "attempt",
          [](Asked& asked, std::int64_t effort, Array<std::int32_t> bounded, Array<std::int64_t> start,
             Array<std::int32_t> low, Array<std::int32_t> high, std::optional<double> timeout, std::int64_t memory) {
            if (effort < 0) throw nb::value_error("effort is negative");
            const Domain domain = checked_domain(asked.ensemble, bounded, start, low, high);
            Budget budget = make_budget(timeout, memory);
            const Inquiry::Attempt made = without_gil([&] {
              const std::lock_guard lock(asked.mutex);
              return asked.inquiry.attempt(domain, static_cast<std::size_t>(effort), budget);
            });
            return nb::make_tuple(made.found, made.is_settled);
          },
          "effort"_a, "bounded"_a, "start"_a, "low"_a, "high"_a, nb::kw_only(), "timeout"_a = nb::none(),
          "memory"_a = default_memory)
      .def(
          "sufficient",
          [](Asked& asked, Array<std::int32_t> order, Array<std::int32_t> bounded, Array<std::int64_t> start,
             Array<std::int32_t> low, Array<std::int32_t> high, std::optional<double> timeout, std::int64_t memory) {
            const Domain worlds = checked_domain(asked.ensemble, bounded, start, low, high);
            asked.check_order(span(order), worlds);
            Budget budget = make_budget(timeout, memory);
            const Inquiry::Sufficient found = without_gil([&] {
              const std::lock_guard lock(asked.mutex);
              return asked.inquiry.sufficient(span(order), worlds, budget);
            });
            return nb::make_tuple(found.members, found.is_minimal);
          },
          "order"_a, "bounded"_a, "start"_a, "low"_a, "high"_a, nb::kw_only(), "timeout"_a = nb::none(),
          "memory"_a = default_memory);
}

}  // namespace quia
