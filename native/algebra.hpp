// Operations on families (ZDDs) and monotone functions (BDDs) in one node table.
//
// All run on an explicit stack: a diagram may have thousands of levels. Families given to the
// "minimal" operations are antichains, and so are their results.
#pragma once

#include <cstdint>
#include <vector>

#include "node_table.hpp"

namespace quia {

class Algebra {
 public:
  explicit Algebra(Budget& budget) : table_(budget) {}

  NodeTable& table() { return table_; }
  const NodeTable& table() const { return table_; }

  // Families.
  NodeId set_union(NodeId f, NodeId g) { return run(Operation::set_union, f, g); }
  // Members of f that contain no member of g.
  NodeId non_supersets(NodeId f, NodeId g) { return run(Operation::non_supersets, f, g); }
  // Minimal members of f ∪ g.
  NodeId minimal_union(NodeId f, NodeId g) { return run(Operation::minimal_union, f, g); }
  // Minimal members of { a ∪ b : a ∈ f, b ∈ g }.
  NodeId minimal_join(NodeId f, NodeId g) { return run(Operation::minimal_join, f, g); }
  // The family of one set of one variable.
  NodeId literal(std::uint32_t level) { return table_.make_zdd(level, none, unit); }
  // Minimal members of f ∪ { b ∪ {x} : b ∈ g }: the clauses of f ∧ (g ∨ x).
  NodeId minimal_attach(std::uint32_t x, NodeId f, NodeId g);

  // Monotone functions.
  NodeId conjoin(NodeId f, NodeId g) { return run(Operation::conjoin, f, g); }
  // The family of minimal sets that satisfy the monotone function f (Toda 2013).
  NodeId minimal_models(NodeId f) { return run(Operation::minimal_models, f, none); }
  // Members of the family z that do not satisfy the monotone function f.
  NodeId not_satisfying(NodeId z, NodeId f) { return run(Operation::not_satisfying, z, f); }

 private:
  enum class Operation : std::uint8_t {
    set_union,
    non_supersets,
    minimal_union,
    minimal_join,
    conjoin,
    minimal_models,
    not_satisfying
  };
  struct Frame {
    Operation operation;
    std::uint8_t stage;
    std::uint32_t level;
    NodeId f, g;              // arguments, as normalised
    NodeId f0, f1, g0, g1;    // their cofactors at level
    NodeId a, b;              // results so far
  };
  NodeId run(Operation operation, NodeId f, NodeId g);
  // Sets result_ if the answer is known, else pushes a frame.
  void call(Operation operation, NodeId f, NodeId g);
  bool settle(Operation operation, NodeId& f, NodeId& g);
  void advance();
  void finish(NodeId result);

  NodeTable table_;
  std::vector<Frame> stack_;
  NodeId result_ = none;
};

}  // namespace quia
