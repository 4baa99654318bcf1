// Makes a flat NNF from its leaves up: equal nodes are made once, constants are simplified away.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "nnf_reasons.hpp"

namespace quia {

// Children first, the root last; kinds as in NnfKind; literal is a variable, or -1.
struct FlatNnf {
  std::vector<std::uint8_t> kind;
  std::vector<std::int32_t> literal;
  std::vector<std::int64_t> child_start{0};
  std::vector<std::int32_t> child;
};

// An open-addressed table of the nodes' numbers finds equal ones.
class NnfBuilder {
 public:
  static constexpr std::int32_t no = 0, yes = 1;

  // `nodes` is how many are to be expected, so that the table seldom grows.
  explicit NnfBuilder(std::size_t variables, std::size_t nodes)
      : literal_of_(variables, -1), slots_(std::bit_ceil(2 * nodes + 64)) {
    add(NnfKind::false_, -1, {});
    add(NnfKind::true_, -1, {});
  }

  std::int32_t literal(std::int32_t variable) {
    if (literal_of_[variable] < 0) literal_of_[variable] = add(NnfKind::literal, variable, {});
    return literal_of_[variable];
  }

  std::int32_t either(std::int32_t a, std::int32_t b) {
    if (a == yes || b == yes) return yes;
    if (a == no || a == b) return b;
    if (b == no) return a;
    const std::int32_t parts[] = {a, b};
    return joined(NnfKind::or_, parts);
  }

  // All, or any, of the parts, which are brought to their distinct ones in place.
  std::int32_t all(std::vector<std::int32_t>& parts) { return gathered(NnfKind::and_, parts, yes, no); }
  std::int32_t any(std::vector<std::int32_t>& parts) { return gathered(NnfKind::or_, parts, no, yes); }

  // The nodes that the root needs, in their order.
  FlatNnf flat(std::int32_t root) const {
    std::vector<std::int32_t> number(static_cast<std::size_t>(root) + 1, -1);
    number[root] = 0;
    for (std::int32_t node = root; node >= 0; --node)
      if (number[node] >= 0)
        for (const std::int32_t child : children(node)) number[child] = 0;
    FlatNnf made;
    std::int32_t next = 0;
    for (std::int32_t node = 0; node <= root; ++node) {
      if (number[node] < 0) continue;
      number[node] = next++;
      made.kind.push_back(made_.kind[node]);
      made.literal.push_back(made_.literal[node]);
      for (const std::int32_t child : children(node)) made.child.push_back(number[child]);
      made.child_start.push_back(static_cast<std::int64_t>(made.child.size()));
    }
    return made;
  }

 private:
  // With the hash at hand, a slot of another node is passed without a look at that node, far away in memory.
  struct Slot {
    std::uint32_t tag = 0;
    std::int32_t node = -1;
  };

  std::span<const std::int32_t> children(std::int32_t node) const {
    return {made_.child.data() + made_.child_start[node], made_.child.data() + made_.child_start[node + 1]};
  }

  std::int32_t gathered(NnfKind kind, std::vector<std::int32_t>& parts, std::int32_t neutral, std::int32_t absorbing) {
    ++round_;
    seen_.resize(made_.kind.size(), 0);
    std::size_t kept = 0;
    for (const std::int32_t part : parts) {
      if (part == absorbing) return absorbing;
      if (part == neutral || seen_[part] == round_) continue;
      seen_[part] = round_;
      parts[kept++] = part;
    }
    if (kept == 0) return neutral;
    return kept == 1 ? parts[0] : joined(kind, {parts.data(), kept});
  }

  std::int32_t add(NnfKind kind, std::int32_t literal, std::span<const std::int32_t> parts) {
    made_.kind.push_back(static_cast<std::uint8_t>(kind));
    made_.literal.push_back(literal);
    made_.child.insert(made_.child.end(), parts.begin(), parts.end());
    made_.child_start.push_back(static_cast<std::int64_t>(made_.child.size()));
    return static_cast<std::int32_t>(made_.kind.size()) - 1;
  }

  static std::uint32_t hash(NnfKind kind, std::span<const std::int32_t> parts) {
    std::uint64_t h = static_cast<std::uint64_t>(kind);
    for (const std::int32_t part : parts) {
      h = (h ^ static_cast<std::uint32_t>(part)) * 0x9E3779B97F4A7C15ull;
      h ^= h >> 32;
    }
    return static_cast<std::uint32_t>(h);
  }

  std::int32_t joined(NnfKind kind, std::span<const std::int32_t> parts) {
    if (2 * (occupied_ + 1) > slots_.size()) grow();
    const std::uint32_t tag = hash(kind, parts);
    Slot& slot = find(tag, parts, [&](std::int32_t node) {
      return made_.kind[node] == static_cast<std::uint8_t>(kind) && std::ranges::equal(children(node), parts);
    });
    if (slot.node < 0) {
      ++occupied_;
      slot = {tag, add(kind, -1, parts)};
    }
    return slot.node;
  }

  // The slot of a node with this hash and these parts, or the free one where it belongs. First some slots near its
  // last part's number: neighbours have neighbouring parts, so a large table is mostly met in the cache. Where many
  // nodes share a part, those are taken, and the hash alone says where to go on.
  Slot& find(std::uint32_t tag, std::span<const std::int32_t> parts, auto is_it) {
    const std::size_t mask = slots_.size() - 1;
    const auto fits = [&](const Slot& slot) { return slot.node < 0 || (slot.tag == tag && is_it(slot.node)); };
    const std::size_t first = 2 * static_cast<std::size_t>(std::ranges::max(parts)) + (tag >> 29);
    for (std::size_t step = 0; step < 8; ++step)
      if (Slot& slot = slots_[(first + step) & mask]; fits(slot)) return slot;
    for (std::size_t at = tag & mask;; at = (at + 1) & mask)
      if (fits(slots_[at])) return slots_[at];
  }

  void grow() {
    std::vector<Slot> before(slots_.size() * 2);
    slots_.swap(before);
    for (const Slot slot : before)
      if (slot.node >= 0) find(slot.tag, children(slot.node), [](std::int32_t) { return false; }) = slot;
  }

  FlatNnf made_;
  std::vector<std::int32_t> literal_of_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> seen_;  // per node: the last gathering that it was a part of
  std::int64_t round_ = 0;
  std::size_t occupied_ = 0;
};

}  // namespace quia
