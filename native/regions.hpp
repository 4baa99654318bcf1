// Regions: the boxes of many reasons, each distinct one kept once under a number that several threads share.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "boxes.hpp"

namespace quia {

struct HashOfNumbers {
  std::size_t operator()(const std::vector<std::int32_t>& numbers) const;
};

// Region k has the members member_start[k] … member_start[k+1]-1; member j has the states range_low[r] … range_high[r],
// range_start[j] ≤ r < range_start[j+1].
struct RegionArrays {
  std::vector<std::int64_t> member_start{0}, range_start{0};
  std::vector<std::int32_t> members, range_low, range_high;
};

class Regions {
 public:
  // The number of a box over some members. Threads may ask at the same time; which number it is depends on them.
  std::int32_t number(std::span<const std::int32_t> members, const Ranges& boxes, std::size_t box);

  // All of them, given up; `place` turns numbers into places among them.
  RegionArrays take();
  std::int32_t place(std::int32_t number) const {
    return first_[static_cast<std::size_t>(number) % shard_count] + number / static_cast<std::int32_t>(shard_count);
  }

  // What is known of a sufficient reason (its members and their states, in turn): the numbers of its first boxes.
  struct Widened {
    std::size_t limit = 0;  // so many were wanted
    std::vector<std::int32_t> numbers;

    bool is_enough(std::size_t wanted) const { return limit >= wanted || numbers.size() < limit; }
  };
  bool find(const std::vector<std::int32_t>& reason, std::size_t limit, Widened& into);
  void remember(const std::vector<std::int32_t>& reason, const Widened& widened);

 private:
  static constexpr std::size_t shard_count = 16;  // a lock each, so that many threads seldom wait
  static constexpr std::size_t most_remembered = 1u << 16;  // reasons in a shard
  struct Shard {
    std::mutex lock;
    RegionArrays regions;
    std::vector<std::uint64_t> hashes;  // of each region
    std::vector<std::int32_t> slots;  // by hash: a region, or -1
    std::unordered_map<std::vector<std::int32_t>, Widened, HashOfNumbers> widened;

    std::size_t find_slot(std::uint64_t hash, std::span<const std::int32_t> members, const Ranges& boxes,
                          std::size_t box) const;
    bool is_same(std::size_t region, std::span<const std::int32_t> members, const Ranges& boxes, std::size_t box) const;
    std::int32_t add(std::uint64_t hash, std::span<const std::int32_t> members, const Ranges& boxes, std::size_t box);
    void grow();
  };

  std::array<Shard, shard_count> shards_;
  std::array<std::int32_t, shard_count> first_{};
};

}  // namespace quia
