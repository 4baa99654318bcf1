#include <stdexcept>
#include <string>

#include "domain.hpp"
#include "ensemble.hpp"

namespace quia {

namespace {

// The arrays of an ensemble while its nodes are made.
struct Made {
  std::vector<std::int64_t> start{0}, range_start{0};
  std::vector<std::int32_t> test, yes, no, variable, low, high;
  std::vector<double> values;

  std::size_t bytes() const { return test.size() * 32 + low.size() * 8 + values.size() * 8; }
};

// What is known of a variable on the way to a node.
struct Known {
  std::int32_t variable;
  std::vector<StateSpan> spans;
};

// Two nodes of a tree that the two instances may be at together.
struct Both {
  std::int32_t one, other;
  std::int32_t parent;  // among the nodes made; -1 for the root
  bool is_yes;
  std::vector<Known> known;
};

class Pairing {
 public:
  Pairing(const Ensemble& ensemble, std::int32_t variable, std::int32_t first, std::int32_t second, Budget& budget)
      : ensemble_(ensemble), variable_(variable), first_(first), second_(second), budget_(budget) {}

  void add(std::size_t tree, bool separates) {
    separates_ = separates;
    std::vector<Both> work;
    work.push_back({ensemble_.root(tree), ensemble_.root(tree), -1, false, {}});
    while (!work.empty()) {
      Both here = std::move(work.back());
      work.pop_back();
      here.one = past(here.one, first_);
      here.other = past(here.other, second_);
      const bool is_leaf = ensemble_.node(here.one).variable < 0 && ensemble_.node(here.other).variable < 0;
      if (!is_leaf && skips(here)) {
        work.push_back(std::move(here));
        continue;
      }
      budget_.step();
      budget_.reserve(made.bytes());
      const std::int32_t at = make_node(here);
      if (is_leaf)
        ensemble_.append_values(ensemble_.node(here.one).yes, ensemble_.node(here.other).yes, made.values);
      else
        ask(at, here, work);
    }
    made.start.push_back(static_cast<std::int64_t>(made.test.size()));
  }

  // Whether a node of a tree answers the two states in two ways.
  bool separates(std::int32_t root, std::int32_t end) const {
    for (std::int32_t at = root; at < end; ++at) {
      const Ensemble::Node& node = ensemble_.node(at);
      if (node.variable == variable_ && ensemble_.says_yes(node, first_) != ensemble_.says_yes(node, second_))
        return true;
    }
    return false;
  }

  Made made;

 private:
  // The next node that does not ask about the variable that differs.
  std::int32_t past(std::int32_t at, std::int32_t state) const {
    while (ensemble_.node(at).variable == variable_)
      at = ensemble_.says_yes(ensemble_.node(at), state) ? ensemble_.node(at).yes : ensemble_.node(at).no;
    return at;
  }

  const Ensemble::Node& asked(const Both& here) const {
    const Ensemble::Node& one = ensemble_.node(here.one);
    return one.variable >= 0 ? one : ensemble_.node(here.other);
  }

  // The states that are left of a variable whose node comes next, by its answer.
  void part_known(const Both& here, const Ensemble::Node& node) {
    for (const Known& each : here.known)
      if (each.variable == node.variable) return part(ensemble_, node, each.spans, yes_, no_);
    const StateSpan every{0, ensemble_.state_counts()[node.variable] - 1};
    part(ensemble_, node, {&every, 1}, yes_, no_);
  }

  // Goes on where what is known gives the answer already.
  bool skips(Both& here) {
    const Ensemble::Node& node = asked(here);
    part_known(here, node);
    if (!yes_.empty() && !no_.empty()) return false;
    go(here, node, !yes_.empty());
    return true;
  }

  // Those of the two instances that are at a node go on from there.
  void go(Both& here, const Ensemble::Node& node, bool is_yes) const {
    const std::int32_t to = is_yes ? node.yes : node.no;
    const bool is_one = &node == &ensemble_.node(here.one), is_other = &node == &ensemble_.node(here.other);
    if (is_one) here.one = to;
    if (is_other) here.other = to;
  }

