// Exact counts and uniform samples of a frozen ZDD.
#include <algorithm>
#include <cmath>

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
    budget.step();
    Limb* here = limbs_.data() + id * width_;
    std::copy_n(at(zdd.nodes[id].low), width_, here);
    add_to(here, at(zdd.nodes[id].high), width_);
  }
}

std::map<std::size_t, Natural> counts_by_length(const Zdd& zdd, Budget& budget) {
  const std::size_t nodes = zdd.nodes.size(), width = width_for(zdd);
  std::vector<std::uint32_t> longest(nodes, 0);
  for (std::size_t id = 2; id < nodes; ++id)
    longest[id] = std::max(zdd.nodes[id].low == none ? 0 : longest[zdd.nodes[id].low], longest[zdd.nodes[id].high] + 1);
  budget.reserve(2 * nodes * width * sizeof(Limb));
  // One pass a length: sets of k members below a node, from those of k (low) and of k-1 (high).
  std::vector<Limb> shorter(nodes * width, 0), here(nodes * width, 0);
  std::map<std::size_t, Natural> counts;
  for (std::size_t k = 0; k <= longest[zdd.root]; ++k) {
    here[unit * width] = k == 0;
    for (std::size_t id = 2; id < nodes; ++id) {
      budget.step();
      Limb* count = here.data() + id * width;
      std::copy_n(here.data() + zdd.nodes[id].low * width, width, count);
      if (k > 0) add_to(count, shorter.data() + zdd.nodes[id].high * width, width);
    }
    const Natural count(here.data() + zdd.root * width, width);
    if (!count.is_zero()) counts[k] = count;
    shorter.swap(here);
  }
  return counts;
}

std::vector<Natural> counts_by_member(const Zdd& zdd, Budget& budget) {
  const Counts below(zdd, budget);
  const std::size_t width = below.width();
  std::vector<Limb> above(zdd.nodes.size() * width, 0);  // paths from the root; never more than the sets
  std::vector<Natural> counts(zdd.universe);
  above[zdd.root * width] = 1;
  for (std::size_t id = zdd.nodes.size(); id-- > 2;) {
    budget.step();
    const Node& node = zdd.nodes[id];
    const Limb* here = above.data() + id * width;
    add_to(above.data() + node.low * width, here, width);
    add_to(above.data() + node.high * width, here, width);
    counts[zdd.member_at[node.level]] += Natural(here, width) * Natural(below.at(node.high), width);
  }
  return counts;
}

namespace {

// SplitMix64: one multiplication chain, the same on every machine.
struct Randomness {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
};

}  // namespace

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
