// A point of a box where several sums of leaves are low at once, chased by changing one variable at a time.
//
// The greatest of the sums is what counts: their total may be least where one of them is far from being met.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "descent.hpp"
#include "randomness.hpp"

namespace quia {

class Chase {
 public:
  Chase(const Ensemble& ensemble, const Way& way);

  // Begins at a point.
  void start(std::span<const std::int32_t> point);
  const std::vector<std::int32_t>& point() const { return descents_.front().point(); }
  // Lowers the greatest sum by moves of these variables; true as soon as it is not above 0.
  bool descend(std::span<const std::int32_t> variables, const Domain& box, Budget& budget);
  // Changes a few of the variables at random.
  void kick(std::span<const std::int32_t> variables, const Domain& box);

 private:
  double worst() const;
  void take(std::int32_t variable, std::int32_t state);

  const Ensemble& ensemble_;
  const Way& way_;
  std::vector<Descent> descents_;  // of each need
  std::vector<double> greatest_;  // by state
  Randomness randomness_{0};
};

}  // namespace quia
