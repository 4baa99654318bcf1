#include "class_formula.hpp"

#include <algorithm>
#include <bit>

#include "sets.hpp"

namespace quia {

std::vector<std::uint8_t> values(const Nnf& formula, std::span<const Fate> fate, Budget& budget) {
  std::vector<std::uint8_t> value(formula.node_count());
  for (std::size_t node = 0; node < formula.node_count(); ++node) {
    budget.step();
    const auto holds = [&](std::int32_t child) { return value[child] != 0; };
    switch (formula.kind(node)) {
      case NnfKind::false_: break;
      case NnfKind::true_: value[node] = 1; break;
      case NnfKind::literal: value[node] = fate[node] == Fate::true_; break;
      case NnfKind::and_: value[node] = std::ranges::all_of(formula.children(node), holds); break;
      case NnfKind::or_: value[node] = std::ranges::any_of(formula.children(node), holds); break;
    }
  }
  return value;
}

FlatNnf replaced(const Nnf& formula, std::span<const Fate> fate, Budget& budget) {
  NnfBuilder builder(static_cast<std::size_t>(formula.most_variable() + 1), formula.node_count() / 2);
  std::vector<std::int32_t> made(formula.node_count(), NnfBuilder::no);
  std::vector<std::int32_t> parts;
  for (std::size_t node = 0; node < formula.node_count(); ++node) {
    budget.step();
    const NnfKind kind = formula.kind(node);
    if (kind == NnfKind::true_) made[node] = NnfBuilder::yes;
    if (kind == NnfKind::literal && fate[node] != Fate::false_)
      made[node] = fate[node] == Fate::true_ ? NnfBuilder::yes : builder.literal(formula.literal(node));
    if (kind != NnfKind::and_ && kind != NnfKind::or_) continue;
    parts.clear();
    for (const std::int32_t child : formula.children(node)) parts.push_back(made[child]);
    made[node] = kind == NnfKind::and_ ? builder.all(parts) : builder.any(parts);
  }
  return builder.flat(made.back());
}

std::optional<Shared> shared_variable(const Nnf& formula, NnfKind kind, Budget& budget) {
  constexpr std::size_t words = 4, bits = words * 64;
  const std::size_t nodes = formula.node_count();
  // Variables by rank, so that large numbers cost no more.
  std::vector<std::int32_t> variables;
  for (std::size_t node = 0; node < nodes; ++node)
    if (formula.kind(node) == NnfKind::literal) variables.push_back(formula.literal(node));
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  std::vector<std::size_t> rank(nodes);
  for (std::size_t node = 0; node < nodes; ++node)
    if (formula.kind(node) == NnfKind::literal)
      rank[node] = static_cast<std::size_t>(
          std::lower_bound(variables.begin(), variables.end(), formula.literal(node)) - variables.begin());
  std::vector<Word> below(nodes * words);
  std::optional<Shared> found;
  for (std::size_t first = 0; first < variables.size(); first += bits) {
    // What comes after a fault that is known can hold no earlier one.
    const std::size_t end = found ? found->node : nodes;
    std::fill(below.begin(), below.begin() + static_cast<std::ptrdiff_t>(end * words), Word(0));
    for (std::size_t node = 0; node < end; ++node) {
      budget.step();
      Word* mine = &below[node * words];
      if (formula.kind(node) == NnfKind::literal) {
        const std::size_t place = rank[node] - first;  // of an earlier variable it wraps round
        if (place < bits) put(mine, place);
        continue;
      }
      Word common[words] = {};
      for (const std::int32_t child : formula.children(node)) {
        const Word* theirs = &below[static_cast<std::size_t>(child) * words];
        for (std::size_t w = 0; w < words; ++w) {
          common[w] |= mine[w] & theirs[w];
          mine[w] |= theirs[w];
        }
      }
      if (formula.kind(node) != kind) continue;
      const auto* word = std::find_if(common, common + words, [](Word w) { return w != 0; });
      if (word == common + words) continue;
      const std::size_t place = static_cast<std::size_t>(word - common) * 64 + std::countr_zero(*word);
      found = Shared{node, variables[first + place]};
      break;
    }
  }
  return found;
}

}  // namespace quia
