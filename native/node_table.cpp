#include "node_table.hpp"

#include <algorithm>

namespace quia {

namespace {
constexpr std::size_t initial_slots = 1 << 10;
constexpr std::size_t cache_per_slot = 2;  // filtering meets many more pairs of nodes than it makes nodes
constexpr std::size_t most_nodes = std::size_t(1) << 28;  // ids share a word with the operation in the cache
constexpr std::uint32_t vacant = UINT32_MAX;
}  // namespace

NodeTable::NodeTable(Budget& budget) : budget_(&budget) { reset(); }

void NodeTable::reset() {
  if (slots_.size() > (std::size_t(1) << 16) || slots_.empty()) {
    std::vector<NodeId>(initial_slots, 0).swap(slots_);
    cache_.release();
    cache_.resize(initial_slots * cache_per_slot, Cached{vacant, 0, 0});
    nodes_.release();
  } else {
    std::fill(slots_.begin(), slots_.end(), 0);
    std::fill(cache_.begin(), cache_.end(), Cached{vacant, 0, 0});
    nodes_.resize(0);
  }
  nodes_.push_back({no_level, none, none});
  nodes_.push_back({no_level, unit, unit});
}

std::size_t NodeTable::bytes() const {
  return nodes_.capacity() * sizeof(Node) + slots_.size() * sizeof(NodeId) + cache_.size() * sizeof(Cached);
}

NodeId NodeTable::find_or_add(std::uint32_t level, NodeId low, NodeId high) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = mix(std::uint64_t(low) << 32 | high, level) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Node& node = nodes_[slots_[slot]];
    if (node.low == low && node.high == high && node.level == level) return slots_[slot];
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  if (nodes_.size() >= most_nodes) throw OverBudget(OverBudget::Cause::memory);
  if (nodes_.size() == nodes_.capacity()) {
    budget_->reserve(bytes() + nodes_.size() * sizeof(Node) / 2);
    nodes_.reserve(nodes_.size() + nodes_.size() / 2 + 64);
  }
  nodes_.push_back({level, low, high});
  slots_[slot] = id;
  if (nodes_.size() * 4 > slots_.size() * 3) grow();
  return id;
}

void NodeTable::grow() {
  budget_->check();
  budget_->reserve(bytes() + slots_.size() * sizeof(NodeId) + cache_.size() * sizeof(Cached));
  rebuild_slots(slots_.size() * 2);
  const std::size_t half = cache_.size();
  cache_.resize(2 * half, Cached{vacant, 0, 0});
  // A slot is the low bits of a hash: with one bit more, an entry stays or moves up by half.
  for (std::size_t slot = 0; slot < half; ++slot) {
    const Cached entry = cache_[slot];
    if (entry.operation_f == vacant) continue;
    const std::size_t place = slot_of(entry.operation_f >> 28, entry.operation_f & 0x0FFFFFFF, entry.g);
    if (place == slot) continue;
    cache_[place] = entry;
    cache_[slot] = Cached{vacant, 0, 0};
  }
}

void NodeTable::rebuild_slots(std::size_t capacity) {
  std::vector<NodeId>().swap(slots_);  // before the new one is made
  slots_.assign(capacity, 0);
  const std::size_t mask = capacity - 1;
  for (std::size_t id = 2; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    std::size_t slot = mix(std::uint64_t(node.low) << 32 | node.high, node.level) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<NodeId>(id);
  }
}

void NodeTable::collect(std::vector<NodeId>& roots) {
  std::vector<NodeId> moved(nodes_.size(), 0);
  for (const NodeId root : roots) moved[root] = 1;
  for (std::size_t id = nodes_.size(); id-- > 2;)  // parents have larger ids
    if (moved[id]) moved[nodes_[id].low] = moved[nodes_[id].high] = 1;
  moved[none] = none;
  moved[unit] = unit;
  std::size_t kept = 2;
  for (std::size_t id = 2; id < nodes_.size(); ++id) {
    if (!moved[id]) continue;
    const Node node = nodes_[id];
    nodes_[kept] = {node.level, moved[node.low], moved[node.high]};
    moved[id] = static_cast<NodeId>(kept++);
  }
  nodes_.resize(kept);
  for (NodeId& root : roots) root = moved[root];
  rebuild_slots(slots_.size());
  std::fill(cache_.begin(), cache_.end(), Cached{vacant, 0, 0});
}

}  // namespace quia
