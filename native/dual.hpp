// All minimal hitting sets of a family of clauses, as a ZDD (Toda 2013).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algebra.hpp"
#include "order.hpp"
#include "sets.hpp"
#include "zdd.hpp"

namespace quia {

// Throws OverBudget where it does not fit; several orders are tried before that.
Zdd minimal_hitting_sets(const SetTable& clauses, Budget& budget);
// Those of one component, over its members alone.
Zdd minimal_hitting_sets(const SetTable& clauses, const Component& component, Budget& budget);

// The hitting sets of least cost (length) of one component, all of them, through the same diagram unminimised.
Zdd cheapest_hitting_sets(const SetTable& clauses, const Component& component, const std::vector<std::int64_t>* costs,
                          Budget& budget);

// The same for clauses that are themselves a diagram, however many they are: each of its nodes is worked on once, and
// no clause is listed. The order of members is that of the clauses' diagram.
Zdd minimal_hitting_sets(const Zdd& clauses, Budget& budget);
Zdd cheapest_hitting_sets(const Zdd& clauses, const std::vector<std::int64_t>* costs, Budget& budget);

// One diagram after the other, over disjoint members: every choice of a set from each, with all of `forced`.
Zdd stack_up(const std::vector<Zdd>& parts, const std::vector<std::uint32_t>& forced, std::size_t universe,
             Budget& budget);

}  // namespace quia
