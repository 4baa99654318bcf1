// Necessary reasons of a decision made by a tree.
//
// Each leaf of a wrong class gives a clause: the variables that must leave the instance's state to get there.
// The minimal clauses are the necessary reasons. The walk goes by layers: layer k holds the subtrees entered with k
// variables changed. In such a subtree the path that changes nothing more decides at once: if it ends in a wrong
// leaf, the clause is necessary and everything else in that subtree is a superset. So clauses come by length,
// the shortest need no more layers than their length, and known clauses cut subtrees before they are entered.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"
#include "sets.hpp"

namespace quia {

// Thrown where a walk meets so many variables that rows of bits would waste memory: ZDDs are better then.
struct TooWide : std::exception {};

// Reusable scratch of one thread; clauses() is valid until the next walk.
class TreeWalk {
 public:
  // All necessary reasons, or with `shortest` only the shortest ones (the cheapest, given costs per variable).
  // Returns false if the budget ended it: the clauses found so far are all necessary reasons. May throw TooWide.
  bool run(const Graph& graph, const Question& question, bool shortest, const std::int64_t* costs, Budget& budget);

  // Clauses over local members; members()[i] is the variable that local member i stands for, ascending.
  const SetTable& clauses() const { return clauses_; }
  const std::vector<std::int32_t>& members() const { return variable_of_; }

 private:
  struct Task {
    std::int32_t node;
    std::int32_t newest;  // local member that opened this subtree, -1 at the root
    std::int64_t cost;
    std::size_t set;      // index into sets_
  };
  std::int32_t local(std::int32_t variable);
  void widen();
  bool follow(const Graph& graph, const Question& question, const Task& task);
  bool is_subsumed(const Word* set, std::int32_t newest, bool this_layer_only) const;
  std::size_t work_for(const Task& task, bool this_layer_only) const;
  std::size_t bytes() const;
  void emit(const Word* set);
  void open(const Graph& graph, const Question& question, const Task& task, std::size_t first, std::size_t end,
            const std::int64_t* costs, bool by_cost);
  void walk_layers(const Graph& graph, const Question& question, bool shortest, Budget& budget);
  void walk_by_cost(const Graph& graph, const Question& question, const std::int64_t* costs, Budget& budget);
  void sort_members();

  std::vector<std::int32_t> local_of_;     // variable → local member, -1 where unseen
  std::vector<std::int32_t> variable_of_;
  SetTable sets_;                          // one set per task
  SetTable clauses_;
  std::vector<std::vector<std::uint32_t>> clauses_with_;  // by local member
  std::vector<std::size_t> layer_start_;                  // by local member: its first clause of this layer
  std::vector<Task> layer_, next_;
  struct Passed {
    std::int32_t node, taken;  // and the edge the instance takes there
  };
  std::vector<Passed> trail_;                             // inner nodes on the paths that change nothing more
  std::vector<std::size_t> trail_end_;                    // per task of the layer
  std::vector<std::int32_t> pending_;
  std::vector<Word> grown_;
  // For sort_members.
  SetTable renumbered_;
  std::vector<std::int32_t> sorted_, rank_, variables_;
  std::vector<Word> used_;
};

}  // namespace quia
