// The complete reason of a decision as a flat NNF (paper: Proposition 7, Equations 1 and 2).
#pragma once

#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"

namespace quia {

// Children first, the root last; kinds as in NnfKind; literal is a variable, or -1.
struct FlatNnf {
  std::vector<std::uint8_t> kind;
  std::vector<std::int32_t> literal;
  std::vector<std::int64_t> child_start{0};
  std::vector<std::int32_t> child;
};

// Equal nodes are made once, constants stand only where the whole is constant. One pass over the graph.
FlatNnf complete_reason(const Graph& graph, const Question& question, Budget& budget);

}  // namespace quia
