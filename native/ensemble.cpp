#include "ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace quia {

namespace {

void fault(const std::string& what) { throw std::invalid_argument("the ensemble " + what); }

void check_finite(std::span<const double> numbers, const char* what) {
  for (const double number : numbers)
    if (!std::isfinite(number)) fault(std::string("has ") + what + " that is not finite");
}

}  // namespace

Ensemble::Ensemble(const EnsembleArrays& arrays)
    : values_(arrays.values.begin(), arrays.values.end()), width_(arrays.width),
      state_counts_(arrays.state_counts.begin(), arrays.state_counts.end()),
      outputs_(arrays.outputs.begin(), arrays.outputs.end()), tested_(arrays.state_counts.size()),
      begin_(arrays.begin.begin(), arrays.begin.end()), end_(arrays.end.begin(), arrays.end.end()),
      group_trees_(arrays.group_trees.begin(), arrays.group_trees.end()),
      group_divisor_(arrays.group_divisor.begin(), arrays.group_divisor.end()),
      group_weight_(arrays.group_weight.begin(), arrays.group_weight.end()), divisor_(arrays.divisor),
      single_(arrays.single), rule_(static_cast<ScoreRule>(arrays.rule)), cuts_(arrays.cuts.begin(), arrays.cuts.end()),
      blocks_(arrays.blocks) {
  check(arrays);
  block_classes_ = static_cast<std::int32_t>(rule_ == ScoreRule::cuts ? cuts_.size() + 1 : begin_.size());
  if (blocks_ > 1 && block_classes_ > 10000) fault("has too many classes for pairs of them");
  class_count_ = blocks_ == 1 ? block_classes_ : block_classes_ * block_classes_;
  for (std::size_t block = 0; block < blocks_; ++block)
    for (std::size_t i = 0; i < begin_.size(); ++i) places_.push_back({static_cast<std::int32_t>(i), block});
  make_nodes(arrays);
  find_weights();
  find_rounding();
  find_trees_of();
  find_same();
}

void Ensemble::check(const EnsembleArrays& arrays) const {
  const std::size_t nodes = arrays.test.size(), trees = outputs_.size();
  if (arrays.start.size() != trees + 1 || arrays.start.front() != 0 ||
      arrays.start.back() != static_cast<std::int64_t>(nodes) || arrays.yes.size() != nodes ||
      arrays.no.size() != nodes)
    fault("has arrays of nodes whose lengths do not fit together");
  if (nodes > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) fault("has more than 2^31 nodes");
  const std::size_t tests = arrays.test_variable.size();
  if (arrays.range_start.size() != tests + 1 || arrays.range_start.front() != 0 ||
      arrays.range_start.back() != static_cast<std::int64_t>(arrays.low.size()) ||
      arrays.low.size() != arrays.high.size())
    fault("has arrays of tests whose lengths do not fit together");
  for (const auto& starts : {arrays.start, arrays.range_start})
    if (!std::is_sorted(starts.begin(), starts.end())) fault("has a part that ends before it starts");
  for (std::size_t i = 0; i < tests; ++i) {
    const std::int32_t variable = arrays.test_variable[i];
    if (variable < 0 || static_cast<std::size_t>(variable) >= state_counts_.size())
      fault("tests variable " + std::to_string(variable) + " of " + std::to_string(state_counts_.size()));
    std::int32_t before = -1;
    for (std::int64_t range = arrays.range_start[i]; range < arrays.range_start[i + 1]; ++range) {
      if (arrays.low[range] <= before || arrays.low[range] > arrays.high[range] ||
          arrays.high[range] >= state_counts_[variable])
        fault("has a range that variable " + std::to_string(variable) + " does not have, or out of order");
      before = arrays.high[range];
    }
  }
  for (const std::int32_t count : state_counts_)
    if (count < 1) fault("has a variable without a state");
  std::size_t leaves = 0;
  for (std::size_t tree = 0; tree < trees; ++tree) {
    const std::int64_t first = arrays.start[tree], end = arrays.start[tree + 1];
    if (first >= end) fault("has a tree without a node");
    std::int64_t reached = 1;
    for (std::int64_t n = first; n < end; ++n) {
      if (arrays.test[n] < 0) {
        ++leaves;
        continue;
      }
      if (static_cast<std::size_t>(arrays.test[n]) >= tests) fault("asks a test that is not there");
      for (const std::int32_t child : {arrays.yes[n], arrays.no[n]})
        if (child <= n || child >= end) fault("has a node whose child does not come after it, in the same tree");
      reached += 2;
    }
    if (reached != end - first) fault("has a tree whose nodes do not hang together");
  }
  // Each node but the root is a child once: with the count above that makes each part one tree.
  std::vector<std::uint8_t> is_child(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    if (arrays.test[n] < 0) continue;
    for (const std::int32_t child : {arrays.yes[n], arrays.no[n]}) {
      if (is_child[child]) fault("has a node with two parents");
      is_child[child] = 1;
    }
  }
  const std::size_t scores = begin_.size();
  if (blocks_ != 1 && blocks_ != 2) fault("has " + std::to_string(blocks_) + " blocks of scores");
  if (!scores || end_.size() != scores) fault("has numbers to begin and to end with that do not fit together");
  if (arrays.rule < 0 || arrays.rule > static_cast<std::int32_t>(ScoreRule::logistic)) fault("has an unknown rule");
  if ((rule_ == ScoreRule::cuts) != !cuts_.empty() || (rule_ == ScoreRule::cuts && scores != 1))
    fault("has cuts or scores that its rule does not take");
  if (!std::is_sorted(cuts_.begin(), cuts_.end())) fault("has cuts that do not ascend");
  bool is_shared = false;
  for (const std::int32_t output : outputs_) {
    if (output < -1 || output >= static_cast<std::int32_t>(scores)) fault("adds to a score that is not there");
    is_shared |= output < 0;
  }
  if (width_ != blocks_ * (is_shared ? scores : 1) || values_.size() != leaves * width_)
    fault("has " + std::to_string(values_.size()) + " values for " + std::to_string(leaves) + " leaves");
  if (is_shared && std::any_of(outputs_.begin(), outputs_.end(), [](std::int32_t output) { return output >= 0; }))
    fault("has trees for one score and trees for all of them");
  check_finite(values_, "a value");
  check_finite(begin_, "a number to begin with");
  check_finite(end_, "a number to end with");
  check_finite(cuts_, "a cut");
  std::int64_t grouped = 0;
  for (const std::int64_t count : group_trees_) {
    if (count < 1 || count > static_cast<std::int64_t>(trees)) fault("has a group of no trees, or too many");
    grouped += count;
  }
  if (!group_trees_.empty() && grouped != static_cast<std::int64_t>(trees)) fault("has groups that leave trees out");
  if (group_divisor_.size() != group_trees_.size() || group_weight_.size() != group_trees_.size())
    fault("has arrays of groups whose lengths do not fit together");
  for (const std::vector<double>* factors : {&group_divisor_, &group_weight_})
    for (const double factor : *factors)
      if (!(factor > 0) || !std::isfinite(factor)) fault("has a divisor or weight that is not above 0");
  if (!(divisor_ > 0) || !std::isfinite(divisor_)) fault("has a divisor that is not above 0");
}

