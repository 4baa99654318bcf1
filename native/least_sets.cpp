#include "least_sets.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "workers.hpp"

namespace quia {

namespace {

constexpr std::int64_t nowhere = INT64_MIN, everywhere = INT64_MAX;
constexpr std::uint64_t most_ties = INT64_MAX;

// How many sets there are, and the needs for which it is the same number.
struct Count {
  std::uint64_t sets;
  std::int64_t first, last;
};

std::int64_t shifted(std::int64_t need, std::int64_t number) {
  return need == nowhere || need == everywhere ? need : need + number;
}

// What one thread works with, row after row.
class Row {
 public:
  Row(std::size_t variables, std::size_t limit, std::size_t most_nodes)
      : limit_(limit), most_nodes_(most_nodes), order_(variables), sorted_(variables), sums_(variables + 1) {}

  // Adds a row's sets to what was found so far.
  void find(const std::int64_t* numbers, std::int64_t need, std::int64_t band, LeastSets& found) {
    const std::size_t begin = found.member_start.size();
    std::int64_t ties = -1;
    sort(numbers);
    const std::size_t size = length(need - band);
    if (size == length(need + band)) {
      const std::optional<Count> counted =
          size > sorted_.size() ? Count{0, need - band, need + band} : count(size, need);
      if (counted && counted->first <= need - band && need + band <= counted->last) {
        ties = static_cast<std::int64_t>(counted->sets);
        if (ties > 0) list(numbers, size, need, found);
      }
    }
    found.ties.push_back(ties);
    found.set_start.push_back(found.set_start.back() + static_cast<std::int64_t>(found.member_start.size() - begin));
  }

 private:
  struct Known {
    std::int64_t first, last;
    std::uint64_t sets;
  };
  struct Frame {
    std::size_t place, more;
    std::int64_t need;
    int stage;
    Count with;
  };

