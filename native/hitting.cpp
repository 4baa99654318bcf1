#include "hitting.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace quia {

namespace {
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
}

HittingSets::HittingSets(SetTable clauses, std::vector<std::int64_t> costs, bool shortest, Budget& budget)
    : clauses_(std::move(clauses)), costs_(std::move(costs)), shortest_(shortest) {
  sort_by_contract(clauses_, nullptr, budget);
  clause_words_ = words_for(clauses_.size());
  stride_ = 2 * clause_words_ + 2 * clauses_.words;
  budget.reserve((clauses_.bits.size() + clauses_.universe * clause_words_) * sizeof(Word));
  hit_by_.assign(clauses_.universe * clause_words_, 0);
  for (std::size_t i = 0; i < clauses_.size(); ++i) {
    budget.step(clauses_.words);
    for_each_member(clauses_.row(i), clauses_.words,
                    [&](std::size_t member) { put(hit_by_.data() + member * clause_words_, i); });
  }
  packed_.resize(clauses_.words);
  union_.resize(clauses_.words);
  found_.resize(clauses_.words);
  buffer_ = SetTable(clauses_.universe);
  // Nothing hits the empty clause.
  ended_ = clauses_.size() > 0 && is_empty(clauses_.row(0), clauses_.words);
}

void HittingSets::begin_level(std::int64_t level) {
  level_ = level;
  deferred_ = never;
  level_open_ = true;
  state_.assign(stride_, 0);
  frames_.assign(1, Frame{0, 0, -1});
  for (std::size_t i = 0; i < clauses_.size(); ++i) put(uncovered(0), i);
  for (std::size_t member = 0; member < clauses_.universe; ++member) put(allowed(0), member);
}

void HittingSets::push_copy() {
  const std::size_t depth = frames_.size() - 1;
  if (state_.size() < (depth + 2) * stride_) state_.resize((depth + 2) * stride_);
  std::copy_n(uncovered(depth), stride_, uncovered(depth + 1));
  frames_.push_back(frames_.back());
  frames_.back().branch = -1;
}

// Chooses a variable; false if another chosen one then hits nothing alone.
bool HittingSets::take(std::size_t depth, std::size_t member) {
  const Word* hits = hit_by(member);
  Word* zero = uncovered(depth);
  Word* one = once(depth);
  for (std::size_t w = 0; w < clause_words_; ++w) {
    one[w] = (one[w] & ~hits[w]) | (zero[w] & hits[w]);
    zero[w] &= ~hits[w];
  }
  put(chosen(depth), member);
  drop(allowed(depth), member);
  frames_[depth].cost += own_cost(member);
  ++frames_[depth].size;
  bool minimal = true;
  for_each_member(chosen(depth), clauses_.words,
                  [&](std::size_t other) { minimal = minimal && meets(hit_by(other), one, clause_words_); });
  return minimal;
}

// Variables that would take the last clause a chosen one hits alone can never join: what is hit once only shrinks.
bool HittingSets::forbid_needless(std::size_t depth) {
  const Word* one = once(depth);
  bool changed = false;
  for_each_member(chosen(depth), clauses_.words, [&](std::size_t other) {
    const Word* alone = hit_by(other);
    std::size_t first = 0, alone_count = 0;
    for (std::size_t w = 0; w < clause_words_; ++w) {
      const Word bits = alone[w] & one[w];
      if (bits && alone_count == 0) first = w * 64 + std::countr_zero(bits);
      alone_count += std::popcount(bits);
    }
    if (alone_count == 0) return;
    // Only variables of its first such clause can be in all of them.
    for (std::size_t w = 0; w < clauses_.words; ++w)
      for (Word rest = clauses_.row(first)[w] & allowed(depth)[w]; rest; rest &= rest - 1) {
        const std::size_t member = w * 64 + std::countr_zero(rest);
        const Word* hits = hit_by(member);
        bool all = true;
        for (std::size_t c = 0; c < clause_words_ && all; ++c) all = !(alone[c] & one[c] & ~hits[c]);
        if (all) {
          drop(allowed(depth), member);
          changed = true;
        }
      }
  });
  return changed;
}

