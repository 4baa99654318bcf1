#include "minimum_parts.hpp"

#include <algorithm>
#include <memory>

#include "dual.hpp"
#include "listing.hpp"
#include "order.hpp"

namespace quia {

namespace {

constexpr SearchLimits quick{20'000, 100'000};
constexpr std::size_t small_product = 4096;

// The component on its own members, so that its rows are as narrow as they can be.
SetTable extract(const SetTable& clauses, const Component& component) {
  std::vector<std::uint32_t> place(clauses.universe, 0);
  for (std::size_t k = 0; k < component.members.size(); ++k)
    place[component.members[k]] = static_cast<std::uint32_t>(k);
  SetTable own(component.members.size());
  for (const std::uint32_t i : component.clauses) {
    Word* row = own.add();
    for_each_member(clauses.row(i), clauses.words, [&](std::size_t member) { put(row, place[member]); });
  }
  return own;
}

SetTable widen(const SetTable& own, const Component& component, std::size_t universe) {
  SetTable wide(universe);
  for (std::size_t i = 0; i < own.size(); ++i) {
    Word* row = wide.add();
    for_each_member(own.row(i), own.words, [&](std::size_t k) { put(row, component.members[k]); });
  }
  return wide;
}

}  // namespace

MinimumParts minimum_hitting_sets(const SetTable& clauses, const std::vector<std::int64_t>* costs,
                                  MinimumHitting& search, Budget& budget) {
  MinimumParts result;
  result.universe = clauses.universe;
  for (std::size_t i = 0; i < clauses.size() && result.possible; ++i)
    result.possible = !is_empty(clauses.row(i), clauses.words);
  if (!result.possible) return result;
  Decomposition decomposition = decompose(clauses);
  result.forced = std::move(decomposition.forced);
  for (const Component& component : decomposition.components) {
    const SetTable own = extract(clauses, component);
    std::vector<std::int64_t> own_costs;
    if (costs)
      for (const std::uint32_t member : component.members) own_costs.push_back((*costs)[member]);
    const auto* prices = costs ? &own_costs : nullptr;
    SetTable ties;
    if (search.run(own, prices, quick, budget, ties)) {
      result.parts.emplace_back(widen(ties, component, clauses.universe));
      continue;
    }
    try {
      result.parts.emplace_back(cheapest_hitting_sets(clauses, component, costs, budget));
      continue;
    } catch (const OverBudget& over) {
      if (over.cause != OverBudget::Cause::memory) throw;
    }
    const SearchLimits all{UINT64_MAX, budget.memory() / sizeof(Word) / own.words};
    if (!search.run(own, prices, all, budget, ties)) throw OverBudget(OverBudget::Cause::memory);
    result.parts.emplace_back(widen(ties, component, clauses.universe));
  }
  return result;
}

Natural MinimumParts::count(Budget& budget) const {
  if (!possible) return Natural(0);
  Natural product(1);
  for (const auto& part : parts)
    product =
        product * (part.index() == 0 ? Natural(std::get<0>(part).size()) : Counts(std::get<1>(part), budget).total());
  return product;
}

Zdd MinimumParts::zdd(Budget& budget) const {
  if (!possible) return freeze(NodeTable(budget), none, {}, universe);
  std::vector<Zdd> diagrams;
  for (const auto& part : parts) {
    if (part.index() == 1) {
      diagrams.push_back(std::get<1>(part));
      continue;
    }
    // Only the levels of the part's own members: parts are stacked, so a member may have one level only.
    Zdd diagram = zdd_of_sets(std::get<0>(part), budget);
    std::vector<std::uint32_t> new_level(diagram.member_at.size(), 0), member_at;
    std::vector<std::uint8_t> used(diagram.member_at.size(), 0);
    for (std::size_t id = 2; id < diagram.nodes.size(); ++id) used[diagram.nodes[id].level] = 1;
    for (std::size_t level = 0; level < used.size(); ++level)
      if (used[level]) {
        new_level[level] = static_cast<std::uint32_t>(member_at.size());
        member_at.push_back(diagram.member_at[level]);
      }
    for (std::size_t id = 2; id < diagram.nodes.size(); ++id)
      diagram.nodes[id].level = new_level[diagram.nodes[id].level];
    diagram.member_at = std::move(member_at);
    diagrams.push_back(std::move(diagram));
  }
  return stack_up(diagrams, forced, universe, budget);
}

SetTable MinimumParts::first(std::size_t limit, const std::vector<std::int64_t>* costs, Budget& budget) const {
  SetTable result(universe);
  if (!possible || limit == 0) return result;
  std::size_t product = 1;
  for (const auto& part : parts)
    product = part.index() == 0 && product <= small_product
                  ? product * std::min(std::get<0>(part).size(), small_product + 1)
                  : small_product + 1;
  // A listing wants a diagram; a few sets are quicker multiplied out and sorted. One part alone is just sorted.
  if (product <= small_product || (parts.size() == 1 && parts[0].index() == 0)) {
    Word* start = result.add();
    for (const std::uint32_t member : forced) put(start, member);
    for (const auto& part : parts) {
      SetTable next(universe);
      for (std::size_t i = 0; i < result.size(); ++i)
        for (std::size_t j = 0; j < std::get<0>(part).size(); ++j) {
          next.add(result.row(i));
          Word* row = next.row(next.size() - 1);
          for (std::size_t w = 0; w < next.words; ++w) row[w] |= std::get<0>(part).row(j)[w];
        }
      result = std::move(next);
    }
    sort_by_contract(result, costs, budget);
    if (result.size() > limit) {
      result.count = limit;
      result.bits.resize(limit * result.words);
    }
    return result;
  }
  const auto listing = list_zdd(std::make_shared<const Zdd>(zdd(budget)), costs ? *costs : std::vector<std::int64_t>{});
  while (result.size() < limit) {
    const Word* set = listing->next(budget);
    if (!set) break;
    result.add(set);
  }
  return result;
}

}  // namespace quia
