#include "graph_reasons.hpp"

#include <algorithm>
#include <map>

#include "algebra.hpp"

namespace quia {

namespace {

// Calls visit(edge, price): price 0 along what the instance does, the variable's cost for a change of it, nothing
// at all for changes that are frozen (their literal is ⊤) and for children without a wrong leaf (Γ = ⊤).
template <class Visit>
void for_each_choice(const Graph& graph, const Question& question, std::int32_t node, const std::int64_t* costs,
                     Visit visit) {
  const std::int32_t variable = graph.variable(node);
  const std::int32_t j = graph.taken(node, question.states[variable]);
  const auto out = graph.edges(node);
  const std::int64_t price = costs ? costs[variable] : 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!graph.may_reach_wrong(out[i].child, question)) continue;
    const bool changes = j >= 0 && static_cast<std::int32_t>(i) != j;
    if (changes && question.is_frozen(variable)) continue;
    visit(out[i], changes ? price : 0);
  }
}

// iml of every node that could matter, children first.
void find_least(const Graph& graph, const Question& question, const std::int64_t* costs, GraphScratch& scratch,
                Budget& budget) {
  auto& least = scratch.least;
  least.assign(graph.node_count(), no_clause);
  for (std::int32_t node = 0; node <= graph.root(); ++node) {
    budget.step();
    if (graph.variable(node) < 0) {
      if (graph.is_wrong(node, question)) least[node] = 0;
      continue;
    }
    if (!graph.may_reach_wrong(node, question)) continue;
    std::int64_t best = no_clause;
    for_each_choice(graph, question, node, costs, [&](const Graph::Edge& edge, std::int64_t price) {
      if (least[edge.child] != no_clause) best = std::min(best, least[edge.child] + price);
    });
    least[node] = best;
  }
}

class GraphFamilies {
 public:
  GraphFamilies(const Graph& graph, const Question& question, const std::int64_t* costs, GraphScratch& scratch,
                Budget& budget)
      : graph_(graph), question_(question), costs_(costs), scratch_(scratch), budget_(budget), algebra_(budget) {}

  // `alone`: variables, none of them in play here, that each are a set of the family besides.
  Family build(bool shortest, const std::map<std::int32_t, Natural>& alone = {}) {
    shortest_ = shortest;
    mark(alone);
    auto& family = scratch_.family;
    family.assign(graph_.node_count(), none);
    for (std::int32_t node = 0; node <= graph_.root(); ++node) {
      if (!scratch_.needed[node]) continue;
      budget_.step();
      family[node] = scratch_.least[node] == 0 ? unit : family_at(node);
    }
    std::vector<std::uint32_t> levels;
    for (const auto& [variable, count] : alone) levels.push_back(level_of_[variable]);
    std::sort(levels.begin(), levels.end());
    NodeId singles = none;
    while (!levels.empty()) {
      singles = algebra_.table().make_zdd(levels.back(), singles, unit);
      levels.pop_back();
    }
    const NodeId all = algebra_.set_union(family[graph_.root()], singles);
    return Family(variables_, freeze(algebra_.table(), all, member_at_, variables_.size()), true);
  }

 private:
  bool is_useful(std::int32_t node, const Graph::Edge& edge, std::int64_t price) const {
    const std::int64_t below = scratch_.least[edge.child];
    if (below == no_clause) return false;
    return !shortest_ || below + price == scratch_.least[node];
  }