  void sort(const std::int64_t* numbers) {
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](auto a, auto b) { return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b; });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      sorted_[i] = numbers[order_[i]];
      sums_[i + 1] = sums_[i] + sorted_[i];
    }
  }

  // Of how many numbers the least sets are; one more than there are if all do not reach the need.
  std::size_t length(std::int64_t need) const {
    return static_cast<std::size_t>(std::lower_bound(sums_.begin(), sums_.end(), std::max<std::int64_t>(need, 0)) -
                                    sums_.begin());
  }

  std::vector<Known>& known(std::size_t place, std::size_t more) { return known_[place * (size_ + 1) + more]; }

  // Whether it is known how many sets of so many numbers from a place on reach a need; then it is the result.
  bool settle(std::size_t place, std::size_t more, std::int64_t need) {
    const std::size_t left = sorted_.size() - place;
    if (more > left) {
      result_ = {0, nowhere, everywhere};
      return true;
    }
    const std::int64_t most = sums_[place + more] - sums_[place];
    if (need > most) {
      result_ = {0, most + 1, everywhere};
      return true;
    }
    const std::int64_t fewest = sums_.back() - sums_[sorted_.size() - more];
    if (need <= fewest) {
      result_ = {choose(left, more), nowhere, fewest};
      return true;
    }
    for (const Known& each : known(place, more))
      if (each.first <= need && need <= each.last) {
        result_ = {each.sets, each.first, each.last};
        return true;
      }
    return false;
  }

  // How many sets of a size reach a need; nothing if that takes too much.
  std::optional<Count> count(std::size_t size, std::int64_t need) {
    size_ = size;
    if (known_.size() < (sorted_.size() + 1) * (size + 1)) known_.resize((sorted_.size() + 1) * (size + 1));
    for (const std::size_t used : used_) known_[used].clear();
    used_.clear();
    if (settle(0, size, need)) return told();
    stack_.assign(1, {0, size, need, 0, {}});
    std::size_t nodes = 0;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.stage == 2) {
        const std::int64_t number = sorted_[frame.place];
        const std::int64_t first = std::max(shifted(frame.with.first, number), result_.first);
        const std::int64_t last = std::min(shifted(frame.with.last, number), result_.last);
        const std::uint64_t sets = frame.with.sets > most_ties - std::min(result_.sets, most_ties)
                                       ? most_ties + 1
                                       : frame.with.sets + result_.sets;
        if (++nodes > most_nodes_) return std::nullopt;
        std::vector<Known>& here = known(frame.place, frame.more);
        if (here.empty()) used_.push_back(frame.place * (size_ + 1) + frame.more);
        here.push_back({first, last, sets});
        result_ = {sets, first, last};
        stack_.pop_back();
        continue;
      }
      if (frame.stage == 1) frame.with = result_;
      const bool takes = frame.stage++ == 0;
      const std::size_t more = takes ? frame.more - 1 : frame.more;
      const std::int64_t left = takes ? frame.need - sorted_[frame.place] : frame.need;
      const std::size_t next = frame.place + 1;
      if (!settle(next, more, left)) stack_.push_back({next, more, left, 0, {}});
    }
    return told();
  }

  std::optional<Count> told() const { return result_.sets > most_ties ? std::nullopt : std::optional(result_); }

  static std::uint64_t choose(std::size_t n, std::size_t k) {
    k = std::min(k, n - k);
    std::uint64_t ways = 1;
    for (std::size_t i = 1; i <= k; ++i) {
      const std::uint64_t factor = n - k + i;
      if (ways > most_ties / factor) return most_ties + 1;
      ways = ways * factor / i;
    }
    return ways;
  }

  // The first sets of a size that reach a need, by the order of variables: depth first.
  void list(const std::int64_t* numbers, std::size_t size, std::int64_t need, LeastSets& found) {
    const std::size_t variables = order_.size(), width = size + 1;
    // most_[v, n]: the sum of the n greatest numbers from variable v on.
    most_.assign((variables + 1) * width, -1);
    most_[variables * width] = 0;
    greatest_.clear();
    for (std::size_t v = variables; v-- > 0;) {
      greatest_.insert(std::upper_bound(greatest_.begin(), greatest_.end(), numbers[v], std::greater<>()), numbers[v]);
      if (greatest_.size() > size) greatest_.pop_back();
      most_[v * width] = 0;
      for (std::size_t n = 0; n < greatest_.size(); ++n) most_[v * width + n + 1] = most_[v * width + n] + greatest_[n];
    }
    chosen_.clear();
    std::size_t listed = 0, v = 0;
    std::int64_t left = need;
    while (listed < limit_) {
      const std::size_t more = size - chosen_.size();
      if (more == 0) {
        found.member_start.push_back(static_cast<std::int64_t>(found.members.size()));
        found.members.insert(found.members.end(), chosen_.begin(), chosen_.end());
        ++listed;
      } else if (v < variables && most_[v * width + more] >= 0 && most_[v * width + more] >= left) {
        // Some set from here on reaches the need; with this variable, if the rest does then.
        const std::int64_t rest = more == 1 ? 0 : most_[(v + 1) * width + more - 1];
        if (rest >= 0 && numbers[v] + rest >= left) {
          chosen_.push_back(static_cast<std::int32_t>(v));
          left -= numbers[v];
        }
        ++v;
        continue;
      }
      if (chosen_.empty()) return;
      v = static_cast<std::size_t>(chosen_.back()) + 1;
      left += numbers[chosen_.back()];
      chosen_.pop_back();
    }
  }

  std::size_t limit_, most_nodes_, size_ = 0;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> sorted_, sums_;    // numbers that descend, and the sums of the first so many
  std::vector<std::vector<Known>> known_;      // [place, more], of what was counted
  std::vector<std::size_t> used_;              // the ones that are not empty
  std::vector<Frame> stack_;
  std::vector<std::int64_t> most_, greatest_;
  std::vector<std::int32_t> chosen_;
  Count result_{};
};

}  // namespace

LeastSets least_sets(const Needs& needs, std::size_t limit, std::size_t most_nodes, unsigned threads,
                     const std::function<void()>& pulse) {
  constexpr std::size_t rows_a_chunk = 256;
  const std::size_t chunks = (needs.rows + rows_a_chunk - 1) / rows_a_chunk;
  std::vector<LeastSets> parts(chunks);
  run_chunks(chunks, threads, pulse, [&](const std::atomic<bool>& cancelled) {
    return [&, row = Row(needs.variables, limit, most_nodes)](std::size_t chunk) mutable {
      LeastSets& part = parts[chunk];
      part.set_start.push_back(0);
      const std::size_t end = std::min(needs.rows, (chunk + 1) * rows_a_chunk);
      for (std::size_t i = chunk * rows_a_chunk; i < end && !cancelled.load(); ++i)
        row.find(needs.numbers + i * needs.variables, needs.needs[i], needs.band, part);
    };
  });
  LeastSets found;
  found.set_start.push_back(0);
  for (const LeastSets& part : parts) {
    const auto sets = static_cast<std::int64_t>(found.member_start.size());
    const auto members = static_cast<std::int64_t>(found.members.size());
    found.ties.insert(found.ties.end(), part.ties.begin(), part.ties.end());
    for (std::size_t i = 1; i < part.set_start.size(); ++i) found.set_start.push_back(part.set_start[i] + sets);
    for (const std::int64_t start : part.member_start) found.member_start.push_back(start + members);
    found.members.insert(found.members.end(), part.members.begin(), part.members.end());
  }
  found.member_start.push_back(static_cast<std::int64_t>(found.members.size()));
  return found;
}

}  // namespace quia
