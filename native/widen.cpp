#include "widen.hpp"

#include <algorithm>
#include <stdexcept>

namespace quia {

void Widening::run(const Graph& graph, const Question& question, std::span<const std::int32_t> members,
                   const std::int32_t* numbers, Ranges& boxes, Budget& budget) {
  graph_ = &graph;
  question_ = &question;
  space_.lay_out(graph, question, members, numbers, true);
  take_roles(members);
  box_.resize(space_.words());
  space_.fill(box_.data());
  found_.reset(space_.words());
  tops_.clear();
  seconds_.clear();
  if (graph.is_tree()) {
    settle(budget);
    if (is_settled(budget))
      found_.add(box_.data());
    else
      branch(budget);
  } else {
    settle_shared(budget);
    branch(budget);
  }
  part_around_missing(budget);
  widest_first_.list(found_, space_, boxes);
}

void Widening::take_roles(std::span<const std::int32_t> members) {
  role_.assign(graph_->variable_count(), Role::free);
  if (question_->frozen)
    for (std::size_t v = 0; v < role_.size(); ++v)
      if (question_->frozen[v] && question_->states[v] != unknown) role_[v] = Role::fixed;
  for (std::size_t i = 0; i < members.size(); ++i) role_[members[i]] = static_cast<std::int32_t>(i);
}

void Widening::is_no_reason() {
  throw std::invalid_argument("the members' own states do not force the decision: they are no sufficient reason");
}

// ---- a tree: every subtree is entered once, those with more members changed later, when there is less left to see ----

// What is reached with no member changed; the edges that change one are kept for later.
void Widening::settle(Budget& budget) {
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
  const Top top = tops_[index];
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
        space_.remove(box_.data(), top.member, *graph_, *top.edge,
                      question_->states[space_.place(top.member).variable]);
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

// Whether no wrong leaf is left in the box, of those that several members keep out.
bool Widening::is_settled(Budget& budget) {
  const Word* box = box_.data();
  for (const auto& [first, second] : seconds_) {
    if (!space_.meets(box, second.member, *graph_, *second.edge) ||
        !space_.meets(box, first.member, *graph_, *first.edge))
      continue;
    pending_.assign(1, second.edge->child);
    while (!pending_.empty()) {
      budget.step();
      const std::int32_t node = pending_.back();
      pending_.pop_back();
      if (!graph_->may_reach_wrong(node, *question_)) continue;
      const std::int32_t variable = graph_->variable(node);
      if (variable < 0) {
        if (graph_->is_wrong(node, *question_)) return false;
        continue;
      }
      const auto out = graph_->edges(node);
      const std::int32_t role = role_[variable];
      if (role == Role::fixed) {
        const std::int32_t own = own_edge(node, variable);
        if (own >= 0) pending_.push_back(out[own].child);
        continue;
      }
      for (const auto& edge : out)
        if (role == Role::free || space_.meets(box, role, *graph_, edge)) pending_.push_back(edge.child);
    }
  }
  return true;
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
  std::stable_sort(tops_.begin(), tops_.end(), [](const Top& a, const Top& b) { return a.member < b.member; });
  const std::size_t count = tops_.size();
  for (std::size_t first = 0; first < count;) {
    const std::int32_t member = tops_[first].member;
    next_epoch();
    seconds_.clear();  // the further tests of the member
    const auto settle_top = [&](const Graph::Edge& edge) {
      if (space_.meets(box_.data(), member, *graph_, edge) && reaches_wrong(edge.child, member, budget))
        space_.remove(box_.data(), member, *graph_, edge, question_->states[space_.place(member).variable]);
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

// ---- where there is a choice ----

// Depth first over what may be left out for the wrong leaves met. A later choice for a leaf leads only to boxes in which the
// earlier ones were not made, so that no box comes twice.
void Widening::branch(Budget& budget) {
  choices_.clear();
  branches_.assign(1, {0, 0, 0, false});
  trail_.reset(space_.words());
  trail_.add(box_.data());
  part_.resize(space_.words());
  while (!branches_.empty()) {
    budget.step();
    Branch& top = branches_.back();
    const Word* box = trail_.row(branches_.size() - 1);
    if (!top.is_searched) {
      top.is_searched = true;
      top.first = top.next = top.end = choices_.size();
      bool is_covered = false;
      for (std::size_t i = 0; i < found_.count && !is_covered; ++i) is_covered = space_.is_within(box, found_.row(i));
      if (!is_covered) {
        if (find_wrong(box, budget))
          collect_choices();
        else
          add_maximal(found_, space_, box, budget);
      }
      top.end = choices_.size();
    }
    if (top.next == top.end) {
      choices_.resize(top.first);
      trail_.remove(trail_.count - 1);
      branches_.pop_back();
      continue;
    }
    const Top chosen = choices_[top.next++];
    std::copy_n(box, space_.words(), part_.data());
    space_.remove(part_.data(), chosen.member, *graph_, *chosen.edge,
                  question_->states[space_.place(chosen.member).variable]);
    if (!is_new(part_.data(), chosen)) continue;
    budget.reserve((trail_.bits.size() + found_.bits.size() + 2 * part_.size()) * sizeof(Word) +
                   branches_.size() * sizeof(Branch) + choices_.size() * sizeof(Top));
    trail_.add(part_.data());
    branches_.push_back({0, 0, 0, false});
  }
}

// Whether no choice was made that an earlier branch has made.
bool Widening::is_new(const Word* box, const Top& chosen) const {
  for (const Branch& branch : branches_)
    for (std::size_t i = branch.first; i + 1 < branch.next; ++i)
      if (choices_[i].member == chosen.member && !space_.meets(box, chosen.member, *graph_, *choices_[i].edge))
        return false;
  return true;
}

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
void Widening::collect_choices() {
  last_.assign(space_.size(), nullptr);
  for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
    const std::int32_t role = role_[graph_->variable(path_[i].node)];
    if (role >= 0) last_[role] = &graph_->edges(path_[i].node)[path_[i].edge];
  }
  const std::size_t before = choices_.size();
  for (std::size_t member = 0; member < last_.size(); ++member)
    if (last_[member] && !graph_->takes(*last_[member], question_->states[space_.place(member).variable]))
      choices_.push_back({last_[member], static_cast<std::int32_t>(member)});
  if (choices_.size() == before) is_no_reason();
}

// Of a numeric variable that is missing, any set was gathered: each of its intervals makes a box.
void Widening::part_around_missing(Budget& budget) {
  part_.resize(space_.words());
  for (std::size_t member = 0; member < space_.size(); ++member) {
    const BoxSpace::Place& place = space_.place(member);
    if (place.numbers == 0 || place.is_interval) continue;
    parts_.reset(space_.words());
    for (std::size_t i = 0; i < found_.count; ++i) {
      const Word* whole = found_.row(i);
      std::copy_n(whole, space_.words(), part_.data());
      Word* set = part_.data() + place.first;
      const auto add = [&](std::int32_t low, std::int32_t high) {
        std::fill_n(set, place.words, 0);
        if (low <= high) put_range(set, low, high);
        put(set, place.numbers);
        budget.reserve((found_.bits.size() + parts_.bits.size() + part_.size()) * sizeof(Word));
        add_maximal(parts_, space_, part_.data(), budget);
      };
      bool has_numbers = false;
      space_.for_each_range(whole, member, [&](std::int32_t low, std::int32_t high) {
        if (low == place.numbers) return;
        has_numbers = true;
        add(low, std::min(high, place.numbers - 1));
      });
      if (!has_numbers) add(0, -1);
    }
    std::swap(found_, parts_);
  }
}

}  // namespace quia
