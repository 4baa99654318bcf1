#include "relaxation.hpp"

#include <cmath>
#include <limits>

namespace quia {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

Relaxation::Relaxation(const Ensemble& ensemble)
    : ensemble_(ensemble), here_(ensemble.variable_count(), Here{0, 0}), seen_in_leaf_(ensemble.variable_count(), 0),
      place_(ensemble.variable_count(), -1), slot_of_(ensemble.variable_count(), -1) {
  std::size_t states = 0;
  for (const std::int32_t count : ensemble.state_counts()) {
    state_offset_.push_back(states);
    states += static_cast<std::size_t>(count) + 1;
  }
  starts_cell_.resize(states);
  cell_of_.resize(states);
}

void Relaxation::build(const Mix& mix, const Domain& domain, Budget& budget) {
  found_.clear();
  narrowed_.clear();
  spans_.clear();
  tree_end_.clear();
  factors_.clear();
  slots_.clear();
  value_.clear();
  ranges_.clear();
  more_ranges_.clear();
  segment_start_.clear();
  base_ = mix.constant;
  is_exact_ = true;
  std::size_t potentials = 0;
  for (std::size_t tree = 0; tree < ensemble_.tree_count(); ++tree) {
    if (!mix.concerns(ensemble_, tree)) continue;
    const std::size_t first = found_.size(), first_narrowed = narrowed_.size(), first_span = spans_.size();
    walk(mix, tree, domain);
    budget.step(found_.size() - first + 1);
    bool is_constant = true;
    for (std::size_t i = first + 1; i < found_.size() && is_constant; ++i)
      is_constant = found_[i].value == found_[first].value;
    if (is_constant) {
      base_ += found_[first].value;
      found_.resize(first);
      narrowed_.resize(first_narrowed);
      spans_.resize(first_span);
    } else {
      tree_end_.push_back(found_.size());
    }
  }
  number_cells(domain);
  std::size_t first = 0;
  for (const std::size_t end : tree_end_) {
    make_factor(first, end);
    budget.step(end - first);
    first = end;
  }
  for (Slot& slot : slots_) {
    slot.potential = potentials;
    potentials += variables_[slot.variable].count;
  }
  budget.reserve((potentials + 3 * ranges_.size()) * sizeof(double) + spans_.size() * sizeof(StateSpan));
  potential_.assign(potentials, 0);
  least_.assign(ranges_.size(), 0);
  cost_ = value_;
  list_slots();
  bound_ = sum_of_cheapest();
}

void Relaxation::walk(const Mix& mix, std::size_t tree, const Domain& domain) {
  std::int32_t at = ensemble_.root(tree);
  for (;;) {
    const Ensemble::Node& node = ensemble_.node(at);
    if (node.variable >= 0) {
      Here& here = here_[node.variable];
      const std::span<const StateSpan> spans =
          here.count ? std::span<const StateSpan>(arena_.data() + here.first, here.count) : domain.of(node.variable);
      part(ensemble_, node, spans, yes_, no_);
      if (no_.empty() || yes_.empty()) {
        at = no_.empty() ? node.yes : node.no;
        continue;
      }
      const auto arena = static_cast<std::uint32_t>(arena_.size());
      const auto yes_count = static_cast<std::uint32_t>(yes_.size()), no_count = static_cast<std::uint32_t>(no_.size());
      arena_.insert(arena_.end(), yes_.begin(), yes_.end());
      arena_.insert(arena_.end(), no_.begin(), no_.end());
      frames_.push_back({node.variable, node.no, here, {arena + yes_count, no_count}, arena, true});
      here = {arena, yes_count};
      at = node.yes;
      continue;
    }
    is_exact_ = is_exact_ && ensemble_.is_short(node.yes);
    FoundLeaf leaf{mix.of(ensemble_, tree, node.yes), narrowed_.size(), 0};
    ++leaf_stamp_;
    for (const Frame& frame : frames_) {
      if (seen_in_leaf_[frame.variable] == leaf_stamp_) continue;
      seen_in_leaf_[frame.variable] = leaf_stamp_;
      const Here& here = here_[frame.variable];
      narrowed_.push_back({frame.variable, static_cast<std::uint32_t>(spans_.size()), here.count});
      spans_.insert(spans_.end(), arena_.begin() + here.first, arena_.begin() + here.first + here.count);
    }
    leaf.narrowed_count = narrowed_.size() - leaf.first_narrowed;
    found_.push_back(leaf);
    while (!frames_.empty() && !frames_.back().is_pending) {
      here_[frames_.back().variable] = frames_.back().before;
      arena_.resize(frames_.back().arena);
      frames_.pop_back();
    }
    if (frames_.empty()) return;
    Frame& frame = frames_.back();
    frame.is_pending = false;
    here_[frame.variable] = frame.no_part;
    at = frame.no;
  }
}

void Relaxation::number_cells(const Domain& domain) {
  for (const Cells& cells : variables_) place_[cells.variable] = -1;
  variables_.clear();
  first_states_.clear();
  for (const Narrowed& each : narrowed_) {
    if (place_[each.variable] < 0) {
      place_[each.variable] = static_cast<std::int32_t>(variables_.size());
      variables_.push_back({each.variable, 0, 0, 0, 0, 0});
    }
    std::uint8_t* starts = starts_cell_.data() + state_offset_[each.variable];
    for (std::uint32_t i = 0; i < each.span_count; ++i) {
      starts[spans_[each.first_span + i].low] = 1;
      starts[spans_[each.first_span + i].high + 1] = 1;
    }
  }
  std::size_t means = 0;
  for (Cells& cells : variables_) {
    const std::size_t offset = state_offset_[cells.variable];
    cells.first_state = first_states_.size();
    cells.mean = means;
    std::int32_t cell = -1;
    for (const StateSpan& span : domain.of(cells.variable)) {
      for (std::int32_t state = span.low; state <= span.high; ++state) {
        if (state == span.low || starts_cell_[offset + state]) {
          ++cell;
          first_states_.push_back(state);
        }
        cell_of_[offset + state] = cell;
      }
    }
    cells.count = static_cast<std::size_t>(cell) + 1;
    means += cells.count;
    std::fill_n(starts_cell_.begin() + static_cast<std::ptrdiff_t>(offset),
                ensemble_.state_counts()[cells.variable] + 1, std::uint8_t(0));
  }
  means_.resize(means);
}

void Relaxation::make_factor(std::size_t first_leaf, std::size_t end_leaf) {
  const std::size_t factor = factors_.size();
  factors_.push_back({value_.size(), end_leaf - first_leaf, slots_.size(), 0});
  for (std::size_t i = first_leaf; i < end_leaf; ++i) {
    value_.push_back(found_[i].value);
    for (std::size_t n = 0; n < found_[i].narrowed_count; ++n) {
      const std::int32_t variable = narrowed_[found_[i].first_narrowed + n].variable;
      if (slot_of_[variable] >= 0) continue;
      slot_of_[variable] = static_cast<std::int32_t>(slots_.size());
      slots_.push_back({place_[variable], factor, 0, 0, 0, 0});
    }
  }
  factors_.back().slot_count = slots_.size() - factors_.back().first_slot;
  make_slots(first_leaf, end_leaf, factor);
  for (std::size_t s = factors_.back().first_slot; s < slots_.size(); ++s)
    slot_of_[variables_[slots_[s].variable].variable] = -1;
}

void Relaxation::make_slots(std::size_t first_leaf, std::size_t end_leaf, std::size_t factor) {
  const std::size_t first_slot = factors_[factor].first_slot;
  std::size_t cells = 0;
  for (std::size_t s = first_slot; s < slots_.size(); ++s) {
    slots_[s].potential = cells;  // for now: of its first cell in the marks of this tree
    cells += variables_[slots_[s].variable].count + 1;
  }
  starts_segment_.assign(cells, 0);
  segment_of_.resize(cells);
  const auto for_each_span = [&](auto visit) {
    for (std::size_t i = first_leaf; i < end_leaf; ++i)
      for (std::size_t n = 0; n < found_[i].narrowed_count; ++n) {
        const Narrowed& each = narrowed_[found_[i].first_narrowed + n];
        visit(i - first_leaf, slots_[slot_of_[each.variable]], each, cell_of_.data() + state_offset_[each.variable]);
      }
  };
  for_each_span([&](std::size_t, const Slot& slot, const Narrowed& each, const std::int32_t* cell) {
    for (std::uint32_t k = 0; k < each.span_count; ++k) {
      const StateSpan& span = spans_[each.first_span + k];
      starts_segment_[slot.potential + cell[span.low]] = 1;
      starts_segment_[slot.potential + cell[span.high] + 1] = 1;
    }
  });
  const std::size_t leaves = end_leaf - first_leaf;
  for (std::size_t s = first_slot; s < slots_.size(); ++s) {
    Slot& slot = slots_[s];
    slot.segment = segment_start_.size();
    const std::size_t count = variables_[slot.variable].count;
    for (std::size_t cell = 0; cell < count; ++cell) {
      if (!cell || starts_segment_[slot.potential + cell]) segment_start_.push_back(static_cast<std::int32_t>(cell));
      segment_of_[slot.potential + cell] = static_cast<std::int32_t>(segment_start_.size() - slot.segment) - 1;
    }
    slot.segments = segment_start_.size() - slot.segment;
    segment_start_.push_back(static_cast<std::int32_t>(count));
    slot.range = ranges_.size();
    ranges_.resize(ranges_.size() + leaves, {0, static_cast<std::int32_t>(slot.segments) - 1});
  }
  for_each_span([&](std::size_t leaf, const Slot& slot, const Narrowed& each, const std::int32_t* cell) {
    const std::int32_t* segment = segment_of_.data() + slot.potential;
    SegmentRange& range = ranges_[slot.range + leaf];
    const std::size_t more = more_ranges_.size();
    for (std::uint32_t k = 0; k < each.span_count; ++k) {
      const StateSpan& span = spans_[each.first_span + k];
      more_ranges_.push_back({segment[cell[span.low]], segment[cell[span.high]]});
      // Spans that only states beside the box keep apart are one.
      if (more_ranges_.size() > more + 1 && more_ranges_.end()[-2].last + 1 == more_ranges_.back().first) {
        more_ranges_.end()[-2].last = more_ranges_.back().last;
        more_ranges_.pop_back();
      }
    }
    if (more_ranges_.size() == more + 1) {
      range = more_ranges_.back();
      more_ranges_.pop_back();
    } else {
      range = {-1 - static_cast<std::int32_t>(more), static_cast<std::int32_t>(more_ranges_.size() - more)};
    }
  });
}

void Relaxation::list_slots() {
  for (Cells& cells : variables_) cells.slot_count = 0;
  for (const Slot& slot : slots_) ++variables_[slot.variable].slot_count;
  std::size_t first = 0;
  for (Cells& cells : variables_) {
    cells.first_slot = first;
    first += cells.slot_count;
    cells.slot_count = 0;
  }
  slots_of_.resize(slots_.size());
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    Cells& cells = variables_[slots_[s].variable];
    slots_of_[cells.first_slot + cells.slot_count++] = s;
  }
}

