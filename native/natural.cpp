#include "natural.hpp"

#include <cstdio>

namespace quia {

namespace {

struct TwoLimbs {
  Limb low, high;
};

// a · b + c + d, which always fits into two limbs. By halves, as not every compiler has a type of 128 bits.
TwoLimbs multiply_add(Limb a, Limb b, Limb c, Limb d) {
  constexpr Limb half = 0xFFFFFFFF;
  const Limb low = (a & half) * (b & half), upper_a = (a >> 32) * (b & half), upper_b = (a & half) * (b >> 32);
  const Limb middle = (low >> 32) + (upper_a & half) + upper_b;
  Limb high = (a >> 32) * (b >> 32) + (upper_a >> 32) + (middle >> 32);
  Limb sum = (middle << 32) | (low & half);
  sum += c;
  high += sum < c;
  sum += d;
  high += sum < d;
  return {sum, high};
}

}  // namespace

Natural& Natural::operator+=(const Natural& other) {
  const std::size_t width = other.limbs_.size();
  if (limbs_.size() < width) limbs_.resize(width, 0);
  Limb carry = add_to(limbs_.data(), other.limbs_.data(), width);
  for (std::size_t i = width; carry && i < limbs_.size(); ++i) carry = ++limbs_[i] == 0;
  if (carry) limbs_.push_back(1);
  return *this;
}

Natural Natural::operator*(const Natural& other) const {
  Natural product;
  product.limbs_.assign(limbs_.size() + other.limbs_.size(), 0);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; j < other.limbs_.size(); ++j) {
      const TwoLimbs total = multiply_add(limbs_[i], other.limbs_[j], product.limbs_[i + j], carry);
      product.limbs_[i + j] = total.low;
      carry = total.high;
    }
    product.limbs_[i + other.limbs_.size()] = carry;
  }
  product.trim();
  return product;
}

std::string Natural::to_hexadecimal() const {
  if (limbs_.empty()) return "0";
  std::string text;
  char digits[17];
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    std::snprintf(digits, sizeof digits, i + 1 == limbs_.size() ? "%llx" : "%016llx",
                  static_cast<unsigned long long>(limbs_[i]));
    text += digits;
  }
  return text;
}

}  // namespace quia
