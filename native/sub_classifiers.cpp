#include "sub_classifiers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

namespace quia {

namespace {

using Id = OrderedGraph::Id;

constexpr double unit = std::numeric_limits<double>::epsilon();
constexpr double absent = std::numeric_limits<double>::infinity();  // the margin of a class that a node does not give
constexpr double unlimited = 1e300;  // the ratio to a score of 0
constexpr double nearly = 1e-9;  // so close to 1 a bound may be of two messages that are equal
constexpr std::size_t long_message = 1024;
constexpr std::size_t enough_tries = 200, few_recognised = 50;
constexpr std::size_t most_members = 24;  // so many messages of a node are compared with
constexpr std::size_t most_columns = 1024;  // observations of the last features
constexpr std::size_t most_column_work = std::size_t{1} << 16;

// The least ratios of the score of each class k to that of each class j, at k * classes + j, where k is given; and
// whether something has no class, as all its scores are 0.
struct Margins {
  std::vector<double> least;
  bool has_impossible = false;

  void clear(std::size_t classes) {
    least.assign(classes * classes, absent);
    has_impossible = false;
  }
  void include(const Margins& other) {
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], other.least[i]);
    has_impossible |= other.has_impossible;
  }
};

// A message whose node is known.
struct Member {
  std::vector<double> message;
  std::vector<std::int32_t> observed;
  Margins margins;
};

// The last features at once: a column for each of their observations, in lexicographic order.
class Columns {
 public:
  Columns(const Chain& chain, std::int32_t level) : level_(level), width_(chain.width(level)) {
    const std::size_t classes = static_cast<std::size_t>(chain.class_count());
    std::vector<std::vector<double>> made{std::vector<double>(classes, 1.0)};
    for (std::int32_t l = chain.levels(); l-- > level;) {
      std::vector<std::vector<double>> longer;
      for (std::int32_t state = 0; state < chain.state_counts()[l]; ++state)
        for (const std::vector<double>& after : made)
          chain.backward(l, state, after.data(), longer.emplace_back(chain.length(l)).data());
      made = std::move(longer);
    }
    count_ = made.size();
    values_.resize(count_ * chain.length(level));
    for (std::size_t column = 0; column < count_; ++column)
      for (std::size_t i = 0; i < chain.length(level); ++i) values_[i * count_ + column] = made[column][i];
  }

  std::size_t count() const { return count_; }
  std::size_t bytes() const { return values_.size() * sizeof(double); }

  // The scores of each class, column by column.
  void scores(const double* message, std::size_t classes, std::vector<double>& scores) const {
    scores.assign(classes * count_, 0.0);
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t s = 0; s < width_; ++s) {
        const double factor = message[c * width_ + s];
        if (factor <= 0) continue;
        const double* row = values_.data() + (c * width_ + s) * count_;
        double* sum = scores.data() + c * count_;
        for (std::size_t column = 0; column < count_; ++column) sum[column] += factor * row[column];
      }
  }

  // Whether a column has only zeros where a message has none.
  bool meets_nothing(const std::vector<double>& message, std::size_t column) const {
    for (std::size_t i = 0; i < message.size(); ++i)
      if (message[i] > 0 && values_[i * count_ + column] > 0) return false;
    return true;
  }

  // The states of the last features that a column observes.
  void observe(const Chain& chain, std::size_t column, std::int32_t* states) const {
    for (std::int32_t l = chain.levels(); l-- > level_;) {
      const auto count = static_cast<std::size_t>(chain.state_counts()[l]);
      states[l] = static_cast<std::int32_t>(column % count);
      column /= count;
    }
  }

 private:
  std::int32_t level_;
  std::size_t width_, count_ = 0;
  std::vector<double> values_;  // a row for each class and state of the separator
};

// Which node of a level a message may lead to: a tree whose tests are later observations, and the class they get.
class Guesses {
 public:
  Guesses(std::size_t classes, std::size_t length) : classes_(classes), length_(length) {}

  // The group of the only node that has not been ruled out, or -1; `tests` becomes how many it took.
  std::int32_t group(const double* message, std::size_t& tests) const {
    std::int32_t at = root_;
    for (tests = 0; at < 0 && at != nothing; ++tests)
      at = next(at, outcome(message, static_cast<std::size_t>(-at - 2)));
    return at == nothing ? -1 : at;
  }