double Relaxation::sum_of_cheapest() const {
  double sum = base_;
  for (const Factor& factor : factors_) {
    double least = infinite;
    for (std::size_t i = 0; i < factor.leaf_count; ++i) least = std::min(least, cost_[factor.first_leaf + i]);
    sum += least;
  }
  return sum;
}

// For each segment the least cost of a leaf that allows it, into by_segment_.
template <class Cost>
void Relaxation::cheapest(const Slot& slot, Cost cost) {
  const Factor& factor = factors_[slot.factor];
  const auto segments = static_cast<std::int32_t>(slot.segments);
  by_segment_.assign(slot.segments, infinite);
  double* const least = by_segment_.data();
  double anywhere = infinite;
  const SegmentRange* const ranges = ranges_.data() + slot.range;
  for (std::size_t i = 0; i < factor.leaf_count; ++i) {
    const double own = cost(i);
    const SegmentRange& range = ranges[i];
    if (range.first == 0 && range.last == segments - 1) {
      anywhere = std::min(anywhere, own);
    } else if (range.first >= 0) {
      for (std::int32_t s = range.first; s <= range.last; ++s) least[s] = std::min(least[s], own);
    } else {
      for (std::int32_t r = 0; r < range.last; ++r) {
        const SegmentRange& more = more_ranges_[-1 - range.first + r];
        for (std::int32_t s = more.first; s <= more.last; ++s) least[s] = std::min(least[s], own);
      }
    }
  }
  for (std::int32_t s = 0; s < segments; ++s) least[s] = std::min(least[s], anywhere);
}

