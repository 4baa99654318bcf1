// Is there another decision in a box of instances?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"

namespace quia {

// A box: variable `bounded[i]` is in one of the ranges start[i] … start[i + 1] - 1, every other one in any state.
struct Box {
  std::span<const std::int32_t> bounded;
  std::span<const std::int64_t> start;
  std::span<const std::int32_t> low, high;
};

// Throws std::invalid_argument unless every index is in bounds and every variable keeps a state.
void check_box(const Box& box, std::span<const std::int32_t> state_counts);

// An instance in the box that reaches a wrong leaf, nothing if there is none. It has the question's states where it can,
// and a state of every variable. Complexity: linear in the graph.
std::optional<std::vector<std::int32_t>> escape(const Graph& graph, const Question& question, const Box& box,
                                                Budget& budget);

}  // namespace quia
