// The ways in which a decision of an ensemble can change, as sums of leaves that must not be above a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ensemble.hpp"

namespace quia {

// constant + Σ factor · score, over the exact scores of an instance.
struct Mix {
  std::vector<std::pair<std::size_t, double>> terms;  // score, factor
  double constant = 0;
  // Above this the sum cannot be 0 or less as its source adds it, nor tie.
  double limit = 0;
  bool takes_ties = false;  // whether a sum of exactly 0 is low enough

  // What a leaf adds to the sum.
  double of(const Ensemble& ensemble, std::size_t tree, std::int32_t leaf) const {
    double sum = 0;
    for (const auto& [score, factor] : terms) sum += factor * ensemble.contribution(tree, leaf, score);
    return sum;
  }
  bool concerns(const Ensemble& ensemble, std::size_t tree) const {
    if (ensemble.output(tree) < 0) return true;
    for (const auto& [score, factor] : terms)
      if (static_cast<std::size_t>(ensemble.output(tree)) == score && factor != 0) return true;
    return false;
  }
};

// A decision changes in this way where all these sums are at most their limits; and within rounding of the limits only
// what the source computes says whether it does.
struct Way {
  std::vector<Mix> needs;
};

// Together they hold every instance whose class is not kept.
std::vector<Way> ways_out(const Ensemble& ensemble, std::span<const std::uint8_t> keeps);

// The weighted sum of a way's needs; weights are not negative.
Mix mixed(const Way& way, const std::vector<double>& weights);

}  // namespace quia
