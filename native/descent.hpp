// A point of a box where a sum of leaves is small, found by changing one variable at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"
#include "domain.hpp"
#include "ways.hpp"

namespace quia {

class Descent {
 public:
  explicit Descent(const Ensemble& ensemble);

  // Begins at a point with a sum.
  void start(const Mix& mix, std::span<const std::int32_t> point);
  const std::vector<std::int32_t>& point() const { return point_; }
  double sum() const { return sum_; }

  struct Move {
    std::int32_t state;
    double sum;
  };
  // The sum for each state of a variable that is allowed, or the present one, all others kept.
  const std::vector<double>& sums_by_state(std::int32_t variable, std::span<const StateSpan> allowed);
  // The best of some states of a variable, all others kept; the present one if none is better.
  Move best_move(std::int32_t variable, std::span<const StateSpan> allowed);
  void take(std::int32_t variable, const Move& move);
  void back_to(std::span<const std::int32_t> point, double sum);
  // Takes the best moves of these variables in turn, until there is none or the sum is at most the limit.
  void descend(std::span<const std::int32_t> variables, const Domain& domain, double limit, Budget& budget);

 private:
  struct Part {
    std::int32_t node;
    std::uint32_t first, count;  // spans in arena_
  };

  void find_changes(std::int32_t variable, std::span<const StateSpan> allowed);
  // The leaf of a tree, and which variables are asked on the way to it: no other one can matter to the tree by itself.
  std::int32_t walk(std::size_t tree);
  bool asks(std::size_t tree, std::int32_t variable) const {
    return (asked_[tree * words_ + static_cast<std::size_t>(variable) / 64] >> (variable % 64) & 1) != 0;
  }

  const Ensemble* ensemble_;
  Mix mix_;
  std::vector<std::int32_t> point_;
  double sum_ = 0;
  std::size_t words_;
  std::vector<std::uint64_t> asked_;  // for each tree of the sum a bit a variable
  std::vector<double> change_;  // by state, what is added from there on
  std::vector<Part> parts_;
  std::vector<StateSpan> arena_, yes_, no_;
};

}  // namespace quia
