#include "separators.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "randomness.hpp"

namespace quia {

namespace {

// A variable's two ends: flow goes in at its entry, through it, and out at its exit.
constexpr std::size_t entry = 0, exit = 1;
constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max(), source = nobody - 1;
constexpr std::int64_t unlimited = std::int64_t{1} << 60;

constexpr double hot = 0.15;  // so much longer may an order become at once in the beginning; in the end not at all
constexpr std::size_t longest_row = 3;

std::size_t end_of(std::size_t variable, std::size_t side) { return 2 * variable + side; }

void fault(const std::string& what) { throw std::invalid_argument("the variables " + what); }

}  // namespace

struct Separators::Flow {
  std::vector<std::int64_t> through, along;  // each variable; each edge, from exit to entry
};

Separators::Separators(const VariablesArrays& arrays)
    : start_(arrays.start.begin(), arrays.start.end()), neighbour_(arrays.neighbour.begin(), arrays.neighbour.end()),
      sizes_(arrays.sizes.begin(), arrays.sizes.end()), costs_(arrays.costs.begin(), arrays.costs.end()),
      is_feature_(arrays.is_feature.begin(), arrays.is_feature.end()) {
  if (start_.size() != sizes_.size() + 1 || costs_.size() != sizes_.size() || is_feature_.size() != sizes_.size() ||
      arrays.start.front() != 0 || !std::is_sorted(arrays.start.begin(), arrays.start.end()) ||
      start_.back() != neighbour_.size())
    fault("have arrays whose lengths do not fit together");
  for (const std::int32_t count : sizes_)
    if (count < 1) fault("have one without a state");
  for (const std::int64_t cost : costs_)
    if (cost < 0 || cost > unlimited) fault("have a cost that is negative or too large");
  back_.resize(neighbour_.size());
  for (std::size_t a = 0; a < size(); ++a)
    for (std::size_t edge = start_[a]; edge < start_[a + 1]; ++edge) {
      const std::int32_t b = neighbour_[edge];
      if (b < 0 || static_cast<std::size_t>(b) >= size() || static_cast<std::size_t>(b) == a ||
          (edge > start_[a] && neighbour_[edge - 1] >= b))
        fault("have neighbours that are not other ones, ascending");
      const auto first = neighbour_.begin() + static_cast<std::ptrdiff_t>(start_[static_cast<std::size_t>(b)]);
      const auto last = neighbour_.begin() + static_cast<std::ptrdiff_t>(start_[static_cast<std::size_t>(b) + 1]);
      const auto found = std::lower_bound(first, last, static_cast<std::int32_t>(a));
      if (found == last || *found != static_cast<std::int32_t>(a)) fault("have a neighbour of which they are none");
      back_[edge] = static_cast<std::size_t>(found - neighbour_.begin());
    }
}

std::int64_t Separators::room(std::size_t from, std::size_t to, std::size_t edge, const Flow& flow) const {
  if (from / 2 == to / 2) return from % 2 == entry ? costs_[from / 2] - flow.through[from / 2] : flow.through[from / 2];
  return from % 2 == exit ? unlimited : flow.along[back_[edge]];
}

std::size_t Separators::search(std::span<const std::int32_t> observed, const Flow& flow, std::vector<std::size_t>& came,
                               std::vector<std::size_t>& by) const {
  came.assign(2 * size(), nobody);
  by.assign(2 * size(), 0);
  std::vector<std::uint8_t> is_observed(size());
  std::vector<std::size_t> waiting;
  for (const std::int32_t variable : observed) {
    const auto place = static_cast<std::size_t>(variable);
    is_observed[place] = 1;
    came[end_of(place, entry)] = source;
    waiting.push_back(end_of(place, entry));
  }
  for (std::size_t next = 0; next < waiting.size(); ++next) {
    const std::size_t here = waiting[next], place = here / 2, side = here % 2;
    if (side == exit && is_feature_[place] && !is_observed[place]) return here;
    const auto visit = [&](std::size_t there, std::size_t edge) {
      if (came[there] != nobody || room(here, there, edge, flow) <= 0) return;
      came[there] = here;
      by[there] = edge;
      waiting.push_back(there);
    };
    visit(end_of(place, 1 - side), 0);
    for (std::size_t edge = start_[place]; edge < start_[place + 1]; ++edge)
      visit(end_of(static_cast<std::size_t>(neighbour_[edge]), 1 - side), edge);
  }
  return nobody;
}

Cut Separators::least(std::span<const std::int32_t> observed) const {
  for (const std::int32_t variable : observed)
    if (variable < 0 || static_cast<std::size_t>(variable) >= size()) fault("have no such one to be observed");
  Flow flow{std::vector<std::int64_t>(size()), std::vector<std::int64_t>(neighbour_.size())};
  std::vector<std::size_t> came, by;
  while (true) {
    const std::size_t end = search(observed, flow, came, by);
    if (end == nobody) break;
    std::int64_t most = unlimited;
    for (std::size_t there = end; came[there] != source; there = came[there])
      most = std::min(most, room(came[there], there, by[there], flow));
    for (std::size_t there = end; came[there] != source; there = came[there]) {
      const std::size_t here = came[there];
      if (here / 2 == there / 2)
        flow.through[here / 2] += here % 2 == entry ? most : -most;
      else if (here % 2 == exit)
        flow.along[by[there]] += most;
      else
        flow.along[back_[by[there]]] -= most;
    }
  }
  Cut cut;
  for (std::size_t place = 0; place < size(); ++place) {
    if (came[end_of(place, entry)] == nobody) continue;
    cut.left.push_back(static_cast<std::int32_t>(place));
    if (came[end_of(place, exit)] == nobody) cut.separator.push_back(static_cast<std::int32_t>(place));
  }
  return cut;
}

namespace {

// How long the messages along orders are. The width after a set of features is kept by a random number of that set.
class Lengths {
 public:
  Lengths(const Separators& separators, std::span<const std::int32_t> features, double most_messages)
      : separators_(separators), most_messages_(most_messages), numbers_(separators.size()) {
    Randomness randomness{1};
    for (const std::int32_t feature : features) {
      numbers_[static_cast<std::size_t>(feature)] = randomness.next();
      every_feature_ ^= numbers_[static_cast<std::size_t>(feature)];
    }
  }

