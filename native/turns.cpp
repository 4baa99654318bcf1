#include "turns.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace quia {

namespace {

// By how much a leaf tells the instances apart directly in the way that it takes; nothing if it does not at all.
std::optional<double> change_in(const Ensemble& ensemble, const Way& way, std::size_t tree, std::int32_t leaf) {
  const std::size_t second = ensemble.block_scores();
  std::optional<double> most;
  for (const Way::Turn& turn : way.turns) {
    const double before = ensemble.value(tree, leaf, turn.score),
                 after = ensemble.value(tree, leaf, second + turn.score);
    const bool is_turn = turn.up ? after > before : after < before;
    if (is_turn) most = std::max(most.value_or(0), turn.is_direct ? std::fabs(after - before) : 0);
  }
  return most;
}

struct Known {
  std::int32_t variable;
  std::vector<StateSpan> spans;
};

struct Open {
  std::int32_t node;
  std::vector<Known> known;
};

}  // namespace

Turns::Turns(const Ensemble& ensemble, const Way& way) : is_bounded_(!way.turns.empty()) {
  if (!is_bounded_) return;
  std::vector<StateSpan> yes, no;
  for (std::size_t tree = 0; tree < ensemble.tree_count(); ++tree) {
    if (ensemble.is_same(tree)) continue;
    std::vector<Open> work;
    work.push_back({ensemble.root(tree), {}});
    while (!work.empty()) {
      Open here = std::move(work.back());
      work.pop_back();
      const Ensemble::Node& node = ensemble.node(here.node);
      if (node.variable < 0) {
        const std::optional<double> change = change_in(ensemble, way, tree, node.yes);
        if (!change) continue;
        leaves_.push_back({bounds_.size(), here.known.size(), *change});
        for (const Known& each : here.known) {
          bounds_.push_back({each.variable, spans_.size(), each.spans.size()});
          spans_.insert(spans_.end(), each.spans.begin(), each.spans.end());
        }
        continue;
      }
      const auto known = std::find_if(here.known.begin(), here.known.end(),
                                      [&](const Known& each) { return each.variable == node.variable; });
      if (known != here.known.end()) {
        part(ensemble, node, known->spans, yes, no);
      } else {
        const StateSpan every{0, ensemble.state_counts()[node.variable] - 1};
        part(ensemble, node, {&every, 1}, yes, no);
      }
      const auto place = static_cast<std::size_t>(known - here.known.begin());
      if (place == here.known.size()) here.known.push_back({node.variable, {}});
      for (const bool is_yes : {false, true}) {
        const std::vector<StateSpan>& left = is_yes ? yes : no;
        if (left.empty()) continue;
        Open next{is_yes ? node.yes : node.no, here.known};
        next.known[place].spans = left;
        work.push_back(std::move(next));
      }
    }
  }
  std::stable_sort(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) { return a.change > b.change; });
}

bool Turns::meets(const Leaf& leaf, const Domain& box) const {
  for (std::size_t i = leaf.first_bound; i < leaf.first_bound + leaf.bound_count; ++i) {
    const Bound& bound = bounds_[i];
    bool is_met = false;
    for (const StateSpan& allowed : box.of(bound.variable))
      for (std::size_t s = bound.first_span; s < bound.first_span + bound.span_count && !is_met; ++s)
        is_met = spans_[s].low <= allowed.high && allowed.low <= spans_[s].high;
    if (!is_met) return false;
  }
  return true;
}

std::vector<StateSpan> Turns::common(std::span<const StateSpan> allowed, std::span<const StateSpan> spans) {
  std::vector<StateSpan> both;
  for (const StateSpan& one : allowed)
    for (const StateSpan& other : spans)
      if (other.low <= one.high && one.low <= other.high)
        both.push_back({std::max(one.low, other.low), std::min(one.high, other.high)});
  return both;
}

bool Turns::narrow_to(std::size_t leaf, Domain& box) const {
  if (!meets(leaves_[leaf], box)) return false;
  for (std::size_t i = 0; i < leaves_[leaf].bound_count; ++i) {
    const Bound& bound = bounds_[leaves_[leaf].first_bound + i];
    box.replace(bound.variable,
                common(box.of(bound.variable), std::span(spans_).subspan(bound.first_span, bound.span_count)));
  }
  return true;
}

bool Turns::narrow(Domain& box) const {
  if (!is_bounded_) return true;
  struct Hull {
    std::int32_t variable;
    std::vector<StateSpan> spans;
  };
  std::vector<Hull> hulls;  // of the variables that every leaf so far bounds
  bool is_first = true;
  for (const Leaf& leaf : leaves_) {
    if (!is_first && hulls.empty()) return true;
    if (!meets(leaf, box)) continue;
    const auto bounds = std::span(bounds_).subspan(leaf.first_bound, leaf.bound_count);
    if (is_first)
      for (const Bound& bound : bounds) hulls.push_back({bound.variable, {}});
    is_first = false;
    std::erase_if(hulls, [&](const Hull& hull) {
      return std::none_of(bounds.begin(), bounds.end(),
                          [&](const Bound& bound) { return bound.variable == hull.variable; });
    });
    for (const Bound& bound : bounds)
      for (Hull& hull : hulls)
        if (hull.variable == bound.variable)
          hull.spans.insert(hull.spans.end(), spans_.begin() + static_cast<std::ptrdiff_t>(bound.first_span),
                            spans_.begin() + static_cast<std::ptrdiff_t>(bound.first_span + bound.span_count));
  }
  if (is_first) return false;
  for (Hull& hull : hulls) {
    std::sort(hull.spans.begin(), hull.spans.end(),
              [](const StateSpan& a, const StateSpan& b) { return a.low < b.low; });
    std::vector<StateSpan> joined;
    for (const StateSpan& span : hull.spans) {
      if (!joined.empty() && span.low <= joined.back().high + 1)
        joined.back().high = std::max(joined.back().high, span.high);
      else
        joined.push_back(span);
    }
    box.replace(hull.variable, common(box.of(hull.variable), joined));
  }
  return true;
}

}  // namespace quia