void Ensemble::make_nodes(const EnsembleArrays& arrays) {
  std::vector<std::int32_t> more(arrays.test_variable.size(), -1);
  for (std::size_t i = 0; i < more.size(); ++i) {
    const std::int64_t from = arrays.range_start[i], to = arrays.range_start[i + 1];
    if (to - from < 2) continue;
    more[i] = static_cast<std::int32_t>(further_.size());
    for (std::int64_t range = from + 1; range < to; ++range)
      further_.push_back({arrays.low[range], arrays.high[range], range + 1 == to});
  }
  nodes_.reserve(arrays.test.size());
  std::int32_t leaves = 0;
  for (std::size_t n = 0; n < arrays.test.size(); ++n) {
    const std::int32_t test = arrays.test[n];
    if (test < 0) {
      nodes_.push_back({-1, 0, -1, -1, leaves++, -1});
      continue;
    }
    const std::int64_t from = arrays.range_start[test];
    const bool never = from == arrays.range_start[test + 1];
    nodes_.push_back({arrays.test_variable[test], never ? 0 : arrays.low[from], never ? -1 : arrays.high[from],
                      more[test], arrays.yes[n], arrays.no[n]});
    tested_[arrays.test_variable[test]] = 1;
  }
  for (std::size_t tree = 0; tree < outputs_.size(); ++tree)
    roots_.push_back(static_cast<std::int32_t>(arrays.start[tree]));
}

