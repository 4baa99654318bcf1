#include "widen.hpp"

#include <algorithm>
#include <stdexcept>

namespace quia {

namespace {
// Beyond so many a search does better to learn what it needs.
constexpr std::size_t most_clauses = 4096;
}  // namespace

void Widening::run(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
                   const std::int32_t* numbers, std::size_t limit, Ranges& boxes, Budget& budget) {
  graph_ = &graph;
  question_ = &question;
  space_.lay_out(graph, question, members, numbers, true);
  take_roles(members);
  box_.resize(space_.words());
  space_.fill(box_.data());
  if (graph.is_tree())
    settle(budget);
  else
    settle_shared(budget);
  search_.start(graph, space_, own_, box_);
  found_.reset(space_.words());
  const bool knows_all = graph.is_tree() && collect(budget);
  if (knows_all && search_.is_done()) {
    found_.add(box_.data());
    return widest_first_.list(found_, space_, limit, boxes);
  }
  CutSearch::Refute refute;
  if (!knows_all)
    refute = [&](const Word* box) {
      if (!find_wrong(box, budget)) return false;
      learn_path();
      return true;
    };
  search_.run(limit, refute, found_, budget);
  widest_first_.list(found_, space_, limit, boxes);
}

void Widening::take_roles(std::span<const std::int32_t> members) {
  role_.assign(graph_->variable_count(), Role::free);
  if (question_->frozen)
    for (std::size_t v = 0; v < role_.size(); ++v)
      if (question_->frozen[v] && question_->states[v] != unknown) role_[v] = Role::fixed;
  own_.resize(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    role_[members[i]] = static_cast<std::int32_t>(i);
    own_[i] = question_->states[members[i]];
  }
}

void Widening::is_no_reason() {
  throw std::invalid_argument("the members' own states do not force the decision: they are no sufficient reason");
}

// ---- a tree: every subtree is entered once, those with more members changed later, when there is less left to see ----

// What is reached with no member changed; the edges that change one are kept for later.
void Widening::settle(Budget& budget) {
  tops_.clear();
  seconds_.clear();
  pending_.assign(1, graph_->root());
  while (!pending_.empty()) {
    budget.step();
    std::int32_t node = pending_.back();
    pending_.pop_back();
    while (graph_->may_reach_wrong(node, *question_)) {
      const std::int32_t variable = graph_->variable(node);
      if (variable < 0) {
        if (graph_->is_wrong(node, *question_)) is_no_reason();
        break;
      }
      const auto out = graph_->edges(node);
      const std::int32_t role = role_[variable];
      if (role == Role::free) {
        for (const auto& edge : out) pending_.push_back(edge.child);
        break;
      }
      const std::int32_t own = own_edge(node, variable);
      if (role >= 0)
        for (const auto& edge : out)
          if (&edge - out.data() != own && graph_->may_reach_wrong(edge.child, *question_))
            tops_.push_back({&edge, role});
      if (own < 0) break;
      node = out[own].child;
    }
  }
  for (std::size_t top = 0; top < tops_.size(); ++top) settle_below(top, budget);
}

// What is reached with this one member changed: a wrong leaf only that member can keep out.
void Widening::settle_below(std::size_t index, Budget& budget) {
  const Leaving top = tops_[index];
  if (!space_.meets(box_.data(), top.member, *graph_, *top.edge)) return;
  const std::size_t tops = tops_.size(), seconds = seconds_.size();
  pending_.assign(1, top.edge->child);
  while (!pending_.empty()) {
    budget.step();
    std::int32_t node = pending_.back();
    pending_.pop_back();
    while (graph_->may_reach_wrong(node, *question_)) {
      const std::int32_t variable = graph_->variable(node);
      if (variable < 0) {
        if (!graph_->is_wrong(node, *question_)) break;
        space_.remove(box_.data(), top.member, *graph_, *top.edge, own_[top.member]);
        // All that was found below is out of the box now.
        tops_.resize(tops);
        seconds_.resize(seconds);
        return;
      }
      const auto out = graph_->edges(node);
      const std::int32_t role = role_[variable];
      if (role == Role::free) {
        for (const auto& edge : out) pending_.push_back(edge.child);
        break;
      }
      if (role == top.member) {  // tested again: each edge knows its states better than the one above
        for (const auto& edge : out)
          if (graph_->may_reach_wrong(edge.child, *question_)) tops_.push_back({&edge, role});
        break;
      }
      const std::int32_t own = own_edge(node, variable);
      if (role >= 0)
        for (const auto& edge : out)
          if (&edge - out.data() != own && graph_->may_reach_wrong(edge.child, *question_))
            seconds_.push_back({top, {&edge, role}});
      if (own < 0) break;
      node = out[own].child;
    }
  }
}

// Learns of every wrong leaf left in the box, which several members can keep out; false if there are too many.
bool Widening::collect(Budget& budget) {
  const Word* box = box_.data();
  for (const auto& [first, second] : seconds_) {
    if (!space_.meets(box, second.member, *graph_, *second.edge) ||
        !space_.meets(box, first.member, *graph_, *first.edge))
      continue;
    trail_.assign({first});
    visits_.assign(1, {second.edge->child, 1, second});
    while (!visits_.empty()) {
      budget.step();
      const Visit visit = visits_.back();
      visits_.pop_back();
      const std::int32_t node = visit.node;
      if (!graph_->may_reach_wrong(node, *question_)) continue;
      trail_.resize(visit.depth);
      if (visit.above.edge) trail_.push_back(visit.above);
      const std::int32_t variable = graph_->variable(node);
      if (variable < 0) {
        if (graph_->is_wrong(node, *question_)) learn_trail();
        if (search_.clause_count() > most_clauses) return false;
        continue;
      }
      const auto depth = static_cast<std::uint32_t>(trail_.size());
      const auto out = graph_->edges(node);
      const std::int32_t role = role_[variable];
      if (role == Role::free) {
        for (const auto& edge : out) visits_.push_back({edge.child, depth, {nullptr, role}});
        continue;
      }
      const std::int32_t own = own_edge(node, variable);
      if (own >= 0) visits_.push_back({out[own].child, depth, {nullptr, role}});
      if (role == Role::fixed) continue;
      for (const auto& edge : out)
        if (&edge - out.data() != own && space_.meets(box, role, *graph_, edge))
          visits_.push_back({edge.child, depth, {&edge, role}});
    }
  }
  return true;
}

void Widening::learn_trail() {
  last_.assign(space_.size(), nullptr);
  for (const Leaving& leaving : trail_) last_[leaving.member] = leaving.edge;
  learn_last();
}

void Widening::learn_last() {
  clause_.clear();
  for (std::size_t member = 0; member < last_.size(); ++member)
    if (last_[member]) clause_.push_back({last_[member], static_cast<std::int32_t>(member)});
  if (clause_.empty()) is_no_reason();
  search_.learn(clause_);
}

// ---- a graph: the same, with nodes remembered, so that no path is taken apart from the others ----

void Widening::next_epoch() {
  if (seen_.size() != graph_->node_count() || ++epoch_ == 0) {
    seen_.assign(graph_->node_count(), 0);
    dirty_.assign(graph_->node_count(), 0);
    epoch_ = 1;
  }
}

void Widening::settle_shared(Budget& budget) {
  tops_.clear();
  next_epoch();
  pending_.assign(1, graph_->root());
  seen_[graph_->root()] = epoch_;
  const auto go = [&](std::int32_t child) {
    if (seen_[child] == epoch_ || !graph_->may_reach_wrong(child, *question_)) return;
    seen_[child] = epoch_;
    pending_.push_back(child);
  };
  while (!pending_.empty()) {
    budget.step();
    const std::int32_t node = pending_.back();
    pending_.pop_back();
    const std::int32_t variable = graph_->variable(node);
    if (variable < 0) {
      if (graph_->is_wrong(node, *question_)) is_no_reason();
      continue;
    }
    const auto out = graph_->edges(node);
    const std::int32_t role = role_[variable];
    const std::int32_t own = role == Role::free ? -1 : own_edge(node, variable);
    for (const auto& edge : out) {
      if (role == Role::free || &edge - out.data() == own)
        go(edge.child);
      else if (role >= 0 && graph_->may_reach_wrong(edge.child, *question_))
        tops_.push_back({&edge, role});
    }
  }
  std::stable_sort(tops_.begin(), tops_.end(), [](const Leaving& a, const Leaving& b) { return a.member < b.member; });
  const std::size_t count = tops_.size();
  for (std::size_t first = 0; first < count;) {
    const std::int32_t member = tops_[first].member;
    next_epoch();
    seconds_.clear();  // the further tests of the member
    const auto settle_top = [&](const Graph::Edge& edge) {
      if (space_.meets(box_.data(), member, *graph_, edge) && reaches_wrong(edge.child, member, budget))
        space_.remove(box_.data(), member, *graph_, edge, own_[member]);
    };
    for (; first < count && tops_[first].member == member; ++first) settle_top(*tops_[first].edge);
    for (std::size_t i = 0; i < seconds_.size(); ++i) settle_top(*seconds_[i].second.edge);
  }
}

// Whether a wrong leaf is reached with this member changed and not tested again. Every node that was seen and is not dirty
// reaches none; where the member is tested again, its edges are noted.
bool Widening::reaches_wrong(std::int32_t start, std::int32_t member, Budget& budget) {
  path_.clear();
  const auto enter_below = [&](std::int32_t node) {  // true if a wrong leaf is known to be below
    if (dirty_[node] == epoch_) return true;
    if (seen_[node] == epoch_ || !graph_->may_reach_wrong(node, *question_)) return false;
    seen_[node] = epoch_;
    const std::int32_t variable = graph_->variable(node);
    if (variable < 0) {
      if (graph_->is_wrong(node, *question_)) dirty_[node] = epoch_;
      return dirty_[node] == epoch_;
    }
    const std::int32_t role = role_[variable];
    if (role == member)
      for (const auto& edge : graph_->edges(node)) seconds_.push_back({{}, {&edge, member}});
    else
      path_.push_back({node, role == Role::free ? -1 : own_edge(node, variable), -1, 0});
    return false;
  };
  bool wrong = enter_below(start);
  while (!wrong && !path_.empty()) {
    budget.step();
    Step& step = path_.back();
    const auto out = graph_->edges(step.node);
    const bool is_free = role_[graph_->variable(step.node)] == Role::free;
    const std::int32_t end = is_free ? static_cast<std::int32_t>(out.size()) : step.own < 0 ? 0 : 1;
    if (step.tries == end)
      path_.pop_back();
    else {
      const std::int32_t edge = is_free ? step.tries : step.own;
      ++step.tries;
      wrong = enter_below(out[edge].child);
    }
  }
  if (wrong)
    for (const Step& step : path_) dirty_[step.node] = epoch_;
  return wrong;
}

// ---- a wrong leaf that a box does not keep out ----

bool Widening::find_wrong(const Word* box, Budget& budget) {
  next_epoch();
  path_.clear();
  enter(graph_->root());
  while (!path_.empty()) {
    budget.step();
    const std::int32_t node = path_.back().node;
    if (graph_->variable(node) < 0) {
      if (graph_->is_wrong(node, *question_)) return true;
      path_.pop_back();
      continue;
    }
    const std::int32_t next = next_child(path_.back(), box);
    if (next < 0)
      path_.pop_back();
    else
      enter(next);
  }
  return false;
}

void Widening::enter(std::int32_t node) {
  seen_[node] = epoch_;
  const std::int32_t variable = graph_->variable(node);
  path_.push_back({node, variable < 0 ? -1 : own_edge(node, variable), -1, 0});
}

// The child below the next edge that is worth a try, or -1; the instance's own edge comes first.
std::int32_t Widening::next_child(Step& step, const Word* box) {
  const auto out = graph_->edges(step.node);
  const std::int32_t role = role_[graph_->variable(step.node)];
  while (step.tries < static_cast<std::int32_t>(out.size())) {
    const std::int32_t turn = step.tries++;
    step.edge = turn > step.own ? turn : turn == 0 ? step.own : turn - 1;
    const Graph::Edge& edge = out[step.edge];
    if (seen_[edge.child] == epoch_ || !graph_->may_reach_wrong(edge.child, *question_)) continue;
    if (role == Role::fixed ? step.edge == step.own : role == Role::free || space_.meets(box, role, *graph_, edge))
      return edge.child;
  }
  return -1;
}

// The members that can keep the path's leaf out, each with what the last test of it takes.
void Widening::learn_path() {
  last_.assign(space_.size(), nullptr);
  for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
    const std::int32_t role = role_[graph_->variable(path_[i].node)];
    if (role >= 0) last_[role] = &graph_->edges(path_[i].node)[path_[i].edge];
  }
  for (std::size_t member = 0; member < last_.size(); ++member)
    if (last_[member] && graph_->takes(*last_[member], own_[member])) last_[member] = nullptr;
  learn_last();
}

}  // namespace quia
