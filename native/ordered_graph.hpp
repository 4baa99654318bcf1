// Reduced ordered decision graphs in the making: every node once, none whose children are all the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"

namespace quia {

// A node tests the variable of its level and has a child for each of its states, all of later levels. The first nodes are
// the leaves, one for each class, whose level comes after the last. Ids ascend from children to parents.
class OrderedGraph {
 public:
  using Id = std::int32_t;

  OrderedGraph(std::vector<std::int32_t> state_counts, std::int32_t class_count, std::size_t most_nodes);

  // The node of a level with these children, or the child where all are the same. Throws OverBudget beyond most_nodes, leaves among them.
  Id make(std::int32_t level, const Id* children);

  std::int32_t levels() const { return static_cast<std::int32_t>(state_counts_.size()); }
  std::int32_t class_count() const { return class_count_; }
  std::int32_t state_count(std::int32_t level) const { return state_counts_[level]; }
  const std::vector<std::int32_t>& state_counts() const { return state_counts_; }
  std::int32_t level(Id id) const { return level_[id]; }
  std::size_t size() const { return level_.size(); }
  std::size_t bytes() const;
  std::span<const Id> children(Id id) const { return {child_.data() + start_[id], child_.data() + start_[id + 1]}; }
  // Where a node leads from a level in a state of its variable: to itself, if it tests a later one.
  Id follow(Id id, std::int32_t level, std::int32_t state) const {
    return level_[id] == level ? child_[start_[id] + state] : id;
  }
  // The class to which a node leads; states has those of the variables from first_level on.
  std::int32_t decide(Id id, std::int32_t first_level, const std::int32_t* states) const;
  // States of the variables from first_level on, which lead from two different nodes to two different classes.
  std::vector<std::int32_t> separate(Id a, Id b, std::int32_t first_level) const;

 private:
  std::size_t slot_of(std::int32_t level, const Id* children) const;
  void grow();

  std::vector<std::int32_t> state_counts_;
  std::int32_t class_count_;
  std::size_t most_nodes_;
  std::vector<std::int32_t> level_;
  std::vector<std::size_t> start_;
  std::vector<Id> child_;
  std::vector<Id> slots_;  // open addressing; -1 is free
};

}  // namespace quia
