// How many minimal hitting sets a family of clauses has.
#pragma once

#include "budget.hpp"
#include "natural.hpp"
#include "sets.hpp"

namespace quia {

// Components multiply. One with few hitting sets is searched, which is done before a diagram would have found its
// order; any other is counted in its diagram. Throws OverBudget where that does not fit.
Natural count_minimal_hitting_sets(const SetTable& clauses, Budget& budget);

}  // namespace quia
