// A frozen ZDD: a family of sets that is asked, not changed. Every question is one or a few loops over its nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "algebra.hpp"
#include "budget.hpp"
#include "natural.hpp"
#include "node_table.hpp"
#include "sets.hpp"

namespace quia {

struct Zdd {
  std::vector<Node> nodes;                  // children first; 0 and 1 are the terminals
  NodeId root = none;
  std::vector<std::uint32_t> member_at;     // level → member (the variable's place in the family's universe)
  std::size_t universe = 0;

  std::size_t words() const { return words_for(universe); }
  std::size_t node_count() const { return nodes.size() - 2; }
  std::size_t bytes() const { return nodes.capacity() * sizeof(Node) + member_at.capacity() * 4; }
};

// What the root reaches in a table.
Zdd freeze(const NodeTable& table, NodeId root, std::vector<std::uint32_t> member_at, std::size_t universe);
// The family of the table's sets, in the members' own order.
Zdd zdd_of_sets(const SetTable& sets, Budget& budget);

bool contains(const Zdd& zdd, const Word* set);
// Members that have all of `containing` and none of `avoiding`.
Zdd restrict(const Zdd& zdd, const Word* containing, const Word* avoiding, Budget& budget);
// Members of least cost (of least length without costs), all ties; works for any family.
Zdd cheapest(const Zdd& zdd, const std::vector<std::int64_t>* costs, Budget& budget);
// Members of exactly this length.
Zdd of_length(const Zdd& zdd, std::size_t length, Budget& budget);
// Adds every member to the table, in the ZDD's order.
void expand(const Zdd& zdd, SetTable& into, Budget& budget);

// The number of members below each node, as numbers of one width.
class Counts {
 public:
  Counts(const Zdd& zdd, Budget& budget);
  Natural total() const { return Natural(at(root_), width_); }
  const Limb* at(NodeId id) const { return limbs_.data() + id * width_; }
  std::size_t width() const { return width_; }

 private:
  NodeId root_;
  std::size_t width_;
  std::vector<Limb> limbs_;
};

std::map<std::size_t, Natural> counts_by_length(const Zdd& zdd, Budget& budget);
// Per member of the universe: in how many sets it is.
std::vector<Natural> counts_by_member(const Zdd& zdd, Budget& budget);
// n uniform members, with repetition, the same for a seed on every machine.
SetTable sample(const Zdd& zdd, std::size_t n, std::uint64_t seed, Budget& budget);

}  // namespace quia
