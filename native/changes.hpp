// General necessary reasons: the boxes of changes of a necessary reason's members in which every point, all else kept,
// changes the decision.
//
// Bottom-up over what is reached with the members free and the rest as it is: a node's wrong points, by their maximal boxes.
// Where a member is tested, a box may go on from edge to edge: the consensus on that member. Every node is worked on once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boxes.hpp"
#include "budget.hpp"
#include "graph.hpp"

namespace quia {

// Reusable scratch of one thread.
class Changes {
 public:
  // The maximal boxes over the members in which every point changes the decision, the first `limit` of them, widest first;
  // into `boxes`. `numbers`: how many states of a variable are numbers whose sets must be intervals; null: any sets. Variables that are unknown: some
  // value of theirs is enough, or with `certain` every one must do. Throws std::invalid_argument if there is no such box, but
  // with `certain`.
  void run(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
           const std::int32_t* numbers, bool certain, std::size_t limit, Ranges& boxes, Budget& budget);

 private:
  struct Run {
    std::int32_t low, high;
  };
  struct Visit {
    std::int32_t node;
    const Graph::Edge* edge;  // the last that the member takes, or null
  };
  struct Family {
    std::size_t first, count;  // of boxes_
  };

  // Of one member the boxes are the runs of its states that lead to a wrong leaf.
  void run_single(std::int32_t member, std::int32_t numbers, std::size_t limit, Ranges& boxes, Budget& budget);
  void collect_runs(std::int32_t member, Budget& budget);
  [[noreturn]] static void is_no_reason();

  void collect(Budget& budget);
  Family at_member(std::int32_t node, std::size_t member, Budget& budget);
  Family at_unknown(std::int32_t node, bool certain, Budget& budget);
  Family keep(const BoxTable& table, Budget& budget);
  // Adds what consensus on the members first … end-1 gives, until nothing new comes.
  void close(BoxTable& table, std::size_t first, std::size_t end, Budget& budget);

  const Graph* graph_ = nullptr;
  const Question* question_ = nullptr;
  std::vector<Visit> visits_;
  std::vector<Run> runs_;
  BoxSpace space_;
  std::vector<std::int32_t> member_of_;  // per variable: its place, or -1
  std::vector<std::int32_t> reached_;  // nodes, children first
  std::vector<std::uint32_t> seen_;  // per node: the epoch in which it was
  std::uint32_t epoch_ = 0;
  std::vector<Family> family_;  // per node that is reached
  BoxTable boxes_;  // those of all families
  BoxTable work_, next_;
  std::vector<Word> part_;
  WidestFirst widest_first_;
};

}  // namespace quia
