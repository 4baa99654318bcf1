// General sufficient reasons: how far the states of a sufficient reason's members can be widened.
//
// A box with the instance in it forces the decision if no wrong leaf can be reached from it. A wrong leaf is kept out by
// leaving what its path takes of some member that the instance has otherwise. Where only one member can do it, that is done; where
// several can, their choices are searched. Of a tree all such leaves are collected, in one walk that enters every subtree once; of
// a shared graph, which has too many paths, they are learned one by one, from boxes that do not keep them out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boxes.hpp"
#include "budget.hpp"
#include "cut_search.hpp"
#include "graph.hpp"

namespace quia {

// Reusable scratch of one thread.
class Widening {
 public:
  // The maximal boxes over the members that have the instance in them and force the decision, the first `limit` of them,
  // widest first; into `boxes`. `numbers`: how many states of a variable are numbers whose sets must be intervals; null:
  // any sets. Throws std::invalid_argument if the members' own states do not force the decision.
  void run(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
           const std::int32_t* numbers, std::size_t limit, Ranges& boxes, Budget& budget);

 private:
  enum Role : std::int32_t { free = -1, fixed = -2 };  // else the place of a member
  struct Second {
    Leaving first, second;
  };
  struct Visit {
    std::int32_t node;
    std::uint32_t depth;  // of trail_, above the edge
    Leaving above;  // the edge, if it leaves the instance's state of a member
  };
  struct Step {
    std::int32_t node, own, edge, tries;
  };

  void take_roles(std::span<const std::int32_t> members);
  std::int32_t own_edge(std::int32_t node, std::int32_t variable) const {
    return graph_->taken(node, question_->states[variable]);
  }
  void next_epoch();
  [[noreturn]] static void is_no_reason();

  void settle(Budget& budget);
  void settle_below(std::size_t index, Budget& budget);
  bool collect(Budget& budget);
  void learn_trail();

  void settle_shared(Budget& budget);
  bool reaches_wrong(std::int32_t start, std::int32_t member, Budget& budget);

  bool find_wrong(const Word* box, Budget& budget);
  void enter(std::int32_t node);
  std::int32_t next_child(Step& step, const Word* box);
  void learn_path();
  void learn_last();

  const Graph* graph_ = nullptr;
  const Question* question_ = nullptr;
  BoxSpace space_;
  std::vector<std::int32_t> role_;  // per variable
  std::vector<std::int32_t> own_;  // per member: its state
  std::vector<Word> box_;  // without what a single member must leave out
  std::vector<std::int32_t> pending_;
  std::vector<Leaving> tops_;
  std::vector<Second> seconds_;
  std::vector<Visit> visits_;
  std::vector<Leaving> trail_;
  std::vector<std::uint32_t> seen_, dirty_;  // per node: the epoch in which it was
  std::uint32_t epoch_ = 0;
  std::vector<Step> path_;
  std::vector<const Graph::Edge*> last_;  // per member: what the way to a wrong leaf takes of it, or null
  std::vector<Leaving> clause_;
  CutSearch search_;
  BoxTable found_;
  WidestFirst widest_first_;
};

}  // namespace quia
