// Thresholds: inequalities over sets of variables, as Python sees them.
#include "../threshold.hpp"

#include "../least_sets.hpp"
#include "common.hpp"
#include "set_iterator.hpp"

namespace quia {

namespace {

using Table = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Thresholds checked(const Array<std::int32_t>& variables, const Table& losses, const Array<std::int64_t>& limits,
                   const Array<std::int64_t>& bands) {
  constexpr std::int64_t most = std::int64_t(1) << 61;
  Thresholds made;
  made.variables.assign(variables.data(), variables.data() + variables.size());
  for (std::size_t i = 0; i < made.variables.size(); ++i)
    if (made.variables[i] < 0 || (i > 0 && made.variables[i] <= made.variables[i - 1]))
      throw nb::value_error("the variables do not ascend");
  if (losses.shape(1) != variables.size() || losses.shape(0) != limits.size() || limits.size() != bands.size())
    throw nb::value_error("the losses are not a row for each limit and a column for each variable");
  for (std::size_t k = 0; k < limits.size(); ++k) {
    const std::int64_t* row = losses.data() + k * variables.size();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (row[i] < 0) throw nb::value_error("a loss is negative");
      if (row[i] > most - sum) throw nb::value_error("the losses add up to more than 2^61");
      sum += row[i];
    }
    const std::int64_t limit = limits.data()[k], band = bands.data()[k];
    if (band < 0 || band > most || limit < -most || limit > most)
      throw nb::value_error("a limit or band is beyond 2^61, or a band is negative");
    made.losses.emplace_back(row, row + variables.size());
    made.limits.push_back(limit);
    made.bands.push_back(band);
  }
  return made;
}

Needs checked(const Table& numbers, const Array<std::int64_t>& needs, std::int64_t band) {
  constexpr std::int64_t most = std::int64_t(1) << 61;
  const Needs made{numbers.shape(0), numbers.shape(1), numbers.data(), needs.data(), band};
  if (needs.size() != made.rows) throw nb::value_error("there is not one need for each row");
  if (band < 0 || band > most) throw nb::value_error("the band is negative, or beyond 2^61");
  for (std::size_t i = 0; i < made.rows; ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t number : std::span(made.numbers + i * made.variables, made.variables)) {
      if (number < 0 || number > most - sum) throw nb::value_error("a number is negative, or a sum beyond 2^61");
      sum += number;
    }
    if (made.needs[i] < -most || made.needs[i] > most) throw nb::value_error("a need is beyond 2^61");
  }
  return made;
}

}  // namespace

void bind_threshold(nb::module_& module) {
  module.def(
      "least_sets",
      [](const Table& numbers, const Array<std::int64_t>& needs, std::size_t limit, std::int64_t band,
         std::size_t most_nodes, unsigned threads) {
        const Needs asked = checked(numbers, needs, band);
        LeastSets found = without_gil([&] { return least_sets(asked, limit, most_nodes, threads, look_for_signals); });
        return nb::make_tuple(to_numpy(std::move(found.ties)), to_numpy(std::move(found.set_start)),
                              to_numpy(std::move(found.member_start)), to_numpy(std::move(found.members)));
      },
      "numbers"_a, "needs"_a, "limit"_a, nb::kw_only(), "band"_a = 0, "most_nodes"_a = 100'000, "threads"_a = 1);
  nb::class_<Thresholds>(module, "Thresholds")
      .def(
          "__init__",
          [](Thresholds* self, const Array<std::int32_t>& variables, const Table& losses,
             const Array<std::int64_t>& limits,
             const Array<std::int64_t>& bands) { new (self) Thresholds(checked(variables, losses, limits, bands)); },
          "variables"_a, "losses"_a, "limits"_a, "bands"_a)
      .def(
          "minimal_sets",
          [](const Thresholds& thresholds, bool every, std::optional<double> timeout, std::int64_t memory) {
            Budget budget = make_budget(timeout, memory);
            return without_gil([&] { return minimal_sets(thresholds, every ? Meets::all : Meets::any, budget); });
          },
          nb::kw_only(), "every"_a = false, "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "listing",
          [](const Thresholds& thresholds, std::optional<double> timeout, std::int64_t memory) {
            if (thresholds.limits.size() != 1)
              throw nb::value_error("only the sets of a single inequality come one by one");
            Budget budget = make_budget(timeout, memory);
            auto listing = without_gil([&] { return list_minimal_sets(thresholds, budget); });
            return new SetIterator(thresholds.variables, std::move(listing), budget.seconds_left(), budget.memory());
          },
          nb::kw_only(), "timeout"_a = nb::none(), "memory"_a = default_memory, nb::rv_policy::take_ownership);
}

}  // namespace quia
