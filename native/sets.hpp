// Sets of variables as rows of machine words, and tables of them (explicit families).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "budget.hpp"

namespace quia {

using Word = std::uint64_t;

inline std::size_t words_for(std::size_t members) { return members == 0 ? 1 : (members + 63) / 64; }
inline bool has(const Word* set, std::size_t member) { return set[member >> 6] >> (member & 63) & 1; }
inline void put(Word* set, std::size_t member) { set[member >> 6] |= Word(1) << (member & 63); }
inline void drop(Word* set, std::size_t member) { set[member >> 6] &= ~(Word(1) << (member & 63)); }

inline bool is_subset(const Word* a, const Word* b, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    if (a[w] & ~b[w]) return false;
  return true;
}
inline bool is_empty(const Word* a, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    if (a[w]) return false;
  return true;
}
inline bool meets(const Word* a, const Word* b, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    if (a[w] & b[w]) return true;
  return false;
}
inline bool equals(const Word* a, const Word* b, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    if (a[w] != b[w]) return false;
  return true;
}
inline std::size_t size_of(const Word* a, std::size_t words) {
  std::size_t size = 0;
  for (std::size_t w = 0; w < words; ++w) size += std::popcount(a[w]);
  return size;
}
// The contract's last criterion: between sets of one size, the first has the smallest member in which they differ.
inline bool precedes(const Word* a, const Word* b, std::size_t words) {
  for (std::size_t w = 0; w < words; ++w)
    if (const Word differ = a[w] ^ b[w]) return a[w] & (differ & (~differ + 1));
  return false;
}
template <class Visit>
void for_each_member(const Word* set, std::size_t words, Visit visit) {
  for (std::size_t w = 0; w < words; ++w)
    for (Word rest = set[w]; rest; rest &= rest - 1) visit(w * 64 + std::countr_zero(rest));
}

// A table of sets over the members 0 … universe-1, one row each.
struct SetTable {
  std::size_t universe = 0;
  std::size_t words = 1;
  std::size_t count = 0;
  std::vector<Word> bits;

  SetTable() = default;
  explicit SetTable(std::size_t members) : universe(members), words(words_for(members)) {}

  std::size_t size() const { return count; }
  const Word* row(std::size_t i) const { return bits.data() + i * words; }
  Word* row(std::size_t i) { return bits.data() + i * words; }
  Word* add() {
    bits.resize(bits.size() + words, 0);
    return row(count++);
  }
  void add(const Word* set) {
    bits.insert(bits.end(), set, set + words);
    ++count;
  }
  void clear() {
    bits.clear();
    count = 0;
  }
};

// Sorts by cost (if any), length and smallest differing member: the order of every listing.
void sort_by_contract(SetTable& table, const std::vector<std::int64_t>* costs);
// The same for tables that may be large: where the budget ends, the table is as it was.
void sort_by_contract(SetTable& table, const std::vector<std::int64_t>* costs, Budget& budget);
// What a table of so many sets takes while it is made and sorted.
std::size_t bytes_to_sort(std::size_t sets, std::size_t words);
// Drops repetitions; leaves the table sorted.
void keep_distinct(SetTable& table);
// Drops sets that contain another one, and repetitions.
void keep_minimal(SetTable& table);
// Cost of a set: the sum of its members' costs, or its length where there are none.
std::int64_t cost_of(const Word* set, std::size_t words, const std::vector<std::int64_t>* costs);

}  // namespace quia
