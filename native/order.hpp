// How the variables of a hypergraph (a family of clauses) fall apart and in which order to take them.
#pragma once

#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "sets.hpp"

namespace quia {

struct Component {
  std::vector<std::uint32_t> members;  // ascending
  std::vector<std::uint32_t> clauses;  // rows of the table
};

// Connected components of the clauses with at least two members, by smallest member.
// One-element clauses are reported apart: their members are in every hitting set, so clauses they hit are left out.
struct Decomposition {
  std::vector<std::uint32_t> forced;   // ascending
  std::vector<Component> components;
};
Decomposition decompose(const SetTable& clauses);

// Orders of a component's members, least total span first: FORCE (Aloul, Markov, Sakallah 2003) from `starts` starts,
// then, if asked for, refined, which takes longer than an easy component's diagram. All arithmetic is on integers: the
// same on every machine.
std::vector<std::vector<std::uint32_t>> orders(const SetTable& clauses, const Component& component, std::size_t starts,
                                               bool refined, Budget& budget);

}  // namespace quia
