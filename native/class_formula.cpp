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

namespace {

constexpr std::size_t words = 4, bits = words * 64;

// Calls `shared(node, variable ranks as words, first rank, end)` for each node of this kind two of whose children mention
// the same variable, of those before `end`, which it may lower; once in each pass, of which there is one for each few
// hundred variables, so that memory stays linear in the nodes. `variables` are the formula's, ascending.
template <class F>
void each_shared(const Nnf& formula, NnfKind kind, Budget& budget, std::vector<std::int32_t>& variables, F shared) {
  const std::size_t nodes = formula.node_count();
  // Variables by rank, so that large numbers cost no more.
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
  std::size_t end = nodes;
  for (std::size_t first = 0; first < variables.size(); first += bits) {
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
      if (formula.kind(node) == kind && std::any_of(common, common + words, [](Word w) { return w != 0; }))
        shared(node, common, first, end);
    }
  }
}

}  // namespace

std::optional<Shared> shared_variable(const Nnf& formula, NnfKind kind, Budget& budget) {
  std::vector<std::int32_t> variables;
  std::optional<Shared> found;
  each_shared(formula, kind, budget, variables,
              [&](std::size_t node, const Word* common, std::size_t first, std::size_t& end) {
                const auto* word = std::find_if(common, common + words, [](Word w) { return w != 0; });
                const std::size_t place = static_cast<std::size_t>(word - common) * 64 + std::countr_zero(*word);
                found = Shared{node, variables[first + place]};
                end = node;  // what comes after a fault that is known can hold no earlier one
              });
  return found;
}

Sharing sharing(const Nnf& formula, NnfKind kind, Budget& budget) {
  std::vector<std::int32_t> variables;
  Sharing found{std::vector<std::uint8_t>(formula.node_count()), {}};
  std::vector<std::uint8_t> is_shared;
  each_shared(formula, kind, budget, variables,
              [&](std::size_t node, const Word* common, std::size_t first, std::size_t&) {
                found.node[node] = 1;
                is_shared.resize(variables.size());
                for (std::size_t place = 0; place < bits; ++place)
                  if (common[place / 64] >> (place % 64) & 1) is_shared[first + place] = 1;
              });
  for (std::size_t i = 0; i < is_shared.size(); ++i)
    if (is_shared[i]) found.variables.push_back(variables[i]);
  return found;
}

}  // namespace quia
