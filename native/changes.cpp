#include "changes.hpp"

#include <algorithm>
#include <stdexcept>

namespace quia {

void Changes::run(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
                  const std::int32_t* numbers, bool certain, std::size_t limit, Ranges& boxes, Budget& budget) {
  graph_ = &graph;
  question_ = &question;
  // Paths that meet again are followed twice, but no more of them than the member has states, if nothing is unknown.
  const bool has_few_paths =
      graph.is_tree() || std::find(question.states.begin(), question.states.end(), unknown) == question.states.end();
  if (members.size() == 1 && !certain && has_few_paths)
    return run_single(members[0], numbers ? numbers[members[0]] : 0, limit, boxes, budget);
  space_.lay_out(graph, question, members, numbers, false);
  member_of_.assign(graph.variable_count(), -1);
  for (std::size_t i = 0; i < members.size(); ++i) member_of_[members[i]] = static_cast<std::int32_t>(i);
  part_.resize(space_.words());
  boxes_.reset(space_.words());
  collect(budget);
  // The family of a wrong leaf: one box with everything in it.
  space_.fill(part_.data());
  boxes_.add(part_.data());
  family_.resize(graph.node_count());
  for (const std::int32_t node : reached_) {
    budget.step();
    const std::int32_t variable = graph.variable(node);
    if (variable < 0) {
      family_[node] = {0, graph.is_wrong(node, question) ? std::size_t(1) : 0};
    } else if (member_of_[variable] >= 0) {
      family_[node] = at_member(node, member_of_[variable], budget);
    } else if (question.states[variable] == unknown) {
      family_[node] = at_unknown(node, certain, budget);
    } else {
      const std::int32_t own = graph.taken(node, question.states[variable]);
      const std::int32_t child = own < 0 ? -1 : graph.edges(node)[own].child;
      family_[node] = child >= 0 && graph.may_reach_wrong(child, question) ? family_[child] : Family{0, 0};
    }
  }
  const Family all = reached_.empty() ? Family{0, 0} : family_[graph.root()];
  if (all.count == 0 && !certain) is_no_reason();
  work_.reset(space_.words());
  for (std::size_t i = 0; i < all.count; ++i) work_.add(boxes_.row(all.first + i));
  widest_first_.list(work_, space_, limit, boxes);
}

void Changes::is_no_reason() {
  throw std::invalid_argument("no change of just these members changes the decision: they are no necessary reason");
}

void Changes::run_single(std::int32_t member, std::int32_t numbers, std::size_t limit, Ranges& boxes, Budget& budget) {
  collect_runs(member, budget);
  if (runs_.empty()) is_no_reason();
  boxes.clear();
  const auto put = [&](std::int32_t low, std::int32_t high) {
    boxes.low.push_back(low);
    boxes.high.push_back(high);
  };
  const auto end_box = [&] {
    boxes.start.push_back(static_cast<std::int64_t>(boxes.low.size()));
    ++boxes.boxes;
  };
  if (limit == 0) return;
  if (numbers == 0) {
    for (const Run& run : runs_) put(run.low, run.high);
    return end_box();
  }
  const bool missing = runs_.back().high >= numbers;
  if (runs_.front().low == numbers) {
    put(numbers, numbers);
    return end_box();
  }
  if (missing) {
    runs_.back().high = numbers - 1;
    if (runs_.back().low == numbers) runs_.pop_back();
  }
  std::stable_sort(runs_.begin(), runs_.end(),
                   [](const Run& a, const Run& b) { return a.high - a.low > b.high - b.low; });
  for (const Run& run : runs_) {
    const bool is_joined = missing && run.high + 1 == numbers;
    put(run.low, is_joined ? numbers : run.high);
    if (missing && !is_joined) put(numbers, numbers);
    end_box();
    if (boxes.boxes == limit) return;
  }
}

// The member's states that lead to a wrong leaf, all else kept, in ascending runs.
void Changes::collect_runs(std::int32_t member, Budget& budget) {
  runs_.clear();
  visits_.assign(1, {graph_->root(), nullptr});
  while (!visits_.empty()) {
    budget.step();
    auto [node, edge] = visits_.back();
    visits_.pop_back();
    while (graph_->may_reach_wrong(node, *question_)) {
      const std::int32_t variable = graph_->variable(node);
      if (variable < 0) {
        if (!graph_->is_wrong(node, *question_)) break;
        if (edge)
          graph_->for_each_range(*edge, [&](std::int32_t low, std::int32_t high) { runs_.push_back({low, high}); });
        else
          runs_.push_back({0, graph_->state_counts()[member] - 1});
        break;
      }
      const auto out = graph_->edges(node);
      const std::int32_t own = variable == member ? -1 : graph_->taken(node, question_->states[variable]);
      if (own >= 0) {
        node = out[own].child;
        continue;
      }
      if (variable == member || question_->states[variable] == unknown)
        for (const auto& next : out) visits_.push_back({next.child, variable == member ? &next : edge});
      break;
    }
  }
  if (runs_.size() < 2) return;
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.low < b.low; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < runs_.size(); ++i)
    if (runs_[i].low <= runs_[last].high + 1)
      runs_[last].high = std::max(runs_[last].high, runs_[i].high);
    else
      runs_[++last] = runs_[i];
  runs_.resize(last + 1);
}

