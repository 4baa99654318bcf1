// Shortest reasons (and exact counts) of many instances of one graph, on several threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "budget.hpp"
#include "graph.hpp"
#include "natural.hpp"

namespace quia {

struct BatchOptions {
  std::int32_t target = -1;
  const std::uint8_t* frozen = nullptr;
  const std::int64_t* costs = nullptr;
  std::size_t limit = 10;              // reasons listed a row and kind
  bool shortest = true;                // else the first of all reasons are listed, and `ties` is how many
  bool necessary = true, sufficient = true, count_necessary = false, count_sufficient = false;
  unsigned threads = 2;
  double timeout_per_row = Budget::no_timeout;
  std::size_t memory = SIZE_MAX;       // for the families of one row
};

// One kind of shortest reasons for a run of rows, in compressed sparse rows.
struct ReasonColumns {
  std::vector<Natural> ties;                      // per row: how many shortest ones there are in all
  std::vector<std::int64_t> reason_start{0};      // row → reasons listed
  std::vector<std::int64_t> member_start{0};      // reason → members
  std::vector<std::int32_t> members;
  std::vector<std::uint8_t> complete;             // per row: ties is exact (reasons may be cut by the limit)
};

struct CountColumn {
  std::vector<Natural> counts;
  std::vector<std::uint8_t> complete;
};

struct BatchColumns {
  std::vector<std::int32_t> decision;
  ReasonColumns necessary, sufficient;
  CountColumn count_necessary, count_sufficient;
};

// The columns of each chunk of rows, in order; `pulse` is called by the calling thread every few milliseconds and
// may throw, which stops the workers.
std::vector<BatchColumns> explain_rows(const Graph& graph, std::span<const std::int32_t> states, std::size_t rows,
                                       const BatchOptions& options, const std::function<void()>& pulse);

// The class of each row.
std::vector<std::int32_t> classify_rows(const Graph& graph, std::span<const std::int32_t> states, std::size_t rows,
                                        unsigned threads, const std::function<void()>& pulse);

}  // namespace quia
