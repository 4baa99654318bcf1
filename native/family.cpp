#include "family.hpp"

#include <algorithm>
#include <numeric>

#include "dual.hpp"
#include "minimum_parts.hpp"

namespace quia {

namespace {
constexpr std::size_t quick_diagram = std::size_t(12) << 20;  // bytes
}

Family::Family(std::vector<std::int32_t> variables, SetTable sets, bool complete)
    : variables_(std::move(variables)), complete_(complete) {
  sort_by_contract(sets, nullptr);
  sets_ = std::make_shared<const SetTable>(std::move(sets));
}

Family::Family(std::vector<std::int32_t> variables, Zdd zdd, bool complete)
    : variables_(std::move(variables)), zdd_(std::make_shared<const Zdd>(std::move(zdd))), complete_(complete) {}

std::shared_ptr<const SetTable> Family::table(Budget& budget) const {
  if (sets_) return sets_;
  auto expanded = std::make_shared<SetTable>(variables_.size());
  const auto count = count_up_to(budget.memory() / sizeof(Word), budget);
  if (!count) throw OverBudget(OverBudget::Cause::memory);
  budget.reserve(bytes_to_sort(*count, expanded->words));
  expanded->bits.reserve(*count * expanded->words);
  expand(*zdd_, *expanded, budget);
  sort_by_contract(*expanded, nullptr, budget);
  return expanded;
}

Natural Family::count(Budget& budget) const { return sets_ ? Natural(sets_->size()) : Counts(*zdd_, budget).total(); }

std::optional<std::size_t> Family::count_up_to(std::size_t most, Budget& budget) const {
  if (sets_) return sets_->size() <= most ? std::optional(sets_->size()) : std::nullopt;
  std::vector<std::size_t> below(zdd_->nodes.size(), 0);  // sets below each node; one more than `most` for more
  below[unit] = 1;
  for (std::size_t id = 2; id < below.size(); ++id) {
    budget.step();
    const std::size_t low = below[zdd_->nodes[id].low], high = below[zdd_->nodes[id].high];
    below[id] = low > most || high > most - low ? most + 1 : low + high;
  }
  return below[zdd_->root] <= most ? std::optional(below[zdd_->root]) : std::nullopt;
}

std::map<std::size_t, Natural> Family::counts_by_length(Budget& budget) const {
  if (!sets_) return quia::counts_by_length(*zdd_, budget);
  std::map<std::size_t, Natural> counts;
  for (std::size_t i = 0; i < sets_->size(); ++i) counts[size_of(sets_->row(i), sets_->words)] += Natural(1);
  return counts;
}

std::map<std::int32_t, Natural> Family::counts_by_variable(Budget& budget) const {
  std::vector<Natural> by_member;
  if (sets_) {
    std::vector<Limb> tally(variables_.size(), 0);
    for (std::size_t i = 0; i < sets_->size(); ++i)
      for_each_member(sets_->row(i), sets_->words, [&](std::size_t member) { ++tally[member]; });
    by_member.assign(tally.begin(), tally.end());
  } else {
    by_member = counts_by_member(*zdd_, budget);
  }
  std::map<std::int32_t, Natural> counts;
  for (std::size_t member = 0; member < by_member.size(); ++member)
    if (!by_member[member].is_zero()) counts[variables_[member]] = std::move(by_member[member]);
  return counts;
}

bool Family::localise(const std::vector<std::int32_t>& variables, std::vector<Word>& set) const {
  set.assign(words(), 0);
  bool all = true;
  for (const std::int32_t variable : variables) {
    const auto at = std::lower_bound(variables_.begin(), variables_.end(), variable);
    if (at == variables_.end() || *at != variable)
      all = false;
    else
      put(set.data(), at - variables_.begin());
  }
  return all;
}

bool Family::contains(const std::vector<std::int32_t>& variables) const {
  std::vector<Word> set;
  if (!localise(variables, set)) return false;
  if (zdd_) return quia::contains(*zdd_, set.data());
  const std::size_t size = size_of(set.data(), sets_->words);
  std::size_t low = 0, high = sets_->size();  // binary search in the contract's order
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const Word* row = sets_->row(middle);
    const std::size_t length = size_of(row, sets_->words);
    if (length < size || (length == size && precedes(row, set.data(), sets_->words)))
      low = middle + 1;
    else
      high = middle;
  }
  return low < sets_->size() && equals(sets_->row(low), set.data(), sets_->words);
}

Family Family::restricted(const std::vector<std::int32_t>& containing, const std::vector<std::int32_t>& avoiding,
                          Budget& budget) const {
  std::vector<Word> with, without;
  const bool possible = localise(containing, with);
  localise(avoiding, without);
  if (zdd_) {
    if (!possible) return Family(variables_, freeze(NodeTable(budget), none, {}, variables_.size()), complete_);
    return Family(variables_, restrict(*zdd_, with.data(), without.data(), budget), complete_);
  }
  SetTable kept(variables_.size());
  for (std::size_t i = 0; possible && i < sets_->size(); ++i)
    if (is_subset(with.data(), sets_->row(i), kept.words) && !meets(without.data(), sets_->row(i), kept.words))
      kept.add(sets_->row(i));
  return Family(variables_, std::move(kept), complete_);
}

