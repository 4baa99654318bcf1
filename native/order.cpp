#include "order.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace quia {

Decomposition decompose(const SetTable& clauses) {
  Decomposition result;
  std::vector<Word> forced(clauses.words, 0);
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (size_of(clauses.row(i), clauses.words) == 1)
      for (std::size_t w = 0; w < clauses.words; ++w) forced[w] |= clauses.row(i)[w];
  for_each_member(forced.data(), clauses.words,
                  [&](std::size_t member) { result.forced.push_back(static_cast<std::uint32_t>(member)); });

  std::vector<std::uint32_t> leader(clauses.universe);
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](std::uint32_t member) {
    while (leader[member] != member) member = leader[member] = leader[leader[member]];
    return member;
  };
  std::vector<std::uint32_t> first_member(clauses.size(), UINT32_MAX);
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    if (meets(clauses.row(i), forced.data(), clauses.words)) continue;
    for_each_member(clauses.row(i), clauses.words, [&](std::size_t member) {
      if (first_member[i] == UINT32_MAX) first_member[i] = static_cast<std::uint32_t>(member);
      const std::uint32_t a = find(first_member[i]), b = find(static_cast<std::uint32_t>(member));
      leader[std::max(a, b)] = std::min(a, b);
    });
  }
  std::vector<std::uint32_t> place(clauses.universe, UINT32_MAX);
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    if (first_member[i] == UINT32_MAX) continue;
    const std::uint32_t head = find(first_member[i]);
    place[head] = 0;  // mark; numbered below in ascending order
  }
  for (std::uint32_t member = 0; member < clauses.universe; ++member) {
    const std::uint32_t head = find(member);
    if (place[head] == UINT32_MAX) continue;
    if (head == member) {
      place[head] = static_cast<std::uint32_t>(result.components.size());
      result.components.emplace_back();
    }
    result.components[place[head]].members.push_back(member);
  }
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (first_member[i] != UINT32_MAX)
      result.components[place[find(first_member[i])]].clauses.push_back(static_cast<std::uint32_t>(i));
  return result;
}

namespace {

class Force {
 public:
  Force(const SetTable& table, const Component& component) : size_(component.members.size()), edges_of_(size_) {
    std::vector<std::uint32_t> place(table.universe, 0);
    for (std::size_t k = 0; k < size_; ++k) place[component.members[k]] = static_cast<std::uint32_t>(k);
    for (const std::uint32_t clause : component.clauses) {
      const auto edge = static_cast<std::uint32_t>(edges_.size());
      edges_.emplace_back();
      for_each_member(table.row(clause), table.words, [&](std::size_t member) {
        edges_.back().push_back(place[member]);
        edges_of_[place[member]].push_back(edge);
      });
    }
  }

  // Iterates from a start while the cost falls; order and its cost are left in the arguments.
  std::uint64_t improve(std::vector<std::uint32_t>& order, Budget& budget) const {
    std::vector<std::int64_t> position(size_), centre(edges_.size()), pull(size_);
    std::uint64_t best = cost(order);
    std::vector<std::uint32_t> trial = order;
    int stale = 0;
    for (int round = 0; round < 200 && stale < 12; ++round) {
      budget.check();
      for (std::size_t k = 0; k < size_; ++k) position[trial[k]] = static_cast<std::int64_t>(k) << 16;
      for (std::size_t e = 0; e < edges_.size(); ++e) {
        std::int64_t sum = 0;
        for (const std::uint32_t v : edges_[e]) sum += position[v];
        centre[e] = sum / static_cast<std::int64_t>(edges_[e].size());
      }
      for (std::size_t v = 0; v < size_; ++v) {
        std::int64_t sum = 0;
        for (const std::uint32_t e : edges_of_[v]) sum += centre[e];
        pull[v] = edges_of_[v].empty() ? position[v] : sum / static_cast<std::int64_t>(edges_of_[v].size());
      }
      std::stable_sort(trial.begin(), trial.end(), [&](std::uint32_t a, std::uint32_t b) { return pull[a] < pull[b]; });
      const std::uint64_t reached = cost(trial);
      if (reached < best) {
        best = reached;
        order = trial;
        stale = 0;
      } else {
        ++stale;
      }
    }
    return best;
  }

  std::size_t size() const { return size_; }
  const std::vector<std::vector<std::uint32_t>>& edges() const { return edges_; }

  // Breadth first over shared clauses, from one member: a start that already has locality.
  std::vector<std::uint32_t> breadth_first(std::uint32_t from) const {
    std::vector<std::uint32_t> order{from};
    std::vector<std::uint8_t> seen(size_, 0);
    seen[from] = 1;
    for (std::size_t k = 0; k < order.size(); ++k)
      for (const std::uint32_t e : edges_of_[order[k]])
        for (const std::uint32_t v : edges_[e])
          if (!seen[v]) {
            seen[v] = 1;
            order.push_back(v);
          }
    for (std::uint32_t v = 0; v < size_; ++v)
      if (!seen[v]) order.push_back(v);
    return order;
  }

 private:
  // Total span of the clauses: the sum, over the places between variables, of the clauses that cross there.
  std::uint64_t cost(const std::vector<std::uint32_t>& order) const {
    std::vector<std::uint32_t> position(size_);
    for (std::size_t k = 0; k < size_; ++k) position[order[k]] = static_cast<std::uint32_t>(k);
    std::uint64_t total = 0;
    for (const auto& edge : edges_) {
      std::uint32_t low = UINT32_MAX, high = 0;
      for (const std::uint32_t v : edge) {
        low = std::min(low, position[v]);
        high = std::max(high, position[v]);
      }
      total += high - low;
    }
    return total;
  }

