#include "zdd.hpp"

#include <algorithm>
#include <limits>

namespace quia {

Zdd freeze(const NodeTable& table, NodeId root, std::vector<std::uint32_t> member_at, std::size_t universe) {
  Zdd zdd;
  zdd.member_at = std::move(member_at);
  zdd.universe = universe;
  std::vector<NodeId> moved(root + std::size_t(1) < 2 ? 2 : root + std::size_t(1), 0);
  if (root > unit) moved[root] = 1;
  for (auto id = static_cast<NodeId>(moved.size()); id-- > 2;)
    if (moved[id]) moved[table[id].low] = moved[table[id].high] = 1;
  moved[none] = none;
  moved[unit] = unit;
  zdd.nodes = {{no_level, none, none}, {no_level, unit, unit}};
  for (NodeId id = 2; id < moved.size(); ++id) {
    if (!moved[id]) continue;
    const Node& node = table[id];
    moved[id] = static_cast<NodeId>(zdd.nodes.size());
    zdd.nodes.push_back({node.level, moved[node.low], moved[node.high]});
  }
  zdd.nodes.shrink_to_fit();
  zdd.root = moved[root];
  return zdd;
}

Zdd zdd_of_sets(const SetTable& sets, Budget& budget) {
  Algebra algebra(budget);
  std::vector<NodeId> layer;
  layer.reserve(sets.size());
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    members.clear();
    for_each_member(sets.row(i), sets.words, [&](std::size_t member) { members.push_back(member); });
    NodeId chain = unit;
    for (std::size_t k = members.size(); k-- > 0;)
      chain = algebra.table().make_zdd(static_cast<std::uint32_t>(members[k]), none, chain);
    layer.push_back(chain);
  }
  while (layer.size() > 1) {  // a tournament keeps the operands of a union alike in size
    std::size_t kept = 0;
    for (std::size_t i = 0; i < layer.size(); i += 2)
      layer[kept++] = i + 1 < layer.size() ? algebra.set_union(layer[i], layer[i + 1]) : layer[i];
    layer.resize(kept);
  }
  std::vector<std::uint32_t> member_at(sets.universe);
  for (std::size_t member = 0; member < sets.universe; ++member) member_at[member] = static_cast<std::uint32_t>(member);
  return freeze(algebra.table(), layer.empty() ? none : layer[0], std::move(member_at), sets.universe);
}

bool contains(const Zdd& zdd, const Word* set) {
  const std::size_t size = size_of(set, zdd.words());
  std::size_t met = 0;
  NodeId id = zdd.root;
  while (id > unit) {
    const Node& node = zdd.nodes[id];
    if (has(set, zdd.member_at[node.level])) {
      ++met;
      id = node.high;
    } else {
      id = node.low;
    }
  }
  return id == unit && met == size;
}

Zdd restrict(const Zdd& zdd, const Word* containing, const Word* avoiding, Budget& budget) {
  NodeTable table(budget);
  // For "containing": a node knows by the number of wanted members at or below its level what it must still meet.
  const std::size_t levels = zdd.member_at.size();
  std::vector<std::uint32_t> wanted_from(levels + 1, 0);
  for (std::size_t level = levels; level-- > 0;)
    wanted_from[level] = wanted_from[level + 1] + (has(containing, zdd.member_at[level]) ? 1 : 0);
  const auto wanted_at = [&](NodeId id) { return id <= unit ? 0u : wanted_from[zdd.nodes[id].level]; };
  std::vector<NodeId> result(zdd.nodes.size(), none);  // given that all wanted from the node's level on are met
  result[unit] = unit;
  for (std::size_t id = 2; id < zdd.nodes.size(); ++id) {
    budget.step();
    const Node& node = zdd.nodes[id];
    const std::uint32_t member = zdd.member_at[node.level], below = wanted_from[node.level + 1];
    const bool wanted = has(containing, member), forbidden = has(avoiding, member);
    const NodeId low = wanted || wanted_at(node.low) != below ? none : result[node.low];
    const NodeId high = forbidden || wanted_at(node.high) != below ? none : result[node.high];
    result[id] = table.make_zdd(node.level, low, high);
  }
  const bool all_met = wanted_at(zdd.root) == size_of(containing, zdd.words());
  return freeze(table, all_met ? result[zdd.root] : none, zdd.member_at, zdd.universe);
}

Zdd cheapest(const Zdd& zdd, const std::vector<std::int64_t>* costs, Budget& budget) {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> best(zdd.nodes.size(), never);
  best[unit] = 0;
  NodeTable table(budget);
  std::vector<NodeId> result(zdd.nodes.size(), none);
  result[unit] = unit;
  for (std::size_t id = 2; id < zdd.nodes.size(); ++id) {
    budget.step();
    const Node& node = zdd.nodes[id];
    const std::int64_t own = costs ? (*costs)[zdd.member_at[node.level]] : 1;
    const std::int64_t low = best[node.low], high = best[node.high] == never ? never : best[node.high] + own;
    best[id] = std::min(low, high);
    result[id] = table.make_zdd(node.level, low == best[id] ? result[node.low] : none,
                                high == best[id] ? result[node.high] : none);
  }
  return freeze(table, result[zdd.root], zdd.member_at, zdd.universe);
}

Zdd of_length(const Zdd& zdd, std::size_t length, Budget& budget) {
  NodeTable table(budget);
  std::vector<NodeId> shorter(zdd.nodes.size(), none), result(zdd.nodes.size(), none);
  for (std::size_t k = 0; k <= length; ++k) {
    result[none] = none;
    result[unit] = k == 0 ? unit : none;
    for (std::size_t id = 2; id < zdd.nodes.size(); ++id) {
      budget.step();
      const Node& node = zdd.nodes[id];
      result[id] = table.make_zdd(node.level, result[node.low], k == 0 ? none : shorter[node.high]);
    }
    shorter.swap(result);
  }
  return freeze(table, shorter[zdd.root], zdd.member_at, zdd.universe);
}

void expand(const Zdd& zdd, SetTable& into, Budget& budget) {
  struct Step {
    NodeId id;
    bool entering;  // false: take the member out again, then go low
  };
  std::vector<Word> set(into.words, 0);
  std::vector<Step> stack{{zdd.root, true}};
  while (!stack.empty()) {
    budget.step();
    Step& top = stack.back();
    if (top.id <= unit) {
      if (top.id == unit) {
        budget.reserve(into.bits.size() * sizeof(Word));
        into.add(set.data());
      }
      stack.pop_back();
      continue;
    }
    const Node& node = zdd.nodes[top.id];
    const std::uint32_t member = zdd.member_at[node.level];
    if (top.entering) {
      top.entering = false;
      put(set.data(), member);
      stack.push_back({node.high, true});
    } else {
      drop(set.data(), member);
      top = {node.low, true};
    }
  }
}

}  // namespace quia
