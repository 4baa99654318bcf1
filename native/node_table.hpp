// Hash-consed decision-diagram nodes, children first, and a cache of operations on them.
//
// One table serves ZDDs (families of sets) and BDDs (monotone functions): a node is a triple, and the two differ
// only in the rule by which make_* leaves out a node. A node's children have smaller ids than the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "buffer.hpp"

namespace quia {

using NodeId = std::uint32_t;

constexpr NodeId none = 0;  // ZDD: no set; BDD: false
constexpr NodeId unit = 1;  // ZDD: the empty set only; BDD: true
constexpr std::uint32_t no_level = UINT32_MAX;

struct Node {
  std::uint32_t level;  // smaller is nearer to the root
  NodeId low, high;     // without / with the variable of the level
};

class NodeTable {
 public:
  explicit NodeTable(Budget& budget);

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::uint32_t level(NodeId id) const { return nodes_[id].level; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t bytes() const;

  NodeId make_zdd(std::uint32_t level, NodeId low, NodeId high) {
    return high == none ? low : find_or_add(level, low, high);
  }
  NodeId make_bdd(std::uint32_t level, NodeId low, NodeId high) {
    return low == high ? low : find_or_add(level, low, high);
  }

  // The cache may forget, never lie. Operation codes are below 16.
  bool look_up(std::uint32_t operation, NodeId f, NodeId g, NodeId& result) const {
    const Cached& entry = cache_[slot_of(operation, f, g)];
    if (entry.operation_f != (operation << 28 | f) || entry.g != g) return false;
    result = entry.result;
    return true;
  }
  void remember(std::uint32_t operation, NodeId f, NodeId g, NodeId result) {
    cache_[slot_of(operation, f, g)] = {operation << 28 | f, g, result};
  }

  // Keeps only what the roots reach; ids change, roots are rewritten, the cache is emptied.
  void collect(std::vector<NodeId>& roots);
  // Forgets everything, and gives memory back if there is much of it.
  void reset();
  void use(Budget& budget) { budget_ = &budget; }
  Budget& budget() { return *budget_; }

 private:
  struct Cached {
    std::uint32_t operation_f;
    NodeId g, result;
  };
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t h = (a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu);
    h ^= h >> 32;
    return h * 0xD6E8FEB86659FD93u >> 20;
  }
  std::size_t slot_of(std::uint32_t operation, NodeId f, NodeId g) const {
    return mix(std::uint64_t(operation << 28 | f) << 32 | g, operation) & (cache_.size() - 1);
  }
  NodeId find_or_add(std::uint32_t level, NodeId low, NodeId high);
  void grow();
  void rebuild_slots(std::size_t capacity);

  Budget* budget_;
  Buffer<Node> nodes_;
  std::vector<NodeId> slots_;  // open addressing; 0 is free, as terminals are never looked up
  Buffer<Cached> cache_;
};

}  // namespace quia