void Ensemble::find_weights() {
  const auto is_zero = [](double number) { return number == 0; };
  const bool is_plain = group_trees_.empty() && std::all_of(end_.begin(), end_.end(), is_zero);
  scale_ = rule_ == ScoreRule::argmax && is_plain ? 1 : divisor_;
  weights_.assign(outputs_.size(), 1 / scale_);
  std::size_t tree = 0;
  for (std::size_t group = 0; group < group_trees_.size(); ++group)
    for (std::int64_t i = 0; i < group_trees_[group]; ++i)
      weights_[tree++] = group_weight_[group] / group_divisor_[group] / scale_;
  // Sums of fewer than 2^10 multiples of 2^-10 below 2^6 have 26 bits: quotients of two such sums differ if they do. In 32
  // bits there is no room for that.
  short_.assign(width_ ? values_.size() / width_ : 0, 0);
  if (!is_plain || rule_ != ScoreRule::argmax || single_ || outputs_.size() >= 1024) return;
  const auto fits = [](double number) {
    return std::fabs(number) <= 64 && std::floor(number / grain) * grain == number;
  };
  if (!std::all_of(begin_.begin(), begin_.end(), fits)) return;
  for (std::size_t leaf = 0; leaf < short_.size(); ++leaf)
    short_[leaf] = std::all_of(values_.begin() + static_cast<std::ptrdiff_t>(leaf * width_),
                               values_.begin() + static_cast<std::ptrdiff_t>((leaf + 1) * width_), fits);
}

// Every addition, division and multiplication is off by at most half a unit of the last place of its result, which is
// no greater than the sum of all magnitudes: so n operations are off by n times that.
void Ensemble::find_rounding() {
  double magnitude = 0;
  for (const double number : begin_) magnitude = std::max(magnitude, std::fabs(number) / scale_);
  double last = 0;
  for (const double number : end_) last = std::max(last, std::fabs(number));
  magnitude += last;
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    double most = 0;
    const std::size_t end = end_of(tree);
    for (std::size_t n = roots_[tree]; n < end; ++n)
      if (nodes_[n].variable < 0)
        for (std::size_t i = 0; i < width_; ++i) most = std::max(most, std::fabs(values_[nodes_[n].yes * width_ + i]));
    magnitude += most * weights_[tree];
  }
  const double unit = single_ ? std::ldexp(1.0, -24) : std::ldexp(1.0, -53);
  const double operations = static_cast<double>(roots_.size() + 3 * group_trees_.size() + 4);
  const double largest = single_ ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (!(2 * magnitude * std::max(1.0, scale_) < largest)) fault("has values whose sums are beyond its numbers");
  const double smallest = single_ ? std::ldexp(1.0, -149) : std::ldexp(1.0, -1074);  // subnormal ones round to that
  rounding_ = 2 * operations * (unit * magnitude + smallest);
  // Powers and quotients near the greatest one are off by some units of the last place; what a logistic curve makes of a
  // score has less and less room below 1.
  if (rule_ == ScoreRule::softmax32) indistinct_ = 1e-6 + (single_ ? 0 : magnitude * std::ldexp(1.0, -22));
  if (rule_ == ScoreRule::softmax64) indistinct_ = 1e-14;
  if (rule_ == ScoreRule::logistic)
    indistinct_ = magnitude < 36 ? 1e-15 * std::exp(magnitude) : std::numeric_limits<double>::infinity();
}

void Ensemble::find_trees_of() {
  std::vector<std::vector<std::int32_t>> trees(state_counts_.size());
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const std::size_t end = end_of(tree);
    for (std::size_t n = roots_[tree]; n < end; ++n) {
      if (nodes_[n].variable < 0) continue;
      std::vector<std::int32_t>& have = trees[nodes_[n].variable];
      if (have.empty() || have.back() != static_cast<std::int32_t>(tree))
        have.push_back(static_cast<std::int32_t>(tree));
    }
  }
  std::vector<double> spread(roots_.size());
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const std::size_t end = end_of(tree);
    for (std::size_t i = 0; i < width_; ++i) {
      double least = std::numeric_limits<double>::infinity(), most = -least;
      for (std::size_t n = roots_[tree]; n < end; ++n) {
        if (nodes_[n].variable >= 0) continue;
        least = std::min(least, values_[nodes_[n].yes * width_ + i]);
        most = std::max(most, values_[nodes_[n].yes * width_ + i]);
      }
      spread[tree] = std::max(spread[tree], (most - least) * weights_[tree]);
    }
  }
  influence_.assign(state_counts_.size(), 0.0);
  for (std::size_t v = 0; v < trees.size(); ++v)
    for (const std::int32_t tree : trees[v]) influence_[v] += spread[tree];
  trees_of_start_.push_back(0);
  for (const std::vector<std::int32_t>& have : trees) {
    trees_of_.insert(trees_of_.end(), have.begin(), have.end());
    trees_of_start_.push_back(static_cast<std::int64_t>(trees_of_.size()));
  }
}

void Ensemble::find_same() {
  same_.assign(roots_.size(), blocks_ > 1);
  if (blocks_ == 1) return;
  const std::size_t half = width_ / 2;
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) {
    const std::size_t end = end_of(tree);
    for (std::size_t n = roots_[tree]; n < end && same_[tree]; ++n) {
      if (nodes_[n].variable >= 0) continue;
      const double* const values = values_.data() + nodes_[n].yes * width_;
      same_[tree] = std::equal(values, values + half, values + half);
    }
  }
}

