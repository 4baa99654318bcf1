#include "natural.hpp"

#include <algorithm>
#include <cstdio>

namespace quia {

Natural& Natural::operator+=(const Natural& other) {
  const std::size_t width = std::max(limbs_.size(), other.limbs_.size()) + 1;
  limbs_.resize(width, 0);
  std::vector<Limb> term(other.limbs_);
  term.resize(width, 0);
  add_to(limbs_.data(), term.data(), width);
  trim();
  return *this;
}

Natural Natural::operator*(const Natural& other) const {
  Natural product;
  product.limbs_.assign(limbs_.size() + other.limbs_.size(), 0);
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; j < other.limbs_.size(); ++j) {
      const WideLimb total = WideLimb(limbs_[i]) * other.limbs_[j] + product.limbs_[i + j] + carry;
      product.limbs_[i + j] = static_cast<Limb>(total);
      carry = static_cast<Limb>(total >> 64);
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
