#include "boxes.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

#include "natural.hpp"

namespace quia {

void check_members(const Graph& graph, const Question& question, std::span<const std::int32_t> members) {
  const auto fault = [](std::int32_t member, const char* what) {
    throw std::invalid_argument("member " + std::to_string(member) + what);
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::int32_t member = members[i];
    if (member < 0 || static_cast<std::size_t>(member) >= graph.variable_count())
      fault(member, " is no variable of the graph");
    if (i > 0 && members[i - 1] >= member) fault(member, " is not in ascending order");
    if (question.states[member] < 0) fault(member, " is unknown, so no reason has it");
    if (question.states[member] >= graph.state_counts()[member]) fault(member, " is in a state that it does not have");
    if (question.is_frozen(member)) fault(member, " is frozen, so no reason has it");
  }
}

void check_numbers(const Graph& graph, std::span<const std::int32_t> numbers) {
  if (numbers.size() < graph.variable_count())
    throw std::invalid_argument("numbers has " + std::to_string(numbers.size()) + " entries; it needs " +
                                std::to_string(graph.variable_count()));
  for (std::size_t v = 0; v < graph.variable_count(); ++v) {
    const std::int32_t states = graph.state_counts()[v];
    if (numbers[v] != 0 && (numbers[v] < 0 || numbers[v] > states || numbers[v] < states - 1))
      throw std::invalid_argument("variable " + std::to_string(v) + " has " + std::to_string(states) +
                                  " states, which " + std::to_string(numbers[v]) +
                                  " numbers and at most one more cannot be");
  }
}

void BoxSpace::lay_out(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
                       const std::int32_t* numbers, bool own) {
  places_.clear();
  words_ = 0;
  for (const std::int32_t variable : members) {
    Place place{};
    place.variable = variable;
    place.states = graph.state_counts()[variable];
    place.numbers = numbers ? numbers[variable] : 0;
    place.is_interval = place.numbers > 0 && (!own || question.states[variable] < place.numbers);
    place.first = static_cast<std::uint32_t>(words_);
    place.words = place.is_interval ? 1 : static_cast<std::uint32_t>(words_for(place.states));
    words_ += place.words;
    places_.push_back(place);
  }
}

void BoxSpace::fill(Word* box) const {
  for (const Place& place : places_) {
    Word* set = box + place.first;
    if (place.is_interval) {
      *set = Interval{0, place.numbers, place.states > place.numbers}.pack();
    } else {
      std::fill_n(set, place.words, 0);
      put_range(set, 0, place.states - 1);
    }
  }
}

bool BoxSpace::meets_any(const Word* set, const Place& place, const Graph& graph, const Graph::Edge& edge) const {
  bool met = false;
  if (place.is_interval) {
    const Interval interval = Interval::unpack(*set);
    graph.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
      met |= std::max(low, interval.low) < std::min(high + 1, interval.end);
      met |= interval.missing && high >= place.numbers;
    });
    return met;
  }
  graph.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
    for_each_word(low, high, [&](std::int32_t w, Word bits) { met |= (set[w] & bits) != 0; });
  });
  return met;
}

void BoxSpace::remove(Word* box, std::size_t member, const Graph& graph, const Graph::Edge& edge,
                      std::int32_t own) const {
  const Place& place = places_[member];
  Word* set = box + place.first;
  if (place.is_interval) {
    Interval interval = Interval::unpack(*set);
    graph.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
      if (high >= place.numbers) interval.missing = false;
      if (high < own) interval.low = std::max(interval.low, high + 1);
      if (low > own) interval.end = std::min(interval.end, low);
    });
    *set = interval.pack();
    return;
  }
  graph.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
    for_each_word(low, high, [&](std::int32_t w, Word bits) { set[w] &= ~bits; });
  });
}

void BoxSpace::put_state(Word* box, std::size_t member, std::int32_t state) const {
  const Place& place = places_[member];
  Word* set = box + place.first;
  if (!place.is_interval) return put(set, state);
  Interval interval = Interval::unpack(*set);
  if (state == place.numbers) interval.missing = true;
  if (state + 1 == interval.low) interval.low = state;
  if (state == interval.end && state < place.numbers) interval.end = state + 1;
  *set = interval.pack();
}

bool BoxSpace::is_within(const Word* inner, const Word* outer) const {
  for (const Place& place : places_) {
    const Word *in = inner + place.first, *out = outer + place.first;
    if (!place.is_interval) {
      if (!is_subset(in, out, place.words)) return false;
      continue;
    }
    const Interval a = Interval::unpack(*in), b = Interval::unpack(*out);
    if (a.missing && !b.missing) return false;
    if (a.has_numbers() && (a.low < b.low || a.end > b.end)) return false;
  }
  return true;
}

bool BoxSpace::intersect(const Place& place, const Word* one, const Word* other, Word* common) const {
  Word* set = common + place.first;
  if (!place.is_interval) {
    Word some = 0;
    for (std::size_t w = 0; w < place.words; ++w) some |= set[w] = one[place.first + w] & other[place.first + w];
    return some != 0;
  }
  const Interval a = Interval::unpack(one[place.first]), b = Interval::unpack(other[place.first]);
  *set = Interval{std::max(a.low, b.low), std::min(a.end, b.end), a.missing && b.missing}.pack();
  return *set != 0;
}

