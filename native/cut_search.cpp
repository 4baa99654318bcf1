#include "cut_search.hpp"

#include <algorithm>
#include <limits>

namespace quia {

namespace {

double extent(const BoxSpace& space, const Word* box, std::size_t member) {
  double states = 0;
  space.for_each_range(box, member, [&](std::int32_t low, std::int32_t high) { states += high - low + 1; });
  return states;
}

}  // namespace

void CutSearch::start(const Graph& graph, const BoxSpace& space, std::span<const std::int32_t> own,
                      std::span<const Word> whole) {
  graph_ = &graph;
  space_ = &space;
  own_.assign(own.begin(), own.end());
  whole_.assign(whole.begin(), whole.end());
  has_parts_ = false;
  for (std::size_t i = 0; i < space.size(); ++i)
    has_parts_ |= space.place(i).numbers > 0 && !space.place(i).is_interval;
  cuts_.clear();
  masks_.clear();
  clauses_.clear();
  has_atoms_ = false;
  branches_.clear();
}

// ---- clauses ----

void CutSearch::learn(std::span<const Leaving> edges) {
  Clause clause{static_cast<std::uint32_t>(cuts_.size()), 0};
  const std::size_t masks = masks_.size();
  for (const Leaving& leaving : edges) make_cut(leaving);
  clause.end = static_cast<std::uint32_t>(cuts_.size());
  for (const Clause& known : clauses_)
    if (dominates(known, clause)) {
      cuts_.resize(clause.first);
      masks_.resize(masks);
      return;
    }
  if (branches_.empty()) std::erase_if(clauses_, [&](const Clause& known) { return dominates(clause, known); });
  clauses_.push_back(clause);
  has_atoms_ = false;
}

void CutSearch::make_cut(const Leaving& leaving) {
  const BoxSpace::Place& place = space_->place(leaving.member);
  Cut cut{leaving.member, {0, std::numeric_limits<std::int32_t>::max(), false}, masks_.size()};
  if (place.is_interval) {
    const std::int32_t own = own_[leaving.member];
    graph_->for_each_range(*leaving.edge, [&](std::int32_t low, std::int32_t high) {
      cut.kept.missing |= high >= place.numbers;
      if (high < own) cut.kept.low = std::max(cut.kept.low, high + 1);
      if (low > own) cut.kept.end = std::min(cut.kept.end, low);
    });
  } else {
    masks_.resize(masks_.size() + place.words, 0);
    Word* mask = masks_.data() + cut.mask;
    graph_->for_each_range(*leaving.edge, [&](std::int32_t low, std::int32_t high) { put_range(mask, low, high); });
    for (std::size_t w = 0; w < place.words; ++w) mask[w] &= whole_[place.first + w];
  }
  cuts_.push_back(cut);
}

// Both of one member: what is cut by the narrow one is cut by the wide one.
bool CutSearch::covers(const Cut& wide, const Cut& narrow) const {
  const BoxSpace::Place& place = space_->place(wide.member);
  if (!place.is_interval) return is_subset(masks_.data() + narrow.mask, masks_.data() + wide.mask, place.words);
  return wide.kept.low >= narrow.kept.low && wide.kept.end <= narrow.kept.end &&
         (wide.kept.missing || !narrow.kept.missing);
}

// Whether keeping the one is keeping the other, too. Cuts come by member.
bool CutSearch::dominates(const Clause& one, const Clause& other) const {
  if (one.end - one.first > other.end - other.first) return false;
  std::uint32_t at = other.first;
  for (std::uint32_t i = one.first; i < one.end; ++i) {
    while (at < other.end && cuts_[at].member < cuts_[i].member) ++at;
    if (at == other.end || cuts_[at].member != cuts_[i].member || !covers(cuts_[i], cuts_[at])) return false;
  }
  return true;
}

// ---- atoms ----

void CutSearch::make_atoms() {
  has_atoms_ = true;
  atoms_.clear();
  classes_.clear();
  steps_.clear();
  set_cuts_.clear();
  for (const Clause& clause : clauses_) make_steps(clause);
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
    return a.member != b.member ? a.member < b.member : a.side != b.side ? a.side < b.side : a.order < b.order;
  });
  std::sort(set_cuts_.begin(), set_cuts_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return cuts_[a].member < cuts_[b].member; });
  // As many atoms as there may be, so that rows are wide enough; of sets they may be more.
  words_ = words_for(steps_.size());
  cut_atoms_.assign(cuts_.size() * words_, 0);
  std::size_t first = 0;  // of the chain of steps
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const bool is_new_chain = i == 0 || steps_[i - 1].member != step.member || steps_[i - 1].side != step.side;
    if (is_new_chain) first = atoms_.size();
    if (is_new_chain || steps_[i - 1].order != step.order) {
      const Interval whole = Interval::unpack(whole_[space_->place(step.member).first]);
      const std::int32_t before = !is_new_chain            ? atoms_.back().threshold
                                  : step.side == Side::low ? whole.low
                                                           : whole.end;
      const double weight = step.side == Side::missing ? 1 : std::abs(static_cast<double>(step.threshold) - before);
      atoms_.push_back({step.member, step.side, step.threshold, 0, weight});
    }
    for (std::size_t atom = first; atom < atoms_.size(); ++atom) put(row(cut_atoms_, step.cut), atom);
  }
  if (!set_cuts_.empty()) make_classes();
  if (!branches_.empty()) remake_branches();
}