  // Adds a node's group, told apart from the others by what the graph says of later observations.
  void add(const Chain& chain, const OrderedGraph& graph, std::int32_t level, Id node, std::int32_t group,
           const std::vector<Id>& node_of_group) {
    std::size_t place = npos;  // in next_, of what leads here; npos: the root
    std::int32_t at = root_;
    while (at < 0 && at != nothing) {
      const auto test = static_cast<std::size_t>(-at - 2);
      place = test * classes_ + static_cast<std::size_t>(graph.decide(node, level, tests_[test].data()));
      at = next_[place];
    }
    std::int32_t made = group;
    if (at != nothing) {
      const Id other = node_of_group[static_cast<std::size_t>(at)];
      std::vector<std::int32_t> states = graph.separate(node, other, level);
      made = -static_cast<std::int32_t>(tests_.size()) - 2;
      next_.resize(next_.size() + classes_, nothing);
      next_[tests_.size() * classes_ + static_cast<std::size_t>(graph.decide(node, level, states.data()))] = group;
      next_[tests_.size() * classes_ + static_cast<std::size_t>(graph.decide(other, level, states.data()))] = at;
      std::vector<double> after(classes_, 1.0), before;
      for (std::int32_t l = chain.levels(); l-- > level;) {
        before.resize(chain.length(l));
        chain.backward(l, states[static_cast<std::size_t>(l - level)], after.data(), before.data());
        after.swap(before);
      }
      columns_.insert(columns_.end(), after.begin(), after.end());
      tests_.push_back(std::move(states));
    }
    (place == npos ? root_ : next_[place]) = made;
  }

  std::size_t bytes() const { return columns_.capacity() * sizeof(double) + next_.capacity() * sizeof(std::int32_t); }

 private:
  static constexpr std::int32_t nothing = -1;
  static constexpr std::size_t npos = std::numeric_limits<std::size_t>::max();

  std::int32_t next(std::int32_t at, std::size_t outcome) const {
    return next_[static_cast<std::size_t>(-at - 2) * classes_ + outcome];
  }
  // The class of an observation as doubles see it: a guess is not a proof.
  std::size_t outcome(const double* message, std::size_t test) const {
    const std::size_t width = length_ / classes_;
    const double* column = columns_.data() + test * length_;
    std::size_t best = 0;
    double greatest = -1;
    for (std::size_t c = 0; c < classes_; ++c) {
      double score = 0;
      for (std::size_t s = 0; s < width; ++s) score += message[c * width + s] * column[c * width + s];
      if (score > greatest) {
        greatest = score;
        best = c;
      }
    }
    return best;
  }

  std::size_t classes_, length_;
  std::int32_t root_ = nothing;  // a group, nothing, or -2 - test
  std::vector<std::int32_t> next_;  // of each test and class, likewise
  std::vector<std::vector<std::int32_t>> tests_;
  std::vector<double> columns_;
};

// The nodes that were met at a level, and messages that lead to them.
struct Level {
  Level(std::size_t classes, std::size_t length) : guesses(classes, length) {}

  Guesses guesses;
  std::unordered_map<Id, std::int32_t> group_of;
  std::vector<Id> node_of_group;
  std::vector<std::vector<Member>> members;
  std::size_t tried = 0, recognised = 0;
};

class Compiler {
 public:
  Compiler(const Chain& chain, std::span<const std::int32_t> ranks, const ExactAnswers& exact, const Most& most,
           Budget& budget)
      : chain_(chain), classes_(static_cast<std::size_t>(chain.class_count())), ranks_(ranks), exact_(exact),
        budget_(budget), most_work_(most.work),
        made_{OrderedGraph(chain.state_counts(), chain.class_count(), most.nodes), 0}, last_(first_of_last()),
        columns_(chain, last_), observed_(static_cast<std::size_t>(chain.levels())) {
    for (std::int32_t level = 0; level <= last_; ++level) {
      levels_.emplace_back(classes_, chain.length(level));
      frames_.emplace_back();
      frames_.back().message.resize(chain.length(level));
    }
  }

