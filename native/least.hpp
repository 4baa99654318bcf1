// The least length (cost) of an implicate at every node of a graph: the paper's iml, one pass with the children first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"
#include "lanes.hpp"

namespace quia {

constexpr std::int64_t no_clause = INT64_MAX;

// What such a pass found, for one instance.
class Least {
 public:
  explicit Least(const std::int64_t* values) : values_(values) {}
  Least(const std::int16_t* lanes, std::size_t lane) : lanes_(lanes + lane) {}
  // no_clause where nothing below can be made wrong.
  std::int64_t operator[](std::int32_t node) const {
    if (values_) return values_[node];
    const std::int16_t value = lanes_[static_cast<std::size_t>(node) * lane_count];
    return value == lane_without_clause ? no_clause : value;
  }

  static constexpr std::int16_t lane_without_clause = INT16_MAX - 1;  // one more is no overflow

 private:
  const std::int64_t* values_ = nullptr;
  const std::int16_t* lanes_ = nullptr;
};

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

// One instance.
Least find_least(const Graph& graph, const Question& question, const std::int64_t* costs,
                 std::vector<std::int64_t>& values, Budget& budget);

// Several instances in one pass over the graph: a node's data are read once, and each step is one of short vectors.
class LeastLanes {
 public:
  // Whether lengths and states fit into the lanes.
  static bool suits(const Graph& graph);
  // `questions`: at most lane_count, alike in frozen variables. Lengths, not costs.
  void run(const Graph& graph, std::span<const Question> questions, Budget& budget);
  Least at(std::size_t lane) const { return Least(values_.data(), lane); }

 private:
  std::vector<std::int16_t> values_;  // node-major
  std::vector<std::int16_t> states_;  // variable-major
};

}  // namespace quia