void CutSearch::make_steps(const Clause& clause) {
  for (std::uint32_t i = clause.first; i < clause.end; ++i) {
    const Cut& cut = cuts_[i];
    const BoxSpace::Place& place = space_->place(cut.member);
    if (!place.is_interval) {
      set_cuts_.push_back(i);
      continue;
    }
    const Interval whole = Interval::unpack(whole_[place.first]);
    if (cut.kept.low > whole.low) steps_.push_back({cut.member, Side::low, cut.kept.low, cut.kept.low, i});
    if (cut.kept.end < whole.end) steps_.push_back({cut.member, Side::end, -cut.kept.end, cut.kept.end, i});
    if (cut.kept.missing && whole.missing) steps_.push_back({cut.member, Side::missing, 0, 0, i});
  }
}

// The states of each member with sets in classes, those in the same cuts together.
void CutSearch::make_classes() {
  const std::size_t before = atoms_.size();
  for (std::size_t i = 0; i < set_cuts_.size();) {
    const std::int32_t member = cuts_[set_cuts_[i]].member;
    const std::size_t words = space_->place(member).words, first = classes_.size();
    for (; i < set_cuts_.size() && cuts_[set_cuts_[i]].member == member; ++i) {
      part_.assign(masks_.begin() + static_cast<std::ptrdiff_t>(cuts_[set_cuts_[i]].mask),
                   masks_.begin() + static_cast<std::ptrdiff_t>(cuts_[set_cuts_[i]].mask + words));
      for (std::size_t at = first, end = classes_.size(); at < end; at += words) {
        if (!meets(classes_.data() + at, part_.data(), words)) continue;
        if (!is_subset(classes_.data() + at, part_.data(), words)) {
          classes_.resize(classes_.size() + words);
          for (std::size_t w = 0; w < words; ++w) {
            classes_[classes_.size() - words + w] = classes_[at + w] & ~part_[w];
            classes_[at + w] &= part_[w];
          }
        }
        for (std::size_t w = 0; w < words; ++w) part_[w] &= ~classes_[at + w];
      }
      if (!is_empty(part_.data(), words)) classes_.insert(classes_.end(), part_.begin(), part_.end());
    }
    for (std::size_t at = first; at < classes_.size(); at += words)
      atoms_.push_back({member, Side::states, 0, at, static_cast<double>(size_of(classes_.data() + at, words))});
  }
  const std::size_t narrow = words_, wide = words_for(atoms_.size());
  if (wide > narrow) {
    part_.assign(cuts_.size() * wide, 0);
    for (std::size_t i = 0; i < cuts_.size(); ++i) std::copy_n(row(cut_atoms_, i), narrow, part_.data() + i * wide);
    cut_atoms_.swap(part_);
    words_ = wide;
  }
  for (const std::uint32_t cut : set_cuts_)
    for (std::size_t i = before; i < atoms_.size(); ++i)
      if (atoms_[i].member == cuts_[cut].member &&
          meets(classes_.data() + atoms_[i].states, masks_.data() + cuts_[cut].mask,
                space_->place(atoms_[i].member).words))
        put(row(cut_atoms_, cut), i);
}