  std::int32_t make_node(const Both& here) {
    const auto at = static_cast<std::int32_t>(made.test.size());
    if (here.parent >= 0) (here.is_yes ? made.yes : made.no)[here.parent] = at;
    made.test.push_back(-1);
    made.yes.push_back(-1);
    made.no.push_back(-1);
    return at;
  }

  void ask(std::int32_t at, const Both& here, std::vector<Both>& work) {
    const Ensemble::Node& node = asked(here);
    made.test[at] = static_cast<std::int32_t>(made.variable.size());
    made.variable.push_back(node.variable);
    const auto add_range = [&](std::int32_t low, std::int32_t high) {
      made.low.push_back(low);
      made.high.push_back(high);
    };
    if (node.low <= node.high) add_range(node.low, node.high);
    for (std::int32_t range = node.more; range >= 0; ++range) {
      add_range(ensemble_.further()[range].low, ensemble_.further()[range].high);
      if (ensemble_.further()[range].last) break;
    }
    made.range_start.push_back(static_cast<std::int64_t>(made.low.size()));
    part_known(here, node);
    for (const bool is_yes : {false, true}) {
      Both next = here;
      go(next, node, is_yes);
      next.parent = at;
      next.is_yes = is_yes;
      const std::vector<StateSpan>& left = is_yes ? yes_ : no_;
      bool is_new = true;
      for (Known& each : next.known)
        if (each.variable == node.variable) {
          each.spans = left;
          is_new = false;
        }
      if (is_new && separates_) next.known.push_back({node.variable, left});
      work.push_back(std::move(next));
    }
  }

  const Ensemble& ensemble_;
  const std::int32_t variable_, first_, second_;
  Budget& budget_;
  bool separates_ = false;  // what is known on the way is needed only where the instances part
  std::vector<StateSpan> yes_, no_;
};

}  // namespace

void Ensemble::append_values(std::int32_t one, std::int32_t other, std::vector<double>& into) const {
  for (const std::int32_t leaf : {one, other})
    into.insert(into.end(), values_.begin() + static_cast<std::ptrdiff_t>(leaf * width_),
                values_.begin() + static_cast<std::ptrdiff_t>((leaf + 1) * width_));
}

Ensemble Ensemble::paired(std::int32_t variable, std::int32_t first, std::int32_t second, Budget& budget) const {
  if (blocks_ != 1) throw std::invalid_argument("the ensemble is one of two instances already");
  if (variable < 0 || static_cast<std::size_t>(variable) >= state_counts_.size())
    throw std::invalid_argument("the ensemble has no variable " + std::to_string(variable));
  for (const std::int32_t state : {first, second})
    if (state < 0 || state >= state_counts_[variable])
      throw std::invalid_argument("state " + std::to_string(state) + " of variable " + std::to_string(variable) +
                                  " is out of bounds");
  Pairing pairing(*this, variable, first, second, budget);
  for (std::size_t tree = 0; tree < roots_.size(); ++tree)
    pairing.add(tree, pairing.separates(roots_[tree], static_cast<std::int32_t>(end_of(tree))));
  const Made& made = pairing.made;
  EnsembleArrays arrays;
  arrays.start = made.start;
  arrays.test = made.test;
  arrays.yes = made.yes;
  arrays.no = made.no;
  arrays.values = made.values;
  arrays.width = 2 * width_;
  arrays.blocks = 2;
  arrays.test_variable = made.variable;
  arrays.range_start = made.range_start;
  arrays.low = made.low;
  arrays.high = made.high;
  arrays.state_counts = state_counts_;
  arrays.outputs = outputs_;
  arrays.begin = begin_;
  arrays.end = end_;
  arrays.group_trees = group_trees_;
  arrays.group_divisor = group_divisor_;
  arrays.group_weight = group_weight_;
  arrays.divisor = divisor_;
  arrays.single = single_;
  arrays.rule = static_cast<std::int32_t>(rule_);
  arrays.cuts = cuts_;
  return Ensemble(arrays);
}

}  // namespace quia
