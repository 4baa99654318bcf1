#include "graph_reasons.hpp"

#include <algorithm>
#include <map>

#include "algebra.hpp"

namespace quia {

namespace {

class GraphFamilies {
 public:
  GraphFamilies(const Graph& graph, const Question& question, const std::int64_t* costs, const Least& least,
                GraphScratch& scratch, Budget& budget)
      : graph_(graph), question_(question), costs_(costs), least_(least), scratch_(scratch), budget_(budget),
        algebra_(budget) {}

  // `alone`: variables, none of them in play here, that each are a set of the family besides.
  Family build(bool shortest, const std::map<std::int32_t, Natural>& alone = {}) {
    shortest_ = shortest;
    mark(alone);
    auto& family = scratch_.family;
    family.resize(graph_.node_count());
    family[graph_.root()] = none;
    for (const std::int32_t node : scratch_.needed) {
      budget_.step();
      family[node] = least_[node] == 0 ? unit : family_at(node);
    }
    std::vector<std::uint32_t> levels;
    levels.reserve(alone.size());
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
    const std::int64_t below = least_[edge.child];
    if (below == no_clause) return false;
    return !shortest_ || below + price == least_[node];
  }

  // From the root: nodes whose families matter (for the shortest, only along cheapest choices), and their variables.
  void mark(const std::map<std::int32_t, Natural>& alone) {
    auto& needed = scratch_.needed;
    auto& is_needed = scratch_.is_needed;
    if (is_needed.size() != graph_.node_count())
      is_needed.assign(graph_.node_count(), 0);
    else
      for (const std::int32_t node : needed) is_needed[node] = 0;
    needed.clear();
    std::vector<std::uint8_t> seen(graph_.variable_count(), 0);
    for (const auto& [variable, count] : alone) seen[variable] = 1;
    const auto need = [&](std::int32_t node) {
      if (is_needed[node]) return;
      is_needed[node] = 1;
      needed.push_back(node);
    };
    if (least_[graph_.root()] != no_clause) need(graph_.root());
    for (std::size_t k = 0; k < needed.size(); ++k) {
      budget_.step();
      const std::int32_t node = needed[k];
      // Where nothing need be changed the family is {∅}: what lies below adds nothing.
      if (least_[node] == 0) continue;
      for_each_choice(graph_, question_, node, costs_, [&](const Graph::Edge& edge, std::int64_t price) {
        if (!is_useful(node, edge, price)) return;
        need(edge.child);
        if (price > 0) seen[graph_.variable(node)] = 1;
      });
    }
    if (needed.size() < graph_.node_count() / 32) {
      std::sort(needed.begin(), needed.end());
    } else {
      needed.clear();
      for (std::int32_t node = 0; node <= graph_.root(); ++node)
        if (is_needed[node]) needed.push_back(node);
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
      member_at_.push_back(static_cast<std::uint32_t>(std::lower_bound(variables_.begin(), variables_.end(), variable) -
                                                      variables_.begin()));
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
  const Least least_;
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
  return find_least(graph, question, costs, scratch.least, budget)[graph.root()];
}

Family necessary(const Graph& graph, const Question& question, bool shortest, const std::int64_t* costs,
                 GraphScratch& scratch, Budget& budget, const Least* known) {
  if (graph.is_tree()) {
    try {
      const bool finished = scratch.walk.run(graph, question, shortest, costs, budget);
      return Family(scratch.walk.members(), scratch.walk.clauses(), finished);
    } catch (const TooWide&) {  // NOLINT(bugprone-empty-catch)
      // Go on as for any graph.
    }
  }
  try {
    const auto* prices = shortest ? costs : nullptr;
    const Least least = known ? *known : find_least(graph, question, prices, scratch.least, budget);
    if (shortest || least[graph.root()] != 1)
      return GraphFamilies(graph, question, prices, least, scratch, budget).build(shortest);
    // Every other reason avoids the variables that are reasons alone: with those frozen, much of the graph drops out.
    const Family alone = GraphFamilies(graph, question, nullptr, least, scratch, budget).build(true);
    std::vector<std::uint8_t> frozen(graph.variable_count(), 0);
    if (question.frozen) std::copy_n(question.frozen, frozen.size(), frozen.begin());
    const auto shortest_counts = alone.counts_by_variable(budget);
    for (const auto& [variable, count] : shortest_counts) frozen[variable] = 1;
    Question rest = question;
    rest.frozen = frozen.data();
    const Least without_those = find_least(graph, rest, nullptr, scratch.least, budget);
    return GraphFamilies(graph, rest, nullptr, without_those, scratch, budget).build(false, shortest_counts);
  } catch (const OverBudget& over) {
    if (over.cause == OverBudget::Cause::cancelled) throw;
    return Family({}, SetTable(0), false);
  }
}

}  // namespace quia
