#include "threshold.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "algebra.hpp"

namespace quia {

namespace {

constexpr std::int64_t least = INT64_MIN, greatest = INT64_MAX;
constexpr std::size_t bytes_a_node = 96;  // of a map's entry, about

// A diagram of the levels from some level on, and the limits for which it is the one.
struct Part {
  NodeId node;
  std::int64_t first, last;
};

std::int64_t shifted(std::int64_t limit, std::int64_t loss) {
  return limit == least || limit == greatest ? limit : limit + loss;
}

enum class Form : std::uint8_t { function, minimal };

// The sets whose losses add up to more than a limit: limits that no sum tells apart share a node. As a function it is a
// BDD. Where losses descend, a set is minimal if it was not above the limit before its last loss, the smallest: then
// the same nodes are a ZDD of the minimal sets.
class Sums {
 public:
  Sums(std::vector<std::int64_t> losses, Form form, Algebra& algebra, Budget& budget)
      : losses_(std::move(losses)), rest_(losses_.size() + 1, 0), known_(losses_.size()), form_(form),
        algebra_(algebra), budget_(budget) {
    for (std::size_t level = losses_.size(); level-- > 0;) rest_[level] = rest_[level + 1] + losses_[level];
  }

  Part above(std::int64_t limit) {
    if (settle(0, limit)) return result_;
    std::vector<Frame> stack{{0, limit, 0, {}}};
    while (!stack.empty()) {
      budget_.step();
      Frame& frame = stack.back();
      const std::uint32_t next = frame.level + 1;
      if (frame.stage < 2) {
        if (frame.stage == 1) frame.low = result_;
        const std::int64_t left = frame.stage == 0 ? frame.left : frame.left - losses_[frame.level];
        ++frame.stage;
        if (!settle(next, left)) stack.push_back({next, left, 0, {}});
      } else {
        join(frame);
        stack.pop_back();
      }
    }
    return result_;
  }

 private:
  struct Frame {
    std::uint32_t level;
    std::int64_t left;  // of the limit
    std::uint8_t stage;
    Part low;
  };
  struct Known {
    std::int64_t last;
    NodeId node;
  };

  // Whether the diagram is known; then it is the result.
  bool settle(std::uint32_t level, std::int64_t left) {
    if (left < 0) {
      result_ = {unit, least, -1};
      return true;
    }
    if (rest_[level] <= left) {
      result_ = {none, rest_[level], greatest};
      return true;
    }
    const auto after = known_[level].upper_bound(left);
    if (after == known_[level].begin()) return false;
    const auto& [first, known] = *std::prev(after);
    if (known.last < left) return false;
    result_ = {known.node, first, known.last};
    return true;
  }

  void join(const Frame& frame) {
    const std::int64_t loss = losses_[frame.level];
    const Part &low = frame.low, high = result_;
    NodeTable& table = algebra_.table();
    const NodeId node = form_ == Form::minimal ? table.make_zdd(frame.level, low.node, high.node)
                                               : table.make_bdd(frame.level, low.node, high.node);
    const std::int64_t first = std::max(low.first, shifted(high.first, loss));
    const std::int64_t last = std::min(low.last, shifted(high.last, loss));
    known_[frame.level].emplace(first, Known{last, node});
    budget_.reserve(++count_ * bytes_a_node + table.bytes());
    result_ = {node, first, last};
  }

  std::vector<std::int64_t> losses_, rest_;             // per level; the sum from it on
  std::vector<std::map<std::int64_t, Known>> known_;    // per level, by the first limit
  std::size_t count_ = 0;
  Form form_;
  Algebra& algebra_;
  Budget& budget_;
  Part result_{};
};

// The variables with the greatest share of their sums first: what they leave open is little.
std::vector<std::uint32_t> by_share(const Thresholds& thresholds) {
  std::vector<double> share(thresholds.variables.size(), 0);
  for (const auto& losses : thresholds.losses) {
    const double total = std::accumulate(losses.begin(), losses.end(), 0.0);
    for (std::size_t i = 0; i < losses.size() && total > 0; ++i) share[i] += static_cast<double>(losses[i]) / total;
  }
  std::vector<std::uint32_t> order(share.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return share[a] > share[b]; });
  return order;
}

}  // namespace