// For each cell the cost of the cheapest leaf that allows it, were this variable's potential that of the cell.
void Relaxation::marginals(const Slot& slot, double* into) {
  const double* const cost = cost_.data() + factors_[slot.factor].first_leaf;
  const double* const own = least_.data() + slot.range;
  cheapest(slot, [=](std::size_t leaf) { return cost[leaf] - own[leaf]; });
  const double* const potential = potential_.data() + slot.potential;
  const std::int32_t* const start = segment_start_.data() + slot.segment;
  for (std::size_t s = 0; s < slot.segments; ++s)
    for (std::int32_t cell = start[s]; cell < start[s + 1]; ++cell) into[cell] = by_segment_[s] + potential[cell];
}

// Brings the costs of a tree's leaves up to date with the potentials of a slot.
void Relaxation::spread(const Slot& slot) {
  const Factor& factor = factors_[slot.factor];
  const auto segments = static_cast<std::int32_t>(slot.segments);
  by_segment_.resize(slot.segments);
  double* const least = by_segment_.data();
  const double* const potential = potential_.data() + slot.potential;
  const std::int32_t* const start = segment_start_.data() + slot.segment;
  double anywhere = infinite;
  for (std::int32_t s = 0; s < segments; ++s) {
    double low = infinite;
    for (std::int32_t cell = start[s]; cell < start[s + 1]; ++cell) low = std::min(low, potential[cell]);
    least[s] = low;
    anywhere = std::min(anywhere, low);
  }
  double* const cost = cost_.data() + factor.first_leaf;
  double* const own = least_.data() + slot.range;
  const SegmentRange* const ranges = ranges_.data() + slot.range;
  for (std::size_t i = 0; i < factor.leaf_count; ++i) {
    const SegmentRange& range = ranges[i];
    double low = anywhere;
    if (range.first != 0 || range.last != segments - 1) {
      low = infinite;
      if (range.first >= 0) {
        for (std::int32_t s = range.first; s <= range.last; ++s) low = std::min(low, least[s]);
      } else {
        for (std::int32_t r = 0; r < range.last; ++r) {
          const SegmentRange& more = more_ranges_[-1 - range.first + r];
          for (std::int32_t s = more.first; s <= more.last; ++s) low = std::min(low, least[s]);
        }
      }
    }
    cost[i] += low - own[i];
    own[i] = low;
  }
}

