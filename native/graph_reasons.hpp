// Necessary reasons of a decision made by any decision graph.
#pragma once

#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "family.hpp"
#include "graph.hpp"
#include "least.hpp"
#include "tree_reasons.hpp"

namespace quia {

// Scratch of one thread for graphs with shared nodes.
struct GraphScratch {
  TreeWalk walk;
  std::vector<std::int64_t> least;   // per node
  std::vector<std::int32_t> needed;  // nodes whose families matter, children first
  std::vector<std::uint8_t> is_needed;
  std::vector<NodeId> family;        // per node that is needed
};

// The least length (cost) of a necessary reason; no_clause if there is none. One pass over the graph.
std::int64_t shortest_length(const Graph& graph, const Question& question, const std::int64_t* costs,
                             GraphScratch& scratch, Budget& budget);

// All necessary reasons, or the shortest (cheapest). `known`: what find_least finds, if it is there. A family cut short by the budget is not complete: of a tree it
// has the reasons found so far, of a shared graph none.
Family necessary(const Graph& graph, const Question& question, bool shortest, const std::int64_t* costs,
                 GraphScratch& scratch, Budget& budget, const Least* known = nullptr);

}  // namespace quia
