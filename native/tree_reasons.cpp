#include "tree_reasons.hpp"

#include <algorithm>
#include <queue>

namespace quia {

namespace {
constexpr std::size_t widest = 4096;
}

std::int32_t TreeWalk::local(std::int32_t variable) {
  if (local_of_[variable] >= 0) return local_of_[variable];
  if (variable_of_.size() == widest) throw TooWide{};
  const auto member = static_cast<std::int32_t>(variable_of_.size());
  local_of_[variable] = member;
  variable_of_.push_back(variable);
  if (clauses_with_.size() <= static_cast<std::size_t>(member)) clauses_with_.emplace_back();
  clauses_with_[member].clear();
  layer_start_.push_back(0);
  if (variable_of_.size() > sets_.words * 64) widen();
  return member;
}

// Doubles the width of every set; rare, as the width is kept from one instance to the next.
void TreeWalk::widen() {
  for (SetTable* table : {&sets_, &clauses_}) {
    const std::size_t wide = table->words * 2;
    std::vector<Word> bits(table->count * wide, 0);
    for (std::size_t i = 0; i < table->count; ++i) std::copy_n(table->row(i), table->words, bits.data() + i * wide);
    table->bits.swap(bits);
    table->words = wide;
  }
}

// Follows every path from the task's node that changes nothing beyond its set, noting the inner nodes passed.
// Returns whether one ends in a wrong leaf.
bool TreeWalk::follow(const Graph& graph, const Question& question, const Task& task) {
  pending_.assign(1, task.node);
  while (!pending_.empty()) {
    std::int32_t node = pending_.back();
    pending_.pop_back();
    for (;;) {
      const std::int32_t variable = graph.variable(node);
      if (variable < 0) {
        if (graph.is_wrong(node, question)) return true;
        break;
      }
      if (!graph.may_reach_wrong(node, question)) break;
      const auto out = graph.edges(node);
      const std::int32_t j = graph.taken(node, question.states[variable]);
      const std::int32_t member = local_of_[variable];
      if (j < 0 || (member >= 0 && has(sets_.row(task.set), member))) {
        // Changed already (or its state is impossible here): no edge costs anything more.
        for (const auto& edge : out) pending_.push_back(edge.child);
        break;
      }
      trail_.push_back({node, j});
      node = out[j].child;
    }
  }
  return false;
}

// Only clauses with the newest member can subsume a set whose parent set was not subsumed.
bool TreeWalk::is_subsumed(const Word* set, std::int32_t newest, bool this_layer_only) const {
  if (newest < 0) return false;
  const auto& list = clauses_with_[newest];
  for (std::size_t i = this_layer_only ? layer_start_[newest] : 0; i < list.size(); ++i)
    if (is_subset(clauses_.row(list[i]), set, clauses_.words)) return true;
  return false;
}

// With half of the sets again, as their table is copied when it grows.
std::size_t TreeWalk::bytes() const {
  return (sets_.bits.size() + sets_.bits.size() / 2 + clauses_.bits.size()) * sizeof(Word) +
         (layer_.size() + next_.size()) * sizeof(Task) + trail_.size() * sizeof(Passed);
}

// Comparing with thousands of clauses takes longer than a step should.
std::size_t TreeWalk::work_for(const Task& task, bool this_layer_only) const {
  if (task.newest < 0) return 1;
  return 1 + (clauses_with_[task.newest].size() - (this_layer_only ? layer_start_[task.newest] : 0)) / 64;
}

void TreeWalk::emit(const Word* set) {
  const auto index = static_cast<std::uint32_t>(clauses_.size());
  clauses_.add(set);
  for_each_member(set, clauses_.words, [&](std::size_t member) { clauses_with_[member].push_back(index); });
}

// Queues the subtrees one change away from a part of the trail, the task's own.
void TreeWalk::open(const Graph& graph, const Question& question, const Task& task, std::size_t first, std::size_t end,
                    const std::int64_t* costs, bool by_cost) {
  for (std::size_t t = first; t < end; ++t) {
    const auto [node, j] = trail_[t];
    const std::int32_t variable = graph.variable(node);
    if (question.is_frozen(variable)) continue;
    const auto out = graph.edges(node);
    std::int32_t member = -1;
    std::size_t set = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (static_cast<std::int32_t>(i) == j || !graph.may_reach_wrong(out[i].child, question)) continue;
      if (member < 0) {
        member = local(variable);
        grown_.assign(sets_.row(task.set), sets_.row(task.set) + sets_.words);
        put(grown_.data(), member);
        if (!by_cost && is_subsumed(grown_.data(), member, false)) break;
        set = sets_.size();
        sets_.add(grown_.data());
      }
      next_.push_back({out[i].child, member, task.cost + (costs ? costs[variable] : 1), set});
    }
  }
}

