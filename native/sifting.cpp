#include "sifting.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace quia {

namespace {

using Id = OrderedGraph::Id;

constexpr Id nobody = -1;
constexpr double most_growth = 1.2;  // a variable is not moved on where the graph has grown by more

// A graph whose levels can be exchanged. A node keeps its id and its function; what it tests may change.
class Diagram {
 public:
  Diagram(const OrderedGraph& graph, Id root, Budget& budget)
      : budget_(budget), state_counts_(graph.state_counts()), classes_(graph.class_count()),
        stride_(static_cast<std::size_t>(*std::max_element(state_counts_.begin(), state_counts_.end()))),
        nodes_of_(state_counts_.size()), order_(state_counts_.size()), slots_(1024, nobody) {
    std::iota(order_.begin(), order_.end(), 0);
    for (Id leaf = 0; leaf < classes_; ++leaf) add_node(none_tested);
    std::vector<Id> made(graph.size(), nobody);
    for (Id leaf = 0; leaf < classes_; ++leaf) made[leaf] = leaf;
    std::vector<std::uint8_t> is_reached(graph.size());
    is_reached[root] = 1;
    for (Id id = root; id >= classes_; --id)
      if (is_reached[id])
        for (const Id child : graph.children(id)) is_reached[child] = 1;
    std::vector<Id> children(stride_);
    for (Id id = classes_; id <= root; ++id) {
      if (!is_reached[id]) continue;
      const auto old = graph.children(id);
      std::transform(old.begin(), old.end(), children.begin(), [&](Id child) { return made[child]; });
      made[id] = find_or_add(graph.level(id), children.data());
    }
    root_ = made[root];
    ++references_[root_];
  }

  std::size_t levels() const { return order_.size(); }
  std::size_t size() const { return count_; }
  std::size_t work() const { return work_; }
  std::size_t nodes_of(std::int32_t variable) const { return nodes_of_[variable].size(); }
  std::size_t place_of(std::int32_t variable) const {
    return static_cast<std::size_t>(std::find(order_.begin(), order_.end(), variable) - order_.begin());
  }

  // Exchanges the variables at a place and the next one.
  void exchange(std::size_t place) {
    const std::int32_t upper = order_[place], lower = order_[place + 1];
    std::swap(order_[place], order_[place + 1]);
    std::vector<Id> met;
    met.swap(nodes_of_[upper]);
    const auto upper_states = static_cast<std::size_t>(state_counts_[upper]);
    const auto lower_states = static_cast<std::size_t>(state_counts_[lower]);
    // Those that do not depend on the lower variable stay; the others are taken out first, so that none is found again.
    std::vector<Id> changed;
    for (const Id id : met) {
      budget_.step();
      const Id* children = children_of(id);
      const bool depends = std::any_of(children, children + upper_states, [&](Id c) { return tested_[c] == lower; });
      if (depends)
        changed.push_back(id);
      else
        place_in(upper, id);
    }
    work_ += met.size();
    for (const Id id : changed) take_from_table(id);
    std::vector<Id> made(lower_states), below(stride_), old(upper_states);
    for (const Id id : changed) {
      std::copy_n(children_of(id), upper_states, old.begin());
      for (std::size_t y = 0; y < lower_states; ++y) {
        for (std::size_t x = 0; x < upper_states; ++x)
          below[x] = tested_[old[x]] == lower ? children_of(old[x])[y] : old[x];
        made[y] = find_or_add(upper, below.data());
        ++references_[made[y]];
      }
      tested_[id] = lower;
      std::copy(made.begin(), made.end(),
                child_.begin() + static_cast<std::ptrdiff_t>(stride_ * static_cast<std::size_t>(id)));
      put_in_table(id);
      place_in(lower, id);
      for (const Id child : old) release(child);
    }
  }

  Sifted result() const {
    std::vector<std::int32_t> counts(levels());
    std::transform(order_.begin(), order_.end(), counts.begin(),
                   [&](std::int32_t variable) { return state_counts_[variable]; });
    Sifted sifted{OrderedGraph(std::move(counts), classes_, std::numeric_limits<std::size_t>::max()), root_, order_};
    std::vector<Id> renamed(tested_.size(), nobody);
    for (Id leaf = 0; leaf < classes_; ++leaf) renamed[leaf] = leaf;
    std::vector<Id> children(stride_);
    for (std::size_t place = levels(); place-- > 0;)
      for (const Id id : nodes_of_[order_[place]]) {
        const auto states = static_cast<std::size_t>(state_counts_[order_[place]]);
        std::transform(children_of(id), children_of(id) + states, children.begin(),
                       [&](Id child) { return renamed[child]; });
        renamed[id] = sifted.graph.make(static_cast<std::int32_t>(place), children.data());
      }
    sifted.root = renamed[root_];
    return sifted;
  }

 private:
  static constexpr std::int32_t none_tested = -1;

  const Id* children_of(Id id) const { return child_.data() + stride_ * static_cast<std::size_t>(id); }

  Id add_node(std::int32_t variable) {
    if (!free_.empty()) {
      const Id id = free_.back();
      free_.pop_back();
      tested_[id] = variable;
      references_[id] = 0;
      return id;
    }
    budget_.reserve((tested_.size() + 1) * (stride_ * sizeof(Id) + 20) + slots_.size() * sizeof(Id));
    tested_.push_back(variable);
    references_.push_back(0);
    index_.push_back(0);
    child_.resize(child_.size() + stride_, nobody);
    return static_cast<Id>(tested_.size() - 1);
  }

