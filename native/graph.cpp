#include "graph.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace quia {

namespace {

void require(bool condition, const char* fault) {
  if (!condition) throw std::invalid_argument(fault);
}
// The message is made only where it is needed: a graph has millions of entries to check.
template <class Message>
  requires std::is_invocable_v<Message>
void require(bool condition, const Message& message) {
  if (!condition) throw std::invalid_argument(message());
}

template <class Integer>
void require_offsets(std::span<const Integer> offsets, std::size_t rows, std::size_t total, const char* name) {
  const auto say = [&](const std::string& fault) { return [=] { return name + fault; }; };
  require(offsets.size() == rows + 1,
          say(" has " + std::to_string(offsets.size()) + " entries; it needs " + std::to_string(rows + 1)));
  require(offsets[0] == 0, say(" starts at " + std::to_string(offsets[0]) + ", not at 0"));
  for (std::size_t i = 0; i < rows; ++i)
    require(offsets[i] <= offsets[i + 1], [&] { return name + (" decreases at " + std::to_string(i)); });
  require(static_cast<std::size_t>(offsets[rows]) == total,
          say(" ends at " + std::to_string(offsets[rows]) + "; there are " + std::to_string(total)));
}

}  // namespace

KeptClasses::KeptClasses(std::span<const std::uint8_t> keeps) : kept(keeps.data()) {
  for (std::size_t klass = 0; klass < keeps.size(); ++klass)
    if (keeps[klass])
      ++size;
    else
      lost |= std::uint64_t(1) << (klass & 63);
}

Question::Question(std::span<const std::int32_t> own_states, std::int32_t own_class, const KeptClasses& kept_classes,
                   const std::uint8_t* frozen_variables, std::int32_t impossible)
    : states(own_states), decision(own_class), keeps(kept_classes), frozen(frozen_variables) {
  if (!keeps.kept || decision < 0 || !keeps.kept[decision]) return;
  const bool has_impossible = impossible >= 0 && impossible != decision;
  // Exact however many classes there are, where a mask would be cautious.
  if (has_impossible ? keeps.size == 2 && keeps.kept[impossible] : keeps.size == 1) keeps = {};
}

void Graph::check(const GraphArrays& a) const {
  const std::size_t nodes = a.variable.size(), edges = a.child.size(), ranges = a.range_low.size();
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  using std::to_string;
  require(nodes > 0, "a graph needs at least one node");
  require(nodes < most && edges < most && ranges < most && a.state_counts.size() < most, "a graph of 2^31 parts");
  require(a.klass.size() == nodes, "klass and variable have different lengths");
  require(a.range_high.size() == ranges, "range_low and range_high have different lengths");
  require(a.class_count > 0, [&] { return "class_count is " + to_string(a.class_count); });
  require(a.impossible >= -1 && a.impossible < a.class_count,
          [&] { return "impossible is class " + to_string(a.impossible) + " of " + to_string(a.class_count); });
  require_offsets(a.edge_start, nodes, edges, "edge_start");
  require_offsets(a.range_start, edges, ranges, "range_start");
  for (std::size_t v = 0; v < a.state_counts.size(); ++v)
    require(a.state_counts[v] >= 0, [&] { return "variable " + to_string(v) + " has a negative number of states"; });
  for (std::size_t node = 0; node < nodes; ++node) {
    const auto say = [&](auto... parts) { return [=] { return ("node " + to_string(node) + ... + parts()); }; };
    const auto text = [](const char* words) { return [=] { return std::string(words); }; };
    const auto number = [](std::int64_t value) { return [=] { return to_string(value); }; };
    const std::int32_t variable = a.variable[node];
    if (a.edge_start[node] == a.edge_start[node + 1]) {
      require(variable == -1, say(text(" has no edges but tests variable "), number(variable)));
      require(a.klass[node] >= 0 && a.klass[node] < a.class_count,
              say(text(" has class "), number(a.klass[node]), text(" of "), number(a.class_count)));
      continue;
    }
    require(variable >= 0 && static_cast<std::size_t>(variable) < a.state_counts.size(),
            say(text(" tests variable "), number(variable), text(" of "),
                number(static_cast<std::int64_t>(a.state_counts.size()))));
    require(a.klass[node] == -1, say(text(" has edges and a class")));
    for (std::int64_t e = a.edge_start[node]; e < a.edge_start[node + 1]; ++e) {
      require(a.child[e] >= 0 && static_cast<std::size_t>(a.child[e]) < node,
              say(text(" has child "), number(a.child[e]), text("; children come first")));
      require(a.range_start[e] < a.range_start[e + 1], say(text(" has an edge without states")));
      for (std::int64_t r = a.range_start[e]; r < a.range_start[e + 1]; ++r) {
        require(a.range_low[r] >= 0 && a.range_low[r] <= a.range_high[r] && a.range_high[r] < a.state_counts[variable],
                say(text(" has the state range "), number(a.range_low[r]), text(" to "), number(a.range_high[r]),
                    text(" of "), number(a.state_counts[variable])));
        require(r == a.range_start[e] || a.range_low[r] > a.range_high[r - 1],
                say(text(" has state ranges that overlap or are not sorted")));
      }
    }
  }
}

