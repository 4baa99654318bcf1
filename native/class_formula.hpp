// What a circuit asks of its class formulas: is it true, what is left of it for an instance, is it decomposable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "budget.hpp"
#include "nnf_builder.hpp"
#include "nnf_reasons.hpp"

namespace quia {

// What becomes of each node that is a literal; of the others nothing is read.
enum class Fate : std::uint8_t { false_, true_, stays };

// Whether each node is true; a literal that stays is not. One pass.
std::vector<std::uint8_t> values(const Nnf& formula, std::span<const Fate> fate, Budget& budget);

// The formula with its literals replaced, constants simplified away (paper: Proposition 3). The literals that stay must
// be monotone: one state a variable. One pass.
FlatNnf replaced(const Nnf& formula, std::span<const Fate> fate, Budget& budget);

struct Shared {
  std::size_t node;
  std::int32_t variable;
};

// The first node of this kind two of whose children mention the same variable, and the least such variable.
// A pass for each few hundred variables, so that memory stays linear in the nodes.
std::optional<Shared> shared_variable(const Nnf& formula, NnfKind kind, Budget& budget);

struct Sharing {
  std::vector<std::uint8_t> node;  // for each node whether it is of the kind and two of its children share a variable
  std::vector<std::int32_t> variables;  // that are so shared, ascending
};

// All such nodes and variables.
Sharing sharing(const Nnf& formula, NnfKind kind, Budget& budget);

}  // namespace quia
