#include "minimum.hpp"

#include <algorithm>
#include <limits>

#include "hitting.hpp"

namespace quia {

std::int64_t MinimumHitting::look(std::size_t depth) {
  std::fill(packed_.begin(), packed_.end(), 0);
  std::int64_t bound = 0;
  std::size_t fewest = SIZE_MAX;
  branch_ = -1;
  const Word* free = allowed(depth);
  for (std::size_t cw = 0; cw < clause_words_; ++cw)
    for (Word rest = uncovered(depth)[cw]; rest; rest &= rest - 1) {
      const std::size_t index = cw * 64 + std::countr_zero(rest);
      const Word* clause = clauses_.row(index);
      std::size_t left = 0;
      bool apart = true;
      for (std::size_t w = 0; w < words_; ++w) {
        const Word here = clause[w] & free[w];
        left += std::popcount(here);
        apart = apart && !(here & packed_[w]);
      }
      if (left < fewest) {
        fewest = left;
        branch_ = static_cast<std::int32_t>(index);
        if (left == 0) {
          branch_ = -2;
          return 0;
        }
      }
      if (!apart) continue;
      std::int64_t least = costs_ ? std::numeric_limits<std::int64_t>::max() : 1;
      for (std::size_t w = 0; w < words_; ++w) {
        packed_[w] |= clause[w] & free[w];
        if (costs_)
          for (Word bits = clause[w] & free[w]; bits; bits &= bits - 1)
            least = std::min(least, (*costs_)[w * 64 + std::countr_zero(bits)]);
      }
      bound += least;
    }
  return bound;
}

bool MinimumHitting::run(const SetTable& clauses, const std::vector<std::int64_t>* costs, const SearchLimits& limits,
                         Budget& budget, SetTable& found) {
  clauses_ = clauses;
  costs_ = costs;
  sort_by_contract(clauses_, nullptr, budget);  // short clauses first pack best
  words_ = clauses_.words;
  clause_words_ = words_for(clauses_.size());
  stride_ = clause_words_ + 2 * words_;
  packed_.resize(words_);
  budget.reserve((clauses_.bits.size() + clauses_.universe * clause_words_) * sizeof(Word));
  hit_by_.assign(clauses_.universe * clause_words_, 0);
  for (std::size_t i = 0; i < clauses_.size(); ++i) {
    budget.step(words_);
    for_each_member(clauses_.row(i), words_,
                    [&](std::size_t member) { put(hit_by_.data() + member * clause_words_, i); });
  }
  found = SetTable(clauses_.universe);
  if (clauses_.size() > 0 && is_empty(clauses_.row(0), words_)) return true;

  const std::vector<Word> greedy = one_hitting_set(clauses_, costs_, budget);
  std::int64_t best = cost_of(greedy.data(), words_, costs_);
  state_.assign(stride_, 0);
  frames_.assign(1, Frame{0, -1});
  for (std::size_t i = 0; i < clauses_.size(); ++i) put(uncovered(0), i);
  for (std::size_t member = 0; member < clauses_.universe; ++member) put(allowed(0), member);
  std::uint64_t states = 0;
  while (!frames_.empty()) {
    budget.check();
    const std::size_t depth = frames_.size() - 1;
    Frame& frame = frames_[depth];
    if (frame.clause < 0) {
      if (++states > limits.states) return false;
      const std::int64_t bound = frame.cost + look(depth);
      if (branch_ == -2 || bound > best) {
        frames_.pop_back();
        continue;
      }
      if (branch_ == -1) {
        if (frame.cost < best) {
          best = frame.cost;
          found.clear();
        }
        if (found.size() >= limits.sets) return false;
        found.add(chosen(depth));
        frames_.pop_back();
        continue;
      }
      frame.clause = branch_;
    } else if (frame.cost + 1 > best) {
      frames_.pop_back();
      continue;
    }
    // Take the clause's next allowed variable below; here it is left out from then on, so nothing comes twice.
    std::int64_t member = -1;
    for (std::size_t w = 0; w < words_ && member < 0; ++w)
      if (const Word bits = clauses_.row(frame.clause)[w] & allowed(depth)[w])
        member = static_cast<std::int64_t>(w * 64 + std::countr_zero(bits));
    if (member < 0) {
      frames_.pop_back();
      continue;
    }
    drop(allowed(depth), member);
    const std::int64_t cost = frame.cost + own_cost(member);
    if (cost > best) continue;
    if (state_.size() < (depth + 2) * stride_) state_.resize((depth + 2) * stride_);
    std::copy_n(uncovered(depth), stride_, uncovered(depth + 1));
    for (std::size_t w = 0; w < clause_words_; ++w) uncovered(depth + 1)[w] &= ~hit_by_[member * clause_words_ + w];
    put(chosen(depth + 1), member);
    frames_.push_back({cost, -1});
  }
  return true;
}

}  // namespace quia
