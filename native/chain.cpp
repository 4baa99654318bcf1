#include "chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace quia {

namespace {

constexpr double unit = std::numeric_limits<double>::epsilon();

// Scaled by a power of two, which rounds nothing.
void normalise(double* message, std::size_t length) {
  double greatest = 0;
  for (std::size_t i = 0; i < length; ++i) greatest = std::max(greatest, message[i]);
  if (greatest <= 0) return;
  int exponent = 0;
  std::frexp(greatest, &exponent);
  if (exponent == 0) return;
  for (std::size_t i = 0; i < length; ++i) message[i] = std::ldexp(message[i], -exponent);
}

double product(double a, double b) {
  const double made = a * b;
  if (made < Chain::least && a > 0 && b > 0) throw TooFarApart();
  return made;
}

void fault(const std::string& what) { throw std::invalid_argument("the chain " + what); }

}  // namespace

Chain::Chain(const ChainArrays& arrays)
    : state_counts_(arrays.state_counts.begin(), arrays.state_counts.end()),
      widths_(arrays.widths.begin(), arrays.widths.end()), start_(arrays.start.begin(), arrays.start.end()),
      from_(arrays.from.begin(), arrays.from.end()), to_(arrays.to.begin(), arrays.to.end()),
      values_(arrays.values.begin(), arrays.values.end()), weights_(arrays.weights.begin(), arrays.weights.end()) {
  check(arrays);
  std::size_t before = 0;
  for (const std::int32_t count : state_counts_) {
    first_state_.push_back(before);
    before += static_cast<std::size_t>(count);
  }
  for (std::int32_t level = 0; level < levels(); ++level)
    for (std::size_t entry = first_entry(level, 0); entry < end_entry(level, state_counts_[level] - 1); ++entry)
      if (from_[entry] < 0 || from_[entry] >= widths_[level] || to_[entry] < 0 || to_[entry] >= widths_[level + 1])
        fault("has an entry that its separators do not have");
  find_errors(arrays.errors);
}

void Chain::check(const ChainArrays& arrays) const {
  std::size_t states = 0;
  for (const std::int32_t count : state_counts_) {
    if (count < 1) fault("has a feature without a state");
    states += static_cast<std::size_t>(count);
  }
  if (weights_.empty()) fault("has no class");
  if (widths_.size() != state_counts_.size() + 1 || widths_.front() != 1 || widths_.back() != 1)
    fault("does not begin and end with a separator of one state");
  if (*std::min_element(widths_.begin(), widths_.end()) < 1) fault("has a separator without a state");
  if (arrays.start.size() != states + 1 || arrays.start.front() != 0 ||
      !std::is_sorted(arrays.start.begin(), arrays.start.end()) || start_.back() != from_.size() ||
      to_.size() != from_.size() || values_.size() != from_.size() * weights_.size() ||
      arrays.errors.size() != state_counts_.size())
    fault("has arrays whose lengths do not fit together");
  for (const std::vector<double>* numbers : {&values_, &weights_})
    for (const double number : *numbers)
      if (!(number >= 0) || !std::isfinite(number) || (number > 0 && number < least))
        fault("has a value that is negative, not finite or too small");
  for (const double error : arrays.errors)
    if (!(error >= 0 && error < 1e-3)) fault("has an error that is negative or too large");
}

void Chain::find_errors(std::span<const double> errors) {
  const auto count = static_cast<std::size_t>(levels());
  forward_error_.assign(count + 1, 0);
  backward_error_.assign(count + 1, 0);
  forward_error_[0] = unit;
  std::vector<double> into(count), out_of(count);
  for (std::int32_t level = 0; level < levels(); ++level) {
    // As many terms are added as entries lead to one place, or from one.
    for (std::int32_t state = 0; state < state_counts_[level]; ++state) {
      std::vector<std::size_t> arriving(width(level + 1)), leaving(width(level));
      for (std::size_t entry = first_entry(level, state); entry < end_entry(level, state); ++entry) {
        ++arriving[static_cast<std::size_t>(to_[entry])];
        ++leaving[static_cast<std::size_t>(from_[entry])];
      }
      into[level] = std::max(into[level], static_cast<double>(*std::max_element(arriving.begin(), arriving.end())));
      out_of[level] = std::max(out_of[level], static_cast<double>(*std::max_element(leaving.begin(), leaving.end())));
    }
  }
  // A little more than the sum of the errors, for their products.
  for (std::size_t level = 0; level < count; ++level)
    forward_error_[level + 1] = (forward_error_[level] + errors[level] + (into[level] + 1) * unit) * 1.01;
  for (std::size_t level = count; level-- > 0;)
    backward_error_[level] = (backward_error_[level + 1] + errors[level] + (out_of[level] + 1) * unit) * 1.01;
}

std::size_t Chain::work(std::int32_t level) const {
  return end_entry(level, state_counts_[level] - 1) - first_entry(level, 0);
}

void Chain::forward(std::int32_t level, std::int32_t state, const double* message, double* next) const {
  const std::size_t classes = weights_.size(), here = width(level), there = width(level + 1);
  std::fill_n(next, classes * there, 0.0);
  for (std::size_t entry = first_entry(level, state); entry < end_entry(level, state); ++entry)
    for (std::size_t c = 0; c < classes; ++c)
      next[c * there + to_[entry]] += product(message[c * here + from_[entry]], values_[entry * classes + c]);
  normalise(next, classes * there);
}

void Chain::backward(std::int32_t level, std::int32_t state, const double* after, double* before) const {
  const std::size_t classes = weights_.size(), here = width(level), there = width(level + 1);
  std::fill_n(before, classes * here, 0.0);
  for (std::size_t entry = first_entry(level, state); entry < end_entry(level, state); ++entry)
    for (std::size_t c = 0; c < classes; ++c)
      before[c * here + from_[entry]] += product(after[c * there + to_[entry]], values_[entry * classes + c]);
  normalise(before, classes * here);
}

}  // namespace quia
