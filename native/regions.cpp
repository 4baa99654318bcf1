#include "regions.hpp"

#include <algorithm>
#include <stdexcept>

namespace quia {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t pair_of(std::int32_t first, std::int32_t second) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 | static_cast<std::uint32_t>(second);
}

std::uint64_t hash_of(std::span<const std::int32_t> members, const Ranges& boxes, std::size_t box) {
  std::uint64_t hash = members.size();
  const std::size_t base = box * members.size();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto begin = boxes.start[base + i], end = boxes.start[base + i + 1];
    hash = mixed(hash, pair_of(members[i], static_cast<std::int32_t>(end - begin)));
    for (auto r = begin; r < end; ++r) hash = mixed(hash, pair_of(boxes.low[r], boxes.high[r]));
  }
  return hash ^ (hash >> 32);
}

// Those of `from` behind those of `into`, which begin with 0 as they do.
void append_starts(const std::vector<std::int64_t>& from, std::vector<std::int64_t>& into) {
  const std::int64_t base = into.back();
  for (std::size_t i = 1; i < from.size(); ++i) into.push_back(base + from[i]);
}

}  // namespace

std::size_t HashOfNumbers::operator()(const std::vector<std::int32_t>& numbers) const {
  std::uint64_t hash = numbers.size();
  for (const std::int32_t number : numbers) hash = mixed(hash, static_cast<std::uint32_t>(number));
  return static_cast<std::size_t>(hash);
}

std::int32_t Regions::number(std::span<const std::int32_t> members, const Ranges& boxes, std::size_t box) {
  const std::uint64_t hash = hash_of(members, boxes, box);
  const std::size_t index = hash % shard_count;
  Shard& shard = shards_[index];
  const std::lock_guard guard(shard.lock);
  return shard.add(hash, members, boxes, box) * static_cast<std::int32_t>(shard_count) +
         static_cast<std::int32_t>(index);
}

std::int32_t Regions::Shard::add(std::uint64_t hash, std::span<const std::int32_t> members, const Ranges& boxes,
                                 std::size_t box) {
  if (2 * hashes.size() >= slots.size()) grow();
  const std::size_t slot = find_slot(hash, members, boxes, box);
  if (slots[slot] >= 0) return slots[slot];
  if (hashes.size() >= INT32_MAX / shard_count) throw std::length_error("there are too many regions to number them");
  slots[slot] = static_cast<std::int32_t>(hashes.size());
  hashes.push_back(hash);
  regions.members.insert(regions.members.end(), members.begin(), members.end());
  regions.member_start.push_back(static_cast<std::int64_t>(regions.members.size()));
  const std::size_t base = box * members.size();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto begin = boxes.start[base + i], end = boxes.start[base + i + 1];
    regions.range_low.insert(regions.range_low.end(), boxes.low.begin() + begin, boxes.low.begin() + end);
    regions.range_high.insert(regions.range_high.end(), boxes.high.begin() + begin, boxes.high.begin() + end);
    regions.range_start.push_back(static_cast<std::int64_t>(regions.range_low.size()));
  }
  return slots[slot];
}

// The slot of the region, or the free one where it belongs.
std::size_t Regions::Shard::find_slot(std::uint64_t hash, std::span<const std::int32_t> members, const Ranges& boxes,
                                      std::size_t box) const {
  std::size_t slot = (hash / shard_count) & (slots.size() - 1);
  while (slots[slot] >= 0) {
    const auto region = static_cast<std::size_t>(slots[slot]);
    if (hashes[region] == hash && is_same(region, members, boxes, box)) break;
    slot = (slot + 1) & (slots.size() - 1);
  }
  return slot;
}

bool Regions::Shard::is_same(std::size_t region, std::span<const std::int32_t> members, const Ranges& boxes,
                             std::size_t box) const {
  const auto first = regions.member_start[region], last = regions.member_start[region + 1];
  if (!std::equal(members.begin(), members.end(), regions.members.begin() + first, regions.members.begin() + last))
    return false;
  const std::size_t base = box * members.size();
  const auto shift = regions.range_start[first] - boxes.start[base];
  for (std::size_t i = 0; i <= members.size(); ++i)
    if (regions.range_start[first + static_cast<std::int64_t>(i)] != boxes.start[base + i] + shift) return false;
  for (auto r = boxes.start[base]; r < boxes.start[base + members.size()]; ++r)
    if (regions.range_low[r + shift] != boxes.low[r] || regions.range_high[r + shift] != boxes.high[r]) return false;
  return true;
}

void Regions::Shard::grow() {
  slots.assign(std::max<std::size_t>(64, 2 * slots.size()), -1);
  for (std::size_t region = 0; region < hashes.size(); ++region) {
    std::size_t slot = (hashes[region] / shard_count) & (slots.size() - 1);
    while (slots[slot] >= 0) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = static_cast<std::int32_t>(region);
  }
}

RegionArrays Regions::take() {
  RegionArrays all;
  for (std::size_t i = 0; i < shard_count; ++i) {
    RegionArrays& part = shards_[i].regions;
    first_[i] = static_cast<std::int32_t>(all.member_start.size()) - 1;
    append_starts(part.member_start, all.member_start);
    append_starts(part.range_start, all.range_start);
    all.members.insert(all.members.end(), part.members.begin(), part.members.end());
    all.range_low.insert(all.range_low.end(), part.range_low.begin(), part.range_low.end());
    all.range_high.insert(all.range_high.end(), part.range_high.begin(), part.range_high.end());
    part = {};
  }
  return all;
}

bool Regions::find(const std::vector<std::int32_t>& reason, std::size_t limit, Widened& into) {
  Shard& shard = shards_[HashOfNumbers()(reason) % shard_count];
  const std::lock_guard guard(shard.lock);
  const auto known = shard.widened.find(reason);
  if (known == shard.widened.end() || !known->second.is_enough(limit)) return false;
  into = known->second;
  return true;
}

void Regions::remember(const std::vector<std::int32_t>& reason, const Widened& widened) {
  Shard& shard = shards_[HashOfNumbers()(reason) % shard_count];
  const std::lock_guard guard(shard.lock);
  if (shard.widened.size() >= most_remembered) shard.widened.clear();
  shard.widened.insert_or_assign(reason, widened);
}

}  // namespace quia
