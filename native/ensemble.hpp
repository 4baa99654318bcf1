// Many trees as checked flat arrays, and the class that the sums of their leaves tell, in their source's arithmetic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quia {

struct EnsembleArrays {
  std::span<const std::int64_t> start;  // tree t has the nodes start[t] … start[t + 1] - 1, parents first
  std::span<const std::int32_t> test, yes, no;
  std::span<const double> values;  // a row for each leaf, in the order of the nodes
  std::size_t width = 0;           // the length of a row
  std::span<const std::int32_t> test_variable;
  std::span<const std::int64_t> range_start;
  std::span<const std::int32_t> low, high, state_counts, outputs;
  std::span<const double> begin, end;  // what every score begins with, and what is added to it last
  std::span<const std::int64_t> group_trees;
  std::span<const double> group_divisor, group_weight;
  double divisor = 1;
  bool single = false;  // sums in 32 bits
  std::int32_t rule = 0;
  std::span<const double> cuts;
};

// How scores tell the class: as `Rule` in src/quia/sums.py says.
enum class ScoreRule : std::int32_t { cuts, argmax, softmax32, softmax64, logistic };

class Ensemble {
 public:
  // Throws std::invalid_argument unless every index is in bounds, children come after parents and numbers are finite.
  explicit Ensemble(const EnsembleArrays& arrays);

  // The answer is yes for the states low … high, and those of the further ranges from `more` on, if that is not -1.
  struct Node {
    std::int32_t variable;  // -1 at a leaf
    std::int32_t low, high, more;
    std::int32_t yes, no;  // of a leaf: its row of values, and -1
  };
  struct Range {
    std::int32_t low, high;
    bool last;
  };

  std::size_t tree_count() const { return roots_.size(); }
  std::size_t node_count() const { return nodes_.size(); }
  std::size_t variable_count() const { return state_counts_.size(); }
  std::size_t score_count() const { return begin_.size(); }
  std::int32_t class_count() const { return class_count_; }
  const std::vector<std::int32_t>& state_counts() const { return state_counts_; }
  std::int32_t root(std::size_t tree) const { return roots_[tree]; }
  const Node& node(std::int32_t index) const { return nodes_[index]; }
  const std::vector<Range>& further() const { return further_; }
  std::int32_t output(std::size_t tree) const { return outputs_[tree]; }
  ScoreRule rule() const { return rule_; }
  const std::vector<double>& cuts() const { return cuts_; }
  bool is_tested(std::size_t variable) const { return tested_[variable] != 0; }

  // What a leaf of a tree adds to a score, were numbers exact: its value times the weight of the tree. Where scores are
  // only compared with each other and all divided alike, they are not divided here.
  double contribution(std::size_t tree, std::int32_t leaf, std::size_t score) const {
    const std::int32_t output = outputs_[tree];
    if (output >= 0 && static_cast<std::size_t>(output) != score) return 0;
    return values_[leaf * width_ + (output < 0 ? score : 0)] * weights_[tree];
  }
  // What a score is before any tree, were numbers exact.
  double constant(std::size_t score) const { return begin_[score] / scale_ + end_[score]; }
  // Whether two leaves have the same values.
  bool are_alike(std::int32_t one, std::int32_t other) const {
    return std::equal(values_.begin() + static_cast<std::ptrdiff_t>(one * width_),
                      values_.begin() + static_cast<std::ptrdiff_t>((one + 1) * width_),
                      values_.begin() + static_cast<std::ptrdiff_t>(other * width_));
  }
  // Whether the values of a leaf are so short that sums of them are exact: multiples of `grain`.
  bool is_short(std::int32_t leaf) const { return short_[leaf] != 0; }
  static constexpr double grain = 1.0 / 1024;
  // How far a score, as it is summed, can be from the exact one.
  double rounding() const { return rounding_; }
  // How far apart two scores can be that the rule takes for equal.
  double indistinct() const { return indistinct_; }
  // The trees that test a variable.
  std::span<const std::int32_t> trees_of(std::int32_t variable) const {
    return {trees_of_.data() + trees_of_start_[variable], trees_of_.data() + trees_of_start_[variable + 1]};
  }

  bool says_yes(const Node& node, std::int32_t state) const {
    if (state >= node.low && state <= node.high) return true;
    return node.more >= 0 && says_yes_further(node.more, state);
  }
  // The leaf of a tree that an instance reaches.
  std::int32_t leaf(std::size_t tree, const std::int32_t* states) const {
    std::int32_t at = roots_[tree];
    while (nodes_[at].variable >= 0)
      at = says_yes(nodes_[at], states[nodes_[at].variable]) ? nodes_[at].yes : nodes_[at].no;
    return nodes_[at].yes;
  }

  // How much each variable's trees can add to a score, all together: what matters least has least of it.
  const std::vector<double>& influence() const { return influence_; }

  // Throws std::invalid_argument if the state of a tested variable is out of bounds.
  void check_states(std::span<const std::int32_t> states) const;
  // The scores of one leaf of each tree, and the class that they tell: as the source does it.
  void scores_of(const std::int32_t* leaves, double* scores) const;
  std::int32_t class_of(double* scores) const;  // scores are overwritten
  std::int32_t decide(const std::int32_t* states, std::vector<std::int32_t>& leaves, std::vector<double>& scores) const;

 private:
  void check(const EnsembleArrays& arrays) const;
  void make_nodes(const EnsembleArrays& arrays);
  void find_weights();
  void find_rounding();
  void find_trees_of();
  bool says_yes_further(std::int32_t range, std::int32_t state) const;
  template <class Float>
  void add(const std::int32_t* leaves, double* scores) const;

  std::vector<std::int32_t> roots_;
  std::vector<Node> nodes_;
  std::vector<Range> further_;
  std::vector<double> values_;
  std::size_t width_;
  std::vector<std::int32_t> state_counts_, outputs_;
  std::vector<std::uint8_t> tested_;
  std::vector<double> begin_, end_, weights_;
  std::vector<std::int64_t> group_trees_;
  std::vector<double> group_divisor_, group_weight_;
  double divisor_;
  bool single_;
  ScoreRule rule_;
  std::vector<double> cuts_;
  std::int32_t class_count_;
  double rounding_ = 0, indistinct_ = 0;
  double scale_ = 1;  // what scores are divided by to be those of `contribution` and `constant`
  std::vector<std::uint8_t> short_;
  std::vector<std::int64_t> trees_of_start_;
  std::vector<std::int32_t> trees_of_;
  std::vector<double> influence_;
};

}  // namespace quia
