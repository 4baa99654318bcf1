// Sets of variables whose losses add up to more than a limit: the reasons of additive models.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "budget.hpp"
#include "family.hpp"
#include "listing.hpp"

namespace quia {

// Inequalities over sets of variables: a set meets the k-th if the sum of its losses[k] is above limits[k].
// Losses are not negative, and those of one inequality add up to at most 2^61.
struct Thresholds {
  std::vector<std::int32_t> variables;             // ascending
  std::vector<std::vector<std::int64_t>> losses;   // of each inequality, one per variable
  std::vector<std::int64_t> limits;
  std::vector<std::int64_t> bands;                 // how far off each limit may be
};

enum class Meets : std::uint8_t { any, all };

// The minimal sets that meet one of the inequalities, or all of them; nothing if that depends on where in its band a
// limit is. Throws OverBudget where they do not fit.
std::optional<Family> minimal_sets(const Thresholds& thresholds, Meets meets, Budget& budget);

// The minimal sets that meet a single inequality one after the other, by length, then by their smallest differing
// variable: no more is kept of them than what sums are possible. Where its band leaves open whether a set is one of
// them, it is among them.
std::unique_ptr<Listing> list_minimal_sets(const Thresholds& thresholds, Budget& budget);

}  // namespace quia
