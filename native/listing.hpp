// The members of a family in the order of every listing: cost, length, smallest differing variable.
//
// That order is linear (it is kept when the same variable joins two sets), so a ZDD in any variable order lists
// lazily: a node's sets are a merge of its low and its high sets, made only as far as they are asked for. As that
// remembers what it made, a long listing, or one of very many variables, goes over to sorting parts that fit in memory: the whole family, else one
// length after the other, else one length by its smallest variables.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "budget.hpp"
#include "sets.hpp"
#include "zdd.hpp"

namespace quia {

class Listing {
 public:
  virtual ~Listing() = default;
  // The next set (valid until the next call), or null at the end.
  virtual const Word* next(Budget& budget) = 0;
};

std::unique_ptr<Listing> list_table(std::shared_ptr<const SetTable> sorted);
std::unique_ptr<Listing> list_zdd(std::shared_ptr<const Zdd> zdd, std::vector<std::int64_t> costs);

}  // namespace quia
