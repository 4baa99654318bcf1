// A decision graph as flat arrays, checked once, and the instance's edge at each node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quia {

struct GraphArrays {
  std::span<const std::int32_t> variable, klass;
  std::span<const std::int64_t> edge_start;
  std::span<const std::int32_t> child;
  std::span<const std::int64_t> range_start;
  std::span<const std::int32_t> range_low, range_high, state_counts;
  std::int32_t class_count = 0;
  std::int32_t impossible = -1;  // a class whose leaves no possible instance reaches; -1: none
};

// The state of a variable whose value is not known: no edge takes it, so every edge is followed, at no cost and frozen or
// not. Its literal is ⊥: no reason speaks of it, and every reason holds whatever it is.
constexpr std::int32_t unknown = -1;

// A set of classes, those that leave a decision as it is.
struct KeptClasses {
  // An entry a class, nonzero if it is in the set; null: the instance's own class alone, and the impossible one.
  const std::uint8_t* kept = nullptr;
  std::uint64_t lost = 0;              // the classes that are not, modulo 64
  std::int32_t size = 0;

  KeptClasses() = default;
  explicit KeptClasses(std::span<const std::uint8_t> keeps);
};

// What is asked: why the class is one of those that keep the decision (the instance's own alone: why that class; all but
// one: why not that one); frozen variables count as given.
struct Question {
  std::span<const std::int32_t> states;
  std::int32_t decision = -1;           // the instance's own class
  KeptClasses keeps;
  const std::uint8_t* frozen = nullptr;

  Question() = default;
  // `impossible`: the graph's impossible class, if it has one.
  Question(std::span<const std::int32_t> own_states, std::int32_t own_class, const KeptClasses& kept_classes,
           const std::uint8_t* frozen_variables, std::int32_t impossible = -1);
  bool is_frozen(std::int32_t variable) const { return frozen && frozen[variable]; }
};

class Graph {
 public:
  // Throws std::invalid_argument unless every index is in bounds and children come first.
  explicit Graph(const GraphArrays& arrays);

  struct Edge {
    std::int32_t child;
    std::int32_t low, high;  // the first range, where most edges end
    std::int32_t more;       // index into further_ of the second range, or -1
  };

  std::size_t node_count() const { return nodes_.size(); }
  std::size_t edge_count() const { return edges_.size(); }
  std::size_t variable_count() const { return state_counts_.size(); }
  std::int32_t root() const { return static_cast<std::int32_t>(nodes_.size()) - 1; }
  std::int32_t variable(std::int32_t node) const { return nodes_[node].variable; }
  std::int32_t leaf_class(std::int32_t leaf) const { return nodes_[leaf].sole_class; }
  std::int32_t class_count() const { return class_count_; }
  // The class whose leaves no possible instance reaches, or less than 0. Where a question keeps the instance's own class
  // alone, it is kept too.
  std::int32_t impossible() const { return impossible_; }
  std::span<const Edge> edges(std::int32_t node) const {
    return {edges_.data() + nodes_[node].first_edge, edges_.data() + nodes_[node].end_edge};
  }
  // No inner node has two parents; leaves may be shared.
  bool is_tree() const { return is_tree_; }
  // Tests on the longest path.
  std::int32_t height() const { return height_; }
  const std::vector<std::int32_t>& state_counts() const { return state_counts_; }
  // Variables so that, in an ordered graph, each comes before those tested below it.
  const std::vector<std::int32_t>& variable_order() const { return variable_order_; }

  bool takes(const Edge& edge, std::int32_t state) const {
    if (state >= edge.low && state <= edge.high) return true;
    return edge.more >= 0 && takes_further(edge.more, state);
  }
  // Calls visit(low, high) for each range of the edge, in order.
  template <class Visit>
  void for_each_range(const Edge& edge, Visit visit) const {
    visit(edge.low, edge.high);
    if (edge.more < 0) return;
    for (std::int32_t range = edge.more;; ++range) {
      visit(further_[range].low, further_[range].high);
      if (further_[range].last) return;
    }
  }
  // Position of the edge that takes the state, or -1.
  std::int32_t taken(std::int32_t node, std::int32_t state) const {
    const auto out = edges(node);
    for (std::size_t j = 0; j < out.size(); ++j)
      if (takes(out[j], state)) return static_cast<std::int32_t>(j);
    return -1;
  }

  // Throws std::invalid_argument if the state of a tested variable is out of bounds and not `unknown`.
  void check_states(std::span<const std::int32_t> states) const;
  // The class of the instance, the same whatever its unknown variables are; -1 if no edge takes it; -2 - v if the
  // class depends on the unknown variable v. Unknown variables are not such that the instance is impossible, if they need
  // not be.
  std::int32_t classify(const std::int32_t* states) const;
  // The same of states that are checked; throws std::invalid_argument too if the class depends on an unknown variable.
  std::int32_t decide(std::span<const std::int32_t> states) const;

  // A leaf is wrong if its class does not keep the decision.
  bool is_wrong(std::int32_t leaf, const Question& question) const {
    const std::int32_t klass = nodes_[leaf].sole_class;
    return question.keeps.kept ? !question.keeps.kept[klass] : klass != question.decision && klass != impossible_;
  }
  // False only if no wrong leaf is below the node (true may be cautious above 64 classes).
  bool may_reach_wrong(std::int32_t node, const Question& question) const {
    if (question.keeps.kept) return (nodes_[node].class_mask & question.keeps.lost) != 0;
    const std::int32_t sole = nodes_[node].sole_class;
    return sole != question.decision && sole != impossible_;
  }

 private:
  void check(const GraphArrays& arrays) const;
  bool takes_further(std::int32_t range, std::int32_t state) const;
  std::int32_t classify_below(std::int32_t start, const std::int32_t* states) const;
  void find_classes_below();
  bool has_one_class(std::int32_t node) const;
  bool join_classes(std::int32_t& klass, std::int32_t more) const;
  void find_variable_order();

  struct Range {
    std::int32_t low, high;
    bool last;
  };
  // What a visit needs lies together.
  struct NodeRecord {
    std::int32_t variable;      // -1 at leaves
    std::int32_t sole_class;    // the one class at or below, beside the impossible one, or -1
    std::uint32_t first_edge, end_edge;
    std::uint64_t class_mask;   // classes at or below, modulo 64
  };
  std::vector<NodeRecord> nodes_;
  std::vector<Edge> edges_;
  std::vector<Range> further_;
  std::vector<std::int32_t> state_counts_, tested_;
  std::int32_t class_count_ = 0;
  static constexpr std::int32_t none_impossible = -2;  // which no node has as its sole class
  std::int32_t impossible_ = none_impossible;
  std::vector<std::int32_t> variable_order_;
  std::int32_t height_ = 0;
  bool is_tree_ = false;
};

}  // namespace quia
