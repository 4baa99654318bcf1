// The states that each variable may be in: lists of ranges, so that gaps and unordered states are nothing special.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ensemble.hpp"
#include "escape.hpp"

namespace quia {

struct StateSpan {
  std::int32_t low, high;
};

class Domain {
 public:
  // Every state of every variable that the box allows.
  Domain(const Ensemble& ensemble, const Box& box) : start_(1, 0) {
    std::vector<std::int32_t> place(ensemble.variable_count(), -1);
    for (std::size_t i = 0; i < box.bounded.size(); ++i) place[box.bounded[i]] = static_cast<std::int32_t>(i);
    for (std::size_t v = 0; v < place.size(); ++v) {
      if (place[v] < 0)
        spans_.push_back({0, ensemble.state_counts()[v] - 1});
      else
        for (std::int64_t r = box.start[place[v]]; r < box.start[place[v] + 1]; ++r)
          spans_.push_back({box.low[r], box.high[r]});
      start_.push_back(spans_.size());
    }
  }

  std::span<const StateSpan> of(std::size_t variable) const {
    return {spans_.data() + start_[variable], spans_.data() + start_[variable + 1]};
  }
  bool is_free(std::size_t variable) const {
    const auto spans = of(variable);
    return spans.size() > 1 || spans.front().low < spans.front().high;
  }
  bool allows(std::size_t variable, std::int32_t state) const {
    for (const StateSpan& span : of(variable))
      if (state >= span.low && state <= span.high) return true;
    return false;
  }
  bool contains(std::span<const std::int32_t> states) const {
    for (std::size_t v = 0; v < states.size(); ++v)
      if (!allows(v, states[v])) return false;
    return true;
  }
  // A variable fixed to one state.
  void fix(std::size_t variable, std::int32_t state) {
    const StateSpan only{state, state};
    replace(variable, {&only, 1});
  }
  // The states below one, or from it on; neither side may be empty.
  Domain side(std::size_t variable, std::int32_t from, bool below) const {
    std::vector<StateSpan> kept;
    for (const StateSpan& span : of(variable)) {
      const StateSpan part{below ? span.low : std::max(span.low, from),
                           below ? std::min(span.high, from - 1) : span.high};
      if (part.low <= part.high) kept.push_back(part);
    }
    Domain result = *this;
    result.replace(variable, kept);
    return result;
  }
  void replace(std::size_t variable, std::span<const StateSpan> kept) {
    const std::size_t had = start_[variable + 1] - start_[variable];
    const auto at = spans_.begin() + static_cast<std::ptrdiff_t>(start_[variable]);
    if (kept.size() == had) {
      std::copy(kept.begin(), kept.end(), at);
      return;
    }
    std::vector<StateSpan> spans(spans_.begin(), at);
    spans.insert(spans.end(), kept.begin(), kept.end());
    spans.insert(spans.end(), at + static_cast<std::ptrdiff_t>(had), spans_.end());
    spans_ = std::move(spans);
    for (std::size_t v = variable + 1; v < start_.size(); ++v) start_[v] = start_[v] + kept.size() - had;
  }
  // The nearest there is to an instance: its states where they are allowed, else the first ones.
  std::vector<std::int32_t> nearest(std::span<const std::int32_t> states) const {
    std::vector<std::int32_t> found(states.begin(), states.end());
    for (std::size_t v = 0; v < found.size(); ++v)
      if (!allows(v, found[v])) found[v] = of(v).front().low;
    return found;
  }

 private:
  std::vector<StateSpan> spans_;
  std::vector<std::size_t> start_;
};

// Parts allowed states of a node's variable by its answer.
inline void part(const Ensemble& ensemble, const Ensemble::Node& node, std::span<const StateSpan> spans,
                 std::vector<StateSpan>& yes, std::vector<StateSpan>& no) {
  yes.clear();
  no.clear();
  for (const StateSpan& span : spans) {
    std::int32_t at = span.low;  // what is below it is dealt with
    const auto take = [&](std::int32_t low, std::int32_t high) {
      low = std::max(low, at);
      high = std::min(high, span.high);
      if (low > high) return;
      if (at < low) no.push_back({at, low - 1});
      yes.push_back({low, high});
      at = high + 1;
    };
    take(node.low, node.high);
    if (node.more >= 0)
      for (std::int32_t range = node.more;; ++range) {
        const Ensemble::Range& further = ensemble.further()[range];
        take(further.low, further.high);
        if (further.last) break;
      }
    if (at <= span.high) no.push_back({at, span.high});
  }
}

}  // namespace quia
