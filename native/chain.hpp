// A Bayesian network seen along an order of its features: messages from what is observed to what is not yet.
//
// After the first i features have been observed, all that matters of their states is a message: for each class c and each
// state s of a separator, P(c, s, what was observed), up to a factor. A transfer matrix for each state of the next feature
// makes the next message of it. After the last feature the separator is empty, and a message has a score for each class.
// A level may have one state only: nothing is observed there, but hidden variables are summed out.
//
// All numbers are at least 0, so that rounding errors stay relative: `forward_error` and `backward_error` bound them.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace quia {

// Two numbers that doubles cannot hold side by side.
class TooFarApart : public std::exception {
 public:
  const char* what() const noexcept override { return "one probability is below 1e-280 of another"; }
};

struct ChainArrays {
  std::span<const std::int32_t> state_counts;  // of each feature
  std::span<const std::int32_t> widths;  // how many states the separator before each level has, and after the last
  std::span<const std::int64_t> start;  // of each level and state, level by level, where its entries begin
  std::span<const std::int32_t> from, to;  // of each entry
  std::span<const double> values;  // of each entry, one for each class
  std::span<const double> weights;  // of each class: what the first message is made of
  std::span<const double> errors;  // of each level: bounds on the relative errors of its values
};

class Chain {
 public:
  explicit Chain(const ChainArrays& arrays);

  std::int32_t levels() const { return static_cast<std::int32_t>(state_counts_.size()); }
  std::int32_t class_count() const { return static_cast<std::int32_t>(weights_.size()); }
  const std::vector<std::int32_t>& state_counts() const { return state_counts_; }
  std::size_t width(std::int32_t level) const { return static_cast<std::size_t>(widths_[level]); }
  // How many numbers a message has at a level: for each class, one for each state of the separator.
  std::size_t length(std::int32_t level) const { return width(level) * weights_.size(); }
  // So many entries the transfers of a level have in all.
  std::size_t work(std::int32_t level) const;
  const std::vector<double>& weights() const { return weights_; }
  double forward_error(std::int32_t level) const { return forward_error_[level]; }
  double backward_error(std::int32_t level) const { return backward_error_[level]; }

  // The message after a feature was seen in a state, scaled so that its greatest number is at least 1/2 and below 1.
  void forward(std::int32_t level, std::int32_t state, const double* message, double* next) const;
  // What the later features say, seen before a feature in a state: the scores are the products of both messages, summed.
  void backward(std::int32_t level, std::int32_t state, const double* after, double* before) const;

  // Products below this are not trusted to be accurate.
  static constexpr double least = 1e-280;

 private:
  std::size_t first_entry(std::int32_t level, std::int32_t state) const { return start_[first_state_[level] + state]; }
  std::size_t end_entry(std::int32_t level, std::int32_t state) const {
    return start_[first_state_[level] + state + 1];
  }
  void check(const ChainArrays& arrays) const;
  void find_errors(std::span<const double> errors);

  std::vector<std::int32_t> state_counts_, widths_;
  std::vector<std::size_t> first_state_, start_;
  std::vector<std::int32_t> from_, to_;
  std::vector<double> values_, weights_, forward_error_, backward_error_;
};

}  // namespace quia
