// Separators: cuts of a network, and orders of features along which they are small.
#include "../separators.hpp"

#include "common.hpp"

namespace quia {

void bind_separators(nb::module_& module) {
  nb::class_<Separators>(module, "Separators")
      .def(
          "__init__",
          [](Separators* self, const Array<std::int64_t>& start, const Array<std::int32_t>& neighbour,
             const Array<std::int32_t>& sizes, const Array<std::int64_t>& costs,
             const Array<std::uint8_t>& is_feature) {
            new (self) Separators({span(start), span(neighbour), span(sizes), span(costs), span(is_feature)});
          },
          "start"_a, "neighbour"_a, "sizes"_a, "costs"_a, "is_feature"_a)
      .def(
          "least",
          [](const Separators& separators, const Array<std::int32_t>& observed) {
            Cut cut = without_gil([&] { return separators.least(span(observed)); });
            return nb::make_tuple(to_numpy(std::move(cut.left)), to_numpy(std::move(cut.separator)));
          },
          "observed"_a)
      .def(
          "shake",
          [](const Separators& separators, const Array<std::int32_t>& order, std::int64_t most_cuts,
             double most_messages, std::optional<double> timeout) {
            if (most_cuts < 0) throw nb::value_error("most_cuts is negative");
            if (!(most_messages >= 1)) throw nb::value_error("most_messages is below 1");
            Budget budget = make_budget(timeout);
            return to_numpy(without_gil([&] {
              return shake(separators, span(order), {static_cast<std::size_t>(most_cuts), most_messages}, budget);
            }));
          },
          "order"_a, nb::kw_only(), "most_cuts"_a, "most_messages"_a, "timeout"_a = nb::none());
}

}  // namespace quia
