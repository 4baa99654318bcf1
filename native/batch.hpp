// Shortest reasons (and exact counts) of many instances of one graph, on several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"
#include "natural.hpp"
#include "regions.hpp"

namespace quia {

struct BatchOptions {
  KeptClasses keeps;
  const std::uint8_t* frozen = nullptr;
  const std::int64_t* costs = nullptr;
  std::size_t limit = 10;              // reasons (boxes, if general) listed a row and kind
  bool shortest = true;                // else the first of all reasons are listed, and `ties` is how many
  bool necessary = true, sufficient = true, count_necessary = false, count_sufficient = false;
  // The reasons listed are general: boxes, the widest first, of each set in turn.
  bool general = false;
  const std::int32_t* numbers = nullptr;  // as for `Widening`
  unsigned threads = 2;
  double timeout_per_row = Budget::no_timeout;
  std::size_t memory = SIZE_MAX;       // for the families of one row
};

// A number a row: small ones in place (-1: unknown, or large), the few beyond int64 apart.
struct NumberColumn {
  std::vector<std::int64_t> values;
  std::vector<std::pair<std::size_t, Natural>> large;  // row of this column, number
  std::vector<std::uint8_t> complete;

  void add(const Natural& number) {
    const auto& limbs = number.limbs();
    const bool fits = limbs.empty() || (limbs.size() == 1 && limbs[0] <= static_cast<Limb>(INT64_MAX));
    if (!fits) large.emplace_back(values.size(), number);
    values.push_back(!fits ? -1 : limbs.empty() ? 0 : static_cast<std::int64_t>(limbs[0]));
    complete.push_back(1);
  }
  void add_unknown() {
    values.push_back(-1);
    complete.push_back(0);
  }
};

// One kind of shortest reasons for a run of rows, in compressed sparse rows.
struct ReasonColumns {
  NumberColumn ties;                              // per row: how many there are in all, of which some are listed
  std::vector<std::int64_t> reason_start{0};      // row → reasons listed
  std::vector<std::int64_t> member_start{0};      // reason → members
  std::vector<std::int32_t> members;
  std::vector<std::int32_t> regions;              // of general reasons, instead: reason → the number of its region
};

struct BatchColumns {
  std::vector<std::int32_t> decision;
  ReasonColumns necessary, sufficient;
  NumberColumn count_necessary, count_sufficient;
};

// The columns of each chunk of rows, in order; the `regions` of general reasons are added. `pulse` is called by the calling thread every few milliseconds and
// may throw, which stops the workers.
std::vector<BatchColumns> explain_rows(const Graph& graph, std::span<const std::int32_t> states, std::size_t rows,
                                       const BatchOptions& options, Regions& regions,
                                       const std::function<void()>& pulse);

// The class of each row, as `Graph::classify` has it.
std::vector<std::int32_t> classify_rows(const Graph& graph, std::span<const std::int32_t> states, std::size_t rows,
                                        unsigned threads, const std::function<void()>& pulse);

}  // namespace quia