  std::size_t cuts() const { return widths_.size(); }

  double of(std::span<const std::int32_t> order, Budget& budget) {
    double total = 0, messages = 1;
    std::uint64_t set = 0;
    for (std::size_t count = 1; count <= order.size(); ++count) {
      const auto feature = static_cast<std::size_t>(order[count - 1]);
      set ^= numbers_[feature];
      messages = std::min(messages * separators_.sizes()[feature], most_messages_);
      total += messages * (set == every_feature_ ? 1 : width(set, order.first(count), budget));
    }
    return total;
  }

 private:
  double width(std::uint64_t set, std::span<const std::int32_t> observed, Budget& budget) {
    const auto [found, is_new] = widths_.try_emplace(set, 1.0);
    if (is_new) {
      budget.step(256);
      for (const std::int32_t variable : separators_.least(observed).separator)
        found->second *= separators_.sizes()[static_cast<std::size_t>(variable)];
    }
    return found->second;
  }

  const Separators& separators_;
  const double most_messages_;
  std::vector<std::uint64_t> numbers_;
  std::uint64_t every_feature_ = 0;
  std::unordered_map<std::uint64_t, double> widths_;
};

}  // namespace

std::vector<std::int32_t> shake(const Separators& separators, std::span<const std::int32_t> order,
                                const Shaking& shaking, Budget& budget) {
  std::vector<std::int32_t> here(order.begin(), order.end());
  std::vector<std::uint8_t> is_met(separators.size());
  for (const std::int32_t feature : here) {
    if (feature < 0 || static_cast<std::size_t>(feature) >= separators.size() || !separators.is_feature(feature) ||
        is_met[static_cast<std::size_t>(feature)])
      throw std::invalid_argument("the order is not one of features");
    is_met[static_cast<std::size_t>(feature)] = 1;
  }
  if (here.size() < 2) return here;
  Lengths lengths(separators, here, shaking.most_messages);
  std::vector<std::int32_t> there(here.rbegin(), here.rend());
  double length = lengths.of(here, budget);
  if (const double backwards = lengths.of(there, budget); backwards < length) {
    here.swap(there);
    length = backwards;
  }
  std::vector<std::int32_t> best = here;
  double shortest = length;
  Randomness randomness{0};
  const auto draw = [&](std::size_t below) { return static_cast<std::size_t>(randomness.next() % below); };
  for (std::size_t tries = 0; tries < shaking.most_cuts && lengths.cuts() < shaking.most_cuts; ++tries) {
    budget.step();
    there = here;
    const std::size_t first = draw(there.size());
    const std::size_t count = std::min(draw(2) ? std::size_t{1} : 1 + draw(longest_row), there.size() - first);
    const auto begin = there.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<std::int32_t> row(begin, begin + static_cast<std::ptrdiff_t>(count));
    there.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
    there.insert(there.begin() + static_cast<std::ptrdiff_t>(draw(there.size() + 1)), row.begin(), row.end());
    const double longer = lengths.of(there, budget);
    const double left = 1 - static_cast<double>(lengths.cuts()) / static_cast<double>(shaking.most_cuts);
    const double chance = static_cast<double>(draw(1024)) / 1024;
    if (longer > length * (1 + hot * left * chance)) continue;
    here.swap(there);
    length = longer;
    if (length < shortest) {
      best = here;
      shortest = length;
    }
  }
  return best;
}

}  // namespace quia
