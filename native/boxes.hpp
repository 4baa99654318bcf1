// Boxes over the members of a reason: for each member a set of its states, in a row of words.
//
// Any set is a row of bits. Where people read intervals, the set of a numeric variable is one interval of its number
// states, which *missing* (the state after them) may join: a word, whatever the number of states.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"
#include "sets.hpp"

namespace quia {

// Throws std::invalid_argument unless the members are variables of the graph, ascending, known and not frozen.
void check_members(const Graph& graph, const Question& question, std::span<const std::int32_t> members);
// Throws std::invalid_argument unless each variable has so many number states and at most one other; 0: any states.
void check_numbers(const Graph& graph, std::span<const std::int32_t> numbers);

// Number states low … end-1, and maybe missing.
struct Interval {
  std::int32_t low = 0, end = 0;
  bool missing = false;

  static Interval unpack(Word word) {
    return {static_cast<std::int32_t>(word & 0x7fffffff), static_cast<std::int32_t>(word >> 32), (word >> 31 & 1) != 0};
  }
  // Sets without a number are alike.
  Word pack() const {
    const Word numbers =
        low < end ? Word(static_cast<std::uint32_t>(low)) | Word(static_cast<std::uint32_t>(end)) << 32 : Word(0);
    return numbers | Word(missing) << 31;
  }
  bool has_numbers() const { return low < end; }
};

// Calls visit(w, bits) for each word that has a state from low to high, with the bits of those states.
template <class Visit>
void for_each_word(std::int32_t low, std::int32_t high, Visit visit) {
  const std::int32_t first = low >> 6, last = high >> 6;
  for (std::int32_t w = first; w <= last; ++w)
    visit(w,
          (w == first ? ~Word(0) << (low & 63) : ~Word(0)) & (w == last ? ~Word(0) >> (63 - (high & 63)) : ~Word(0)));
}
inline void put_range(Word* set, std::int32_t low, std::int32_t high) {
  for_each_word(low, high, [&](std::int32_t w, Word bits) { set[w] |= bits; });
}

// How the boxes of a reason are laid out, and what can be done to a member's set.
class BoxSpace {
 public:
  struct Place {
    std::int32_t variable;
    std::int32_t states;
    std::int32_t numbers;     // how many of its first states are numbers whose sets must be intervals; 0: none
    bool is_interval;         // kept as an interval, else as bits
    std::uint32_t first, words;
  };

  // `own`: boxes with the instance in them. Then an interval has its number in it; around a missing value it may lie
  // anywhere, so that sets are gathered and parted in the end.
  void lay_out(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
               const std::int32_t* numbers, bool own);

  std::size_t size() const { return places_.size(); }
  std::size_t words() const { return words_; }
  const Place& place(std::size_t member) const { return places_[member]; }

  void fill(Word* box) const;
  // Whether the member's set has a state that the edge takes.
  bool meets(const Word* box, std::size_t member, const Graph& graph, const Graph::Edge& edge) const {
    const Place& place = places_[member];
    const Word* set = box + place.first;
    if (place.is_interval) {
      const Interval interval = Interval::unpack(*set);
      if (edge.low < interval.end && edge.high >= interval.low && interval.has_numbers()) return true;
      if (edge.more < 0) return interval.missing && edge.high >= place.numbers;
    } else if (edge.low == edge.high) {
      if (has(set, static_cast<std::size_t>(edge.low))) return true;
      if (edge.more < 0) return false;
    }
    return meets_any(set, place, graph, edge);
  }
  // Takes what the edge takes from the member's set, which keeps the instance's state and stays an interval if it is one.
  void remove(Word* box, std::size_t member, const Graph& graph, const Graph::Edge& edge, std::int32_t own) const;
  // Calls visit() with each largest part of the box that the edge takes, put into `part`.
  template <class Visit>
  void for_each_part(const Word* box, Word* part, std::size_t member, const Graph& graph, const Graph::Edge& edge,
                     Visit visit) const;
  // Puts a state into the member's set, next to its interval if it is one.
  void put_state(Word* box, std::size_t member, std::int32_t state) const;
  bool is_within(const Word* inner, const Word* outer) const;
  // The box in which both are, into `common`; false if there is none.
  bool intersect(const Word* one, const Word* other, Word* common) const;
  // Calls visit() with each largest box whose set of the member is covered by both, put into `united`, other members' by each.
  template <class Visit>
  void for_each_consensus(const Word* one, const Word* other, std::size_t member, Word* united, Visit visit) const;
  // Calls visit(low, high) for each range of the member's states, in order, none next to another.
  template <class Visit>
  void for_each_range(const Word* box, std::size_t member, Visit visit) const;

 private:
  bool meets_any(const Word* set, const Place& place, const Graph& graph, const Graph::Edge& edge) const;
  bool intersect(const Place& place, const Word* one, const Word* other, Word* common) const;

  std::vector<Place> places_;
  std::size_t words_ = 0;
};

// A table of boxes, one row of words each.
struct BoxTable {
  std::size_t words = 0, count = 0;
  std::vector<Word> bits;