// What the branches have made, in the atoms that there are now.
void CutSearch::remake_branches() {
  made_.assign(branches_.size() * words_, 0);
  keepers_.resize(branches_.size() * clauses_.size());
  for (std::size_t depth = 0; depth < branches_.size(); ++depth) {
    Word* made = row(made_, depth);
    if (depth > 0)
      for (std::size_t w = 0; w < words_; ++w) made[w] = made[w - words_] | row(cut_atoms_, branches_[depth].cut)[w];
    for (std::size_t i = 0; i < clauses_.size(); ++i) keepers_[depth * clauses_.size() + i] = keeper(made, clauses_[i]);
  }
}

std::uint32_t CutSearch::keeper(const Word* made, const Clause& clause) const {
  std::uint32_t kept = by_none;
  for (std::uint32_t i = clause.first; i < clause.end; ++i)
    if (is_made(made, i)) kept = kept == by_none ? i : by_several;
  return kept;
}

void CutSearch::to_box(const Word* made, Word* box) const {
  std::copy(whole_.begin(), whole_.end(), box);
  for_each_member(made, words_, [&](std::size_t i) {
    const Atom& atom = atoms_[i];
    const BoxSpace::Place& place = space_->place(atom.member);
    Word* set = box + place.first;
    if (atom.side == Side::states) {
      for (std::size_t w = 0; w < place.words; ++w) set[w] &= ~classes_[atom.states + w];
      return;
    }
    Interval interval = Interval::unpack(*set);
    if (atom.side == Side::low) interval.low = std::max(interval.low, atom.threshold);
    if (atom.side == Side::end) interval.end = std::min(interval.end, atom.threshold);
    if (atom.side == Side::missing) interval.missing = false;
    *set = interval.pack();
  });
}

// ---- the search ----

std::size_t CutSearch::bytes() const {
  return (cut_atoms_.size() + made_.size() * 2 + masks_.size()) * sizeof(Word) + sizes_.size() * 2 * sizeof(double) +
         keepers_.size() * 2 * sizeof(std::uint32_t) + options_.size() * 2 * sizeof(Option) +
         branches_.size() * 2 * sizeof(Branch) + cuts_.size() * sizeof(Cut);
}

void CutSearch::run(std::size_t limit, const Refute& refute, BoxTable& found, Budget& budget) {
  limit_ = limit;
  best_.clear();
  threshold_ = 0;
  options_.clear();
  barred_.clear();
  box_.resize(space_->words());
  grown_.resize(space_->words());
  branches_.assign(1, {1, 0, 0, 0, 0, 0, false});
  sizes_.resize(space_->size());
  for (std::size_t i = 0; i < space_->size(); ++i) sizes_[i] = extent(*space_, whole_.data(), i);
  make_atoms();
  while (!branches_.empty()) {
    if (!branches_.back().is_open) open(refute, found, budget);
    Branch& branch = branches_.back();
    if (branch.next == branch.option_end || is_too_narrow(options_[branch.next].share)) {
      options_.resize(branch.option);
      barred_.resize(branch.barred);
      branches_.pop_back();
      made_.resize(branches_.size() * words_);
      keepers_.resize(branches_.size() * clauses_.size());
      sizes_.resize(branches_.size() * space_->size());
      continue;
    }
    budget.step(1 + clauses_.size() / 16);
    budget.reserve(bytes() + found.bits.size() * sizeof(Word));
    if (branch.next > branch.option) barred_.push_back(options_[branch.next - 1].cut);
    descend(options_[branch.next++]);
  }
}

