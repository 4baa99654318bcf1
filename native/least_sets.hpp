// The smallest sets of numbers that reach a sum, of many rows: all are counted, the first are listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace quia {

// A row has a number for each variable, none of them negative, and a need: a set of variables reaches it if its numbers
// add up to the need or more. What a row's numbers add up to stays below 2^61.
struct Needs {
  std::size_t rows, variables;
  const std::int64_t* numbers;  // [row, variable]
  const std::int64_t* needs;
  std::int64_t band;            // how far off a need may be
};

struct LeastSets {
  std::vector<std::int64_t> ties;          // per row: how many there are; -1 where it is not told
  std::vector<std::int64_t> set_start;     // row i lists the sets set_start[i] … set_start[i+1]-1
  std::vector<std::int64_t> member_start;  // and set k has the variables members[member_start[k]] …
  std::vector<std::int32_t> members;
};

// Sets are listed by the order of their variables, at most `limit` of a row. A row is not told where a sum that matters
// is within the band around its need, or where more than `most_nodes` would be needed to count its sets.
LeastSets least_sets(const Needs& needs, std::size_t limit, std::size_t most_nodes, unsigned threads,
                     const std::function<void()>& pulse);

}  // namespace quia
