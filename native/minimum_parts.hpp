// All minimum hitting sets of a family of clauses, kept as a product: one part for each connected component.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "budget.hpp"
#include "minimum.hpp"
#include "natural.hpp"
#include "sets.hpp"
#include "zdd.hpp"

namespace quia {

struct MinimumParts {
  std::size_t universe = 0;
  bool possible = true;                            // false where a clause is empty
  std::vector<std::uint32_t> forced;               // members of every set
  std::vector<std::variant<SetTable, Zdd>> parts;  // a set is one choice from each

  Natural count(Budget& budget) const;
  Zdd zdd(Budget& budget) const;
  // The first sets in the contract's order, at most `limit`.
  SetTable first(std::size_t limit, const std::vector<std::int64_t>* costs, Budget& budget) const;
};

// Branch and bound a component while that is quick, else the diagram of its hitting sets, else branch and bound
// for as long as the budget lasts.
MinimumParts minimum_hitting_sets(const SetTable& clauses, const std::vector<std::int64_t>* costs,
                                  MinimumHitting& search, Budget& budget);

}  // namespace quia