void Relaxation::sweep(Budget& budget) {
  for (const Cells& cells : variables_) {
    double* const mean = means_.data() + cells.mean;
    by_cell_.resize(cells.slot_count * cells.count);
    std::fill_n(mean, cells.count, 0.0);
    for (std::size_t i = 0; i < cells.slot_count; ++i) {
      const Slot& slot = slots_[slots_of_[cells.first_slot + i]];
      double* const own = by_cell_.data() + i * cells.count;
      marginals(slot, own);
      for (std::size_t cell = 0; cell < cells.count; ++cell) mean[cell] += own[cell];
      budget.step(factors_[slot.factor].leaf_count / 16 + cells.count / 16 + 1);
    }
    if (cells.slot_count < 2) continue;
    const double share = 1.0 / static_cast<double>(cells.slot_count);
    for (std::size_t i = 0; i < cells.slot_count; ++i) {
      const Slot& slot = slots_[slots_of_[cells.first_slot + i]];
      const double* const own = by_cell_.data() + i * cells.count;
      double* const potential = potential_.data() + slot.potential;
      for (std::size_t cell = 0; cell < cells.count; ++cell) potential[cell] += mean[cell] * share - own[cell];
      spread(slot);
    }
  }
  bound_ = sum_of_cheapest();
}

double Relaxation::safe_bound(Budget& budget) {
  double magnitude = std::fabs(base_), excess = 0;
  for (const Cells& cells : variables_) {
    std::vector<double>& sum = by_cell_;
    sum.assign(cells.count, 0.0);
    for (std::size_t i = 0; i < cells.slot_count; ++i) {
      const Slot& slot = slots_[slots_of_[cells.first_slot + i]];
      const double* const potential = potential_.data() + slot.potential;
      double most = 0;
      for (std::size_t cell = 0; cell < cells.count; ++cell) {
        sum[cell] += potential[cell];
        most = std::max(most, std::fabs(potential[cell]));
      }
      magnitude += most;
      budget.step(cells.count / 16 + 1);
    }
    double most = -infinite;
    for (std::size_t cell = 0; cell < cells.count; ++cell) most = std::max(most, sum[cell]);
    excess += most;
  }
  std::fill(least_.begin(), least_.end(), 0.0);
  cost_ = value_;
  for (const Slot& slot : slots_) spread(slot);
  for (const Factor& factor : factors_) {
    double most = 0;
    for (std::size_t i = 0; i < factor.leaf_count; ++i) most = std::max(most, std::fabs(value_[factor.first_leaf + i]));
    magnitude += most;
  }
  bound_ = sum_of_cheapest();
  const double terms = static_cast<double>(ensemble_.tree_count() + slots_.size() + variables_.size() + 16);
  return bound_ - excess - terms * magnitude * std::numeric_limits<double>::epsilon();
}

void Relaxation::propose(std::vector<std::int32_t>& point) const {
  for (const Cells& cells : variables_) {
    const double* const mean = means_.data() + cells.mean;
    const std::size_t best = static_cast<std::size_t>(std::min_element(mean, mean + cells.count) - mean);
    point[cells.variable] = first_states_[cells.first_state + best];
  }
}

