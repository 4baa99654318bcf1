// The complete reason of a decision as a flat NNF (paper: Proposition 7, Equations 1 and 2).
#pragma once

#include "budget.hpp"
#include "graph.hpp"
#include "nnf_builder.hpp"

namespace quia {

// Equal nodes are made once, constants stand only where the whole is constant. One pass over the graph.
FlatNnf complete_reason(const Graph& graph, const Question& question, Budget& budget);

}  // namespace quia
