// A smaller order for an ordered decision graph: each variable is moved to where the graph is smallest (Rudell 1993).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "ordered_graph.hpp"

namespace quia {

struct Sifted {
  OrderedGraph graph;
  OrderedGraph::Id root;
  std::vector<std::int32_t> order;  // which level of the graph that was given is now at each level
};

// Neighbouring levels are exchanged until so many nodes have been looked at, the time is over, or no variable has a better
// place. The graph that was given is checked: its children come before their parents, and are of later levels.
Sifted sift(const OrderedGraph& graph, OrderedGraph::Id root, std::size_t most_work, Budget& budget);

}  // namespace quia
