// Is there another decision in a box of instances of an ensemble?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "budget.hpp"
#include "ensemble.hpp"
#include "escape.hpp"

namespace quia {

// An instance in the box whose class does not keep the decision, nothing if there is none. It has a state of every
// variable. `keeps` has an entry a class, nonzero if it keeps the decision.
std::optional<std::vector<std::int32_t>> escape(const Ensemble& ensemble, std::span<const std::int32_t> states,
                                                std::span<const std::uint8_t> keeps, const Box& box, Budget& budget);

}  // namespace quia
