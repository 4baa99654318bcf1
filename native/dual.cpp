#include "dual.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace quia {

namespace {

// The BDD of all hitting sets of a component: its clauses conjoined from the last variable up, so that each
// conjunction only meets what lies below.
NodeId all_hitting_sets(Algebra& algebra, const SetTable& table, const Component& component,
                        const std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> level_of(table.universe, 0);
  for (std::size_t level = 0; level < order.size(); ++level) level_of[order[level]] = static_cast<std::uint32_t>(level);
  std::vector<std::vector<std::uint32_t>> clauses;
  for (const std::uint32_t row : component.clauses) {
    auto& levels = clauses.emplace_back();
    for_each_member(table.row(row), table.words, [&](std::size_t member) { levels.push_back(level_of[member]); });
    std::sort(levels.begin(), levels.end());
  }
  std::sort(clauses.begin(), clauses.end(), std::greater<>());
  std::vector<NodeId> root{unit};
  std::size_t after_collection = std::size_t(1) << 20;
  for (const auto& levels : clauses) {
    NodeId clause = none;
    for (std::size_t k = levels.size(); k-- > 0;) clause = algebra.table().make_bdd(levels[k], clause, unit);
    root[0] = algebra.conjoin(root[0], clause);
    if (algebra.table().size() > 4 * after_collection) {
      algebra.table().collect(root);
      after_collection = std::max(after_collection, algebra.table().size());
    }
  }
  if (algebra.table().size() > (std::size_t(1) << 20)) algebra.table().collect(root);
  return root[0];
}

// Tries the orders with a small cap first, then with all the memory there is.
template <class Finish>
Zdd with_some_order(const SetTable& table, const Component& component, Budget& budget, Finish finish) {
  const auto candidates = orders(table, component, 6);
  for (std::size_t cap = std::size_t(64) << 20;; cap *= 8) {
    const bool last = cap >= budget.memory() / 2;
    for (const auto& order : candidates) {
      Budget part = last ? budget : budget.within(cap);
      try {
        Algebra algebra(part);
        return finish(algebra, all_hitting_sets(algebra, table, component, order), order);
      } catch (const OverBudget& over) {
        if (over.cause != OverBudget::Cause::memory) throw;
        if (last && &order == &candidates.back()) throw;
      }
    }
  }
}

}  // namespace

// The terminal {∅} of the upper diagram becomes the root of the lower.
Zdd stack_up(const std::vector<Zdd>& parts, const std::vector<std::uint32_t>& forced, std::size_t universe,
             Budget& budget) {
  NodeTable table(budget);
  std::vector<std::uint32_t> member_at(forced);
  for (const Zdd& part : parts) member_at.insert(member_at.end(), part.member_at.begin(), part.member_at.end());
  NodeId below = unit;
  auto offset = static_cast<std::uint32_t>(member_at.size());
  for (std::size_t p = parts.size(); p-- > 0;) {
    const Zdd& part = parts[p];
    offset -= static_cast<std::uint32_t>(part.member_at.size());
    std::vector<NodeId> moved(part.nodes.size());
    moved[none] = none;
    moved[unit] = below;
    for (std::size_t id = 2; id < part.nodes.size(); ++id) {
      budget.step();
      const Node& node = part.nodes[id];
      moved[id] = table.make_zdd(node.level + offset, moved[node.low], moved[node.high]);
    }
    below = moved[part.root];
  }
  for (std::size_t k = forced.size(); k-- > 0;) below = table.make_zdd(static_cast<std::uint32_t>(k), none, below);
  return freeze(table, below, std::move(member_at), universe);
}

Zdd minimal_hitting_sets(const SetTable& clauses, Budget& budget) {
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (is_empty(clauses.row(i), clauses.words)) return freeze(NodeTable(budget), none, {}, clauses.universe);
  const Decomposition decomposition = decompose(clauses);
  std::vector<Zdd> parts;
  for (const Component& component : decomposition.components)
    parts.push_back(with_some_order(
        clauses, component, budget, [&](Algebra& algebra, NodeId function, const std::vector<std::uint32_t>& order) {
          const NodeId family = algebra.minimal_models(function);
          return freeze(algebra.table(), family, order, clauses.universe);
        }));
  return stack_up(parts, decomposition.forced, clauses.universe, budget);
}

// The BDD's nodes read as a ZDD name the same models, but with every level that the BDD skips left out. A model of
// least cost has nothing needless (costs are positive), so those are the ones wanted.
Zdd cheapest_hitting_sets(const SetTable& clauses, const Component& component, const std::vector<std::int64_t>* costs,
                          Budget& budget) {
  return with_some_order(clauses, component, budget,
                         [&](Algebra& algebra, NodeId function, const std::vector<std::uint32_t>& order) {
                           return cheapest(freeze(algebra.table(), function, order, clauses.universe), costs, budget);
                         });
}

}  // namespace quia
