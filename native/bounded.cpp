#include "bounded.hpp"

#include <algorithm>
#include <stdexcept>

namespace quia {

namespace {

class Bounding {
 public:
  Bounding(const Graph& graph, const Box& box) : graph_(graph), box_(box), place_(graph.variable_count(), -1) {
    for (std::size_t i = 0; i < box.bounded.size(); ++i) {
      place_[box.bounded[i]] = static_cast<std::int32_t>(i);
      for (std::int64_t range = box.start[i] + 1; range < box.start[i + 1]; ++range)
        if (box.low[range] <= box.high[range - 1])
          throw std::invalid_argument("the box has ranges that overlap or are not sorted");
    }
  }

  OwnArrays run() {
    const std::vector<std::int32_t> number = reached();
    OwnArrays made;
    for (std::int32_t node = 0; node <= graph_.root(); ++node) {
      if (number[node] < 0) continue;
      const std::int32_t variable = graph_.variable(node);
      made.variable.push_back(variable);
      made.klass.push_back(variable < 0 ? graph_.leaf_class(node) : -1);
      for (const Graph::Edge& edge : graph_.edges(node)) add_edge(variable, edge, number, made);
      made.edge_start.push_back(static_cast<std::int64_t>(made.child.size()));
    }
    return made;
  }

 private:
  // Calls visit(low, high) for each range of the edge that something possible is in, stretched up to the next.
  template <class Visit>
  void for_each_stretched(std::int32_t variable, const Graph::Edge& edge, Visit visit) const {
    const std::int32_t at = place_[variable];
    graph_.for_each_range(edge, [&](std::int32_t low, std::int32_t high) {
      if (at < 0) return visit(low, high);
      const auto first = static_cast<std::size_t>(box_.start[at]), end = static_cast<std::size_t>(box_.start[at + 1]);
      const auto lows = box_.low.subspan(first, end - first), highs = box_.high.subspan(first, end - first);
      const auto next = std::lower_bound(highs.begin(), highs.end(), low) - highs.begin();  // the first that ends there
      const auto after =
          std::upper_bound(lows.begin(), lows.end(), high) - lows.begin();  // the first that begins after
      if (next >= after) return;  // nothing possible lies between
      const std::int32_t begin = std::max(low, lows[next]), last = std::min(high, highs[after - 1]);
      const std::int32_t following = after < std::ssize(lows) ? lows[after] : graph_.state_counts()[variable];
      visit(begin == lows[0] ? 0 : begin, last == highs[after - 1] ? following - 1 : last);
    });
  }

  // The new number of each node that the root reaches; -1 for the others.
  std::vector<std::int32_t> reached() const {
    std::vector<std::int32_t> number(graph_.node_count(), -1);
    number.back() = 0;
    for (std::int32_t node = graph_.root(); node >= 0; --node) {
      if (number[node] < 0) continue;
      for (const Graph::Edge& edge : graph_.edges(node))
        for_each_stretched(graph_.variable(node), edge, [&](std::int32_t, std::int32_t) { number[edge.child] = 0; });
    }
    std::int32_t count = 0;
    for (std::int32_t& each : number)
      if (each == 0) each = count++;
    return number;
  }

  void add_edge(std::int32_t variable, const Graph::Edge& edge, const std::vector<std::int32_t>& number,
                OwnArrays& made) const {
    const std::size_t before = made.range_low.size();
    for_each_stretched(variable, edge, [&](std::int32_t low, std::int32_t high) {
      made.range_low.push_back(low);
      made.range_high.push_back(high);
    });
    if (made.range_low.size() == before) return;
    made.range_start.push_back(static_cast<std::int64_t>(made.range_low.size()));
    made.child.push_back(number[edge.child]);
  }

  const Graph& graph_;
  const Box& box_;
  std::vector<std::int32_t> place_;  // of each variable its place in the box, or -1
};

}  // namespace

OwnArrays bounded(const Graph& graph, const Box& box) { return Bounding(graph, box).run(); }

}  // namespace quia