// Makes a cut of the last branch.
void CutSearch::descend(const Option& option) {
  const std::size_t depth = branches_.size(), members = space_->size(), clauses = clauses_.size();
  const std::int32_t member = cuts_[option.cut].member;
  sizes_.resize((depth + 1) * members);
  made_.resize((depth + 1) * words_);
  keepers_.resize((depth + 1) * clauses);
  double* sizes = sizes_.data() + depth * members;
  std::copy_n(sizes - members, members, sizes);
  Word* made = row(made_, depth);
  const Word *above = made - words_, *cut = row(cut_atoms_, option.cut);
  sizes[member] = left_after(above, sizes, option.cut);
  for (std::size_t w = 0; w < words_; ++w) made[w] = above[w] | cut[w];
  std::uint32_t* keepers = keepers_.data() + depth * clauses;
  for (std::size_t i = 0; i < clauses; ++i) {
    std::uint32_t kept = keepers[i - clauses];
    if (kept != by_several)
      for (std::uint32_t k = clauses_[i].first; k < clauses_[i].end; ++k)
        if (cuts_[k].member == member && k != kept && is_made(made, k)) kept = kept == by_none ? k : by_several;
    keepers[i] = kept;
  }
  const auto options = static_cast<std::uint32_t>(options_.size());
  branches_.push_back(
      {option.share, option.cut, options, options, options, static_cast<std::uint32_t>(barred_.size()), false});
}

// How many states the cut leaves its member.
double CutSearch::left_after(const Word* made, const double* sizes, std::uint32_t cut) const {
  double left = sizes[cuts_[cut].member];
  const Word* atoms = row(cut_atoms_, cut);
  for (std::size_t w = 0; w < words_; ++w)
    for (Word rest = atoms[w] & ~made[w]; rest; rest &= rest - 1)
      left -= atoms_[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))].weight;
  return left;
}

void CutSearch::open(const Refute& refute, BoxTable& found, Budget& budget) {
  const std::size_t depth = branches_.size() - 1;
  branches_[depth].is_open = true;
  const auto keepers = [&] { return keepers_.data() + depth * clauses_.size(); };
  const auto keeps_all = [&] {
    return std::find(keepers(), keepers() + clauses_.size(), by_none) == keepers() + clauses_.size();
  };
  bool is_found = keeps_all();
  if (is_found && refute) {
    to_box(row(made_, depth), box_.data());
    if (refute(box_.data())) {
      make_atoms();
      is_found = false;
    }
  }
  if (!refute && !has_parts_ && is_hopeless(row(made_, depth), keepers())) return;
  if (is_found)
    find(refute, found, budget);
  else
    choose(branches_[depth], row(made_, depth), keepers(), sizes_.data() + depth * space_->size());
}

// Whether an atom was made that no clause needs, nor will: what is found below is not maximal.
bool CutSearch::is_hopeless(const Word* made, const std::uint32_t* keepers) {
  needed_.assign(words_, 0);
  for (std::size_t i = 0; i < clauses_.size(); ++i) {
    if (keepers[i] == by_several) continue;
    const bool is_kept = keepers[i] != by_none;
    const std::uint32_t first = is_kept ? keepers[i] : clauses_[i].first, end = is_kept ? first + 1 : clauses_[i].end;
    for (std::uint32_t k = first; k < end; ++k)
      for (std::size_t w = 0; w < words_; ++w) needed_[w] |= row(cut_atoms_, k)[w];
  }
  return !is_subset(made, needed_.data(), words_);
}

// The clause whose widest option is the narrowest, and its options, the widest first.
void CutSearch::choose(Branch& branch, const Word* made, const std::uint32_t* keepers, const double* sizes) {
  double narrowest = std::numeric_limits<double>::infinity();
  std::size_t chosen = 0;
  ratios_.resize(clauses_.size());
  for (std::size_t i = 0; i < clauses_.size(); ++i) {
    if (keepers[i] != by_none) continue;
    const Clause& clause = clauses_[i];
    double widest = 0;
    for (std::uint32_t k = clause.first; k < clause.end; ++k) {
      const double ratio = left_after(made, sizes, k) / sizes[cuts_[k].member];
      if (ratio > widest && !is_barred(made, k)) widest = ratio;
    }
    ratios_[i] = widest;
    if (widest >= narrowest) continue;
    narrowest = widest;
    chosen = i;
    if (widest == 0 || is_too_narrow(widest * branch.share)) return;  // no box to be listed is here
  }
  if (threshold_ > 0) {
    // Clauses that have no member in common all narrow the box.
    const auto members = [&](const Clause& clause) {
      Word some = 0;
      for (std::uint32_t k = clause.first; k < clause.end; ++k) some |= Word(1) << (cuts_[k].member & 63);
      return some;
    };
    Word used = members(clauses_[chosen]);
    double share = branch.share * narrowest;
    for (std::size_t i = 0; i < clauses_.size(); ++i) {
      if (keepers[i] != by_none || ratios_[i] > 0.999) continue;
      const Word own = members(clauses_[i]);
      if (own & used) continue;
      used |= own;
      share *= ratios_[i];
    }
    if (is_too_narrow(share)) return;
  }
  const Clause& clause = clauses_[chosen];
  for (std::uint32_t k = clause.first; k < clause.end; ++k) {
    if (is_barred(made, k)) continue;
    const Option option{k, branch.share * left_after(made, sizes, k) / sizes[cuts_[k].member]};
    std::size_t at = options_.size();
    options_.push_back(option);
    for (; at > branch.option && options_[at - 1].share < option.share; --at) options_[at] = options_[at - 1];
    options_[at] = option;
  }
  branch.option_end = static_cast<std::uint32_t>(options_.size());
}