SetTable Family::sampled(std::size_t n, std::uint64_t seed, Budget& budget) const {
  return sample(zdd_ ? *zdd_ : zdd_of_sets(*sets_, budget), n, seed, budget);
}

std::vector<std::int64_t> Family::local_costs(const std::int64_t* costs) const {
  std::vector<std::int64_t> local;
  for (const std::int32_t variable : variables_)
    if (costs) local.push_back(costs[variable]);
  return local;
}

Family Family::shortest(const std::int64_t* costs, Budget& budget) const {
  const std::vector<std::int64_t> local = local_costs(costs);
  const auto* own = costs ? &local : nullptr;
  if (zdd_) return Family(variables_, cheapest(*zdd_, own, budget), complete_);
  SetTable kept(variables_.size());
  std::int64_t best = INT64_MAX;
  for (std::size_t i = 0; i < sets_->size(); ++i) {
    const std::int64_t cost = cost_of(sets_->row(i), sets_->words, own);
    if (cost > best) continue;
    if (cost < best) kept.clear();
    best = cost;
    kept.add(sets_->row(i));
  }
  return Family(variables_, std::move(kept), complete_);
}

std::unique_ptr<Listing> Family::listing(const std::int64_t* costs, Budget& budget) const {
  std::vector<std::int64_t> local = local_costs(costs);
  if (!sets_) return list_zdd(zdd_, std::move(local));
  if (!costs) return list_table(sets_);
  auto sorted = std::make_shared<SetTable>(*sets_);
  sort_by_contract(*sorted, &local, budget);
  return list_table(std::move(sorted));
}

// Clauses seen one by one fall apart into components, and the order of members is free; but they may be millions.
// Their diagram is turned into that of hitting sets as it stands, which is mostly quick, and the last resort.
template <class OneByOne, class AsDiagram>
Zdd Family::hit(OneByOne one_by_one, AsDiagram as_diagram, bool diagram_first, std::size_t few, Budget& budget) const {
  const auto unless_memory_ends = [&](auto attempt) -> std::optional<Zdd> {
    try {
      return attempt();
    } catch (const OverBudget& over) {
      if (over.cause != OverBudget::Cause::memory) throw;
      return std::nullopt;
    }
  };
  if (sets_) return one_by_one(*sets_, budget);
  if (diagram_first) {
    Budget quick = budget.within(quick_diagram);
    if (auto found = unless_memory_ends([&] { return as_diagram(*zdd_, quick); })) return std::move(*found);
  }
  if (count_up_to(few, budget)) {
    const auto listed = [&] {
      const auto clauses = table(budget);
      Budget left = budget.beside(clauses->bits.capacity() * sizeof(Word));
      return one_by_one(*clauses, left);
    };
    if (auto found = unless_memory_ends(listed)) return std::move(*found);
  }
  return as_diagram(*zdd_, budget);
}

Family Family::dual(Budget& budget, std::size_t few) const {
  return Family(
      variables_,
      hit([](const SetTable& clauses, Budget& left) { return minimal_hitting_sets(clauses, left); },
          [](const Zdd& clauses, Budget& left) { return minimal_hitting_sets(clauses, left); }, true, few, budget),
      complete_);
}

Family Family::shortest_dual(const std::int64_t* costs, Budget& budget, std::size_t few) const {
  const std::vector<std::int64_t> local = local_costs(costs);
  const auto* own = costs ? &local : nullptr;
  return Family(variables_,
                hit(
                    [&](const SetTable& clauses, Budget& left) {
                      MinimumHitting search;
                      return minimum_hitting_sets(clauses, own, search, left).zdd(left);
                    },
                    [&](const Zdd& clauses, Budget& left) { return cheapest_hitting_sets(clauses, own, left); }, false,
                    few, budget),
                complete_);
}

HittingSets Family::hitting_sets(const std::int64_t* costs, bool shortest, Budget& budget) const {
  return HittingSets(*table(budget), local_costs(costs), shortest, budget);
}

std::vector<Word> Family::one_hitting_set(const std::int64_t* costs, Budget& budget) const {
  const std::vector<std::int64_t> local = local_costs(costs);
  return quia::one_hitting_set(*table(budget), costs ? &local : nullptr, budget);
}

std::size_t Family::bytes() const {
  return variables_.capacity() * sizeof(std::int32_t) + (sets_ ? sets_->bits.capacity() * sizeof(Word) : 0) +
         (zdd_ ? zdd_->bytes() : 0);
}

}  // namespace quia
