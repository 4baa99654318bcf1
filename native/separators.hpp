// Separators: the fewest hidden states through which some features of a network are connected to all others.
//
// Variables are vertices, joined where one table has both. A cut goes through vertices, each of which costs the logarithm
// of how many states it has; it may go through features too. Of the least cuts it is the one nearest to the features
// that were observed, so that each set of these has one, whatever the order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "budget.hpp"

namespace quia {

struct VariablesArrays {
  std::span<const std::int64_t> start;  // of each variable, where its neighbours begin
  std::span<const std::int32_t> neighbour;  // ascending for each variable; each is a neighbour of its neighbours
  std::span<const std::int32_t> sizes;  // how many states each variable has
  std::span<const std::int64_t> costs;  // of each variable: of a cut through it
  std::span<const std::uint8_t> is_feature;
};

struct Cut {
  std::vector<std::int32_t> left;  // the variables that observed ones reach, those of the separator among them
  std::vector<std::int32_t> separator;
};

class Separators {
 public:
  explicit Separators(const VariablesArrays& arrays);

  std::size_t size() const { return sizes_.size(); }
  const std::vector<std::int32_t>& sizes() const { return sizes_; }
  bool is_feature(std::int32_t variable) const { return is_feature_[static_cast<std::size_t>(variable)] != 0; }

  // The least cut between observed features and the others, by a flow along shortest paths.
  Cut least(std::span<const std::int32_t> observed) const;

 private:
  struct Flow;
  std::int64_t room(std::size_t from, std::size_t to, std::size_t edge, const Flow& flow) const;
  // Where flow could still go: from each end the one before it. The exit of another feature, or nobody.
  std::size_t search(std::span<const std::int32_t> observed, const Flow& flow, std::vector<std::size_t>& came,
                     std::vector<std::size_t>& by) const;

  std::vector<std::size_t> start_, back_;
  std::vector<std::int32_t> neighbour_, sizes_;
  std::vector<std::int64_t> costs_;
  std::vector<std::uint8_t> is_feature_;
};

struct Shaking {
  std::size_t most_cuts;
  double most_messages;  // so many there are at a level, at the most
};

// An order of features along which messages are shorter: simulated annealing with thresholds, which draws the same on
// every machine. Throws OverBudget.
std::vector<std::int32_t> shake(const Separators& separators, std::span<const std::int32_t> order,
                                const Shaking& shaking, Budget& budget);

}  // namespace quia
