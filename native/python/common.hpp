// What every part of the module quia._kernel needs: arguments checked at the door, the GIL released, signals looked for.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../budget.hpp"
#include "../natural.hpp"
#include "../nnf_builder.hpp"
#include "../nnf_reasons.hpp"
#include "../sets.hpp"

namespace quia {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
std::span<const T> span(const Array<T>& array) {
  return {array.data(), array.size()};
}

constexpr std::int64_t default_memory = std::int64_t(2) << 30;

// Python handles signals in its main thread only; elsewhere this does nothing.
inline void look_for_signals() {
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

inline Budget make_budget(std::optional<double> timeout = {}, std::int64_t memory = INT64_MAX) {
  if (timeout && !(*timeout >= 0)) throw nb::value_error("timeout is negative or not a number");
  if (memory < 0) throw nb::value_error("memory is negative");
  return Budget(timeout.value_or(Budget::no_timeout), static_cast<std::size_t>(memory), look_for_signals);
}

template <class Work>
auto without_gil(Work work) {
  nb::gil_scoped_release release;
  return work();
}

inline nb::int_ to_python(const Natural& number) {
  PyObject* result = PyLong_FromString(number.to_hexadecimal().c_str(), nullptr, 16);
  if (!result) throw nb::python_error();
  return nb::steal<nb::int_>(result);
}

inline nb::tuple to_tuple(const Word* set, std::size_t words, const std::vector<std::int32_t>& variables) {
  nb::list members;
  for_each_member(set, words, [&](std::size_t member) { members.append(variables[member]); });
  return nb::tuple(members);
}

template <class T>
nb::object to_numpy(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

inline nb::tuple to_arrays(FlatNnf made) {
  return nb::make_tuple(to_numpy(std::move(made.kind)), to_numpy(std::move(made.literal)),
                        to_numpy(std::move(made.child_start)), to_numpy(std::move(made.child)));
}

// Costs are positive, and so small that no sum of them overflows.
inline const std::int64_t* checked_costs(const std::optional<Array<std::int64_t>>& costs, std::size_t variables) {
  if (!costs) return nullptr;
  if (costs->size() < variables)
    throw std::invalid_argument("costs has " + std::to_string(costs->size()) + " entries; it needs " +
                                std::to_string(variables));
  std::int64_t sum = 0;
  for (const std::int64_t cost : span(*costs)) {
    if (cost <= 0) throw std::invalid_argument("a cost is " + std::to_string(cost) + "; costs are positive");
    if (cost > (INT64_MAX >> 2) - sum) throw std::invalid_argument("the costs add up to more than 2^61");
    sum += cost;
  }
  return costs->data();
}

inline const std::uint8_t* checked_frozen(const std::optional<Array<std::uint8_t>>& frozen, std::size_t variables) {
  if (frozen && frozen->size() < variables)
    throw std::invalid_argument("frozen has " + std::to_string(frozen->size()) + " entries; it needs " +
                                std::to_string(variables));
  return frozen ? frozen->data() : nullptr;
}

using Costs = std::optional<Array<std::int64_t>>;
using Frozen = std::optional<Array<std::uint8_t>>;

void bind_graph(nb::module_& module);
void bind_nnf(nb::module_& module);
void bind_family(nb::module_& module);
void bind_ensemble(nb::module_& module);
void bind_threshold(nb::module_& module);
void bind_chain(nb::module_& module);
void bind_separators(nb::module_& module);

}  // namespace quia