  // From the root: nodes whose families matter (for the shortest, only along cheapest choices), and their variables.
  void mark(const std::map<std::int32_t, Natural>& alone) {
    std::vector<std::uint8_t> seen(graph_.variable_count(), 0);
    for (const auto& [variable, count] : alone) seen[variable] = 1;
    scratch_.needed.assign(graph_.node_count(), 0);
    scratch_.needed[graph_.root()] = scratch_.least[graph_.root()] != no_clause;
    for (std::int32_t node = graph_.root(); node >= 0; --node) {
      // Where nothing need be changed the family is {∅}: what lies below adds nothing.
      if (!scratch_.needed[node] || scratch_.least[node] == 0) continue;
      budget_.step();
      for_each_choice(graph_, question_, node, costs_, [&](const Graph::Edge& edge, std::int64_t price) {
        if (!is_useful(node, edge, price)) return;
        scratch_.needed[edge.child] = 1;
        if (price > 0) seen[graph_.variable(node)] = 1;
      });
    }
    level_of_.assign(graph_.variable_count(), 0);
    std::vector<std::int32_t> order;
    for (const std::int32_t variable : graph_.variable_order())
      if (seen[variable]) {
        level_of_[variable] = static_cast<std::uint32_t>(order.size());
        order.push_back(variable);
      }
    variables_ = order;
    std::sort(variables_.begin(), variables_.end());
    for (const std::int32_t variable : order)
      member_at_.push_back(static_cast<std::uint32_t>(
          std::lower_bound(variables_.begin(), variables_.end(), variable) - variables_.begin()));
  }

  // Γ = ⋀ Γ[kept edges] ∧ (⋀ Γ[changing edges] ∨ X), by its clauses.
  NodeId family_at(std::int32_t node) {
    NodeId kept = none, changed = none;
    for_each_choice(graph_, question_, node, costs_, [&](const Graph::Edge& edge, std::int64_t price) {
      if (!is_useful(node, edge, price)) return;
      NodeId& side = price > 0 ? changed : kept;
      const NodeId below = scratch_.family[edge.child];
      // Sets of one cost never contain each other, so the shortest need no minimising.
      side = shortest_ ? algebra_.set_union(side, below) : algebra_.minimal_union(side, below);
    });
    if (changed == none) return kept;
    return algebra_.minimal_attach(level_of_[graph_.variable(node)], kept, changed);
  }

  const Graph& graph_;
  const Question& question_;
  const std::int64_t* costs_;
  GraphScratch& scratch_;
  Budget& budget_;
  Algebra algebra_;
  bool shortest_ = false;
  std::vector<std::uint32_t> level_of_, member_at_;
  std::vector<std::int32_t> variables_;
};

}  // namespace

std::int64_t shortest_length(const Graph& graph, const Question& question, const std::int64_t* costs,
                             GraphScratch& scratch, Budget& budget) {
  find_least(graph, question, costs, scratch, budget);
  return scratch.least[graph.root()];
}

Family necessary(const Graph& graph, const Question& question, bool shortest, const std::int64_t* costs,
                 GraphScratch& scratch, Budget& budget) {
  if (graph.is_tree()) {
    try {
      const bool finished = scratch.walk.run(graph, question, shortest, costs, budget);
      return Family(scratch.walk.members(), scratch.walk.clauses(), finished);
    } catch (const TooWide&) {
      // Go on as for any graph.
    }
  }
  try {
    find_least(graph, question, shortest ? costs : nullptr, scratch, budget);
    if (shortest || scratch.least[graph.root()] != 1)
      return GraphFamilies(graph, question, shortest ? costs : nullptr, scratch, budget).build(shortest);
    // Every other reason avoids the variables that are reasons alone: with those frozen, much of the graph drops out.
    const Family alone = GraphFamilies(graph, question, nullptr, scratch, budget).build(true);
    std::vector<std::uint8_t> frozen(graph.variable_count(), 0);
    if (question.frozen) std::copy_n(question.frozen, frozen.size(), frozen.begin());
    const auto shortest_counts = alone.counts_by_variable(budget);
    for (const auto& [variable, count] : shortest_counts) frozen[variable] = 1;
    Question rest = question;
    rest.frozen = frozen.data();
    find_least(graph, rest, nullptr, scratch, budget);
    return GraphFamilies(graph, rest, nullptr, scratch, budget).build(false, shortest_counts);
  } catch (const OverBudget& over) {
    if (over.cause == OverBudget::Cause::cancelled) throw;
    return Family({}, SetTable(0), false);
  }
}

}  // namespace quia