std::optional<Family> minimal_sets(const Thresholds& thresholds, Meets meets, Budget& budget) {
  const std::vector<std::uint32_t> order = by_share(thresholds);
  Algebra algebra(budget);
  const Form form = thresholds.limits.size() == 1 ? Form::minimal : Form::function;
  NodeId root = meets == Meets::any || form == Form::minimal ? none : unit;
  for (std::size_t k = 0; k < thresholds.limits.size(); ++k) {
    std::vector<std::int64_t> losses(order.size());
    for (std::size_t level = 0; level < order.size(); ++level) losses[level] = thresholds.losses[k][order[level]];
    const std::int64_t limit = thresholds.limits[k], band = thresholds.bands[k];
    const Part part = Sums(std::move(losses), form, algebra, budget).above(limit);
    if (limit - band < part.first || limit + band > part.last) return std::nullopt;
    if (form == Form::minimal)
      root = part.node;
    else if (meets == Meets::any)
      root = algebra.minimal_union(root, algebra.minimal_models(part.node));
    else
      root = algebra.conjoin(root, part.node);
  }
  if (meets == Meets::all && form == Form::function) root = algebra.minimal_models(root);
  return Family(thresholds.variables, freeze(algebra.table(), root, order, order.size()), true);
}

namespace {

// By depth first, for one length after the other. A choice is left if what is still to be chosen cannot bring the sum
// above the limit, or takes it above even without the smallest loss.
class ThresholdListing : public Listing {
 public:
  ThresholdListing(std::vector<std::int64_t> losses, std::int64_t limit, std::int64_t band, Budget& budget)
      : losses_(std::move(losses)), above_(limit - band), at_most_(limit + band), set_(words_for(losses_.size()), 0) {
    const std::size_t places = losses_.size() + 1;
    budget.reserve(places * places * 2 * sizeof(std::int64_t));
    most_.assign(places * places, 0);
    fewest_.assign(places * places, 0);
    std::vector<std::int64_t> ascending;
    for (std::size_t place = losses_.size(); place-- > 0;) {
      budget.step(places);
      ascending.insert(std::upper_bound(ascending.begin(), ascending.end(), losses_[place]), losses_[place]);
      const std::size_t known = ascending.size();
      for (std::size_t i = 0; i < known; ++i) {
        fewest_[place * places + i + 1] = fewest_[place * places + i] + ascending[i];
        most_[place * places + i + 1] = most_[place * places + i] + ascending[known - 1 - i];
      }
    }
    is_empty_in_ = above_ < 0;
  }

  const Word* next(Budget& budget) override {
    if (is_empty_in_) {
      is_empty_in_ = false;
      if (at_most_ < 0) length_ = losses_.size();  // there is no other
      return set_.data();
    }
    while (true) {
      if (stack_.empty() && !begin_length()) return nullptr;
      while (!stack_.empty()) {
        budget.step();
        Choice& last = stack_.back();
        const std::size_t missing = length_ - stack_.size();
        if (last.place + missing >= losses_.size()) {
          stack_.pop_back();
          if (!stack_.empty()) ++stack_.back().place;
          continue;
        }
        const Sum with{last.before.total + losses_[last.place], std::min(last.before.smallest, losses_[last.place])};
        if (!is_open(with, last.place + 1, missing)) {
          ++last.place;
        } else if (missing == 0) {
          std::fill(set_.begin(), set_.end(), 0);
          for (const Choice& choice : stack_) put(set_.data(), choice.place);
          ++last.place;
          return set_.data();
        } else {
          stack_.push_back({last.place + 1, with});
        }
      }
    }
  }

 private:
  struct Sum {
    std::int64_t total, smallest;
  };
  struct Choice {
    std::size_t place;
    Sum before;  // of the choices before it
  };

  // Whether so many more losses from a place on can make the sum one of a minimal set.
  bool is_open(const Sum& sum, std::size_t from, std::size_t more) const {
    const std::size_t at = from * (losses_.size() + 1) + more;
    return sum.total + most_[at] > above_ && sum.total + fewest_[at] - sum.smallest <= at_most_;
  }

  bool begin_length() {
    if (++length_ > losses_.size()) return false;
    stack_.push_back({0, {0, greatest}});
    return true;
  }

  std::vector<std::int64_t> losses_;
  std::int64_t above_, at_most_;
  std::vector<std::int64_t> most_, fewest_;  // [place, n]: the sum of the n greatest, smallest losses from a place on
  std::vector<Choice> stack_;
  std::vector<Word> set_;
  std::size_t length_ = 0;
  bool is_empty_in_ = false;
};

}  // namespace

std::unique_ptr<Listing> list_minimal_sets(const Thresholds& thresholds, Budget& budget) {
  return std::make_unique<ThresholdListing>(thresholds.losses.front(), thresholds.limits.front(),
                                            thresholds.bands.front(), budget);
}

}  // namespace quia
