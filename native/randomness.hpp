// Numbers that look random, the same ones on every machine.
#pragma once

#include <cstdint>

namespace quia {

// SplitMix64: one multiplication chain.
struct Randomness {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
};

}  // namespace quia