Graph::Graph(const GraphArrays& a) {
  check(a);
  nodes_.reserve(a.variable.size());
  for (std::size_t i = 0; i < a.variable.size(); ++i)
    nodes_.push_back({a.variable[i], a.klass[i], static_cast<std::uint32_t>(a.edge_start[i]),
                      static_cast<std::uint32_t>(a.edge_start[i + 1]), 0});
  state_counts_.assign(a.state_counts.begin(), a.state_counts.end());
  class_count_ = a.class_count;
  if (a.impossible >= 0) impossible_ = a.impossible;
  edges_.reserve(a.child.size());
  for (std::size_t e = 0; e < a.child.size(); ++e) {
    const std::int64_t first = a.range_start[e], end = a.range_start[e + 1];
    Edge edge{a.child[e], a.range_low[first], a.range_high[first], -1};
    if (end - first > 1) {
      edge.more = static_cast<std::int32_t>(further_.size());
      for (std::int64_t r = first + 1; r < end; ++r)
        further_.push_back({a.range_low[r], a.range_high[r], r + 1 == end});
    }
    edges_.push_back(edge);
  }
  std::vector<std::uint8_t> is_tested(state_counts_.size(), 0);
  for (const std::int32_t v : a.variable)
    if (v >= 0 && !is_tested[v]) {
      is_tested[v] = 1;
      tested_.push_back(v);
    }
  std::sort(tested_.begin(), tested_.end());
  find_classes_below();
  find_variable_order();
}

bool Graph::takes_further(std::int32_t range, std::int32_t state) const {
  for (;; ++range) {
    const Range& part = further_[range];
    if (state < part.low) return false;
    if (state <= part.high) return true;
    if (part.last) return false;
  }
}

// What two classes (-1: several) are together: an impossible one is as good as none. False if they differ.
bool Graph::join_classes(std::int32_t& klass, std::int32_t more) const {
  if (klass == more || more == impossible_) return true;
  const bool is_other = klass == impossible_;
  klass = is_other ? more : -1;
  return is_other;
}

// Whether every leaf at or below the node has its sole class; false may be cautious.
bool Graph::has_one_class(std::int32_t node) const {
  if (nodes_[node].variable < 0) return true;
  if (impossible_ < 0) return nodes_[node].sole_class >= 0;
  return nodes_[node].sole_class >= 0 && class_count_ <= 64 && std::has_single_bit(nodes_[node].class_mask);
}

void Graph::find_classes_below() {
  std::vector<std::uint8_t> has_parent(nodes_.size(), 0);
  std::vector<std::int32_t> height(nodes_.size(), 0);
  is_tree_ = true;
  for (NodeRecord& node : nodes_) {
    std::int32_t& tests = height[&node - nodes_.data()];
    if (node.variable < 0) {
      node.class_mask = std::uint64_t(1) << (node.sole_class & 63);
      continue;
    }
    node.sole_class = nodes_[edges_[node.first_edge].child].sole_class;
    for (std::uint32_t e = node.first_edge; e < node.end_edge; ++e) {
      const std::int32_t child = edges_[e].child;
      node.class_mask |= nodes_[child].class_mask;
      tests = std::max(tests, height[child] + 1);
      join_classes(node.sole_class, nodes_[child].sole_class);
      if (nodes_[child].variable >= 0 && has_parent[child]++) is_tree_ = false;
    }
  }
  height_ = height.back();
}

