// Eight small numbers that are computed with at once. Comparisons give all ones or zero in each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace quia {

constexpr std::size_t lane_count = 8;

#if defined(__GNUC__)
using Lanes = std::int16_t __attribute__((vector_size(lane_count * sizeof(std::int16_t))));
#else  // compilers without vector types; what they make of the loops is up to them
struct Lanes {
  std::array<std::int16_t, lane_count> lane;
  std::int16_t& operator[](std::size_t i) { return lane[i]; }
};
template <class Combine>
Lanes combined(const Lanes& a, const Lanes& b, Combine combine) {
  Lanes result{};
  for (std::size_t i = 0; i < lane_count; ++i) result[i] = static_cast<std::int16_t>(combine(a.lane[i], b.lane[i]));
  return result;
}
inline Lanes operator&(const Lanes& a, const Lanes& b) {
  return combined(a, b, [](int x, int y) { return x & y; });
}
inline Lanes operator|(const Lanes& a, const Lanes& b) {
  return combined(a, b, [](int x, int y) { return x | y; });
}
inline Lanes operator+(const Lanes& a, const Lanes& b) {
  return combined(a, b, [](int x, int y) { return x + y; });
}
inline Lanes operator<=(const Lanes& a, const Lanes& b) {
  return combined(a, b, [](int x, int y) { return -(x <= y); });
}
inline Lanes operator~(const Lanes& a) {
  return combined(a, a, [](int x, int) { return ~x; });
}
#endif

inline Lanes spread(std::int16_t value) {
  Lanes lanes{};
  for (std::size_t i = 0; i < lane_count; ++i) lanes[i] = value;
  return lanes;
}
inline Lanes load(const std::int16_t* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(std::int16_t* to, const Lanes& lanes) { std::memcpy(to, &lanes, sizeof lanes); }
inline Lanes smaller(const Lanes& a, const Lanes& b) {
  const Lanes pick = a <= b;
  return (a & pick) | (b & ~pick);
}

}  // namespace quia
