// Many trees as checked flat arrays, and the class that the sums of their leaves tell, in their source's arithmetic.
//
// An ensemble of two instances has two blocks of scores: its leaves have what each instance adds, and its class is that of
// the first block times the number of classes of one, plus that of the second.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "budget.hpp"

namespace quia {

struct EnsembleArrays {
  std::span<const std::int64_t> start;  // tree t has the nodes start[t] … start[t + 1] - 1, parents first
  std::span<const std::int32_t> test, yes, no;
  std::span<const double> values;  // a row for each leaf, in the order of the nodes
  std::size_t width = 0;  // the length of a row: for each block one number, or one for each of its scores
  std::size_t blocks = 1;
  std::span<const std::int32_t> test_variable;
  std::span<const std::int64_t> range_start;
  std::span<const std::int32_t> low, high, state_counts, outputs;
  std::span<const double> begin, end;  // what every score of a block begins with, and what is added to it last
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
  std::size_t score_count() const { return begin_.size() * blocks_; }
  std::int32_t class_count() const { return class_count_; }
  std::size_t block_count() const { return blocks_; }
  // Of one block: its scores, of which those of the second come after those of the first, and its classes.
  std::size_t block_scores() const { return begin_.size(); }
  std::int32_t block_classes() const { return block_classes_; }
  const std::vector<std::int32_t>& state_counts() const { return state_counts_; }
  std::int32_t root(std::size_t tree) const { return roots_[tree]; }
  // The node after the last one of a tree.
  std::size_t end_of(std::size_t tree) const {
    return tree + 1 < roots_.size() ? static_cast<std::size_t>(roots_[tree + 1]) : nodes_.size();
  }
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
    const Place& place = places_[score];
    if (output >= 0 && output != place.output) return 0;
    return values_[leaf * width_ + (output < 0 ? score : place.block)] * weights_[tree];
  }
  bool adds_to(std::size_t tree, std::size_t score) const {
    return outputs_[tree] < 0 || outputs_[tree] == places_[score].output;
  }
  // The value of a leaf that a score gets as it is; 0 if none does.
  double value(std::size_t tree, std::int32_t leaf, std::size_t score) const {
    if (!adds_to(tree, score)) return 0;
    return values_[leaf * width_ + (outputs_[tree] < 0 ? score : places_[score].block)];
  }
  // Whether every leaf of a tree adds the same to both blocks.
  bool is_same(std::size_t tree) const { return same_[tree] != 0; }
  // What a score of the first block is before any tree, were numbers exact; and those of the second are the same.
  double constant(std::size_t score) const { return begin_[score] / scale_ + end_[score]; }
  // Adds the values of two leaves.
  void append_values(std::int32_t one, std::int32_t other, std::vector<double>& into) const;
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

  // The ensemble of two instances that differ in one variable alone, which no tree asks about any more: a tree that
  // tells its two states apart has a leaf for each two leaves that the instances may reach together. Of one block only.
  // Takes time and room as the leaves that it makes; beyond the budget it throws.
  Ensemble paired(std::int32_t variable, std::int32_t first, std::int32_t second, Budget& budget) const;

 private:
  void check(const EnsembleArrays& arrays) const;
  void make_nodes(const EnsembleArrays& arrays);
  void find_weights();
  void find_rounding();
  void find_trees_of();
  void find_same();
  bool says_yes_further(std::int32_t range, std::int32_t state) const;
  std::int32_t class_of_block(double* scores) const;
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
  std::size_t blocks_;
  std::int32_t block_classes_, class_count_;
  struct Place {
    std::int32_t output;  // the score in its block
    std::size_t block;
  };
  std::vector<Place> places_;  // of each score
  std::vector<std::uint8_t> same_;
  double rounding_ = 0, indistinct_ = 0;
  double scale_ = 1;  // what scores are divided by to be those of `contribution` and `constant`
  std::vector<std::uint8_t> short_;
  std::vector<std::int64_t> trees_of_start_;
  std::vector<std::int32_t> trees_of_;
  std::vector<double> influence_;
};

}  // namespace quia
