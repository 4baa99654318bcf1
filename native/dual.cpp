#include "dual.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace quia {

namespace {

constexpr std::size_t few_starts = 3, many_starts = 8;
constexpr std::size_t first_cap = std::size_t(12) << 20;  // bytes

// The BDD of all hitting sets of a component: its clauses conjoined from the last variable up, so that each
// conjunction only meets what lies below. `clauses_done` tells how far it got, also where it is cut short.
NodeId all_hitting_sets(Algebra& algebra, const SetTable& table, const Component& component,
                        const std::vector<std::uint32_t>& order, std::size_t& clauses_done) {
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
  std::size_t after_collection = std::size_t(1) << 14;
  for (const auto& levels : clauses) {
    NodeId clause = none;
    for (std::size_t k = levels.size(); k-- > 0;) clause = algebra.table().make_bdd(levels[k], clause, unit);
    root[0] = algebra.conjoin(root[0], clause);
    ++clauses_done;
    if (algebra.table().size() > 4 * after_collection) {
      algebra.table().collect(root);
      after_collection = std::max(after_collection, algebra.table().size());
    }
  }
  if (algebra.table().size() > (std::size_t(1) << 14)) algebra.table().collect(root);
  return root[0];
}

// Total span tells little about how large a diagram gets (orders of equal span differ by a factor of ten, also in the
// other direction), so orders race: each is tried under a small cap, and with each larger cap only the half that
// had conjoined most clauses is tried again.
template <class Finish>
Zdd with_some_order(const SetTable& table, const Component& component, Budget& budget, Finish finish) {
  struct Racer {
    std::vector<std::uint32_t> order;
    std::size_t clauses_done = 0;
  };
  const auto attempt = [&](Racer& racer, std::size_t cap) -> std::optional<Zdd> {
    Budget part = budget.within(cap);
    racer.clauses_done = 0;
    try {
      Algebra algebra(part);
      const NodeId function = all_hitting_sets(algebra, table, component, racer.order, racer.clauses_done);
      algebra.table().use(budget);  // the race is won; minimising may take what there is
      return finish(algebra, function, racer.order);
    } catch (const OverBudget& over) {
      if (over.cause != OverBudget::Cause::memory) throw;
      return std::nullopt;
    }
  };
  Racer first{orders(table, component, few_starts, false, budget)[0]};
  if (auto zdd = attempt(first, first_cap)) return std::move(*zdd);
  std::vector<Racer> racers;
  for (auto& order : orders(table, component, many_starts, true, budget)) racers.push_back({std::move(order)});
  for (std::size_t cap = first_cap;; cap *= 3) {
    for (Racer& racer : racers)
      if (auto zdd = attempt(racer, cap)) return std::move(*zdd);
    if (cap >= budget.memory()) throw OverBudget(OverBudget::Cause::memory);
    std::stable_sort(racers.begin(), racers.end(),
                     [](const Racer& a, const Racer& b) { return a.clauses_done > b.clauses_done; });
    racers.resize(std::max<std::size_t>(2, (racers.size() + 1) / 2));
  }
}

// The BDD of all hitting sets of the clauses below each node, from the terminals up. A clause below a node is one of
// its low side, or has the node's member and is else one of its high side; so without the member both sides must be
// hit, and with it the low side.
NodeId all_hitting_sets(Algebra& algebra, const Zdd& clauses) {
  Budget& budget = algebra.table().budget();
  const std::size_t nodes = clauses.nodes.size();
  budget.reserve(nodes * (sizeof(NodeId) + sizeof(std::uint32_t)));
  std::vector<std::uint32_t> last_parent(nodes, 0);
  for (std::size_t id = 2; id < nodes; ++id)
    last_parent[clauses.nodes[id].low] = last_parent[clauses.nodes[id].high] = static_cast<std::uint32_t>(id);
  std::vector<NodeId> function(nodes, none), roots;
  function[none] = unit;  // no clause at all
  function[unit] = none;  // the empty clause
  std::size_t after_collection = std::size_t(1) << 16;
  for (std::size_t id = 2; id < nodes; ++id) {
    budget.step();
    const Node& node = clauses.nodes[id];
    const NodeId low = function[node.low];
    function[id] = algebra.table().make_bdd(node.level, algebra.conjoin(low, function[node.high]), low);
    if (algebra.table().size() <= 4 * after_collection) continue;
    const auto for_each_needed = [&](auto visit) {
      for (std::size_t k = 2; k <= id; ++k)
        if (k == id || last_parent[k] > id) visit(function[k]);
    };
    roots.clear();
    for_each_needed([&](NodeId root) { roots.push_back(root); });
    algebra.table().collect(roots);
    std::size_t moved = 0;
    for_each_needed([&](NodeId& root) { root = roots[moved++]; });
    after_collection = std::max(after_collection, algebra.table().size());
  }
  return function[clauses.root];
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

Zdd minimal_hitting_sets(const SetTable& clauses, const Component& component, Budget& budget) {
  return with_some_order(clauses, component, budget,
                         [&](Algebra& algebra, NodeId function, const std::vector<std::uint32_t>& order) {
                           return freeze(algebra.table(), algebra.minimal_models(function), order, clauses.universe);
                         });
}

Zdd minimal_hitting_sets(const SetTable& clauses, Budget& budget) {
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (is_empty(clauses.row(i), clauses.words)) return freeze(NodeTable(budget), none, {}, clauses.universe);
  const Decomposition decomposition = decompose(clauses);
  std::vector<Zdd> parts;
  std::size_t held = 0;
  for (const Component& component : decomposition.components) {
    Budget left = budget.beside(held);
    parts.push_back(minimal_hitting_sets(clauses, component, left));
    held += parts.back().bytes();
  }
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

Zdd minimal_hitting_sets(const Zdd& clauses, Budget& budget) {
  Algebra algebra(budget);
  const NodeId function = all_hitting_sets(algebra, clauses);
  return freeze(algebra.table(), algebra.minimal_models(function), clauses.member_at, clauses.universe);
}

Zdd cheapest_hitting_sets(const Zdd& clauses, const std::vector<std::int64_t>* costs, Budget& budget) {
  Algebra algebra(budget);
  const NodeId function = all_hitting_sets(algebra, clauses);
  return cheapest(freeze(algebra.table(), function, clauses.member_at, clauses.universe), costs, budget);
}

}  // namespace quia
