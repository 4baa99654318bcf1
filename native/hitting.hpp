// Minimal hitting sets one after the other, in the order of every listing, with no memory of past results.
//
// A search per length (or, with costs, per cost): variables in their own order, each first taken and then left out,
// so that sets of one length come out lexicographically. Every chosen variable must keep a clause that only it
// hits (Murakami & Uno's criterion), which is all the minimality needs.
#pragma once

#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "sets.hpp"

namespace quia {

class HittingSets {
 public:
  // `shortest` ends after the first length (cost) that has any.
  HittingSets(SetTable clauses, std::vector<std::int64_t> costs, bool shortest, Budget& budget);

  // The next set (valid until the next call), or null at the end. After OverBudget, may be called again.
  const Word* next(Budget& budget);
  std::size_t words() const { return clauses_.words; }
  std::size_t universe() const { return clauses_.universe; }

 private:
  // Offsets of one search state: clauses hit by nothing, clauses hit once, variables still allowed, variables chosen.
  struct Frame {
    std::int64_t cost;
    std::uint32_t size;
    std::int32_t branch;  // variable taken below, -1 before the state was looked at
  };
  enum class Verdict { branch, dead, solution };

  Word* uncovered(std::size_t depth) { return state_.data() + depth * stride_; }
  Word* once(std::size_t depth) { return uncovered(depth) + clause_words_; }
  Word* allowed(std::size_t depth) { return once(depth) + clause_words_; }
  Word* chosen(std::size_t depth) { return allowed(depth) + clauses_.words; }
  const Word* hit_by(std::size_t member) const { return hit_by_.data() + member * clause_words_; }

  void begin_level(std::int64_t level);
  void push_copy();
  bool take(std::size_t depth, std::size_t member);
  Verdict look(std::size_t depth);
  bool forbid_needless(std::size_t depth);
  bool advance(Budget& budget);
  const Word* next_by_cost(Budget& budget);
  std::int64_t own_cost(std::size_t member) const { return costs_.empty() ? 1 : costs_[member]; }
  void defer(std::int64_t level) {
    if (level < deferred_) deferred_ = level;
  }

  SetTable clauses_;                  // shortest first
  std::vector<std::int64_t> costs_;
  bool shortest_;
  std::size_t clause_words_, stride_;
  std::vector<Word> hit_by_;          // per variable: the clauses it hits
  std::vector<Word> state_;
  std::vector<Frame> frames_;
  std::vector<Word> packed_, union_, found_;
  std::int64_t level_ = 0, deferred_ = 0;
  bool level_open_ = false, ended_ = false, any_ = false;
  SetTable buffer_;                   // with costs: the sets of this cost, sorted
  std::size_t emitted_ = 0;
  bool buffered_ = false;
};

// A minimal hitting set, greedily by clauses hit (per cost), then freed of what is needless; empty for no clauses.
std::vector<Word> one_hitting_set(const SetTable& clauses, const std::vector<std::int64_t>* costs, Budget& budget);

}  // namespace quia
