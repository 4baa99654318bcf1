#include "sets.hpp"

#include <algorithm>
#include <numeric>

namespace quia {

std::int64_t cost_of(const Word* set, std::size_t words, const std::vector<std::int64_t>* costs) {
  if (!costs) return static_cast<std::int64_t>(size_of(set, words));
  std::int64_t cost = 0;
  for_each_member(set, words, [&](std::size_t member) { cost += (*costs)[member]; });
  return cost;
}

namespace {

struct Key {
  std::int64_t cost;
  std::uint32_t length, row;
};

void reorder(SetTable& table, const std::vector<Key>& keys) {
  std::vector<Word> sorted;
  sorted.reserve(keys.size() * table.words);
  for (const Key& key : keys) {
    const Word* row = table.row(key.row);
    sorted.insert(sorted.end(), row, row + table.words);
  }
  table.bits.swap(sorted);
  table.count = keys.size();
}

}  // namespace

namespace {

template <class Poll>
void sort_rows(SetTable& table, const std::vector<std::int64_t>* costs, Poll poll) {
  std::vector<Key> keys(table.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    poll();
    keys[i] = {costs ? cost_of(table.row(i), table.words, costs) : 0,
               static_cast<std::uint32_t>(size_of(table.row(i), table.words)), static_cast<std::uint32_t>(i)};
  }
  const auto before = [&](const Key& a, const Key& b) {
    poll();
    if (a.cost != b.cost) return a.cost < b.cost;
    if (a.length != b.length) return a.length < b.length;
    return precedes(table.row(a.row), table.row(b.row), table.words);
  };
  if (std::is_sorted(keys.begin(), keys.end(), before)) return;
  std::sort(keys.begin(), keys.end(), before);
  reorder(table, keys);
}

}  // namespace

void sort_by_contract(SetTable& table, const std::vector<std::int64_t>* costs) {
  sort_rows(table, costs, [] {});
}

void sort_by_contract(SetTable& table, const std::vector<std::int64_t>* costs, Budget& budget) {
  sort_rows(table, costs, [&] { budget.step(table.words); });
}

std::size_t bytes_to_sort(std::size_t sets, std::size_t words) {
  return sets * (2 * words * sizeof(Word) + sizeof(Key));
}

void keep_distinct(SetTable& table) {
  sort_by_contract(table, nullptr);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (kept > 0 && equals(table.row(kept - 1), table.row(i), table.words)) continue;
    if (kept != i) std::copy_n(table.row(i), table.words, table.row(kept));
    ++kept;
  }
  table.count = kept;
  table.bits.resize(kept * table.words);
}

void keep_minimal(SetTable& table) {
  sort_by_contract(table, nullptr);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    bool minimal = true;
    for (std::size_t j = 0; j < kept && minimal; ++j) minimal = !is_subset(table.row(j), table.row(i), table.words);
    if (!minimal) continue;
    if (kept != i) std::copy_n(table.row(i), table.words, table.row(kept));
    ++kept;
  }
  table.count = kept;
  table.bits.resize(kept * table.words);
}

}  // namespace quia
