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
  // The same for trees that add the same to both blocks, over the scores of one: what cancels out does so exactly.
  std::vector<std::pair<std::size_t, double>> folded = {};

  const std::vector<std::pair<std::size_t, double>>& terms_of(const Ensemble& ensemble, std::size_t tree) const {
    return ensemble.is_same(tree) ? folded : terms;
  }
  // What a leaf adds to the sum.
  double of(const Ensemble& ensemble, std::size_t tree, std::int32_t leaf) const {
    double sum = 0;
    for (const auto& [score, factor] : terms_of(ensemble, tree))
      sum += factor * ensemble.contribution(tree, leaf, score);
    return sum;
  }
  bool concerns(const Ensemble& ensemble, std::size_t tree) const {
    for (const auto& [score, factor] : terms_of(ensemble, tree))
      if (factor != 0 && ensemble.adds_to(tree, score)) return true;
    return false;
  }
};

// A decision changes in this way where all these sums are at most their limits; and within rounding of the limits only
// what the source computes says whether it does.
struct Way {
  std::vector<Mix> needs;
  // Of an ensemble of two instances: scores of the first block. The way is open only where a leaf of some tree has more
  // (`up`) or less of one of them for the second instance than for the first: sums of numbers none of which falls do not
  // fall either, however they are rounded. Nothing: wherever the needs are met.
  struct Turn {
    std::size_t score;
    bool up;
    bool is_direct = true;  // else only rounding could make it matter
  };
  std::vector<Turn> turns;
};

// Together they hold every instance whose class is not kept.
std::vector<Way> ways_out(const Ensemble& ensemble, std::span<const std::uint8_t> keeps);

// The weighted sum of a way's needs; weights are not negative.
Mix mixed(const Way& way, const std::vector<double>& weights);

}  // namespace quia
