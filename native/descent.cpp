#include "descent.hpp"

#include <algorithm>
#include <cmath>

namespace quia {

Descent::Descent(const Ensemble& ensemble)
    : ensemble_(&ensemble), words_((ensemble.variable_count() + 63) / 64), asked_(ensemble.tree_count() * words_) {}

std::int32_t Descent::walk(std::size_t tree) {
  std::uint64_t* const asked = asked_.data() + tree * words_;
  std::fill_n(asked, words_, std::uint64_t(0));
  std::int32_t at = ensemble_->root(tree);
  while (ensemble_->node(at).variable >= 0) {
    const Ensemble::Node& node = ensemble_->node(at);
    asked[node.variable / 64] |= std::uint64_t(1) << (node.variable % 64);
    at = ensemble_->says_yes(node, point_[node.variable]) ? node.yes : node.no;
  }
  return ensemble_->node(at).yes;
}

void Descent::start(const Mix& mix, std::span<const std::int32_t> point) {
  mix_ = mix;
  point_.assign(point.begin(), point.end());
  sum_ = mix.constant;
  for (std::size_t tree = 0; tree < ensemble_->tree_count(); ++tree)
    if (mix.concerns(*ensemble_, tree)) sum_ += mix.of(*ensemble_, tree, walk(tree));
}

void Descent::take(std::int32_t variable, const Move& move) {
  point_[variable] = move.state;
  sum_ = move.sum;
  for (const std::int32_t tree : ensemble_->trees_of(variable))
    if (asks(tree, variable) && mix_.concerns(*ensemble_, tree)) walk(tree);
}

void Descent::back_to(std::span<const std::int32_t> point, double sum) {
  point_.assign(point.begin(), point.end());
  sum_ = sum;
  for (std::size_t tree = 0; tree < ensemble_->tree_count(); ++tree)
    if (mix_.concerns(*ensemble_, tree)) walk(tree);
}

// What all trees that ask about a variable add for each of its states.
void Descent::find_changes(std::int32_t variable, std::span<const StateSpan> allowed) {
  const std::int32_t now = point_[variable];
  change_.assign(static_cast<std::size_t>(ensemble_->state_counts()[variable]) + 1, 0.0);
  for (const std::int32_t tree : ensemble_->trees_of(variable)) {
    if (!asks(tree, variable) || !mix_.concerns(*ensemble_, tree)) continue;
    arena_.assign(allowed.begin(), allowed.end());
    // Where it is now counts too, even if it is not allowed: what it costs is what others are compared with.
    bool is_allowed = false;
    for (const StateSpan& span : allowed) is_allowed |= now >= span.low && now <= span.high;
    if (!is_allowed) arena_.push_back({now, now});
    parts_.assign(1, {ensemble_->root(tree), 0, static_cast<std::uint32_t>(arena_.size())});
    while (!parts_.empty()) {
      Part here = parts_.back();
      parts_.pop_back();
      for (;;) {
        const Ensemble::Node& node = ensemble_->node(here.node);
        if (node.variable < 0) {
          const double value = mix_.of(*ensemble_, tree, node.yes);
          for (std::uint32_t i = 0; i < here.count; ++i) {
            const StateSpan& span = arena_[here.first + i];
            change_[span.low] += value;
            change_[span.high + 1] -= value;
          }
          break;
        }
        if (node.variable != variable) {
          here.node = ensemble_->says_yes(node, point_[node.variable]) ? node.yes : node.no;
          continue;
        }
        part(*ensemble_, node, {arena_.data() + here.first, here.count}, yes_, no_);
        if (no_.empty() || yes_.empty()) {
          here.node = no_.empty() ? node.yes : node.no;
          continue;
        }
        const auto first = static_cast<std::uint32_t>(arena_.size());
        arena_.insert(arena_.end(), yes_.begin(), yes_.end());
        arena_.insert(arena_.end(), no_.begin(), no_.end());
        parts_.push_back(
            {node.no, static_cast<std::uint32_t>(first + yes_.size()), static_cast<std::uint32_t>(no_.size())});
        here = {node.yes, first, static_cast<std::uint32_t>(yes_.size())};
      }
    }
  }
  for (std::size_t state = 1; state < change_.size(); ++state) change_[state] += change_[state - 1];
}

const std::vector<double>& Descent::sums_by_state(std::int32_t variable, std::span<const StateSpan> allowed) {
  find_changes(variable, allowed);
  const double others = sum_ - change_[point_[variable]];
  for (double& change : change_) change += others;
  return change_;
}

Descent::Move Descent::best_move(std::int32_t variable, std::span<const StateSpan> allowed) {
  const std::int32_t now = point_[variable];
  find_changes(variable, allowed);
  Move best{now, sum_};
  double least = change_[now];
  for (const StateSpan& span : allowed)
    for (std::int32_t state = span.low; state <= span.high; ++state)
      if (change_[state] < least) {
        least = change_[state];
        best = {state, sum_ + (least - change_[now])};
      }
  return best;
}

void Descent::descend(std::span<const std::int32_t> variables, const Domain& domain, double limit, Budget& budget) {
  std::size_t unchanged = 0;
  for (std::size_t i = 0; unchanged < variables.size() && sum_ > limit; i = (i + 1) % variables.size()) {
    const std::int32_t variable = variables[i];
    const Move move = best_move(variable, domain.of(variable));
    budget.step(ensemble_->trees_of(variable).size());
    // Less than rounding errors is no gain: it could go on forever.
    if (move.state != point_[variable] && move.sum < sum_ - 1e-9 * (1 + std::abs(sum_))) {
      take(variable, move);
      unchanged = 1;
    } else {
      ++unchanged;
    }
  }
}

}  // namespace quia