  void place_in(std::int32_t variable, Id id) {
    index_[id] = nodes_of_[variable].size();
    nodes_of_[variable].push_back(id);
  }

  std::size_t home(std::int32_t variable, const Id* children) const {
    std::uint64_t hash = static_cast<std::uint64_t>(variable) + 1;
    for (std::int32_t state = 0; state < state_counts_[variable]; ++state) {
      hash = (hash ^ static_cast<std::uint64_t>(children[state])) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    return (hash * 0xD6E8FEB86659FD93u) >> 20 & (slots_.size() - 1);
  }
  std::size_t home_of(Id id) const { return home(tested_[id], children_of(id)); }

  Id find_or_add(std::int32_t variable, const Id* children) {
    const auto states = static_cast<std::size_t>(state_counts_[variable]);
    if (std::all_of(children, children + states, [&](Id child) { return child == children[0]; })) return children[0];
    std::size_t slot = home(variable, children);
    for (; slots_[slot] != nobody; slot = (slot + 1) & (slots_.size() - 1))
      if (tested_[slots_[slot]] == variable && std::equal(children, children + states, children_of(slots_[slot])))
        return slots_[slot];
    const Id id = add_node(variable);
    ++count_;
    std::copy_n(children, states, child_.begin() + static_cast<std::ptrdiff_t>(stride_ * static_cast<std::size_t>(id)));
    for (std::size_t x = 0; x < states; ++x) ++references_[children[x]];
    slots_[slot] = id;
    place_in(variable, id);
    if (count_ * 2 > slots_.size()) grow();
    return id;
  }

  void put_in_table(Id id) {
    std::size_t slot = home_of(id);
    while (slots_[slot] != nobody) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id;
  }

  void take_from_table(Id id) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t hole = home_of(id);
    while (slots_[hole] != id) hole = (hole + 1) & mask;
    // What comes after is moved back, unless it would come before its home.
    for (std::size_t slot = (hole + 1) & mask; slots_[slot] != nobody; slot = (slot + 1) & mask)
      if (((slot - home_of(slots_[slot])) & mask) >= ((slot - hole) & mask)) {
        slots_[hole] = slots_[slot];
        hole = slot;
      }
    slots_[hole] = nobody;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, nobody);
    for (const std::vector<Id>& nodes : nodes_of_)
      for (const Id id : nodes) put_in_table(id);
  }

  // A reference less; nodes that have none left go, and theirs with them.
  void release(Id id) {
    std::vector<Id> waiting{id};
    while (!waiting.empty()) {
      const Id here = waiting.back();
      waiting.pop_back();
      if (--references_[here] > 0 || here < classes_) continue;
      take_from_table(here);
      std::vector<Id>& others = nodes_of_[tested_[here]];
      others[index_[here]] = others.back();
      index_[others.back()] = index_[here];
      others.pop_back();
      const Id* children = children_of(here);
      waiting.insert(waiting.end(), children, children + state_counts_[tested_[here]]);
      free_.push_back(here);
      --count_;
    }
  }

  Budget& budget_;
  std::vector<std::int32_t> state_counts_;
  Id classes_;
  std::size_t stride_;                      // places for children that every node has
  std::vector<std::vector<Id>> nodes_of_;   // of each variable
  std::vector<std::int32_t> order_;
  std::vector<Id> slots_;                   // open addressing
  std::vector<std::int32_t> tested_;        // of each node
  std::vector<std::uint32_t> references_;
  std::vector<std::size_t> index_;          // of each node, its place among those of its variable
  std::vector<Id> child_, free_;
  Id root_ = 0;
  std::size_t count_ = 0, work_ = 0;
};

// Moves one variable through all places that are worth it, and back to the best.
void sift_one(Diagram& diagram, std::int32_t variable, std::size_t most_work) {
  std::size_t place = diagram.place_of(variable), best = place, least = diagram.size();
  const std::size_t last = diagram.levels() - 1;
  const auto is_worth_it = [&] {
    return static_cast<double>(diagram.size()) <= most_growth * static_cast<double>(least) &&
           diagram.work() < most_work;
  };
  const auto look = [&] {
    if (diagram.size() < least) {
      least = diagram.size();
      best = place;
    }
  };
  const auto down = [&] {
    while (place < last && is_worth_it()) {
      diagram.exchange(place++);
      look();
    }
  };
  const auto up = [&] {
    while (place > 0 && is_worth_it()) {
      diagram.exchange(--place);
      look();
    }
  };
  const auto back = [&](std::size_t to) {
    while (place < to) diagram.exchange(place++);
    while (place > to) diagram.exchange(--place);
  };
  const std::size_t begin = place;
  if (last - place < place) {
    down();
    back(begin);
    up();
  } else {
    up();
    back(begin);
    down();
  }
  back(best);
}

}  // namespace

Sifted sift(const OrderedGraph& graph, OrderedGraph::Id root, std::size_t most_work, Budget& budget) {
  if (graph.levels() == 0) return {graph, root, {}};
  Diagram diagram(graph, root, budget);
  std::vector<std::int32_t> variables(diagram.levels());
  std::iota(variables.begin(), variables.end(), 0);
  for (std::size_t before = diagram.size() + 1; diagram.size() < before && diagram.work() < most_work;) {
    before = diagram.size();
    std::stable_sort(variables.begin(), variables.end(),
                     [&](std::int32_t a, std::int32_t b) { return diagram.nodes_of(a) > diagram.nodes_of(b); });
    for (const std::int32_t variable : variables)
      if (diagram.work() < most_work) sift_one(diagram, variable, most_work);
  }
  return diagram.result();
}

}  // namespace quia