  SubClassifiers run() {
    std::int32_t level = 0;
    frames_[0].message = chain_.weights();
    bool is_known = enter(0);
    while (true) {
      Frame& frame = frames_[static_cast<std::size_t>(level)];
      if (is_known) {
        if (level == 0) break;
        Frame& above = frames_[static_cast<std::size_t>(--level)];
        above.children.push_back(node_);
        above.margins.include(margins_);
        is_known = false;
        continue;
      }
      if (frame.children.size() < static_cast<std::size_t>(chain_.state_counts()[level])) {
        const auto state = static_cast<std::int32_t>(frame.children.size());
        observed_[static_cast<std::size_t>(level)] = state;
        spend(chain_.work(level));
        chain_.forward(level, state, frame.message.data(), frames_[static_cast<std::size_t>(level) + 1].message.data());
        is_known = enter(++level);
        continue;
      }
      node_ = made_.graph.make(level, frame.children.data());
      margins_ = frame.margins;
      if (may_recognise(level)) remember(level, frame.message);
      is_known = true;
    }
    made_.root = node_;
    made_.has_impossible = margins_.has_impossible;
    return std::move(made_);
  }

 private:
  struct Frame {
    std::vector<double> message;
    std::vector<Id> children;
    Margins margins;
  };

  void spend(std::size_t work) {
    work_ += work;
    if (work_ > most_work_) throw OverBudget(OverBudget::Cause::work);
    budget_.step(work);
  }

  // The first of the last features, whose observations are few enough to be columns.
  std::int32_t first_of_last() const {
    std::int32_t level = chain_.levels();
    std::size_t count = 1;
    while (level > 0) {
      count *= static_cast<std::size_t>(chain_.state_counts()[level - 1]);
      if (count > most_columns || count * chain_.length(level - 1) > most_column_work) break;
      --level;
    }
    return level;
  }

  // Whether it is worth looking for the node of a message. A level of one state only moves on to another separator; and
  // long messages cost much to compare, which must pay.
  bool may_recognise(std::int32_t level) const {
    const Level& here = levels_[static_cast<std::size_t>(level)];
    if (chain_.state_counts()[level] == 1) return false;
    return chain_.length(level) <= long_message || here.tried < enough_tries ||
           here.recognised * few_recognised >= here.tried;
  }

  // Looks at the message of a level; whether its node is known now, with its margins.
  bool enter(std::int32_t level) {
    ++made_.messages;
    Frame& frame = frames_[static_cast<std::size_t>(level)];
    frame.children.clear();
    frame.margins.clear(classes_);
    if (std::all_of(frame.message.begin(), frame.message.end(), [](double value) { return value <= 0; })) {
      node_ = static_cast<Id>(std::min_element(ranks_.begin(), ranks_.end()) - ranks_.begin());
      margins_.clear(classes_);
      margins_.has_impossible = true;
      return true;
    }
    if (level == last_) {
      look_at_columns(frame.message);
      return true;
    }
    if (!may_recognise(level)) return false;
    const bool is_recognised = recognise(level, frame.message);
    ++levels_[static_cast<std::size_t>(level)].tried;
    levels_[static_cast<std::size_t>(level)].recognised += is_recognised;
    made_.recognised += is_recognised;
    return is_recognised;
  }

