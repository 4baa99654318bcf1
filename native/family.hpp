// A family of reasons: an antichain of sets of variables, as a sorted table, as a ZDD, or both.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "budget.hpp"
#include "hitting.hpp"
#include "listing.hpp"
#include "natural.hpp"
#include "sets.hpp"
#include "zdd.hpp"

namespace quia {

// Immutable. Members of sets are places in `variables`, which is ascending, so that the order of members is the
// order of variables. Costs, where given, are per variable of the caller's numbering.
class Family {
 public:
  Family(std::vector<std::int32_t> variables, SetTable sets, bool complete);
  Family(std::vector<std::int32_t> variables, Zdd zdd, bool complete);

  bool complete() const { return complete_; }
  const std::vector<std::int32_t>& variables() const { return variables_; }
  const std::shared_ptr<const Zdd>& zdd() const { return zdd_; }
  std::size_t words() const { return words_for(variables_.size()); }

  std::size_t bytes() const;

  Natural count(Budget& budget) const;
  // Nothing if there are more than that.
  std::optional<std::size_t> count_up_to(std::size_t most, Budget& budget) const;
  std::map<std::size_t, Natural> counts_by_length(Budget& budget) const;
  std::map<std::int32_t, Natural> counts_by_variable(Budget& budget) const;
  bool contains(const std::vector<std::int32_t>& variables) const;
  Family restricted(const std::vector<std::int32_t>& containing, const std::vector<std::int32_t>& avoiding,
                    Budget& budget) const;
  SetTable sampled(std::size_t n, std::uint64_t seed, Budget& budget) const;
  Family shortest(const std::int64_t* costs, Budget& budget) const;
  std::unique_ptr<Listing> listing(const std::int64_t* costs, Budget& budget) const;
  // How many clauses of a diagram are still taken one by one to find what hits them.
  static constexpr std::size_t few_clauses = 20'000;
  // Minimal hitting sets, all of them, as a ZDD; throws OverBudget if it does not fit.
  Family dual(Budget& budget, std::size_t few = few_clauses) const;
  // Minimum hitting sets, all ties.
  Family shortest_dual(const std::int64_t* costs, Budget& budget, std::size_t few = few_clauses) const;
  HittingSets hitting_sets(const std::int64_t* costs, bool shortest, Budget& budget) const;
  std::vector<Word> one_hitting_set(const std::int64_t* costs, Budget& budget) const;

  // The sets in a table, expanded if need be; throws OverBudget if that does not fit.
  std::shared_ptr<const SetTable> table(Budget& budget) const;

 private:
  template <class OneByOne, class AsDiagram>
  Zdd hit(OneByOne one_by_one, AsDiagram as_diagram, bool diagram_first, std::size_t few, Budget& budget) const;
  std::vector<std::int64_t> local_costs(const std::int64_t* costs) const;
  // Places of variables; false if one is not mentioned in the family.
  bool localise(const std::vector<std::int32_t>& variables, std::vector<Word>& set) const;

  std::vector<std::int32_t> variables_;
  std::shared_ptr<const SetTable> sets_;  // sorted by the contract
  std::shared_ptr<const Zdd> zdd_;
  bool complete_;
};

}  // namespace quia
