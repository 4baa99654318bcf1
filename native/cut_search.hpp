// The maximal boxes with an instance in them that keep out every one of some other boxes, the widest first.
//
// What must be kept out gives a clause: it is enough to cut one member's set so that it is left out. Branch and bound over the
// clauses finds the boxes. A later choice for a clause leads only to boxes in which the earlier ones were not made, so that each
// box comes once, and what is found is tested for being maximal, so that those that count as the widest stay so.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boxes.hpp"
#include "budget.hpp"
#include "graph.hpp"

namespace quia {

// An edge that leaves the instance's state of a member.
struct Leaving {
  const Graph::Edge* edge;
  std::int32_t member;
};

// Reusable scratch of one thread.
class CutSearch {
 public:
  // The boxes lie in `whole`. `own`: the instance's state of each member.
  void start(const Graph& graph, const BoxSpace& space, std::span<const std::int32_t> own, std::span<const Word> whole);
  // A clause: what these edges, of different members, take together is to be kept out.
  void learn(std::span<const Leaving> edges);
  std::size_t clause_count() const { return clauses_.size(); }
  // Whether the whole is the one box that there is, if all clauses are known.
  bool is_done() const { return clauses_.empty() && !has_parts_; }
  // Adds the first `limit` boxes and maybe more to `found`, in any order. `refute` looks for what a box must keep out and does
  // not, learns it and returns true; empty where all clauses are known.
  using Refute = std::function<bool(const Word*)>;
  void run(std::size_t limit, const Refute& refute, BoxTable& found, Budget& budget);

 private:
  // What is to be left out of a member's set: states before low, from end on, missing; or those in a mask.
  struct Cut {
    std::int32_t member;
    Interval kept;
    std::size_t mask;  // into masks_
  };
  struct Clause {
    std::uint32_t first, end;  // of cuts_
  };
  struct Option {
    std::uint32_t cut;
    double share;
  };
  // A box in the search, with the clauses that it does not keep yet and the ways to keep one of them.
  struct Branch {
    double share;  // of the points of the whole, nearly
    std::size_t violated, violated_end;  // of violated_
    std::size_t option, next, option_end;  // of options_
    std::size_t barred;  // of barred_
    bool is_open;
  };

  bool is_cut(const Word* box, const Cut& cut) const;
  void apply(Word* box, const Cut& cut) const;
  bool covers(const Cut& wide, const Cut& narrow) const;
  bool is_dominated(const Clause& clause) const;
  bool keeps(const Word* box, const Clause& clause) const;
  double extent(const Word* box, std::size_t member) const;
  double extent_after(const Word* box, const Cut& cut);

  void open(const Refute& refute, BoxTable& found, Budget& budget);
  void choose(Branch& branch, const Word* box);
  bool is_barred(const Word* box, const Cut& cut);
  bool is_too_narrow(double share) const { return share * (1 + 1e-9) < threshold_; }
  void add(const Word* box, const Refute& refute, BoxTable& found, Budget& budget);
  void add_parts(const Word* box, const Refute& refute, BoxTable& found, Budget& budget);
  bool is_maximal(const Word* box, const Refute& refute, Budget& budget);
  bool can_grow(const Word* box, std::size_t member, const Refute& refute);

  const Graph* graph_ = nullptr;
  const BoxSpace* space_ = nullptr;
  std::vector<std::int32_t> own_;
  std::vector<Word> whole_;
  std::vector<Clause> clauses_;
  std::vector<Cut> cuts_;
  std::vector<Word> masks_;
  bool has_parts_ = false;  // a numeric member is missing: sets are gathered, and parted into intervals

  std::vector<Branch> branches_;
  BoxTable chain_;  // a box for each branch
  std::vector<std::uint32_t> violated_;
  std::vector<Option> options_;
  std::vector<std::uint32_t> barred_;  // cuts that were made in earlier branches
  std::vector<Word> child_, blocked_, grown_;
  std::vector<double> best_;  // shares of the widest found, descending
  std::size_t limit_ = 0;
  double threshold_ = 0;  // the share that a box must have to be listed, nearly
  BoxTable parts_, more_;
};

}  // namespace quia
