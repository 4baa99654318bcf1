#include "nnf_reasons.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "algebra.hpp"

namespace quia {

namespace {
// A message made only where it is needed.
void require(bool condition, const char* fault) {
  if (!condition) throw std::invalid_argument(fault);
}
void require_at(std::size_t node, bool condition, const char* fault, std::int64_t value = -1) {
  if (condition) return;
  throw std::invalid_argument("node " + std::to_string(node) + fault + (value < 0 ? "" : std::to_string(value)));
}
}  // namespace

Nnf::Nnf(std::span<const std::uint8_t> kind, std::span<const std::int32_t> literal,
         std::span<const std::int64_t> child_start, std::span<const std::int32_t> child) {
  const std::size_t nodes = kind.size();
  require(nodes > 0, "an NNF needs at least one node");
  require(nodes < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "an NNF of 2^31 nodes");
  require(literal.size() == nodes, "literal and kind have different lengths");
  require(child_start.size() == nodes + 1 && child_start[0] == 0 &&
              static_cast<std::size_t>(child_start[nodes]) == child.size(),
          "child_start does not run from 0 to the number of children");
  for (std::size_t node = 0; node < nodes; ++node) {
    require_at(node, child_start[node] <= child_start[node + 1], " has a decreasing child_start");
    require_at(node, kind[node] <= 4, " is of kind ", kind[node]);
    require_at(node, kind[node] >= 3 || child_start[node] == child_start[node + 1], " is no gate but has children");
    if (kind[node] == 2) {
      require_at(node, literal[node] >= 0, " has a negative literal");
      require_at(node, literal[node] < std::numeric_limits<std::int32_t>::max() / 2, " has the literal ",
                 literal[node]);
      most_variable_ = std::max(most_variable_, literal[node]);
    }
  }
  for (std::size_t node = 0; node < nodes; ++node)
    for (std::int64_t e = child_start[node]; e < child_start[node + 1]; ++e)
      require_at(node, child[e] >= 0 && static_cast<std::size_t>(child[e]) < node, " comes before its child ",
                 child[e]);
  for (const std::uint8_t k : kind) kind_.push_back(static_cast<NnfKind>(k));
  literal_.assign(literal.begin(), literal.end());
  child_start_.assign(child_start.begin(), child_start.end());
  child_.assign(child.begin(), child.end());
}

// Variables that the root reaches, by the largest node that has them as a child: near the root first.
std::vector<std::int32_t> Nnf::mentioned(const std::uint8_t* frozen, std::vector<std::uint8_t>& reached) const {
  std::vector<std::int32_t> order;
  std::vector<std::uint8_t> seen(most_variable_ + 1, 0);
  reached.assign(kind_.size(), 0);
  reached.back() = 1;
  for (std::size_t node = kind_.size(); node-- > 0;) {
    if (!reached[node]) continue;
    if (node + 1 == kind_.size() && kind_[node] == NnfKind::literal && !(frozen && frozen[literal_[node]]))
      order.push_back(literal_[node]);
    for (const std::int32_t child : children(node)) {
      reached[child] = 1;
      if (kind_[child] != NnfKind::literal) continue;
      const std::int32_t variable = literal_[child];
      if (seen[variable] || (frozen && frozen[variable])) continue;
      seen[variable] = 1;
      order.push_back(variable);
    }
  }
  return order;
}

Family Nnf::necessary(bool shortest, const std::uint8_t* frozen, const std::int64_t* costs, Budget& budget) const {
  std::vector<std::uint8_t> reached;
  const std::vector<std::int32_t> order = mentioned(frozen, reached);
  std::vector<std::int32_t> variables(order);
  std::sort(variables.begin(), variables.end());
  std::vector<std::uint32_t> member_at(order.size()), level_of(most_variable_ + 1, 0);
  for (std::size_t level = 0; level < order.size(); ++level) {
    level_of[order[level]] = static_cast<std::uint32_t>(level);
    member_at[level] = static_cast<std::uint32_t>(std::lower_bound(variables.begin(), variables.end(), order[level]) -
                                                  variables.begin());
  }
  try {
    Algebra algebra(budget);
    std::vector<NodeId> family(kind_.size(), none);
    // Later children have lower levels: taken first, what they make stays as it is when literals come above it.
    const auto fold_from_the_last = [&](std::size_t node, NodeId result, auto combine) {
      const auto parts = children(node);
      for (auto child = parts.rbegin(); child != parts.rend(); ++child) result = combine(result, family[*child]);
      return result;
    };
    for (std::size_t node = 0; node < kind_.size(); ++node) {
      if (!reached[node]) continue;
      budget.step();
      NodeId result = none;  // no clause: true
      switch (kind_[node]) {
        case NnfKind::true_: break;
        case NnfKind::false_: result = unit; break;
        case NnfKind::literal:
          if (!(frozen && frozen[literal_[node]])) result = algebra.literal(level_of[literal_[node]]);
          break;
        case NnfKind::and_:
          result = fold_from_the_last(node, none, [&](NodeId a, NodeId b) { return algebra.minimal_union(a, b); });
          break;
        case NnfKind::or_:
          result = fold_from_the_last(node, unit, [&](NodeId a, NodeId b) { return algebra.minimal_join(a, b); });
          break;
      }
      family[node] = result;
    }
    const Family all(variables, freeze(algebra.table(), family.back(), member_at, variables.size()), true);
    return shortest ? all.shortest(costs, budget) : all;
  } catch (const OverBudget& over) {
    if (over.cause == OverBudget::Cause::cancelled) throw;
    return Family(variables, SetTable(variables.size()), false);
  }
}

}  // namespace quia
