#include "escape.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quia {

namespace {

// The search: depth first, along what the instance does before anything else. On every path the tests of a variable
// agree, the last one knowing its states best (the weak test-once property), so the edges above a leaf are possible
// together if each is by itself.
class Escape {
 public:
  Escape(const Graph& graph, const Question& question, const Box& box)
      : graph_(graph), question_(question), box_(box), place_(graph.variable_count(), -1), seen_(graph.node_count()) {
    for (std::size_t i = 0; i < box.bounded.size(); ++i) place_[box.bounded[i]] = static_cast<std::int32_t>(i);
  }

  std::optional<std::vector<std::int32_t>> find(Budget& budget) {
    enter(graph_.root());
    while (!path_.empty()) {
      budget.step();
      const std::int32_t node = path_.back().node;
      if (graph_.variable(node) < 0) {
        if (graph_.is_wrong(node, question_)) return instance();
        path_.pop_back();
        continue;
      }
      const std::int32_t next = next_child(path_.back());
      if (next < 0)
        path_.pop_back();
      else
        enter(next);
    }
    return std::nullopt;
  }

 private:
  struct Step {
    std::int32_t node;
    std::int32_t own;    // the edge that takes the instance, or -1
    std::int32_t edge;   // the one that is being tried
    std::int32_t tries;  // how many have been
  };

  void enter(std::int32_t node) {
    seen_[node] = 1;
    const std::int32_t variable = graph_.variable(node);
    path_.push_back({node, variable < 0 ? -1 : graph_.taken(node, question_.states[variable]), -1, 0});
  }

  // The child below the next edge that is worth a try, or -1.
  std::int32_t next_child(Step& step) {
    const auto out = graph_.edges(step.node);
    const std::int32_t variable = graph_.variable(step.node);
    while (step.tries < static_cast<std::int32_t>(out.size())) {
      const std::int32_t turn = step.tries++;
      // The instance's own edge comes first, those before it one place later.
      step.edge = turn > step.own ? turn : turn == 0 ? step.own : turn - 1;
      const std::int32_t child = out[step.edge].child;
      if (seen_[child] || !graph_.may_reach_wrong(child, question_)) continue;
      if (state_along(out[step.edge], variable) >= 0) return child;
    }
    return -1;
  }

  // A state that the edge takes and the box allows, the instance's own if it can be, or -1.
  std::int32_t state_along(const Graph::Edge& edge, std::int32_t variable) const {
    const std::int32_t own = question_.states[variable];
    if (own >= 0 && graph_.takes(edge, own) && allows(variable, own)) return own;
    std::int32_t found = -1;
    graph_.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
      if (found < 0) found = first_allowed(variable, low, high);
    });
    return found;
  }

  bool allows(std::int32_t variable, std::int32_t state) const { return first_allowed(variable, state, state) >= 0; }

  // The first state from low to high that the box allows, or -1.
  std::int32_t first_allowed(std::int32_t variable, std::int32_t low, std::int32_t high) const {
    const std::int32_t at = place_[variable];
    if (at < 0) return low;
    for (std::int64_t range = box_.start[at]; range < box_.start[at + 1]; ++range) {
      const std::int32_t first = std::max(low, box_.low[range]);
      if (first <= std::min(high, box_.high[range])) return first;
    }
    return -1;
  }

  std::vector<std::int32_t> instance() const {
    std::vector<std::int32_t> states(question_.states.begin(), question_.states.end());
    for (std::size_t v = 0; v < states.size(); ++v) {
      const auto variable = static_cast<std::int32_t>(v);
      if (states[v] < 0 || !allows(variable, states[v]))
        states[v] = first_allowed(variable, 0, graph_.state_counts()[v] - 1);
    }
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {  // a later test of a variable overrules an earlier one
      const Step& step = path_[i];
      const std::int32_t variable = graph_.variable(step.node);
      states[variable] = state_along(graph_.edges(step.node)[step.edge], variable);
    }
    return states;
  }

  const Graph& graph_;
  const Question& question_;
  const Box& box_;
  std::vector<std::int32_t> place_;  // a variable's place among those with bounds, or -1
  std::vector<std::uint8_t> seen_;
  std::vector<Step> path_;
};

}  // namespace

void check_box(const Box& box, std::span<const std::int32_t> state_counts) {
  const auto fault = [](const std::string& what) { throw std::invalid_argument("the box " + what); };
  if (box.start.size() != box.bounded.size() + 1 || box.start.front() != 0 ||
      box.start.back() != static_cast<std::int64_t>(box.low.size()) || box.low.size() != box.high.size())
    fault("has arrays of lengths that do not fit together");
  if (!std::is_sorted(box.start.begin(), box.start.end())) fault("has ranges that end before they start");
  for (std::size_t i = 0; i < box.bounded.size(); ++i) {
    const std::int32_t variable = box.bounded[i];
    if (variable < 0 || static_cast<std::size_t>(variable) >= state_counts.size())
      fault("bounds variable " + std::to_string(variable) + " of " + std::to_string(state_counts.size()));
    if (box.start[i] >= box.start[i + 1]) fault("leaves variable " + std::to_string(variable) + " no state");
    for (std::int64_t range = box.start[i]; range < box.start[i + 1]; ++range)
      if (box.low[range] < 0 || box.low[range] > box.high[range] || box.high[range] >= state_counts[variable])
        fault("has a range that variable " + std::to_string(variable) + " does not have");
  }
}

std::optional<std::vector<std::int32_t>> escape(const Graph& graph, const Question& question, const Box& box,
                                                Budget& budget) {
  return Escape(graph, question, box).find(budget);
}

}  // namespace quia
