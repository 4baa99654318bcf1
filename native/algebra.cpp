#include "algebra.hpp"

#include <algorithm>
#include <utility>

namespace quia {

// Answers that need no recursion; else f and g are brought into the form under which they are cached.
bool Algebra::settle(Operation operation, NodeId& f, NodeId& g) {
  const auto answer = [&](NodeId result) {
    result_ = result;
    return true;
  };
  switch (operation) {
    case Operation::set_union:
      if (f == none || f == g) return answer(g);
      if (g == none) return answer(f);
      if (f > g) std::swap(f, g);
      return false;
    case Operation::minimal_union:
      if (f == none || f == g) return answer(g);
      if (g == none) return answer(f);
      if (f == unit || g == unit) return answer(unit);
      if (f > g) std::swap(f, g);
      return false;
    case Operation::minimal_join:
      if (f == none || g == none) return answer(none);
      if (f == unit || f == g) return answer(g);
      if (g == unit) return answer(f);
      if (f > g) std::swap(f, g);
      return false;
    case Operation::non_supersets:
      if (f == unit) return answer(g == unit ? none : unit);  // only {∅} has a member within ∅
      // No member of f has a variable above f's top, so members of g that have one contain nothing of f's.
      while (table_.level(g) < table_.level(f)) g = table_[g].low;
      if (f == none || g == none) return answer(f);
      return g == unit || f == g ? answer(none) : false;
    case Operation::conjoin:
      if (f == none || g == none) return answer(none);
      if (f == unit || f == g) return answer(g);
      if (g == unit) return answer(f);
      if (f > g) std::swap(f, g);
      return false;
    case Operation::minimal_models: return f <= unit ? answer(f) : false;
    case Operation::not_satisfying:
      // A monotone function that is true of ∅ is constantly true.
      if (f == unit) return answer(g == unit ? none : unit);
      while (table_.level(g) < table_.level(f)) g = table_[g].low;
      if (f == none || g == none) return answer(f);
      return g == unit ? answer(none) : false;
  }
  return false;
}

void Algebra::call(Operation operation, NodeId f, NodeId g) {
  if (settle(operation, f, g)) return;
  if (table_.look_up(static_cast<std::uint32_t>(operation), f, g, result_)) return;
  Frame frame{};
  frame.operation = operation;
  frame.f = f;
  frame.g = g;
  const Node& top_f = table_[f];
  const Node& top_g = table_[g];
  frame.level = std::min(top_f.level, top_g.level);
  // What a level that a diagram skips means is the only difference between functions and families here.
  const bool g_is_function = operation == Operation::conjoin || operation == Operation::not_satisfying;
  const bool f_is_function = operation == Operation::conjoin || operation == Operation::minimal_models;
  const bool f_here = top_f.level == frame.level, g_here = top_g.level == frame.level;
  frame.f0 = f_here ? top_f.low : f;
  frame.f1 = f_here ? top_f.high : (f_is_function ? f : none);
  frame.g0 = g_here ? top_g.low : g;
  frame.g1 = g_here ? top_g.high : (g_is_function || operation == Operation::non_supersets ? g : none);
  stack_.push_back(frame);
}

void Algebra::finish(NodeId result) {
  const Frame& frame = stack_.back();
  table_.remember(static_cast<std::uint32_t>(frame.operation), frame.f, frame.g, result);
  stack_.pop_back();
  result_ = result;
}

// One step of the topmost frame; where stage > 0, result_ holds the answer of its last call.
void Algebra::advance() {
  Frame& top = stack_.back();
  const std::uint8_t stage = top.stage++;
  const std::uint32_t level = top.level;
  const NodeId r = result_;
  switch (top.operation) {
    case Operation::set_union:
      if (stage == 0) return call(top.operation, top.f0, top.g0);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f1, top.g1);
      }
      return finish(table_.make_zdd(level, top.a, r));
    case Operation::conjoin:
      if (stage == 0) return call(top.operation, top.f0, top.g0);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f1, top.g1);
      }
      return finish(table_.make_bdd(level, top.a, r));
    case Operation::not_satisfying:
      if (stage == 0) return call(top.operation, top.f0, top.g0);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f1, top.g1);
      }
      return finish(table_.make_zdd(level, top.a, r));
    case Operation::minimal_models:
      if (stage == 0) return call(top.operation, top.f0, none);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f1, none);
      }
      if (stage == 2) return call(Operation::not_satisfying, r, top.f0);
      return finish(table_.make_zdd(level, top.a, r));
    case Operation::non_supersets:
      if (stage == 0) return call(top.operation, top.f0, top.g0);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f1, top.g1);
      }
      // With x in the set, members of g without x count as well; where g skips x they have been counted.
      if (stage == 2 && top.g0 != top.g1) return call(top.operation, r, top.g0);
      return finish(table_.make_zdd(level, top.a, r));
    case Operation::minimal_union:
      if (stage == 0) return call(top.operation, top.f0, top.g0);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f1, top.g1);
      }
      if (stage == 2) return call(Operation::non_supersets, r, top.a);
      return finish(table_.make_zdd(level, top.a, r));
    case Operation::minimal_join:
      if (stage == 0) return call(top.operation, top.f0, top.g0);
      if (stage == 1) {
        top.a = r;
        return call(top.operation, top.f0, top.g1);
      }
      if (stage == 2) {
        top.b = r;
        return call(Operation::minimal_union, top.g0, top.g1);
      }
      if (stage == 3) return call(top.operation, top.f1, r);
      if (stage == 4) return call(Operation::minimal_union, top.b, r);
      if (stage == 5) return call(Operation::non_supersets, r, top.a);
      return finish(table_.make_zdd(level, top.a, r));
  }
}

NodeId Algebra::run(Operation operation, NodeId f, NodeId g) {
  stack_.clear();
  call(operation, f, g);
  while (!stack_.empty()) {
    table_.budget().step();
    advance();
  }
  return result_;
}

NodeId Algebra::minimal_attach(std::uint32_t x, NodeId f, NodeId g) {
  if (x < table_.level(f) && x < table_.level(g)) return table_.make_zdd(x, f, non_supersets(g, f));
  return minimal_union(f, minimal_join(g, literal(x)));
}

}  // namespace quia