bool BoxSpace::intersect(const Word* one, const Word* other, Word* common) const {
  for (const Place& place : places_)
    if (!intersect(place, one, other, common)) return false;
  return true;
}

bool add_maximal(BoxTable& table, const BoxSpace& space, const Word* box, Budget& budget) {
  budget.step(1 + table.count * table.words / 64);
  for (std::size_t i = 0; i < table.count; ++i)
    if (space.is_within(box, table.row(i))) return false;
  for (std::size_t i = table.count; i-- > 0;)
    if (space.is_within(table.row(i), box)) table.remove(i);
  table.add(box);
  return true;
}

namespace {

// Ascending lists of states, compared as such; each is given by its ranges.
int compare_states(const Ranges& ranges, std::size_t a, std::size_t b, std::size_t members) {
  for (std::size_t i = 0; i < members; ++i) {
    std::int64_t x = ranges.start[a * members + i], y = ranges.start[b * members + i];
    const std::int64_t x_end = ranges.start[a * members + i + 1], y_end = ranges.start[b * members + i + 1];
    for (; x < x_end && y < y_end; ++x, ++y) {
      if (ranges.low[x] != ranges.low[y]) return ranges.low[x] < ranges.low[y] ? -1 : 1;
      // The one that ends here goes on beyond the other's next state, if at all.
      if (ranges.high[x] < ranges.high[y]) return x + 1 == x_end ? -1 : 1;
      if (ranges.high[x] > ranges.high[y]) return y + 1 == y_end ? 1 : -1;
    }
    if (x < x_end || y < y_end) return y < y_end ? -1 : 1;
  }
  return 0;
}

Limb states_of(const Ranges& ranges, std::size_t set) {
  Limb states = 0;
  for (std::int64_t r = ranges.start[set]; r < ranges.start[set + 1]; ++r)
    states += static_cast<Limb>(ranges.high[r] - ranges.low[r] + 1);
  return states;
}

// How many points the box has; false if a limb cannot count them.
bool count_points(const Ranges& ranges, std::size_t box, std::size_t members, Limb& points) {
  points = 1;
  for (std::size_t i = box * members; i < (box + 1) * members; ++i) {
    const Limb states = states_of(ranges, i);
    if (points > ~Limb(0) / states) return false;
    points *= states;
  }
  return true;
}
Natural count_many_points(const Ranges& ranges, std::size_t box, std::size_t members) {
  Natural product(1);
  for (std::size_t i = box * members; i < (box + 1) * members; ++i) product = product * Natural(states_of(ranges, i));
  return product;
}

void append(Ranges& into, const Ranges& from, std::size_t box, std::size_t members) {
  for (std::size_t i = box * members; i < (box + 1) * members; ++i) {
    const auto first = from.start[i], end = from.start[i + 1];
    into.low.insert(into.low.end(), from.low.begin() + first, from.low.begin() + end);
    into.high.insert(into.high.end(), from.high.begin() + first, from.high.begin() + end);
    into.start.push_back(static_cast<std::int64_t>(into.low.size()));
  }
  ++into.boxes;
}

void append(Ranges& into, const BoxTable& table, const BoxSpace& space) {
  for (std::size_t box = 0; box < table.count; ++box)
    for (std::size_t i = 0; i < space.size(); ++i) {
      space.for_each_range(table.row(box), i, [&](std::int32_t low, std::int32_t high) {
        into.low.push_back(low);
        into.high.push_back(high);
      });
      into.start.push_back(static_cast<std::int64_t>(into.low.size()));
    }
  into.boxes += table.count;
}

}  // namespace

void WidestFirst::list(const BoxTable& table, const BoxSpace& space, std::size_t limit, Ranges& into) {
  into.clear();
  if (limit == 0) return;
  if (table.count < 2) return append(into, table, space);
  unsorted_.clear();
  append(unsorted_, table, space);
  order_.resize(table.count);
  std::iota(order_.begin(), order_.end(), 0u);
  const auto sort_by = [&](const auto& width, auto compare_widths) {
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int wider = compare_widths(width[a], width[b]);
      return wider != 0 ? wider > 0 : compare_states(unsorted_, a, b, space.size()) < 0;
    });
  };
  points_.resize(table.count);
  bool fits = true;
  for (std::size_t box = 0; box < table.count && fits; ++box)
    fits = count_points(unsorted_, box, space.size(), points_[box]);
  if (fits) {
    sort_by(points_, [](Limb a, Limb b) { return a < b ? -1 : static_cast<int>(a > b); });
  } else {
    std::vector<Natural> points;
    points.reserve(table.count);
    for (std::size_t box = 0; box < table.count; ++box)
      points.push_back(count_many_points(unsorted_, box, space.size()));
    sort_by(points, [](const Natural& a, const Natural& b) { return compare(a, b); });
  }
  order_.resize(std::min(limit, order_.size()));
  for (const std::uint32_t box : order_) append(into, unsorted_, box, space.size());
}

}  // namespace quia