HittingSets::Verdict HittingSets::look(std::size_t depth) {
  Frame& frame = frames_[depth];
  for (;;) {
    const std::int64_t spent = costs_.empty() ? frame.size : frame.cost;
    if (is_empty(uncovered(depth), clause_words_)) {
      if (spent == level_) return Verdict::solution;
      if (spent > level_) defer(spent);
      return Verdict::dead;
    }
    if (spent >= level_) {
      defer(spent + 1);
      return Verdict::dead;
    }
    forbid_needless(depth);
    // Disjoint clauses need a variable each; one clause with a single variable left forces it.
    std::fill(packed_.begin(), packed_.end(), 0);
    std::fill(union_.begin(), union_.end(), 0);
    std::int64_t bound = spent, open = 0;
    std::int64_t forced = -1;
    bool dead = false;
    for (std::size_t cw = 0; cw < clause_words_ && !dead && forced < 0; ++cw)
      for (Word rest = uncovered(depth)[cw]; rest; rest &= rest - 1) {
        const Word* clause = clauses_.row(cw * 64 + std::countr_zero(rest));
        const Word* free = allowed(depth);
        ++open;
        std::size_t left = 0;
        bool apart = true;
        for (std::size_t w = 0; w < clauses_.words; ++w) {
          const Word here = clause[w] & free[w];
          if (here && left == 0 && std::popcount(here) == 1)
            forced = static_cast<std::int64_t>(w * 64 + std::countr_zero(here));
          left += std::popcount(here);
          apart = apart && !(here & packed_[w]);
          union_[w] |= here;
        }
        if (left == 0) dead = true;
        if (left != 1) forced = -1;
        if (left <= 1) break;
        if (!apart) continue;
        std::int64_t least = costs_.empty() ? 1 : never;
        for (std::size_t w = 0; w < clauses_.words; ++w) {
          packed_[w] |= clause[w] & free[w];
          if (!costs_.empty())
            for (Word bits = clause[w] & free[w]; bits; bits &= bits - 1)
              least = std::min(least, costs_[w * 64 + std::countr_zero(bits)]);
        }
        bound += least;
      }
    if (dead) return Verdict::dead;
    if (forced >= 0) {
      if (!take(depth, static_cast<std::size_t>(forced))) return Verdict::dead;
      continue;
    }
    if (bound > level_) {
      defer(bound);
      return Verdict::dead;
    }
    // Each further variable needs an open clause of its own.
    if (costs_.empty() && spent + open < level_) return Verdict::dead;
    for (std::size_t w = 0; w < clauses_.words; ++w) {
      allowed(depth)[w] &= union_[w];  // what hits no open clause is needless from here on
      if (union_[w] && frame.branch < 0) frame.branch = static_cast<std::int32_t>(w * 64 + std::countr_zero(union_[w]));
    }
    return Verdict::branch;
  }
}

// Runs to the next solution of this level (in found_); false when the level is exhausted.
bool HittingSets::advance(Budget& budget) {
  while (!frames_.empty()) {
    budget.check();
    const std::size_t depth = frames_.size() - 1;
    if (frames_[depth].branch >= 0) {  // taken below; now without it
      drop(allowed(depth), frames_[depth].branch);
      frames_[depth].branch = -1;
    }
    switch (look(depth)) {
      case Verdict::dead: frames_.pop_back(); break;
      case Verdict::solution:
        std::copy_n(chosen(depth), clauses_.words, found_.data());
        frames_.pop_back();
        return true;
      case Verdict::branch: {
        const auto member = static_cast<std::size_t>(frames_[depth].branch);
        push_copy();
        if (!take(depth + 1, member)) frames_.pop_back();
        break;
      }
    }
  }
  return false;
}

const Word* HittingSets::next(Budget& budget) {
  if (!costs_.empty()) return next_by_cost(budget);
  while (!ended_) {
    if (!level_open_) begin_level(0);
    if (advance(budget)) {
      any_ = true;
      return found_.data();
    }
    if (deferred_ == never || (shortest_ && any_)) {
      ended_ = true;
      break;
    }
    begin_level(std::max(deferred_, level_ + 1));
  }
  return nullptr;
}

// Costs leave length open, so the sets of one cost are gathered and sorted before the first is given.
const Word* HittingSets::next_by_cost(Budget& budget) {
  while (!ended_) {
    if (buffered_) {
      if (emitted_ < buffer_.size()) return buffer_.row(emitted_++);
      if (deferred_ == never || (shortest_ && any_)) {
        ended_ = true;
        break;
      }
      buffered_ = false;
      buffer_.clear();
      begin_level(std::max(deferred_, level_ + 1));
    } else if (!level_open_) {
      begin_level(0);
    }
    while (advance(budget)) {
      any_ = true;
      budget.reserve(buffer_.bits.size() * sizeof(Word));
      buffer_.add(found_.data());
    }
    sort_by_contract(buffer_, &costs_, budget);
    buffered_ = true;
    emitted_ = 0;
  }
  return nullptr;
}

std::vector<Word> one_hitting_set(const SetTable& clauses, const std::vector<std::int64_t>* costs, Budget& budget) {
  std::vector<Word> set(clauses.words, 0);
  std::vector<std::uint32_t> open(clauses.size());
  std::iota(open.begin(), open.end(), 0u);
  std::vector<std::int64_t> gain(clauses.universe);
  while (!open.empty()) {
    std::fill(gain.begin(), gain.end(), 0);
    for (const std::uint32_t i : open) {
      budget.step(clauses.words);
      for_each_member(clauses.row(i), clauses.words, [&](std::size_t member) { ++gain[member]; });
    }
    std::size_t best = 0;
    for (std::size_t member = 1; member < clauses.universe; ++member) {
      // gain/cost as doubles: exact enough for a heuristic, and one division each, so the same everywhere.
      const double a = static_cast<double>(gain[member]) / static_cast<double>(costs ? (*costs)[member] : 1);
      const double b = static_cast<double>(gain[best]) / static_cast<double>(costs ? (*costs)[best] : 1);
      if (a > b) best = member;
    }
    if (clauses.universe == 0 || gain[best] == 0) return {};  // an empty clause
    put(set.data(), best);
    std::erase_if(open, [&](std::uint32_t i) { return has(clauses.row(i), best); });
  }
  for (std::size_t member = clauses.universe; member-- > 0;) {
    if (!has(set.data(), member)) continue;
    drop(set.data(), member);
    for (std::size_t i = 0; i < clauses.size(); ++i) {
      budget.step();
      if (!meets(clauses.row(i), set.data(), clauses.words)) {
        put(set.data(), member);
        break;
      }
    }
  }
  return set;
}

}  // namespace quia