Relaxation::Struck Relaxation::strike_out(double limit, Domain& box, Budget& budget) {
  const double safe = safe_bound(budget), doubt = bound_ - safe;
  Struck struck;
  std::vector<double> alone;
  std::vector<std::uint8_t> is_out;
  for (const Cells& cells : variables_) {
    alone.assign(cells.count, safe - doubt);
    by_cell_.resize(cells.count);
    for (std::size_t i = 0; i < cells.slot_count; ++i) {
      const Slot& slot = slots_[slots_of_[cells.first_slot + i]];
      marginals(slot, by_cell_.data());
      budget.step(factors_[slot.factor].leaf_count / 16 + cells.count / 16 + 1);
      const double least = *std::min_element(by_cell_.begin(), by_cell_.end());
      for (std::size_t cell = 0; cell < cells.count; ++cell) alone[cell] += by_cell_[cell] - least;
    }
    is_out.assign(cells.count, 0);
    std::size_t out = 0;
    for (std::size_t cell = 0; cell < cells.count; ++cell) out += is_out[cell] = alone[cell] > limit;
    struck.of += cells.count;
    struck.cells += out;
    struck.is_all |= out == cells.count;
    if (out && out < cells.count) strike_out(cells, is_out, box);
  }
  return struck;
}

Relaxation::Split Relaxation::best_split(double limit, const Domain& box, Budget& budget) {
  Split best;
  double best_score = -1;
  double plain = base_;
  for (const Factor& factor : factors_)
    plain += *std::min_element(value_.begin() + static_cast<std::ptrdiff_t>(factor.first_leaf),
                               value_.begin() + static_cast<std::ptrdiff_t>(factor.first_leaf + factor.leaf_count));
  const double need = std::max(limit - plain, 1e-300);
  std::vector<double> below, above;
  for (const Cells& cells : variables_) {
    below.assign(cells.count, 0.0);
    above.assign(cells.count, 0.0);
    for (std::size_t i = 0; i < cells.slot_count; ++i) {
      const Slot& slot = slots_[slots_of_[cells.first_slot + i]];
      const double* const value = value_.data() + factors_[slot.factor].first_leaf;
      cheapest(slot, [=](std::size_t leaf) { return value[leaf]; });
      budget.step(factors_[slot.factor].leaf_count / 16 + cells.count / 16 + 1);
      const double least = *std::min_element(by_segment_.begin(), by_segment_.end());
      const std::int32_t* const start = segment_start_.data() + slot.segment;
      double so_far = infinite;
      for (std::size_t s = 0; s < slot.segments; ++s) {
        so_far = std::min(so_far, by_segment_[s]);
        if (so_far == least) break;
        for (std::int32_t cell = start[s]; cell < start[s + 1]; ++cell) below[cell] += so_far - least;
      }
      so_far = infinite;
      for (std::size_t s = slot.segments; s-- > 0;) {
        so_far = std::min(so_far, by_segment_[s]);
        if (so_far == least) break;
        // Parting before a cell leaves it and those above on the upper side.
        for (std::int32_t cell = std::max(start[s], 1); cell < start[s + 1]; ++cell) above[cell - 1] += so_far - least;
      }
    }
    const auto spans = box.of(cells.variable);
    for (std::size_t cell = 0; cell + 1 < cells.count; ++cell) {
      const std::int32_t state = first_states_[cells.first_state + cell + 1];
      if (spans.front().low >= state || spans.back().high < state) continue;
      const double score = (std::min(below[cell], need) + 1e-3 * need) * (std::min(above[cell], need) + 1e-3 * need);
      if (score <= best_score) continue;
      best_score = score;
      best = {cells.variable, state, below[cell], above[cell]};
    }
  }
  return best;
}

void Relaxation::strike_out(const Cells& cells, const std::vector<std::uint8_t>& is_out, Domain& box) const {
  std::vector<StateSpan> kept;
  std::size_t cell = 0;
  for (const StateSpan& span : box.of(cells.variable)) {
    while (cell < cells.count && first_states_[cells.first_state + cell] <= span.high) {
      const std::int32_t low = first_states_[cells.first_state + cell];
      const bool ends_span = cell + 1 == cells.count || first_states_[cells.first_state + cell + 1] > span.high;
      const std::int32_t high = ends_span ? span.high : first_states_[cells.first_state + cell + 1] - 1;
      if (!is_out[cell]) {
        if (!kept.empty() && kept.back().high + 1 == low)
          kept.back().high = high;
        else
          kept.push_back({low, high});
      }
      ++cell;
    }
  }
  box.replace(cells.variable, kept);
}

}  // namespace quia