// Kahn's algorithm on "X is tested right above Y"; where tests cycle, the variable nearest to the root goes first.
void Graph::find_variable_order() {
  const std::size_t variables = state_counts_.size();
  std::vector<std::pair<std::int32_t, std::int32_t>> above;
  std::vector<std::int64_t> depth(nodes_.size(), -1);
  std::vector<std::int64_t> nearest(variables, std::numeric_limits<std::int64_t>::max());
  depth.back() = 0;
  for (std::int32_t node = root(); node >= 0; --node) {
    const std::int32_t here = variable(node);
    if (depth[node] < 0 || here < 0) continue;
    nearest[here] = std::min(nearest[here], depth[node]);
    for (const Edge& edge : edges(node)) {
      std::int64_t& below = depth[edge.child];
      below = below < 0 ? depth[node] + 1 : std::min(below, depth[node] + 1);
      const std::int32_t lower = variable(edge.child);
      if (lower >= 0 && lower != here && !is_tree_) above.emplace_back(here, lower);
    }
    if (above.size() > (std::size_t(1) << 22)) {
      std::sort(above.begin(), above.end());
      above.erase(std::unique(above.begin(), above.end()), above.end());
    }
  }
  std::sort(above.begin(), above.end());
  above.erase(std::unique(above.begin(), above.end()), above.end());
  std::vector<std::int64_t> waiting(variables, 0);
  std::vector<std::size_t> first(variables + 1, 0);
  for (const auto& [upper, lower] : above) {
    ++waiting[lower];
    ++first[upper + 1];
  }
  for (std::size_t v = 0; v < variables; ++v) first[v + 1] += first[v];
  using Ready = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready, blocked;
  for (std::size_t v = 0; v < variables; ++v) {
    const Ready entry{nearest[v], static_cast<std::int32_t>(v)};
    (waiting[v] ? blocked : ready).push(entry);
  }
  std::vector<std::uint8_t> placed(variables, 0);
  variable_order_.clear();
  while (variable_order_.size() < variables) {
    auto& queue = ready.empty() ? blocked : ready;
    const std::int32_t v = queue.top().second;
    queue.pop();
    if (placed[v]) continue;
    placed[v] = 1;
    variable_order_.push_back(v);
    for (std::size_t i = first[v]; i < first[v + 1]; ++i)
      if (--waiting[above[i].second] == 0) ready.emplace(nearest[above[i].second], above[i].second);
  }
}

void Graph::check_states(std::span<const std::int32_t> states) const {
  if (states.size() != variable_count())
    throw std::invalid_argument("an instance of " + std::to_string(states.size()) + " states; the graph has " +
                                std::to_string(variable_count()) + " variables");
  for (const std::int32_t v : tested_)
    if (states[v] < unknown || states[v] >= state_counts_[v])
      throw std::invalid_argument("variable " + std::to_string(v) + " has state " + std::to_string(states[v]) + " of " +
                                  std::to_string(state_counts_[v]));
}

std::int32_t Graph::classify(const std::int32_t* states) const {
  std::int32_t node = root();
  while (nodes_[node].variable >= 0) {
    const std::int32_t state = states[nodes_[node].variable];
    const std::int32_t j = taken(node, state);
    if (j < 0) return state == unknown ? classify_below(node, states) : -1;
    node = edges(node)[j].child;
  }
  return nodes_[node].sole_class;
}

// All that unknown variables leave possible, children first. Every path of a graph with the weak test-once property is
// possible, so at the first node whose children differ, its variable alone makes the difference. What is impossible
// with the known variables makes none.
std::int32_t Graph::classify_below(std::int32_t start, const std::int32_t* states) const {
  const auto followed = [&](std::int32_t node) -> std::span<const Edge> {
    const auto out = edges(node);
    if (has_one_class(node)) return {};
    if (states[nodes_[node].variable] == unknown) return out;
    const std::int32_t j = taken(node, states[nodes_[node].variable]);
    return j < 0 ? out.first(0) : out.subspan(static_cast<std::size_t>(j), 1);
  };
  std::vector<std::int32_t> reached{start};
  std::unordered_map<std::int32_t, std::int32_t> classes{{start, -1}};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const Edge& edge : followed(reached[i]))
      if (classes.emplace(edge.child, -1).second) reached.push_back(edge.child);
  std::sort(reached.begin(), reached.end());
  for (const std::int32_t node : reached) {
    const auto out = followed(node);
    std::int32_t& here = classes[node];
    here = out.empty() ? nodes_[node].sole_class : classes[out.front().child];
    for (const Edge& edge : out)
      if (!join_classes(here, classes[edge.child])) return -2 - nodes_[node].variable;
  }
  return classes[start];
}

std::int32_t Graph::decide(std::span<const std::int32_t> states) const {
  check_states(states);
  const std::int32_t klass = classify(states.data());
  if (klass < -1)
    throw std::invalid_argument("the decision depends on variable " + std::to_string(-2 - klass) +
                                ", which is unknown");
  return klass;
}

}  // namespace quia
