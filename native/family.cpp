#include "family.hpp"

#include <algorithm>
#include <numeric>

#include "dual.hpp"
#include "minimum_parts.hpp"

namespace quia {

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
  expand(*zdd_, *expanded, budget);
  sort_by_contract(*expanded, nullptr);
  return expanded;
}

Natural Family::count(Budget& budget) const { return sets_ ? Natural(sets_->size()) : Counts(*zdd_, budget).total(); }

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

std::unique_ptr<Listing> Family::listing(const std::int64_t* costs) const {
  std::vector<std::int64_t> local = local_costs(costs);
  if (!sets_) return list_zdd(zdd_, std::move(local));
  if (!costs) return list_table(sets_);
  auto sorted = std::make_shared<SetTable>(*sets_);
  sort_by_contract(*sorted, &local);
  return list_table(std::move(sorted));
}

Family Family::dual(Budget& budget) const {
  return Family(variables_, minimal_hitting_sets(*table(budget), budget), complete_);
}

Family Family::shortest_dual(const std::int64_t* costs, Budget& budget) const {
  const std::vector<std::int64_t> local = local_costs(costs);
  MinimumHitting search;
  return Family(variables_, minimum_hitting_sets(*table(budget), costs ? &local : nullptr, search, budget).zdd(budget),
                complete_);
}

HittingSets Family::hitting_sets(const std::int64_t* costs, bool shortest, Budget& budget) const {
  return HittingSets(*table(budget), local_costs(costs), shortest);
}

std::vector<Word> Family::one_hitting_set(const std::int64_t* costs, Budget& budget) const {
  const std::vector<std::int64_t> local = local_costs(costs);
  return quia::one_hitting_set(*table(budget), costs ? &local : nullptr);
}

}  // namespace quia
