#include "least.hpp"

#include <algorithm>
#include <array>

namespace quia {

Least find_least(const Graph& graph, const Question& question, const std::int64_t* costs,
                 std::vector<std::int64_t>& values, Budget& budget) {
  values.assign(graph.node_count(), no_clause);
  for (std::int32_t node = 0; node <= graph.root(); ++node) {
    budget.step();
    if (graph.variable(node) < 0) {
      if (graph.is_wrong(node, question)) values[node] = 0;
      continue;
    }
    if (!graph.may_reach_wrong(node, question)) continue;
    std::int64_t best = no_clause;
    for_each_choice(graph, question, node, costs, [&](const Graph::Edge& edge, std::int64_t price) {
      if (values[edge.child] != no_clause) best = std::min(best, values[edge.child] + price);
    });
    values[node] = best;
  }
  return Least(values.data());
}

bool LeastLanes::suits(const Graph& graph) {
  return graph.height() < Least::lane_without_clause &&
         std::ranges::all_of(graph.state_counts(), [](std::int32_t states) { return states <= INT16_MAX; });
}

void LeastLanes::run(const Graph& graph, std::span<const Question> questions, Budget& budget) {
  states_.resize(graph.variable_count() * lane_count);
  std::array<Question, lane_count> asked;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    asked[lane] = questions[std::min(lane, questions.size() - 1)];
    for (std::size_t variable = 0; variable < graph.variable_count(); ++variable)
      states_[variable * lane_count + lane] = static_cast<std::int16_t>(asked[lane].states[variable]);
  }
  values_.resize(graph.node_count() * lane_count);
  const Lanes without = spread(Least::lane_without_clause), one = spread(1);
  for (std::int32_t node = 0; node <= graph.root(); ++node) {
    budget.step();
    std::int16_t* here = values_.data() + static_cast<std::size_t>(node) * lane_count;
    const std::int32_t variable = graph.variable(node);
    if (variable < 0) {
      for (std::size_t lane = 0; lane < lane_count; ++lane)
        here[lane] = graph.is_wrong(node, asked[lane]) ? 0 : Least::lane_without_clause;
      continue;
    }
    const std::int16_t* own = states_.data() + static_cast<std::size_t>(variable) * lane_count;
    const Lanes states = load(own);
    Lanes kept = without, changed = without, taken = spread(0);
    for (const Graph::Edge& edge : graph.edges(node)) {
      const Lanes below = load(values_.data() + static_cast<std::size_t>(edge.child) * lane_count);
      Lanes takes = (spread(static_cast<std::int16_t>(edge.low)) <= states) &
                    (states <= spread(static_cast<std::int16_t>(edge.high)));
      if (edge.more >= 0)
        for (std::size_t lane = 0; lane < lane_count; ++lane) takes[lane] = graph.takes(edge, own[lane]) ? -1 : 0;
      takes = takes & ~taken;  // the first edge that does
      taken = taken | takes;
      kept = smaller(kept, below | (~takes & without));  // no number is negative, so `or` gives the largest or more
      changed = smaller(changed, below | (takes & without));
    }
    // Where an instance's state is impossible, every edge is free.
    kept = smaller(kept, changed | (taken & without));
    if (!asked[0].is_frozen(variable)) kept = smaller(kept, changed + one);
    store(here, kept);
  }
}

}  // namespace quia