  bool recognise(std::int32_t level, const std::vector<double>& message) {
    Level& here = levels_[static_cast<std::size_t>(level)];
    std::size_t tests = 0;
    const std::int32_t group = here.guesses.group(message.data(), tests);
    spend(tests * message.size());
    if (group < 0) return false;
    std::vector<Member>& members = here.members[static_cast<std::size_t>(group)];
    node_ = here.node_of_group[static_cast<std::size_t>(group)];
    margins_.least.assign(classes_ * classes_, 0.0);
    margins_.has_impossible = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      spend(message.size());
      const Member& member = members[i];
      if (!bound(level, member, message)) continue;
      if (is_proved(1) || (is_proved(1 - nearly) && is_alike_ && is_same(level, member))) {
        if (i > 0) std::swap(members[i], members[i / 2]);  // those that tell much come first
        return true;
      }
    }
    return false;
  }

  // Raises margins_ to what a member of the same node proves of a message; false if nothing.
  bool bound(std::int32_t level, const Member& member, const std::vector<double>& message) {
    const std::size_t width = chain_.width(level);
    low_.assign(classes_, absent);
    high_.assign(classes_, 0.0);
    bool has_new = false;
    for (std::size_t c = 0; c < classes_; ++c) {
      double low = absent, high = 0;
      for (std::size_t i = c * width; i < (c + 1) * width; ++i) {
        if (member.message[i] > 0) {
          const double ratio = message[i] / member.message[i];
          low = std::min(low, ratio);
          high = std::max(high, ratio);
        } else if (message[i] > 0) {
          high = absent;
        }
      }
      low_[c] = low;
      high_[c] = high;
      has_new |= high == absent;
    }
    // What is impossible after the member must be so after the message.
    if (member.margins.has_impossible && has_new) return false;
    margins_.has_impossible |= member.margins.has_impossible;
    const double sure = 1 - (4 * chain_.forward_error(level) + 16 * unit);
    double least = absent, greatest = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      least = std::min(least, low_[c]);
      greatest = std::max(greatest, high_[c]);
    }
    is_alike_ = least > 0 && greatest < absent && greatest <= least * (1 + nearly);
    for (std::size_t k = 0; k < classes_; ++k)
      for (std::size_t j = 0; j < classes_; ++j) {
        if (k == j) continue;
        double& known = margins_.least[k * classes_ + j];
        const double own = member.margins.least[k * classes_ + j];
        double bound = 0;
        if (own == absent)
          bound = absent;
        else if (high_[j] <= 0)
          bound = low_[k] > 0 && low_[k] < absent ? unlimited : 0;
        else if (low_[k] > 0 && low_[k] < absent && high_[j] < absent)
          bound = std::min(own * (low_[k] / high_[j]) * sure, unlimited);
        known = std::max(known, bound);
      }
    for (std::size_t k = 0; k < classes_; ++k) margins_.least[k * classes_ + k] = absent;
    return true;
  }

  bool is_proved(double limit) const {
    return std::all_of(margins_.least.begin(), margins_.least.end(), [&](double least) { return least > limit; });
  }

  bool is_same(std::int32_t level, const Member& member) {
    ++made_.exact;
    const std::span<const std::int32_t> observed(observed_.data(), static_cast<std::size_t>(level));
    if (!exact_.same(member.observed, observed)) return false;
    margins_ = member.margins;
    return true;
  }

  void look_at_columns(const std::vector<double>& message) {
    const std::size_t count = columns_.count();
    spend(count * (message.size() / 4 + 4));  // several numbers are multiplied at once
    columns_.scores(message.data(), classes_, scores_);
    const double error = chain_.forward_error(last_) + chain_.backward_error(last_) +
                         (static_cast<double>(chain_.width(last_)) + 2) * unit;
    const double sure = 1 - (4 * error + 16 * unit);
    margins_.clear(classes_);
    given_.resize(count);
    for (std::size_t column = 0; column < count; ++column) given_[column] = look_at_column(column, sure);
    sign();
    const auto [found, is_new] = node_of_signature_.try_emplace(signature_, 0);
    if (is_new) {
      signature_bytes_ += signature_.size() + 64;
      check_memory();
      found->second = make_node();
    }
    node_ = found->second;
  }

  std::int32_t look_at_column(std::size_t column, double sure) {
    const std::size_t count = columns_.count();
    const auto score = [&](std::size_t c) { return scores_[c * count + column]; };
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes_; ++c)
      if (score(c) > score(best) || (score(c) >= score(best) && ranks_[c] < ranks_[best])) best = c;
    bool is_lost = score(best) < Chain::least, is_close = false;
    if (is_lost && is_surely_zero(column)) {
      margins_.has_impossible = true;
      return static_cast<std::int32_t>(best);
    }
    for (std::size_t c = 0; c < classes_; ++c) is_close |= c != best && score(c) >= score(best) * sure;
    if (is_lost || is_close) {
      columns_.observe(chain_, column, observed_.data());
      ++made_.exact;
      const std::span<const std::int32_t> observed(observed_);
      const auto first = static_cast<std::size_t>(last_);
      best = static_cast<std::size_t>(exact_.decide(observed.first(first), observed.subspan(first)));
      margins_.has_impossible |= is_lost;
    }
    for (std::size_t c = 0; c < classes_; ++c) {
      if (c == best) continue;
      // A class that is given has at least the score of the others, whatever was rounded.
      const double ratio = score(best) / std::max(score(c), Chain::least) * sure;
      double& least = margins_.least[best * classes_ + c];
      least = std::min(least, is_lost ? 1 : std::clamp(ratio, 1.0, unlimited));
    }
    return static_cast<std::int32_t>(best);
  }

  // Whether no product of two numbers above 0 was lost.
  bool is_surely_zero(std::size_t column) const {
    return columns_.meets_nothing(frames_[static_cast<std::size_t>(last_)].message, column);
  }

  // The classes given, column by column, in few bytes.
  void sign() {
    const std::size_t bits = classes_ <= 2 ? 1 : classes_ <= 256 ? 8 : 32;
    signature_.assign((given_.size() * bits + 7) / 8, 0);
    for (std::size_t column = 0; column < given_.size(); ++column)
      for (std::size_t bit = 0; bit < bits; bit += 8) {
        const std::size_t place = column * bits + bit;
        signature_[place / 8] |= static_cast<char>((given_[column] >> bit & 255) << place % 8);
      }
  }

  // The node of the classes given, column by column, put together from the last feature on.
  Id make_node() {
    std::vector<Id> nodes = given_;
    for (std::int32_t level = chain_.levels(); level-- > last_;) {
      const auto states = static_cast<std::size_t>(chain_.state_counts()[level]);
      for (std::size_t i = 0; i < nodes.size() / states; ++i) nodes[i] = made_.graph.make(level, &nodes[i * states]);
      nodes.resize(nodes.size() / states);
    }
    return nodes[0];
  }

  void remember(std::int32_t level, const std::vector<double>& message) {
    Level& here = levels_[static_cast<std::size_t>(level)];
    const std::size_t share = budget_.memory() / 4;
    if (!here.group_of.contains(node_) && guess_bytes_ + member_bytes_ > share) return;
    const auto [found, is_new] = here.group_of.try_emplace(node_, static_cast<std::int32_t>(here.members.size()));
    if (is_new) {
      here.node_of_group.push_back(node_);
      here.members.emplace_back();
      here.guesses.add(chain_, made_.graph, level, node_, found->second, here.node_of_group);
      guess_bytes_ += 2 * (message.size() + static_cast<std::size_t>(chain_.levels())) * sizeof(double);
    }
    std::vector<Member>& members = here.members[static_cast<std::size_t>(found->second)];
    const bool is_full = members.size() >= most_members || (!members.empty() && member_bytes_ > share);
    if (is_full) members.pop_back();
    Member member{message, {observed_.begin(), observed_.begin() + level}, margins_};
    member_bytes_ +=
        is_full ? 0 : (message.size() + margins_.least.size()) * sizeof(double) + observed_.size() * 4 + 128;
    members.push_back(std::move(member));
    check_memory();
  }

  void check_memory() const {
    budget_.reserve(made_.graph.bytes() + columns_.bytes() + signature_bytes_ + guess_bytes_ + member_bytes_);
  }

  const Chain& chain_;
  const std::size_t classes_;
  const std::span<const std::int32_t> ranks_;
  const ExactAnswers& exact_;
  Budget& budget_;
  const std::size_t most_work_;
  std::size_t work_ = 0;
  SubClassifiers made_;
  const std::int32_t last_;
  const Columns columns_;
  std::vector<Level> levels_;
  std::vector<Frame> frames_;  // one for each level: the path that is being looked at
  std::vector<std::int32_t> observed_;  // the states along it
  std::unordered_map<std::string, Id> node_of_signature_;
  std::size_t signature_bytes_ = 0, guess_bytes_ = 0, member_bytes_ = 0;
  // What was found last, and room for finding it.
  Id node_ = 0;
  Margins margins_;
  bool is_alike_ = false;
  std::vector<double> low_, high_, scores_;
  std::vector<Id> given_;
  std::string signature_;
};

}  // namespace

SubClassifiers compile(const Chain& chain, std::span<const std::int32_t> ranks, const ExactAnswers& exact,
                       const Most& most, Budget& budget) {
  return Compiler(chain, ranks, exact, most, budget).run();
}

}  // namespace quia