void TreeWalk::walk_layers(const Graph& graph, const Question& question, bool shortest, Budget& budget) {
  layer_.push_back({graph.root(), -1, 0, 0});
  while (!layer_.empty()) {
    for (std::size_t member = 0; member < layer_start_.size(); ++member)
      layer_start_[member] = clauses_with_[member].size();
    const std::size_t clauses_before = clauses_.size();
    trail_.clear();
    trail_end_.assign(1, 0);
    for (const Task& task : layer_) {
      budget.step(work_for(task, true));
      const std::size_t start = trail_.size();
      if (!is_subsumed(sets_.row(task.set), task.newest, true) && follow(graph, question, task)) {
        trail_.resize(start);
        emit(sets_.row(task.set));
      }
      trail_end_.push_back(trail_.size());
    }
    if (clauses_.size() > clauses_before && (shortest || layer_[0].newest < 0)) return;
    next_.clear();
    for (std::size_t i = 0; i < layer_.size(); ++i) {
      budget.step(work_for(layer_[i], false));
      budget.reserve(bytes());
      const Task& task = layer_[i];
      if (trail_end_[i] != trail_end_[i + 1] && !is_subsumed(sets_.row(task.set), task.newest, true))
        open(graph, question, task, trail_end_[i], trail_end_[i + 1], nullptr, false);
    }
    layer_.swap(next_);
  }
}

// Cheapest first; the walk ends at the first cost above that of the first clause.
void TreeWalk::walk_by_cost(const Graph& graph, const Question& question, const std::int64_t* costs, Budget& budget) {
  const auto later = [](const Task& a, const Task& b) { return a.cost > b.cost; };
  std::priority_queue<Task, std::vector<Task>, decltype(later)> queue(later);
  queue.push({graph.root(), -1, 0, 0});
  std::int64_t best = -1;
  while (!queue.empty()) {
    budget.step();
    const Task task = queue.top();
    queue.pop();
    if (best >= 0 && task.cost > best) break;
    trail_.clear();
    if (follow(graph, question, task)) {
      best = task.cost;
      clauses_.add(sets_.row(task.set));
      continue;
    }
    next_.clear();
    open(graph, question, task, 0, trail_.size(), costs, true);
    for (const Task& opened : next_)
      if (best < 0 || opened.cost <= best) queue.push(opened);
  }
}

// Renumbers members by ascending variable, so that the order of members is the order of variables.
void TreeWalk::sort_members() {
  used_.assign(clauses_.words, 0);
  for (std::size_t i = 0; i < clauses_.size(); ++i)
    for (std::size_t w = 0; w < clauses_.words; ++w) used_[w] |= clauses_.row(i)[w];
  sorted_.clear();
  for_each_member(used_.data(), clauses_.words,
                  [&](std::size_t member) { sorted_.push_back(static_cast<std::int32_t>(member)); });
  std::sort(sorted_.begin(), sorted_.end(),
            [&](std::int32_t a, std::int32_t b) { return variable_of_[a] < variable_of_[b]; });
  rank_.resize(variable_of_.size());
  variables_.resize(sorted_.size());
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    rank_[sorted_[i]] = static_cast<std::int32_t>(i);
    variables_[i] = variable_of_[sorted_[i]];
  }
  for (const std::int32_t variable : variable_of_) local_of_[variable] = -1;
  renumbered_.universe = sorted_.size();
  renumbered_.words = words_for(sorted_.size());
  renumbered_.clear();
  for (std::size_t i = 0; i < clauses_.size(); ++i) {
    Word* row = renumbered_.add();
    for_each_member(clauses_.row(i), clauses_.words, [&](std::size_t member) { put(row, rank_[member]); });
  }
  std::swap(clauses_, renumbered_);
  std::swap(variable_of_, variables_);
}

bool TreeWalk::run(const Graph& graph, const Question& question, bool shortest, const std::int64_t* costs,
                   Budget& budget) {
  if (local_of_.size() != graph.variable_count()) local_of_.assign(graph.variable_count(), -1);
  variable_of_.clear();
  layer_start_.clear();
  layer_.clear();
  next_.clear();
  trail_.clear();
  trail_end_.clear();
  sets_.clear();
  clauses_.clear();
  clauses_.words = sets_.words;
  sets_.add();  // the root's empty set
  bool finished = true;
  try {
    if (shortest && costs)
      walk_by_cost(graph, question, costs, budget);
    else
      walk_layers(graph, question, shortest, budget);
  } catch (const OverBudget& over) {
    if (over.cause == OverBudget::Cause::cancelled) {
      sort_members();
      throw;
    }
    finished = false;
  } catch (...) {
    sort_members();
    throw;
  }
  sort_members();
  if (!finished && shortest) clauses_.clear();  // not known to be the shortest
  // Takes less time than finding them did, so no budget is asked.
  if (shortest && costs)
    keep_distinct(clauses_);  // sets of one cost never contain each other
  else
    sort_by_contract(clauses_, nullptr);
  return finished;
}

}  // namespace quia