  std::size_t size_;
  std::vector<std::vector<std::uint32_t>> edges_, edges_of_;
};

// Moves members one by one to where the widest places get narrower, until none does. Total span counts a clause the
// same wherever it crosses; but a diagram grows exponentially with the clauses that cross one place, and that is what
// the weights stand for. Complexity: a round is cubic in the members.
class Refinement {
 public:
  static constexpr std::size_t most_members = 400;
  explicit Refinement(const Force& force)
      : force_(force), position_(force.size()), crossing_(force.size()), own_(force.size()) {}

  void run(std::vector<std::uint32_t>& order, Budget& budget) {
    if (force_.size() < 3 || force_.size() > most_members) return;
    bool moved = true;
    for (int round = 0; round < 6 && moved; ++round) {
      moved = false;
      const std::vector<std::uint32_t> turns = order;
      for (const std::uint32_t member : turns) {
        budget.check();
        const std::size_t place = take_out(order, member);
        std::size_t best_place = place;
        std::uint64_t best = cost_at(place);
        for (std::size_t other = 0; other < force_.size(); ++other) {
          const std::uint64_t cost = cost_at(other);
          if (cost >= best) continue;
          best = cost;
          best_place = other;
        }
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(best_place), member);
        moved = moved || best_place != place;
      }
    }
  }

 private:
  // Leaves the others in `order`, and what crosses between them; gives the member's place.
  std::size_t take_out(std::vector<std::uint32_t>& order, std::uint32_t member) {
    const auto at = std::find(order.begin(), order.end(), member);
    const auto place = static_cast<std::size_t>(at - order.begin());
    order.erase(at);
    for (std::size_t k = 0; k < order.size(); ++k) position_[order[k]] = static_cast<std::uint32_t>(k);
    std::fill(crossing_.begin(), crossing_.end(), 0);
    with_.clear();
    for (const auto& edge : force_.edges()) {
      Stretch others{UINT32_MAX, 0};
      bool has_member = false;
      for (const std::uint32_t v : edge) {
        if (v == member) {
          has_member = true;
          continue;
        }
        others.low = std::min(others.low, position_[v]);
        others.high = std::max(others.high, position_[v]);
      }
      if (has_member) {
        with_.push_back(others);
      } else {
        ++crossing_[others.low];
        --crossing_[others.high];
      }
    }
    for (std::size_t k = 1; k < crossing_.size(); ++k) crossing_[k] += crossing_[k - 1];
    widest_ = *std::max_element(crossing_.begin(), crossing_.end());
    return place;
  }

  // With the member before the place's other member: its clauses reach there too, and it splits the gap it comes into.
  std::uint64_t cost_at(std::size_t place) {
    std::fill(own_.begin(), own_.end(), 0);
    for (const Stretch& others : with_) {
      ++own_[std::min<std::size_t>(others.low, place)];
      --own_[others.high >= place ? others.high + 1 : place];
    }
    std::uint64_t total = 0;
    std::int32_t here = 0;
    for (std::size_t k = 0; k + 1 < own_.size(); ++k) {
      here += own_[k];
      const std::int32_t others = k < place ? crossing_[k] : k == 0 ? 0 : crossing_[k - 1];
      total += weight(here + others - widest_);
    }
    return total;
  }

  // 2^(0.4 · excess) in whole numbers, which are the same on every machine.
  static std::uint64_t weight(std::int32_t excess) {
    constexpr std::int32_t reach = 90;
    static const auto table = [] {
      std::array<std::uint64_t, 2 * reach + 1> made{16, 21, 28, 37, 49};
      for (std::size_t k = 5; k < made.size(); ++k)
        made[k] = std::min<std::uint64_t>(made[k - 5] * 4, std::uint64_t(1) << 52);
      return made;
    }();
    return table[static_cast<std::size_t>(std::clamp(excess + reach, 0, 2 * reach))];
  }

  struct Stretch {
    std::uint32_t low, high;  // places of a clause's first and last member but for the one taken out
  };
  const Force& force_;
  std::vector<std::uint32_t> position_;
  std::vector<std::int32_t> crossing_, own_;  // clauses between a place and the next: without the member, with it
  std::vector<Stretch> with_;
  std::int32_t widest_ = 0;
};

}  // namespace

std::vector<std::vector<std::uint32_t>> orders(const SetTable& clauses, const Component& component, std::size_t starts,
                                               bool refined, Budget& budget) {
  const Force force(clauses, component);
  const std::size_t size = component.members.size();
  struct Found {
    std::uint64_t cost;
    std::vector<std::uint32_t> order;
  };
  std::vector<Found> found;
  const auto attempt = [&](std::vector<std::uint32_t> order) {
    const std::uint64_t cost = force.improve(order, budget);
    found.push_back({cost, std::move(order)});
  };
  std::vector<std::uint32_t> natural(size);
  std::iota(natural.begin(), natural.end(), 0);
  attempt(natural);
  if (starts > 1) {
    const std::vector<std::uint32_t> spread = force.breadth_first(0);
    attempt(spread);
    attempt(force.breadth_first(spread.back()));
  }
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  while (found.size() < starts) {
    std::vector<std::uint32_t> shuffled = natural;
    for (std::size_t k = size; k-- > 1;) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::swap(shuffled[k], shuffled[(state >> 33) % (k + 1)]);
    }
    attempt(std::move(shuffled));
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.cost < b.cost; });
  std::vector<std::vector<std::uint32_t>> result;
  Refinement refinement(force);
  for (Found& one : found) {
    if (refined) refinement.run(one.order, budget);
    for (std::uint32_t& v : one.order) v = component.members[v];
    result.push_back(std::move(one.order));
  }
  return result;
}

}  // namespace quia
