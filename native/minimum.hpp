// Minimum hitting sets (of least cost or length), all ties, by branch and bound.
#pragma once

#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "sets.hpp"

namespace quia {

struct SearchLimits {
  std::uint64_t states = UINT64_MAX;  // search states to visit
  std::size_t sets = SIZE_MAX;        // ties to keep
};

// Branches on the open clause with fewest variables, bounds by disjoint clauses. Returns false if a limit ended it;
// else `found` has exactly the hitting sets of least cost, in no particular order. Scratch is kept between calls.
class MinimumHitting {
 public:
  bool run(const SetTable& clauses, const std::vector<std::int64_t>* costs, const SearchLimits& limits, Budget& budget,
           SetTable& found);

 private:
  struct Frame {
    std::int64_t cost;
    std::int32_t clause;  // the clause branched on, -1 before the state was looked at
  };
  Word* uncovered(std::size_t depth) { return state_.data() + depth * stride_; }
  Word* allowed(std::size_t depth) { return uncovered(depth) + clause_words_; }
  Word* chosen(std::size_t depth) { return allowed(depth) + words_; }
  std::int64_t own_cost(std::size_t member) const { return costs_ ? (*costs_)[member] : 1; }
  // Lower bound on what the open clauses still cost; sets branch_ (-1: no open clause, -2: no way on).
  std::int64_t look(std::size_t depth);

  SetTable clauses_;
  const std::vector<std::int64_t>* costs_ = nullptr;
  std::size_t words_ = 1, clause_words_ = 1, stride_ = 1;
  std::vector<Word> hit_by_, state_, packed_;
  std::vector<Frame> frames_;
  std::int32_t branch_ = -1;
};

}  // namespace quia