bool Ensemble::says_yes_further(std::int32_t range, std::int32_t state) const {
  for (;; ++range) {
    if (state >= further_[range].low && state <= further_[range].high) return true;
    if (further_[range].last) return false;
  }
}

void Ensemble::check_states(std::span<const std::int32_t> states) const {
  if (states.size() != state_counts_.size())
    throw std::invalid_argument("there are " + std::to_string(states.size()) + " states; the ensemble has " +
                                std::to_string(state_counts_.size()) + " variables");
  for (std::size_t v = 0; v < states.size(); ++v)
    if (tested_[v] && (states[v] < 0 || states[v] >= state_counts_[v]))
      throw std::invalid_argument("state " + std::to_string(states[v]) + " of variable " + std::to_string(v) +
                                  " is out of bounds");
}

template <class Float>
void Ensemble::add(const std::int32_t* leaves, double* scores) const {
  const std::size_t count = score_count(), in_block = begin_.size();
  const auto add_tree = [&](std::size_t tree, std::vector<Float>& sums) {
    const double* values = values_.data() + leaves[tree] * width_;
    if (outputs_[tree] >= 0) {
      for (std::size_t block = 0; block < blocks_; ++block)
        sums[block * in_block + outputs_[tree]] += static_cast<Float>(values[block]);
    } else {
      for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<Float>(values[i]);
    }
  };
  std::vector<Float> sums(begin_.begin(), begin_.end());
  for (std::size_t i = in_block; i < count; ++i) sums.push_back(sums[i - in_block]);
  if (group_trees_.empty())
    for (std::size_t tree = 0; tree < roots_.size(); ++tree) add_tree(tree, sums);
  std::size_t tree = 0;
  for (std::size_t group = 0; group < group_trees_.size(); ++group) {
    std::vector<Float> part(count, Float(0));
    for (std::int64_t i = 0; i < group_trees_[group]; ++i) add_tree(tree++, part);
    for (std::size_t i = 0; i < count; ++i) {
      if (group_divisor_[group] != 1) part[i] /= static_cast<Float>(group_divisor_[group]);
      if (group_weight_[group] != 1) part[i] *= static_cast<Float>(group_weight_[group]);
      sums[i] += part[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (divisor_ != 1) sums[i] /= static_cast<Float>(divisor_);
    const double last = end_[places_[i].output];
    if (last != 0) sums[i] += static_cast<Float>(last);
    scores[i] = static_cast<double>(sums[i]);
  }
}

void Ensemble::scores_of(const std::int32_t* leaves, double* scores) const {
  if (single_)
    add<float>(leaves, scores);
  else
    add<double>(leaves, scores);
}

std::int32_t Ensemble::class_of(double* scores) const {
  const std::int32_t first = class_of_block(scores);
  return blocks_ == 1 ? first : first * block_classes_ + class_of_block(scores + begin_.size());
}

std::int32_t Ensemble::class_of_block(double* scores) const {
  if (rule_ == ScoreRule::cuts)
    return static_cast<std::int32_t>(std::upper_bound(cuts_.begin(), cuts_.end(), scores[0]) - cuts_.begin());
  const std::size_t count = begin_.size();
  const double top = *std::max_element(scores, scores + count);
  if (rule_ == ScoreRule::softmax32) {
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      scores[i] = std::exp(static_cast<float>(scores[i]) - static_cast<float>(top));
      total += scores[i];
    }
    for (std::size_t i = 0; i < count; ++i) scores[i] = static_cast<float>(scores[i]) / static_cast<float>(total);
  } else if (rule_ == ScoreRule::softmax64) {
    double total = 0;
    for (std::size_t i = 0; i < count; ++i) total += scores[i] = std::exp(scores[i] - top);
    for (std::size_t i = 0; i < count; ++i) scores[i] /= total;
  } else if (rule_ == ScoreRule::logistic) {
    for (std::size_t i = 0; i < count; ++i) scores[i] = 1 / (1 + std::exp(-scores[i]));
  }
  return static_cast<std::int32_t>(std::max_element(scores, scores + count) - scores);
}

std::int32_t Ensemble::decide(const std::int32_t* states, std::vector<std::int32_t>& leaves,
                              std::vector<double>& scores) const {
  leaves.resize(roots_.size());
  scores.resize(score_count());
  for (std::size_t tree = 0; tree < roots_.size(); ++tree) leaves[tree] = leaf(tree, states);
  scores_of(leaves.data(), scores.data());
  return class_of(scores.data());
}

}  // namespace quia
