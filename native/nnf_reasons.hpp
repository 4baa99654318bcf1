// Necessary reasons of any monotone NNF (not only ∨-decomposable ones): its prime implicates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"
#include "family.hpp"

namespace quia {

enum class NnfKind : std::uint8_t { false_, true_, literal, and_, or_ };

class Nnf {
 public:
  // Throws std::invalid_argument unless children come first and every index is in bounds.
  Nnf(std::span<const std::uint8_t> kind, std::span<const std::int32_t> literal,
      std::span<const std::int64_t> child_start, std::span<const std::int32_t> child);

  std::size_t node_count() const { return kind_.size(); }
  std::int32_t most_variable() const { return most_variable_; }
  NnfKind kind(std::size_t node) const { return kind_[node]; }
  std::int32_t literal(std::size_t node) const { return literal_[node]; }
  std::span<const std::int32_t> children(std::size_t node) const {
    return {child_.data() + child_start_[node], child_.data() + child_start_[node + 1]};
  }
  // Families bottom-up: minimal union at ∧, minimal join at ∨. `frozen`, if given, has an entry per variable.
  // Where the budget ends it, the family is empty and not complete.
  Family necessary(bool shortest, const std::uint8_t* frozen, const std::int64_t* costs, Budget& budget) const;

 private:
  std::vector<std::int32_t> mentioned(const std::uint8_t* frozen, std::vector<std::uint8_t>& reached) const;

  std::vector<NnfKind> kind_;
  std::vector<std::int32_t> literal_;
  std::vector<std::int64_t> child_start_;
  std::vector<std::int32_t> child_;
  std::int32_t most_variable_ = -1;
};

}  // namespace quia
