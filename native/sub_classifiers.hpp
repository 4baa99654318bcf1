// A chain compiled into a reduced ordered decision graph.
//
// What has been observed leaves a sub-classifier of the later features, which only its message tells. Two observations
// with the same sub-classifier lead to the same node, so the work is to see that they have the same one without making
// it. Naive Bayes classifiers do it with intervals (Chan & Darwiche 2003): messages are then odds, and a sub-classifier
// stays the same between two odds. Here it is done for messages of any length:
//
//   Say a node was made for a message A, and M[k][j] is the least score of class k over that of class j among all later
//   observations which it gives class k. For another message B, let low_k and high_k be the least and greatest of
//   B_k(s) / A_k(s) over the separator's states s. Then each of these ratios is at least M[k][j] · low_k / high_j for B.
//   Where this is above 1 for all k and j, B leads to the same node. The bounds of several messages of one node may be
//   mixed, each k and j by itself: what lies between two messages of a node belongs to it.
//
// Which node to compare with, a tree of observations tells that set the nodes of a level apart. The last few features are
// not gone through one by one: all their observations together, as columns, give a message's sub-classifier at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "budget.hpp"
#include "chain.hpp"
#include "ordered_graph.hpp"

namespace quia {

// What doubles cannot tell is asked of exact arithmetic.
struct ExactAnswers {
  // The class that all features' states get: those of the first ones, and of the rest.
  std::function<std::int32_t(std::span<const std::int32_t> first, std::span<const std::int32_t> rest)> decide;
  // Whether the messages after these states of the first features are equal up to a factor.
  std::function<bool(std::span<const std::int32_t> first, std::span<const std::int32_t> second)> same;
};

struct SubClassifiers {
  OrderedGraph graph;
  OrderedGraph::Id root;
  bool has_impossible = false;  // whether some observation has a score of 0 for every class
  std::size_t messages = 0;  // looked at
  std::size_t recognised = 0;  // of which a node was known before their later features were gone through
  std::size_t exact = 0;  // questions to exact arithmetic
};

// How much there may be of a graph, and of what is computed for it: so many numbers, which unlike a time is the same on
// every machine.
struct Most {
  std::size_t nodes, work;
};

// The class is the one with the greatest score, of ties the one with the least rank. Throws OverBudget and
// TooFarApart.
SubClassifiers compile(const Chain& chain, std::span<const std::int32_t> ranks, const ExactAnswers& exact,
                       const Most& most, Budget& budget);

}  // namespace quia