// Whether the cut makes another one, too, that belongs to an earlier branch.
bool CutSearch::is_barred(const Word* made, std::uint32_t cut) const {
  const Word* atoms = row(cut_atoms_, cut);
  for (const std::uint32_t other : barred_) {
    if (cuts_[other].member != cuts_[cut].member) continue;
    const Word* barred = row(cut_atoms_, other);
    bool is_made = true;
    for (std::size_t w = 0; w < words_ && is_made; ++w) is_made = (barred[w] & ~(made[w] | atoms[w])) == 0;
    if (is_made) return true;
  }
  return false;
}

// ---- what is found ----

void CutSearch::find(const Refute& refute, BoxTable& found, Budget& budget) {
  to_box(row(made_, branches_.size() - 1), box_.data());
  if (has_parts_)
    find_parts(refute, found, budget);
  else if (!refute || !can_grow(box_.data(), refute))  // with all clauses known, what could grow was hopeless
    add_found(box_.data(), found, budget);
}

// Whether a state can join a box that keeps all clauses known.
bool CutSearch::can_grow(const Word* box, const Refute& refute) {
  for (;;) {
    if (!has_atoms_) make_atoms();
    find_needed(box);
    bool is_refuted = false;  // and something was learned
    const auto grows = [&](std::size_t member, std::int32_t state) {
      if (is_refuted) return false;
      if (!refute) return true;
      std::copy_n(box, space_->words(), grown_.data());
      space_->put_state(grown_.data(), member, state);
      is_refuted = refute(grown_.data());
      return !is_refuted;
    };
    for (std::size_t member = 0; member < space_->size(); ++member)
      if (grows_along(box, member, grows)) return true;
    if (!is_refuted) return false;  // else look again, at what was learned
  }
}

// The atoms that the box has made, those of them that it needs into needed_.
void CutSearch::find_needed(const Word* box) {
  made_by_box_.assign(words_, 0);
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    const Atom& atom = atoms_[i];
    const BoxSpace::Place& place = space_->place(atom.member);
    const Interval interval = Interval::unpack(box[place.first]);
    bool is_made = false;
    switch (atom.side) {
      case Side::low: is_made = interval.low >= atom.threshold; break;
      case Side::end: is_made = interval.end <= atom.threshold; break;
      case Side::missing: is_made = !interval.missing; break;
      case Side::states: is_made = !meets(box + place.first, classes_.data() + atom.states, place.words); break;
    }
    if (is_made) put(made_by_box_.data(), i);
  }
  needed_.assign(words_, 0);
  for (const Clause& clause : clauses_)
    if (const std::uint32_t sole = keeper(made_by_box_.data(), clause); sole < by_several)
      for (std::size_t w = 0; w < words_; ++w) needed_[w] |= row(cut_atoms_, sole)[w];
}

