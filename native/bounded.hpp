// A graph in a box of possible states.
#pragma once

#include <cstdint>
#include <vector>

#include "escape.hpp"
#include "graph.hpp"

namespace quia {

// A graph's arrays, as `GraphArrays` has them, that are somebody's own.
struct OwnArrays {
  std::vector<std::int32_t> variable, klass, child, range_low, range_high;
  std::vector<std::int64_t> edge_start{0}, range_start{0};
};

// The graph in which a state that the box does not have goes where the one before it goes that it has, or else the
// first. So no edge is left that nothing possible takes, nor a node that only such edges lead to; a tree stays a tree, and
// instances in the box are decided as they are. The box is checked, and its ranges are in order; throws
// std::invalid_argument if they are not. Complexity: linear in the graph, but for finding states among ranges of the box.
OwnArrays bounded(const Graph& graph, const Box& box);

}  // namespace quia