// The nodes that are reached with the members free, children first.
void Changes::collect(Budget& budget) {
  if (seen_.size() != graph_->node_count() || ++epoch_ == 0) {
    seen_.assign(graph_->node_count(), 0);
    epoch_ = 1;
  }
  reached_.clear();
  const auto reach = [&](std::int32_t node) {
    if (seen_[node] == epoch_ || !graph_->may_reach_wrong(node, *question_)) return;
    seen_[node] = epoch_;
    reached_.push_back(node);
  };
  reach(graph_->root());
  for (std::size_t k = 0; k < reached_.size(); ++k) {
    budget.step();
    const std::int32_t variable = graph_->variable(reached_[k]);
    if (variable < 0) continue;
    const auto out = graph_->edges(reached_[k]);
    if (member_of_[variable] >= 0 || question_->states[variable] == unknown) {
      for (const auto& edge : out) reach(edge.child);
    } else {
      const std::int32_t own = graph_->taken(reached_[k], question_->states[variable]);
      if (own >= 0) reach(out[own].child);
    }
  }
  std::sort(reached_.begin(), reached_.end());
}

Changes::Family Changes::at_member(std::int32_t node, std::size_t member, Budget& budget) {
  work_.reset(space_.words());
  for (const auto& edge : graph_->edges(node)) {
    if (!graph_->may_reach_wrong(edge.child, *question_)) continue;
    const Family below = family_[edge.child];
    for (std::size_t i = 0; i < below.count; ++i)
      space_.for_each_part(boxes_.row(below.first + i), part_.data(), member, *graph_, edge,
                           [&] { add_maximal(work_, space_, part_.data(), budget); });
  }
  close(work_, member, member + 1, budget);
  return keep(work_, budget);
}

Changes::Family Changes::at_unknown(std::int32_t node, bool certain, Budget& budget) {
  work_.reset(space_.words());
  bool is_first = true;
  for (const auto& edge : graph_->edges(node)) {
    const Family below = graph_->may_reach_wrong(edge.child, *question_) ? family_[edge.child] : Family{0, 0};
    if (!certain || is_first) {
      for (std::size_t i = 0; i < below.count; ++i) add_maximal(work_, space_, boxes_.row(below.first + i), budget);
    } else {
      next_.reset(space_.words());
      for (std::size_t i = 0; i < work_.count; ++i)
        for (std::size_t k = 0; k < below.count; ++k)
          if (space_.intersect(work_.row(i), boxes_.row(below.first + k), part_.data()))
            add_maximal(next_, space_, part_.data(), budget);
      std::swap(work_, next_);
    }
    is_first = false;
  }
  if (!certain) close(work_, 0, space_.size(), budget);
  return keep(work_, budget);
}

// Each box meets all that were there before it; where one was dropped the last has taken its place, and meets them again.
void Changes::close(BoxTable& table, std::size_t first, std::size_t end, Budget& budget) {
  bool is_closed = table.count < 2;
  while (!is_closed) {
    is_closed = true;
    for (std::size_t i = 1; i < table.count; ++i)
      for (std::size_t k = 0; k < i && i < table.count; ++k)
        for (std::size_t member = first; member < end && i < table.count; ++member)
          space_.for_each_consensus(table.row(i), table.row(k), member, part_.data(), [&] {
            budget.reserve((boxes_.bits.size() + table.bits.size() + 2 * part_.size()) * sizeof(Word));
            if (add_maximal(table, space_, part_.data(), budget)) is_closed = false;
          });
  }
}

Changes::Family Changes::keep(const BoxTable& table, Budget& budget) {
  const Family kept{boxes_.count, table.count};
  budget.reserve((boxes_.bits.size() * 2 + table.bits.size()) * sizeof(Word));
  boxes_.bits.insert(boxes_.bits.end(), table.bits.begin(), table.bits.end());
  boxes_.count += table.count;
  return kept;
}

}  // namespace quia