// Calls grows(member, state) with states that no needed atom has left out, until it returns true.
template <class Grows>
bool CutSearch::grows_along(const Word* box, std::size_t member, Grows grows) const {
  const BoxSpace::Place& place = space_->place(member);
  const auto is_needed_at = [&](Side side, std::int32_t threshold) {
    for (std::size_t i = 0; i < atoms_.size(); ++i)
      if (static_cast<std::size_t>(atoms_[i].member) == member && atoms_[i].side == side &&
          atoms_[i].threshold == threshold && has(needed_.data(), i))
        return true;
    return false;
  };
  if (place.is_interval) {
    const Interval set = Interval::unpack(box[place.first]), whole = Interval::unpack(whole_[place.first]);
    if (set.low > whole.low && !is_needed_at(Side::low, set.low) && grows(member, set.low - 1)) return true;
    if (set.end < whole.end && !is_needed_at(Side::end, set.end) && grows(member, set.end)) return true;
    return whole.missing && !set.missing && !is_needed_at(Side::missing, 0) && grows(member, place.numbers);
  }
  // Around a missing value an interval of numbers grows by its neighbours, and from nothing anywhere.
  std::int32_t first = 0, last = place.states - 1;
  if (place.numbers > 0)
    space_->for_each_range(box, member, [&](std::int32_t low, std::int32_t high) {
      if (low == place.numbers) return;
      first = low - 1;
      last = high + 1;
    });
  const auto is_blocked = [&](std::int32_t state) {
    for (std::size_t i = 0; i < atoms_.size(); ++i)
      if (static_cast<std::size_t>(atoms_[i].member) == member && has(classes_.data() + atoms_[i].states, state))
        return has(needed_.data(), i);
    return false;
  };
  for (std::size_t w = 0; w < place.words; ++w)
    for (Word rest = whole_[place.first + w] & ~box[place.first + w]; rest; rest &= rest - 1) {
      const auto state = static_cast<std::int32_t>(w * 64) + std::countr_zero(rest);
      if (state >= first && state <= last && !is_blocked(state) && grows(member, state)) return true;
    }
  return false;
}

// Each choice of an interval for each numeric member that is missing; the same part may come from several boxes.
void CutSearch::find_parts(const Refute& refute, BoxTable& found, Budget& budget) {
  parts_.reset(space_->words());
  parts_.add(box_.data());
  part_.resize(space_->words());
  for (std::size_t member = 0; member < space_->size(); ++member) {
    const BoxSpace::Place& place = space_->place(member);
    if (place.numbers == 0 || place.is_interval) continue;
    more_.reset(space_->words());
    for (std::size_t i = 0; i < parts_.count; ++i) {
      std::copy_n(parts_.row(i), space_->words(), part_.data());
      Word* set = part_.data() + place.first;
      const auto add_run = [&](std::int32_t low, std::int32_t high) {
        std::fill_n(set, place.words, 0);
        if (low <= high) put_range(set, low, high);
        put(set, place.numbers);
        budget.reserve((found.bits.size() + (parts_.bits.size() + more_.bits.size()) * 2) * sizeof(Word));
        more_.add(part_.data());
      };
      bool has_numbers = false;
      space_->for_each_range(box_.data(), member, [&](std::int32_t low, std::int32_t high) {
        if (low == place.numbers) return;
        has_numbers = true;
        add_run(low, std::min(high, place.numbers - 1));
      });
      if (!has_numbers) add_run(0, -1);
    }
    std::swap(parts_, more_);
  }
  for (std::size_t i = 0; i < parts_.count; ++i) {
    budget.step(1 + found.count / 16);
    bool is_known = false;
    for (std::size_t k = 0; k < found.count && !is_known; ++k)
      is_known = equals(found.row(k), parts_.row(i), space_->words());
    if (!is_known && !can_grow(parts_.row(i), refute)) add_found(parts_.row(i), found, budget);
  }
}

void CutSearch::add_found(const Word* box, BoxTable& found, Budget& budget) {
  budget.reserve((found.bits.size() * 2 + space_->words()) * sizeof(Word) + bytes());
  found.add(box);
  if (limit_ == std::numeric_limits<std::size_t>::max()) return;
  double share = 1;
  if (has_parts_)
    for (std::size_t i = 0; i < space_->size(); ++i)
      share *= extent(*space_, box, i) / extent(*space_, whole_.data(), i);
  else
    share = branches_.back().share;
  best_.insert(std::upper_bound(best_.begin(), best_.end(), share, std::greater<>()), share);
  if (best_.size() > limit_) best_.pop_back();
  // Shares that small are not exact any more.
  if (best_.size() == limit_ && limit_ > 0) threshold_ = best_.back() < 1e-250 ? 0 : best_.back();
}

}  // namespace quia
