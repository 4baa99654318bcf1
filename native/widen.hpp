// General sufficient reasons: how far the states of a sufficient reason's members can be widened.
//
// A box with the instance in it forces the decision if no wrong leaf can be reached from it. A wrong leaf is kept out by
// leaving what its path takes of some member that the instance has otherwise. First those leaves that one member alone can keep
// out: that is settled. Mostly nothing is left then; else there is a choice, and each branch of it leads to other boxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boxes.hpp"
#include "budget.hpp"
#include "graph.hpp"

namespace quia {

// Reusable scratch of one thread.
class Widening {
 public:
  // All maximal boxes over the members that have the instance in them and force the decision, widest first; into `boxes`.
  // `numbers`: how many states of a variable are numbers whose sets must be intervals; null: any sets. Throws
  // std::invalid_argument if the members' own states do not force the decision.
  void run(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
           const std::int32_t* numbers, Ranges& boxes, Budget& budget);

 private:
  enum Role : std::int32_t { free = -1, fixed = -2 };  // else the place of a member
  struct Top {
    const Graph::Edge* edge;  // leaves the instance's state of a member
    std::int32_t member;
  };
  struct Second {
    Top first, second;
  };
  struct Step {
    std::int32_t node, own, edge, tries;
  };
  struct Branch {
    std::size_t first, next, end;  // of choices_: next is the one that comes next
    bool is_searched;
  };

  void take_roles(std::span<const std::int32_t> members);
  void settle(Budget& budget);
  void settle_below(std::size_t index, Budget& budget);
  bool is_settled(Budget& budget);
  void settle_shared(Budget& budget);
  bool reaches_wrong(std::int32_t start, std::int32_t member, Budget& budget);
  void branch(Budget& budget);
  bool find_wrong(const Word* box, Budget& budget);
  void enter(std::int32_t node);
  std::int32_t next_child(Step& step, const Word* box);
  void collect_choices();
  bool is_new(const Word* box, const Top& chosen) const;
  void part_around_missing(Budget& budget);
  std::int32_t own_edge(std::int32_t node, std::int32_t variable) const {
    return graph_->taken(node, question_->states[variable]);
  }
  void next_epoch();
  [[noreturn]] static void is_no_reason();

  const Graph* graph_ = nullptr;
  const Question* question_ = nullptr;
  BoxSpace space_;
  std::vector<std::int32_t> role_;  // per variable
  std::vector<Word> box_;  // as far as it is settled
  std::vector<std::int32_t> pending_;
  std::vector<Top> tops_;
  std::vector<Second> seconds_;
  std::vector<std::uint32_t> seen_, dirty_;  // per node: the epoch in which it was
  std::uint32_t epoch_ = 0;
  std::vector<Step> path_;
  std::vector<Top> choices_;
  std::vector<const Graph::Edge*> last_;  // per member, on the path to a wrong leaf
  std::vector<Branch> branches_;
  BoxTable trail_;  // a box for each branch
  BoxTable found_;
  BoxTable parts_;
  std::vector<Word> part_;
  WidestFirst widest_first_;
};

}  // namespace quia
