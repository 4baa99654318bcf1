// Natural numbers of any size: counts of reasons pass 2^64 easily.
//
// Passes over diagrams keep one number a node in a flat array of fixed width; Natural is a number on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quia {

using Limb = std::uint64_t;

class Natural {
 public:
  Natural(Limb value = 0) {
    if (value) limbs_.push_back(value);
  }
  Natural(const Limb* limbs, std::size_t width) : limbs_(limbs, limbs + width) { trim(); }

  Natural& operator+=(const Natural& other);
  Natural operator*(const Natural& other) const;
  bool operator==(const Natural& other) const = default;
  bool is_zero() const { return limbs_.empty(); }
  const std::vector<Limb>& limbs() const { return limbs_; }  // least significant first, no leading zero
  std::string to_hexadecimal() const;

 private:
  void trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }
  std::vector<Limb> limbs_;
};

// sum = a + b, all of `width` limbs; returns the carry, 0 if the width holds the sum. A limb passes a carry on if it makes
// one or is full: the chain from limb to limb is two bit operations, and no type of 128 bits is needed.
inline Limb add(Limb* sum, const Limb* a, const Limb* b, std::size_t width) {
  Limb carry = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const Limb total = a[i] + b[i];
    const Limb makes_one = total < a[i], is_full = total == ~Limb(0);
    sum[i] = total + carry;
    carry = makes_one | (is_full & carry);
  }
  return carry;
}
inline Limb add_to(Limb* sum, const Limb* term, std::size_t width) { return add(sum, sum, term, width); }

// a < b ? -1 : a > b, both `width` limbs.
inline int compare(const Limb* a, const Limb* b, std::size_t width) {
  while (width-- > 0)
    if (a[width] != b[width]) return a[width] < b[width] ? -1 : 1;
  return 0;
}

inline int compare(const Natural& a, const Natural& b) {
  if (a.limbs().size() != b.limbs().size()) return a.limbs().size() < b.limbs().size() ? -1 : 1;
  return compare(a.limbs().data(), b.limbs().data(), a.limbs().size());
}

inline void subtract_from(Limb* number, const Limb* term, std::size_t width) {
  Limb borrow = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const Limb difference = number[i] - term[i];
    const Limb makes_one = number[i] < term[i], is_zero = difference == 0;
    number[i] = difference - borrow;
    borrow = makes_one | (is_zero & borrow);
  }
}

}  // namespace quia
