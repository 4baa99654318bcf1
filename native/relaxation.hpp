// A lower bound for a sum of leaves over a box, by dual potentials.
//
// Each tree picks its cheapest leaf in the box for itself, so trees may disagree on the states they assume. Potentials
// make them agree: for each tree, variable and cell (a run of states that no tree tells apart) a number, all trees'
// numbers of a cell summing to 0. A leaf costs its value and, for each variable of its tree, the least potential among
// the cells it allows; whatever the potentials are, the sum of the trees' cheapest leaves is a lower bound. A sweep takes
// each variable in turn and gives all trees the mean of their min-marginals over its cells (min-sum diffusion), which
// never lowers the bound.
//
// A tree tells fewer cells apart than all trees together: its segments are runs of cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"
#include "domain.hpp"
#include "ways.hpp"

namespace quia {

class Relaxation {
 public:
  explicit Relaxation(const Ensemble& ensemble);

  // Begins anew with a sum and a box.
  void build(const Mix& mix, const Domain& domain, Budget& budget);
  // Whether no tree is left whose leaves differ in their values: the sum is the same all over the box.
  bool is_constant() const { return factors_.empty(); }
  double bound() const { return bound_; }
  // Whether all leaves in the box are so short that sums of them are exact.
  bool is_exact() const { return is_exact_; }
  // One pass over all variables; the bound rises or stays.
  void sweep(Budget& budget);
  // A lower bound that rounding errors of potentials and sums cannot raise.
  double safe_bound(Budget& budget);
  // The cells that the trees like best on the whole; other variables keep their states.
  void propose(std::vector<std::int32_t>& point) const;

  // Strikes out of the box the states with which the sum is above the limit; says how many cells that were, of how many.
  struct Struck {
    std::size_t cells = 0, of = 0;
    bool is_all = false;  // nothing is left
  };
  Struck strike_out(double limit, Domain& box, Budget& budget);

  // Where to part the box, states below `state` of a variable and the rest, and how much the sum of the trees' cheapest
  // leaves then rises. That is without potentials: once these agree on everything, no part looks better than another,
  // and boxes parted by what they say need many times more of them. Nothing, if no cell is left to part from others.
  struct Split {
    std::int32_t variable = -1, state = 0;
    double below = 0, above = 0;
  };
  Split best_split(double limit, const Domain& box, Budget& budget);

 private:
  struct Factor {
    std::size_t first_leaf, leaf_count, first_slot, slot_count;
  };
  struct Slot {
    std::int32_t variable;  // its place in variables_
    std::size_t factor;
    std::size_t potential;  // of its first cell
    std::size_t segment;  // of its first segment in segment_start_
    std::size_t segments;
    std::size_t range;  // of its first leaf in ranges_ and least_
  };
  // The segments of a slot that a leaf allows: from `first` to `last`; if `first` is negative, the ranges
  // -1 - first … in more_ranges_, `last` of them.
  struct SegmentRange {
    std::int32_t first, last;
  };
  struct Cells {
    std::int32_t variable;
    std::size_t first_state;  // of its first cell in first_states_
    std::size_t count;
    std::size_t first_slot, slot_count;  // in slots_of_
    std::size_t mean;  // of its first cell in means_
  };
  // What a walk through one tree leaves: a leaf and the variables that it narrows.
  struct FoundLeaf {
    double value;
    std::size_t first_narrowed, narrowed_count;
  };
  struct Narrowed {
    std::int32_t variable;
    std::uint32_t first_span, span_count;
  };

  void walk(const Mix& mix, std::size_t tree, const Domain& domain);
  void number_cells(const Domain& domain);
  void make_factor(std::size_t first_leaf, std::size_t end_leaf);
  void make_slots(std::size_t first_leaf, std::size_t end_leaf, std::size_t factor);
  void list_slots();
  void marginals(const Slot& slot, double* into);
  void spread(const Slot& slot);
  double sum_of_cheapest() const;
  void strike_out(const Cells& cells, const std::vector<std::uint8_t>& is_out, Domain& box) const;
  template <class Cost>
  void cheapest(const Slot& slot, Cost cost);

  const Ensemble& ensemble_;
  double base_ = 0, bound_ = 0;
  bool is_exact_ = false;

  std::vector<Factor> factors_;
  std::vector<Slot> slots_;
  std::vector<double> value_, cost_;
  std::vector<SegmentRange> ranges_, more_ranges_;
  std::vector<double> least_;  // for each slot and leaf the least potential among what the leaf allows
  std::vector<std::int32_t> segment_start_;
  std::vector<double> potential_, means_;
  std::vector<Cells> variables_;
  std::vector<std::size_t> slots_of_;
  std::vector<std::int32_t> first_states_;

  // Scratch of a walk through a tree.
  struct Here {
    std::uint32_t first, count;  // spans in arena_; count 0: what the box allows
  };
  struct Frame {
    std::int32_t variable, no;
    Here before, no_part;
    std::uint32_t arena;
    bool is_pending;
  };
  std::vector<Frame> frames_;
  std::vector<Here> here_;
  std::vector<StateSpan> arena_, yes_, no_;
  std::vector<std::uint32_t> seen_in_leaf_;
  std::uint32_t leaf_stamp_ = 0;
  std::vector<FoundLeaf> found_;
  std::vector<Narrowed> narrowed_;
  std::vector<StateSpan> spans_;
  std::vector<std::size_t> tree_end_;  // in found_, for each tree that is not constant

  // Scratch of cells and segments.
  std::vector<std::size_t> state_offset_;
  std::vector<std::uint8_t> starts_cell_, starts_segment_;
  std::vector<std::int32_t> cell_of_, place_, slot_of_, segment_of_;
  std::vector<double> by_segment_, by_cell_;
};

}  // namespace quia
