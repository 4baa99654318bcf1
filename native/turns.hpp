// Where two instances can be decided differently at all: in the leaves that tell them apart in the way that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain.hpp"
#include "ways.hpp"

namespace quia {

class Turns {
 public:
  Turns(const Ensemble& ensemble, const Way& way);

  // How many such leaves there are, those that tell the instances apart most coming first, and the part of a box that one
  // of them takes; false if that is empty.
  std::size_t size() const { return leaves_.size(); }
  double most_change() const { return leaves_.empty() ? 0 : leaves_.front().change; }
  bool narrow_to(std::size_t leaf, Domain& box) const;
  // Narrows a box to the hull of those leaves that it meets; false if it meets none, so that the way is closed in it.
  bool narrow(Domain& box) const;

 private:
  struct Bound {
    std::int32_t variable;
    std::size_t first_span, span_count;
  };
  struct Leaf {
    std::size_t first_bound, bound_count;
    double change;  // that counts directly
  };
  bool meets(const Leaf& leaf, const Domain& box) const;
  static std::vector<StateSpan> common(std::span<const StateSpan> allowed, std::span<const StateSpan> spans);

  bool is_bounded_;  // else the way has no turns, and may be open everywhere
  std::vector<Leaf> leaves_;
  std::vector<Bound> bounds_;
  std::vector<StateSpan> spans_;
};

}  // namespace quia
