// Exact counts and uniform samples of a frozen ZDD.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "randomness.hpp"
#include "zdd.hpp"

namespace quia {

namespace {

// Limbs that hold every count of the family, from an estimate in floating point: log2 of the number of members.
// 2^universe bounds it, so a diagram cannot make it overflow.
std::size_t width_for(const Zdd& zdd) {
  std::vector<double> log_count(zdd.nodes.size(), -1.0);
  log_count[unit] = 0.0;
  double most = 0.0;
  for (std::size_t id = 2; id < zdd.nodes.size(); ++id) {
    const double a = log_count[zdd.nodes[id].low], b = log_count[zdd.nodes[id].high];
    const double larger = std::max(a, b), smaller = std::min(a, b);
    log_count[id] = smaller < 0 ? larger : larger + std::log2(1.0 + std::exp2(smaller - larger));
    most = std::max(most, log_count[id]);
  }
  return static_cast<std::size_t>((most + 2.0) / 64.0) + 1;
}

}  // namespace

Counts::Counts(const Zdd& zdd, Budget& budget) : root_(zdd.root), width_(width_for(zdd)) {
  budget.reserve(zdd.nodes.size() * width_ * sizeof(Limb));
  limbs_.assign(zdd.nodes.size() * width_, 0);
  limbs_[unit * width_] = 1;
  for (std::size_t id = 2; id < zdd.nodes.size(); ++id) {
    budget.step(width_);
    Limb* here = limbs_.data() + id * width_;
    add(here, at(zdd.nodes[id].low), at(zdd.nodes[id].high), width_);
  }
}

// One pass a length: sets of k members below a node, from those of k (low) and of k-1 (high). A node takes part only
// in the passes from its shortest to its longest set, so that long chains of nodes cost no more than they have lengths.
std::map<std::size_t, Natural> counts_by_length(const Zdd& zdd, Budget& budget) {
  const std::size_t nodes = zdd.nodes.size(), width = width_for(zdd);
  budget.reserve(nodes * (2 * width * sizeof(Limb) + 5 * sizeof(std::uint32_t)));
  std::vector<std::uint32_t> shortest(nodes, UINT32_MAX), longest(nodes, 0);
  shortest[unit] = 0;
  for (std::size_t id = 2; id < nodes; ++id) {
    budget.step();
    const auto [level, low, high] = zdd.nodes[id];
    shortest[id] = std::min(shortest[low], shortest[high] + 1);
    longest[id] = std::max(low == none ? 0 : longest[low], longest[high] + 1);
  }
  if (zdd.root == none) return {};
  std::vector<std::uint32_t> by_start;  // those that sets can be below, by the length at which they begin
  for (std::size_t id = 1; id < nodes; ++id) by_start.push_back(static_cast<std::uint32_t>(id));
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return shortest[a] < shortest[b]; });
  std::vector<Limb> shorter(nodes * width, 0), here(nodes * width, 0);
  std::vector<std::uint32_t> active, begun, ended;
  std::map<std::size_t, Natural> counts;
  std::size_t next = 0;
  for (std::uint32_t k = 0; k <= longest[zdd.root]; ++k) {
    const std::size_t first = next;
    while (next < by_start.size() && shortest[by_start[next]] == k) ++next;
    begun.clear();
    std::merge(active.begin(), active.end(), by_start.begin() + static_cast<std::ptrdiff_t>(first),
               by_start.begin() + static_cast<std::ptrdiff_t>(next), std::back_inserter(begun));
    active.swap(begun);
    ended.clear();
    std::erase_if(active, [&](std::uint32_t id) {
      if (longest[id] >= k) return false;
      ended.push_back(id);
      return true;
    });
    for (const std::uint32_t id : ended) std::fill_n(here.data() + id * width, width, 0);
    for (const std::uint32_t id : active) {
      budget.step(width);
      Limb* count = here.data() + id * width;
      if (id == unit) {
        count[0] = 1;
        continue;
      }
      add(count, here.data() + zdd.nodes[id].low * width, shorter.data() + zdd.nodes[id].high * width, width);
    }
    const Natural count(here.data() + zdd.root * width, width);
    if (!count.is_zero()) counts[k] = count;
    // What ended was still asked for its longest sets in this pass.
    for (const std::uint32_t id : ended) std::fill_n(shorter.data() + id * width, width, 0);
    shorter.swap(here);
  }
  return counts;
}

std::vector<Natural> counts_by_member(const Zdd& zdd, Budget& budget) {
  const Counts below(zdd, budget);
  const std::size_t width = below.width();
  budget.reserve(2 * zdd.nodes.size() * width * sizeof(Limb));
  std::vector<Limb> above(zdd.nodes.size() * width, 0);  // paths from the root; never more than the sets
  std::vector<Natural> counts(zdd.universe);
  above[zdd.root * width] = 1;
  for (std::size_t id = zdd.nodes.size(); id-- > 2;) {
    budget.step(width * width);
    const Node& node = zdd.nodes[id];
    const Limb* here = above.data() + id * width;
    add_to(above.data() + node.low * width, here, width);
    add_to(above.data() + node.high * width, here, width);
    counts[zdd.member_at[node.level]] += Natural(here, width) * Natural(below.at(node.high), width);
  }
  return counts;
}

SetTable sample(const Zdd& zdd, std::size_t n, std::uint64_t seed, Budget& budget) {
  SetTable chosen(zdd.universe);
  if (zdd.root == none) return chosen;
  const Counts counts(zdd, budget);
  const std::size_t width = counts.width();
  const Limb* total = counts.at(zdd.root);
  std::size_t top = width;
  while (top > 1 && total[top - 1] == 0) --top;
  const Limb mask = ~Limb(0) >> std::countl_zero(total[top - 1]);
  Randomness randomness{seed};
  std::vector<Limb> rank(width, 0);
  for (std::size_t i = 0; i < n; ++i) {
    do {  // rejection keeps it uniform
      budget.step();
      for (std::size_t k = 0; k < top; ++k) rank[k] = randomness.next();
      rank[top - 1] &= mask;
    } while (compare(rank.data(), total, width) >= 0);
    budget.reserve(chosen.bits.size() * sizeof(Word));
    Word* set = chosen.add();
    for (NodeId id = zdd.root; id > unit;) {
      const Node& node = zdd.nodes[id];
      if (compare(rank.data(), counts.at(node.low), width) < 0) {
        id = node.low;
      } else {
        subtract_from(rank.data(), counts.at(node.low), width);
        put(set, zdd.member_at[node.level]);
        id = node.high;
      }
    }
  }
  return chosen;
}

}  // namespace quia
