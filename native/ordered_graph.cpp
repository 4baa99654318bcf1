#include "ordered_graph.hpp"

#include <algorithm>
#include <utility>

namespace quia {

OrderedGraph::OrderedGraph(std::vector<std::int32_t> state_counts, std::int32_t class_count, std::size_t most_nodes)
    : state_counts_(std::move(state_counts)), class_count_(class_count), most_nodes_(most_nodes),
      level_(static_cast<std::size_t>(class_count), static_cast<std::int32_t>(state_counts_.size())),
      start_(static_cast<std::size_t>(class_count) + 1, 0), slots_(1024, -1) {}

std::size_t OrderedGraph::bytes() const {
  return level_.capacity() * sizeof(std::int32_t) + start_.capacity() * sizeof(std::size_t) +
         (child_.capacity() + slots_.capacity()) * sizeof(Id);
}

std::size_t OrderedGraph::slot_of(std::int32_t level, const Id* children) const {
  std::uint64_t hash = static_cast<std::uint64_t>(level) + 1;
  for (std::int32_t state = 0; state < state_counts_[level]; ++state) {
    hash = (hash ^ static_cast<std::uint64_t>(children[state])) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  std::size_t slot = (hash * 0xD6E8FEB86659FD93u) >> 20 & (slots_.size() - 1);
  while (slots_[slot] >= 0) {
    const Id there = slots_[slot];
    if (level_[there] == level &&
        std::equal(child_.data() + start_[there], child_.data() + start_[there + 1], children))
      return slot;
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

void OrderedGraph::grow() {
  slots_.assign(slots_.size() * 2, -1);
  for (std::size_t id = class_count_; id < level_.size(); ++id)
    slots_[slot_of(level_[id], child_.data() + start_[id])] = static_cast<Id>(id);
}

OrderedGraph::Id OrderedGraph::make(std::int32_t level, const Id* children) {
  const std::int32_t count = state_counts_[level];
  if (std::all_of(children, children + count, [&](Id child) { return child == children[0]; })) return children[0];
  const std::size_t slot = slot_of(level, children);
  if (slots_[slot] >= 0) return slots_[slot];
  if (level_.size() >= most_nodes_) throw OverBudget(OverBudget::Cause::nodes);
  const Id id = static_cast<Id>(level_.size());
  slots_[slot] = id;
  level_.push_back(level);
  child_.insert(child_.end(), children, children + count);
  start_.push_back(child_.size());
  if (level_.size() * 2 > slots_.size()) grow();
  return id;
}

std::int32_t OrderedGraph::decide(Id id, std::int32_t first_level, const std::int32_t* states) const {
  while (level_[id] < levels()) id = child_[start_[id] + states[level_[id] - first_level]];
  return id;
}

std::vector<std::int32_t> OrderedGraph::separate(Id a, Id b, std::int32_t first_level) const {
  std::vector<std::int32_t> states;
  for (std::int32_t level = first_level; level < levels(); ++level) {
    std::int32_t state = 0;
    // Two different nodes of a reduced graph have different children in some state.
    while (follow(a, level, state) == follow(b, level, state)) ++state;
    states.push_back(state);
    a = follow(a, level, state);
    b = follow(b, level, state);
  }
  return states;
}

}  // namespace quia
