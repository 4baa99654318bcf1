// The maximal boxes with an instance in them that keep out every one of some other boxes, the widest first.
//
// What must be kept out gives a clause: it is enough to make one of its cuts, each of which leaves something out of one member's
// set. A cut is a set of atoms: a state that goes, a step of an interval's end towards the instance. So a box is the set of the atoms
// that were made, and all that the search asks of it is a few operations on words. Branch and bound over the clauses finds the
// boxes. A later cut for a clause leads only to boxes in which the earlier ones were not made, so that each box comes once, and what
// is found is tested for being maximal, so that those that count as the widest stay so.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boxes.hpp"
#include "budget.hpp"
#include "graph.hpp"
#include "sets.hpp"

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
  // A clause: what these edges, of different members in ascending order, take together is to be kept out.
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
  enum class Side : std::uint8_t { low, end, missing, states };
  // A step of an interval's end up to a threshold, the missing value, or states that no clause tells apart.
  struct Atom {
    std::int32_t member;
    Side side;
    std::int32_t threshold;
    std::size_t states;  // into classes_
    double weight;  // how many states go
  };
  struct Step {
    std::int32_t member;
    Side side;
    std::int32_t order, threshold;  // order: as the steps come one after the other
    std::uint32_t cut;
  };
  struct Option {
    std::uint32_t cut;
    double share;
  };
  // A box in the search, with the ways to keep one of the clauses that it does not keep yet.
  struct Branch {
    double share;  // of the points of the whole, nearly; of the largest parts, at most
    std::uint32_t cut;  // the last that was made
    std::uint32_t option, next, option_end;  // of options_
    std::uint32_t barred;  // of barred_
    bool is_open;
  };
  // By how many of its cuts a clause is kept: none, several, or this one alone.
  static constexpr std::uint32_t by_none = UINT32_MAX, by_several = UINT32_MAX - 1;

  void make_cut(const Leaving& leaving);
  bool covers(const Cut& wide, const Cut& narrow) const;
  bool dominates(const Clause& one, const Clause& other) const;

  void make_atoms();
  void make_steps(const Clause& clause);
  void make_classes();
  void remake_branches();
  Word* row(std::vector<Word>& rows, std::size_t i) const { return rows.data() + i * words_; }
  const Word* row(const std::vector<Word>& rows, std::size_t i) const { return rows.data() + i * words_; }
  bool is_made(const Word* made, std::uint32_t cut) const { return is_subset(row(cut_atoms_, cut), made, words_); }
  std::uint32_t keeper(const Word* made, const Clause& clause) const;
  void to_box(const Word* made, Word* box) const;

  void open(const Refute& refute, BoxTable& found, Budget& budget);
  bool is_hopeless(const Word* made, const std::uint32_t* keepers);
  void choose(Branch& branch, const Word* made, const std::uint32_t* keepers, const double* sizes);
  void descend(const Option& option);
  double left_after(const Word* made, const double* sizes, std::uint32_t cut) const;
  bool is_barred(const Word* made, std::uint32_t cut) const;
  bool is_too_narrow(double share) const { return share * (1 + 1e-9) < threshold_; }

  void find(const Refute& refute, BoxTable& found, Budget& budget);
  bool can_grow(const Word* box, const Refute& refute);
  void find_needed(const Word* box);
  template <class Grows>
  bool grows_along(const Word* box, std::size_t member, Grows grows) const;
  void find_parts(const Refute& refute, BoxTable& found, Budget& budget);
  void add_found(const Word* box, BoxTable& found, Budget& budget);
  std::size_t bytes() const;

  const Graph* graph_ = nullptr;
  const BoxSpace* space_ = nullptr;
  std::vector<std::int32_t> own_;
  std::vector<Word> whole_;
  bool has_parts_ = false;  // a numeric member is missing: sets are gathered, and parted into intervals

  std::vector<Cut> cuts_;
  std::vector<Word> masks_;
  std::vector<Clause> clauses_;
  bool has_atoms_ = false;  // for all clauses
  std::size_t words_ = 1;  // of a row of atoms
  std::vector<Atom> atoms_;
  std::vector<Word> classes_;  // of states
  std::vector<Word> cut_atoms_;  // a row for each cut
  std::vector<Step> steps_;
  std::vector<std::uint32_t> set_cuts_;

  std::vector<Branch> branches_;
  std::vector<Word> made_;  // a row for each branch: the atoms made
  std::vector<std::uint32_t> keepers_;  // a row for each branch: by which cut each clause is kept
  std::vector<double> sizes_;  // a row for each branch: how many states each member has
  std::vector<double> ratios_;
  std::vector<Option> options_;
  std::vector<std::uint32_t> barred_;  // cuts that were made in earlier branches
  std::vector<Word> made_by_box_, needed_;
  std::vector<Word> box_, part_, grown_;
  std::vector<double> best_;  // shares of the widest found, descending
  std::size_t limit_ = 0;
  double threshold_ = 0;  // the share that a box must have to be listed, nearly
  BoxTable parts_, more_;
};

}  // namespace quia
