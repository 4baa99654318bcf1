#include "cut_search.hpp"

#include <algorithm>
#include <limits>

namespace quia {

namespace {

double size_of(const Interval& interval) {
  return static_cast<double>(interval.end - interval.low) + (interval.missing ? 1 : 0);
}

// The longest run of states before `numbers`.
std::int32_t longest_run(const BoxSpace& space, const Word* box, std::size_t member) {
  std::int32_t longest = 0;
  const std::int32_t numbers = space.place(member).numbers;
  space.for_each_range(box, member, [&](std::int32_t low, std::int32_t high) {
    longest = std::max(longest, std::min(high + 1, numbers) - low);
  });
  return longest;
}

}  // namespace

void CutSearch::start(const Graph& graph, const BoxSpace& space, std::span<const std::int32_t> own,
                      std::span<const Word> whole) {
  graph_ = &graph;
  space_ = &space;
  own_.assign(own.begin(), own.end());
  whole_.assign(whole.begin(), whole.end());
  clauses_.clear();
  cuts_.clear();
  masks_.clear();
  has_parts_ = false;
  for (std::size_t i = 0; i < space.size(); ++i)
    has_parts_ |= space.place(i).numbers > 0 && !space.place(i).is_interval;
  child_.resize(space.words());
  blocked_.resize(space.words());
  grown_.resize(space.words());
}

// ---- clauses ----

void CutSearch::learn(std::span<const Leaving> edges) {
  Clause clause{static_cast<std::uint32_t>(cuts_.size()), 0};
  const std::size_t masks = masks_.size();
  for (const auto& [edge, member] : edges) {
    const BoxSpace::Place& place = space_->place(member);
    Cut cut{member, {0, std::numeric_limits<std::int32_t>::max(), false}, masks_.size()};
    const std::int32_t own = own_[member];
    if (!place.is_interval) masks_.resize(masks_.size() + place.words, 0);
    graph_->for_each_range(*edge, [&](std::int32_t low, std::int32_t high) {
      if (!place.is_interval) return put_range(masks_.data() + cut.mask, low, high);
      if (high >= place.numbers) cut.kept.missing = true;
      if (high < own) cut.kept.low = std::max(cut.kept.low, high + 1);
      if (low > own) cut.kept.end = std::min(cut.kept.end, low);
    });
    cuts_.push_back(cut);
  }
  clause.end = static_cast<std::uint32_t>(cuts_.size());
  if (is_dominated(clause)) {
    cuts_.resize(clause.first);
    masks_.resize(masks);
  } else {
    clauses_.push_back(clause);
  }
}

// Whether keeping one of the clauses known is keeping this one too.
bool CutSearch::is_dominated(const Clause& clause) const {
  for (const Clause& known : clauses_) {
    bool dominates = known.end - known.first <= clause.end - clause.first;
    std::uint32_t at = clause.first;  // cuts come by member
    for (std::uint32_t i = known.first; i < known.end && dominates; ++i) {
      while (at < clause.end && cuts_[at].member < cuts_[i].member) ++at;
      dominates = at < clause.end && cuts_[at].member == cuts_[i].member && covers(cuts_[i], cuts_[at]);
    }
    if (dominates) return true;
  }
  return false;
}

// Both of one member: what is cut by the narrow one is cut by the wide one.
bool CutSearch::covers(const Cut& wide, const Cut& narrow) const {
  const BoxSpace::Place& place = space_->place(wide.member);
  if (!place.is_interval) return is_subset(masks_.data() + narrow.mask, masks_.data() + wide.mask, place.words);
  return wide.kept.low >= narrow.kept.low && wide.kept.end <= narrow.kept.end &&
         (wide.kept.missing || !narrow.kept.missing);
}

bool CutSearch::is_cut(const Word* box, const Cut& cut) const {
  const BoxSpace::Place& place = space_->place(cut.member);
  if (!place.is_interval) return !meets(box + place.first, masks_.data() + cut.mask, place.words);
  const Interval set = Interval::unpack(box[place.first]);
  return set.low >= cut.kept.low && set.end <= cut.kept.end && !(set.missing && cut.kept.missing);
}

void CutSearch::apply(Word* box, const Cut& cut) const {
  const BoxSpace::Place& place = space_->place(cut.member);
  Word* set = box + place.first;
  if (place.is_interval) {
    const Interval all = Interval::unpack(*set);
    *set = Interval{std::max(all.low, cut.kept.low), std::min(all.end, cut.kept.end), all.missing && !cut.kept.missing}
               .pack();
  } else {
    for (std::size_t w = 0; w < place.words; ++w) set[w] &= ~masks_[cut.mask + w];
  }
}

bool CutSearch::keeps(const Word* box, const Clause& clause) const {
  for (std::uint32_t i = clause.first; i < clause.end; ++i)
    if (is_cut(box, cuts_[i])) return true;
  return false;
}

// How many states the member's set has; of one that is to be parted, its largest part.
double CutSearch::extent(const Word* box, std::size_t member) const {
  const BoxSpace::Place& place = space_->place(member);
  if (place.is_interval) return size_of(Interval::unpack(box[place.first]));
  if (place.numbers > 0) return 1 + longest_run(*space_, box, member);
  return static_cast<double>(quia::size_of(box + place.first, place.words));
}

double CutSearch::extent_after(const Word* box, const Cut& cut) {
  const BoxSpace::Place& place = space_->place(cut.member);
  if (place.is_interval) {
    const Interval all = Interval::unpack(box[place.first]);
    return size_of(
        {std::max(all.low, cut.kept.low), std::min(all.end, cut.kept.end), all.missing && !cut.kept.missing});
  }
  if (place.numbers > 0) {
    std::copy_n(box + place.first, place.words, grown_.data() + place.first);
    apply(grown_.data(), cut);
    return extent(grown_.data(), cut.member);
  }
  std::size_t size = 0;
  for (std::size_t w = 0; w < place.words; ++w) size += std::popcount(box[place.first + w] & ~masks_[cut.mask + w]);
  return static_cast<double>(size);
}

// ---- the search ----

void CutSearch::run(std::size_t limit, const Refute& refute, BoxTable& found, Budget& budget) {
  limit_ = limit;
  best_.clear();
  threshold_ = 0;
  options_.clear();
  barred_.clear();
  chain_.reset(space_->words());
  chain_.add(whole_.data());
  violated_.resize(clauses_.size());
  for (std::size_t i = 0; i < clauses_.size(); ++i) violated_[i] = static_cast<std::uint32_t>(i);
  branches_.assign(1, {1, 0, clauses_.size(), 0, 0, 0, 0, false});
  while (!branches_.empty()) {
    if (!branches_.back().is_open) open(refute, found, budget);
    Branch& branch = branches_.back();
    budget.step(1 + (branch.violated_end - branch.violated) / 16);
    if (branch.next == branch.option_end || is_too_narrow(options_[branch.next].share)) {
      violated_.resize(branch.violated);
      options_.resize(branch.option);
      barred_.resize(branch.barred);
      chain_.remove(chain_.count - 1);
      branches_.pop_back();
      continue;
    }
    if (branch.next > branch.option) barred_.push_back(options_[branch.next - 1].cut);
    const Option option = options_[branch.next++];
    const Cut& cut = cuts_[option.cut];
    std::copy_n(chain_.row(chain_.count - 1), space_->words(), child_.data());
    apply(child_.data(), cut);
    budget.reserve((chain_.bits.size() * 2 + found.bits.size() * 2 + masks_.size()) * sizeof(Word) +
                   violated_.size() * 2 * sizeof(std::uint32_t) + cuts_.size() * sizeof(Cut));
    const Branch below{option.share,    violated_.size(), 0,    options_.size(), options_.size(),
                       options_.size(), barred_.size(),   false};
    // A clause that was violated is kept now only if a cut of this member does it.
    for (std::size_t i = branch.violated; i < branch.violated_end; ++i) {
      const Clause& clause = clauses_[violated_[i]];
      bool is_kept = false;
      for (std::uint32_t k = clause.first; k < clause.end && !is_kept; ++k)
        is_kept = cuts_[k].member == cut.member && is_cut(child_.data(), cuts_[k]);
      if (!is_kept) violated_.push_back(violated_[i]);
    }
    branches_.push_back(below);
    branches_.back().violated_end = violated_.size();
    chain_.add(child_.data());
  }
}

void CutSearch::open(const Refute& refute, BoxTable& found, Budget& budget) {
  Branch& branch = branches_.back();
  branch.is_open = true;
  const Word* box = chain_.row(chain_.count - 1);
  if (branch.violated == branch.violated_end && refute) {
    // Some may have been learned since.
    const auto add_violated = [&] {
      for (std::size_t i = 0; i < clauses_.size(); ++i)
        if (!keeps(box, clauses_[i])) violated_.push_back(static_cast<std::uint32_t>(i));
    };
    add_violated();
    if (violated_.size() == branch.violated && refute(box)) add_violated();
    branch.violated_end = violated_.size();
  }
  if (branch.violated == branch.violated_end)
    add(box, refute, found, budget);
  else
    choose(branch, box);
}

// The clause whose widest option is the narrowest, and its options, the widest first.
void CutSearch::choose(Branch& branch, const Word* box) {
  double narrowest = std::numeric_limits<double>::infinity();
  std::uint32_t chosen = 0;
  for (std::size_t i = branch.violated; i < branch.violated_end; ++i) {
    const Clause& clause = clauses_[violated_[i]];
    double widest = 0;
    for (std::uint32_t k = clause.first; k < clause.end; ++k) {
      const double ratio = extent_after(box, cuts_[k]) / extent(box, cuts_[k].member);
      if (ratio > widest && !is_barred(box, cuts_[k])) widest = ratio;
    }
    if (widest < narrowest) {
      narrowest = widest;
      chosen = violated_[i];
      if (widest == 0 || is_too_narrow(widest * branch.share)) return;  // no box to be listed is here
    }
  }
  const Clause& clause = clauses_[chosen];
  for (std::uint32_t k = clause.first; k < clause.end; ++k) {
    if (is_barred(box, cuts_[k])) continue;
    const double share = branch.share * extent_after(box, cuts_[k]) / extent(box, cuts_[k].member);
    options_.push_back({k, share});
  }
  branch.option_end = options_.size();
  std::stable_sort(options_.begin() + static_cast<std::ptrdiff_t>(branch.option), options_.end(),
                   [](const Option& a, const Option& b) { return a.share > b.share; });
}

// Whether the cut makes another one, too, that belongs to an earlier branch.
bool CutSearch::is_barred(const Word* box, const Cut& cut) {
  const BoxSpace::Place& place = space_->place(cut.member);
  bool is_applied = false;
  for (const std::uint32_t other : barred_) {
    if (cuts_[other].member != cut.member) continue;
    if (!is_applied) {
      std::copy_n(box + place.first, place.words, grown_.data() + place.first);
      apply(grown_.data(), cut);
      is_applied = true;
    }
    if (is_cut(grown_.data(), cuts_[other])) return true;
  }
  return false;
}

// ---- what is found ----

void CutSearch::add(const Word* box, const Refute& refute, BoxTable& found, Budget& budget) {
  if (has_parts_) return add_parts(box, refute, found, budget);
  if (!is_maximal(box, refute, budget)) return;
  budget.reserve((found.bits.size() * 2 + chain_.bits.size() + space_->words()) * sizeof(Word));
  found.add(box);
  if (limit_ == std::numeric_limits<std::size_t>::max()) return;
  double share = 1;
  for (std::size_t i = 0; i < space_->size(); ++i) share *= extent(box, i) / extent(whole_.data(), i);
  best_.insert(std::upper_bound(best_.begin(), best_.end(), share, std::greater<>()), share);
  if (best_.size() > limit_) best_.pop_back();
  // Shares that small are not exact any more.
  if (best_.size() == limit_ && limit_ > 0) threshold_ = best_.back() < 1e-250 ? 0 : best_.back();
}

// Each choice of an interval for each numeric member that is missing; the same part may come from several boxes.
void CutSearch::add_parts(const Word* box, const Refute& refute, BoxTable& found, Budget& budget) {
  parts_.reset(space_->words());
  parts_.add(box);
  for (std::size_t member = 0; member < space_->size(); ++member) {
    const BoxSpace::Place& place = space_->place(member);
    if (place.numbers == 0 || place.is_interval) continue;
    more_.reset(space_->words());
    for (std::size_t i = 0; i < parts_.count; ++i) {
      std::copy_n(parts_.row(i), space_->words(), child_.data());
      Word* set = child_.data() + place.first;
      const auto add_run = [&](std::int32_t low, std::int32_t high) {
        std::fill_n(set, place.words, 0);
        if (low <= high) put_range(set, low, high);
        put(set, place.numbers);
        budget.reserve((found.bits.size() + (parts_.bits.size() + more_.bits.size()) * 2) * sizeof(Word));
        more_.add(child_.data());
      };
      bool has_numbers = false;
      space_->for_each_range(box, member, [&](std::int32_t low, std::int32_t high) {
        if (low == place.numbers) return;
        has_numbers = true;
        add_run(low, std::min(high, place.numbers - 1));
      });
      if (!has_numbers) add_run(0, -1);
    }
    std::swap(parts_, more_);
  }
  has_parts_ = false;
  for (std::size_t i = 0; i < parts_.count; ++i) {
    bool is_known = false;
    for (std::size_t k = 0; k < found.count && !is_known; ++k)
      is_known = equals(found.row(k), parts_.row(i), space_->words());
    if (!is_known) add(parts_.row(i), refute, found, budget);
  }
  has_parts_ = true;
}

// Whether every growth of a member's set runs into a clause that only this member keeps.
bool CutSearch::is_maximal(const Word* box, const Refute& refute, Budget& budget) {
  budget.step(1 + clauses_.size() / 8);
  std::fill(blocked_.begin(), blocked_.end(), 0);
  for (const Clause& clause : clauses_) {
    const Cut* sole = nullptr;
    int ways = 0;
    for (std::uint32_t i = clause.first; i < clause.end && ways < 2; ++i)
      if (is_cut(box, cuts_[i])) {
        sole = &cuts_[i];
        ++ways;
      }
    if (ways != 1) continue;
    const BoxSpace::Place& place = space_->place(sole->member);
    Word* blocked = blocked_.data() + place.first;
    if (place.is_interval) {
      const Interval set = Interval::unpack(box[place.first]);
      *blocked |=
          Word(sole->kept.low == set.low) | Word(sole->kept.end == set.end) << 1 | Word(sole->kept.missing) << 2;
    } else {
      for (std::size_t w = 0; w < place.words; ++w) blocked[w] |= masks_[sole->mask + w];
    }
  }
  for (std::size_t member = 0; member < space_->size(); ++member)
    if (can_grow(box, member, refute)) return false;
  return true;
}

bool CutSearch::can_grow(const Word* box, std::size_t member, const Refute& refute) {
  const BoxSpace::Place& place = space_->place(member);
  const auto grows = [&](auto grow) {
    if (!refute) return true;
    std::copy_n(box, space_->words(), grown_.data());
    grow(grown_.data() + place.first);
    return !refute(grown_.data());
  };
  if (place.is_interval) {
    const Word blocked = blocked_[place.first];
    const Interval set = Interval::unpack(box[place.first]), whole = Interval::unpack(whole_[place.first]);
    const auto to = [&](Interval wider) { return grows([&](Word* into) { *into = wider.pack(); }); };
    if (set.low > whole.low && !(blocked & 1) && to({set.low - 1, set.end, set.missing})) return true;
    if (set.end < whole.end && !(blocked & 2) && to({set.low, set.end + 1, set.missing})) return true;
    return whole.missing && !set.missing && !(blocked & 4) && to({set.low, set.end, true});
  }
  // Around a missing value an interval of numbers grows by its neighbours, and from nothing anywhere.
  std::int32_t first = 0, last = place.states - 1;
  if (place.numbers > 0) {
    space_->for_each_range(box, member, [&](std::int32_t low, std::int32_t high) {
      if (low == place.numbers) return;
      first = low - 1;
      last = std::min(high + 1, place.numbers);
    });
  }
  bool can = false;
  for (std::size_t w = 0; w < place.words && !can; ++w) {
    const std::size_t at = place.first + w;
    for (Word rest = whole_[at] & ~box[at] & ~blocked_[at]; rest && !can; rest &= rest - 1) {
      const auto state = static_cast<std::int32_t>(w * 64) + std::countr_zero(rest);
      can = state >= first && state <= last && grows([&](Word* into) { put(into, state); });
    }
  }
  return can;
}

}  // namespace quia
