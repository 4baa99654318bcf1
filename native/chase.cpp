#include "chase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quia {

namespace {

constexpr std::size_t kicked_at_once = 3;

}  // namespace

Chase::Chase(const Ensemble& ensemble, const Way& way)
    : ensemble_(ensemble), way_(way), descents_(way.needs.size(), Descent(ensemble)) {}

void Chase::start(std::span<const std::int32_t> point) {
  for (std::size_t i = 0; i < descents_.size(); ++i) descents_[i].start(way_.needs[i], point);
}

double Chase::worst() const {
  double most = -std::numeric_limits<double>::infinity();
  for (const Descent& descent : descents_) most = std::max(most, descent.sum());
  return most;
}

void Chase::take(std::int32_t variable, std::int32_t state) {
  const StateSpan only{state, state};
  for (Descent& descent : descents_) {
    const double sum = descent.sums_by_state(variable, {&only, 1})[state];
    descent.take(variable, {state, sum});
  }
}

bool Chase::descend(std::span<const std::int32_t> variables, const Domain& box, Budget& budget) {
  double now = worst();
  std::size_t unchanged = 0;
  for (std::size_t i = 0; now > 0 && unchanged < variables.size(); i = (i + 1) % variables.size()) {
    const std::int32_t variable = variables[i];
    greatest_.assign(ensemble_.state_counts()[variable], -std::numeric_limits<double>::infinity());
    for (Descent& descent : descents_) {
      const std::vector<double>& sums = descent.sums_by_state(variable, box.of(variable));
      budget.step(ensemble_.trees_of(variable).size());
      for (std::size_t state = 0; state < greatest_.size(); ++state)
        greatest_[state] = std::max(greatest_[state], sums[state]);
    }
    std::int32_t best = point()[variable];
    for (const StateSpan& span : box.of(variable))
      for (std::int32_t state = span.low; state <= span.high; ++state)
        if (greatest_[state] < greatest_[best]) best = state;
    ++unchanged;
    // Less than rounding errors is no gain: it could go on forever.
    if (best == point()[variable] || greatest_[best] >= now - 1e-9 * (1 + std::abs(now))) continue;
    take(variable, best);
    now = worst();
    unchanged = 1;
  }
  return now <= 0;
}

void Chase::kick(std::span<const std::int32_t> variables, const Domain& box) {
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(randomness_.next() % count); };
  for (std::size_t i = 0; i < kicked_at_once && !variables.empty(); ++i) {
    const std::int32_t variable = variables[below(variables.size())];
    const auto spans = box.of(variable);
    const StateSpan& span = spans[below(spans.size())];
    take(variable, span.low + static_cast<std::int32_t>(below(static_cast<std::size_t>(span.high - span.low) + 1)));
  }
}

}  // namespace quia