  void reset(std::size_t width) {
    words = width;
    count = 0;
    bits.clear();
  }
  const Word* row(std::size_t i) const { return bits.data() + i * words; }
  Word* row(std::size_t i) { return bits.data() + i * words; }
  void add(const Word* box) {
    bits.insert(bits.end(), box, box + words);
    ++count;
  }
  void remove(std::size_t i) {  // the last takes its place
    --count;
    if (i != count) std::copy_n(row(count), words, row(i));
    bits.resize(count * words);
  }
};

// Adds the box unless one of the table has all of it; drops those that it has all of. Returns whether it was added.
bool add_maximal(BoxTable& table, const BoxSpace& space, const Word* box, Budget& budget);

// Boxes as ranges of states: box k has the ranges start[k * m + i] … start[k * m + i + 1] - 1 of its i-th of m members.
struct Ranges {
  std::size_t boxes = 0;
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> low, high;

  void clear() {
    boxes = 0;
    start.assign(1, 0);
    low.clear();
    high.clear();
  }
};

// The first boxes of a table, widest first: by the product of the numbers of states, then by the states themselves.
class WidestFirst {
 public:
  void list(const BoxTable& table, const BoxSpace& space, std::size_t limit, Ranges& into);

 private:
  Ranges unsorted_;
  std::vector<std::uint32_t> order_;
  std::vector<Word> points_;
};

template <class Visit>
void BoxSpace::for_each_part(const Word* box, Word* part, std::size_t member, const Graph& graph,
                             const Graph::Edge& edge, Visit visit) const {
  const Place& place = places_[member];
  std::copy_n(box, words_, part);
  Word* set = part + place.first;
  if (!place.is_interval) {
    std::fill_n(set, place.words, 0);
    graph.for_each_range(edge, [&](std::int32_t low, std::int32_t high) { put_range(set, low, high); });
    Word some = 0;
    for (std::size_t w = 0; w < place.words; ++w) some |= set[w] &= box[place.first + w];
    if (some) visit();
    return;
  }
  const Interval whole = Interval::unpack(box[place.first]);
  bool missing = false;
  graph.for_each_range(edge, [&](std::int32_t, std::int32_t high) { missing |= high >= place.numbers; });
  missing &= whole.missing;
  Interval run{0, 0, missing};
  bool found = false;
  const auto emit = [&] {
    if (!run.has_numbers()) return;
    found = true;
    *set = run.pack();
    visit();
  };
  graph.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
    const std::int32_t first = std::max(low, whole.low), end = std::min(high + 1, whole.end);
    if (first >= end) return;
    if (run.has_numbers() && first == run.end) {  // a label may have ranges next to each other
      run.end = end;
      return;
    }
    emit();
    run.low = first;
    run.end = end;
  });
  emit();
  if (!found && missing) {
    *set = Interval{0, 0, true}.pack();
    visit();
  }
}

template <class Visit>
void BoxSpace::for_each_consensus(const Word* one, const Word* other, std::size_t member, Word* united,
                                  Visit visit) const {
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (i != member && !intersect(places_[i], one, other, united)) return;
  const Place& place = places_[member];
  Word* set = united + place.first;
  if (!place.is_interval) {
    for (std::size_t w = 0; w < place.words; ++w) set[w] = one[place.first + w] | other[place.first + w];
    visit();
    return;
  }
  const Interval a = Interval::unpack(one[place.first]), b = Interval::unpack(other[place.first]);
  const bool missing = a.missing || b.missing;
  if (a.has_numbers() && b.has_numbers() && a.low <= b.end && b.low <= a.end) {
    *set = Interval{std::min(a.low, b.low), std::max(a.end, b.end), missing}.pack();
    visit();
    return;
  }
  if (a.has_numbers() && b.missing) {
    *set = Interval{a.low, a.end, true}.pack();
    visit();
  }
  if (b.has_numbers() && a.missing) {
    *set = Interval{b.low, b.end, true}.pack();
    visit();
  }
}

template <class Visit>
void BoxSpace::for_each_range(const Word* box, std::size_t member, Visit visit) const {
  const Place& place = places_[member];
  const Word* set = box + place.first;
  if (place.is_interval) {
    const Interval interval = Interval::unpack(*set);
    const bool joined = interval.missing && interval.has_numbers() && interval.end == place.numbers;
    if (interval.has_numbers()) visit(interval.low, joined ? place.numbers : interval.end - 1);
    if (interval.missing && !joined) visit(place.numbers, place.numbers);
    return;
  }
  std::int32_t low = -1;
  for (std::size_t w = 0; w < place.words; ++w) {
    const auto base = static_cast<std::int32_t>(w * 64);
    Word rest = set[w];
    if (low >= 0) {  // a run comes from the word before
      if (rest == ~Word(0)) continue;
      const int more = std::countr_one(rest);
      visit(low, base + more - 1);
      low = -1;
      rest &= ~Word(0) << more;
    }
    while (rest) {
      const int first = std::countr_zero(rest);
      const int end = first + std::countr_one(rest >> first);
      if (end == 64) {
        low = base + first;
        break;
      }
      visit(base + first, base + end - 1);
      rest &= ~Word(0) << end;
    }
  }
  if (low >= 0) visit(low, static_cast<std::int32_t>(place.words * 64) - 1);
}

}  // namespace quia
