// All that is asked about one decision of an ensemble: another decision in a box, and a reason for this one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "budget.hpp"
#include "chase.hpp"
#include "descent.hpp"
#include "domain.hpp"
#include "relaxation.hpp"
#include "turns.hpp"
#include "ways.hpp"

namespace quia {

using Point = std::vector<std::int32_t>;

class Inquiry {
 public:
  // The instance's own states may be unknown (-1); `keeps` has an entry a class, nonzero if it keeps the decision.
  Inquiry(const Ensemble& ensemble, std::span<const std::int32_t> states, std::span<const std::uint8_t> keeps);

  // An instance in the box whose class does not keep the decision, as near to the question's as it could easily be had;
  // nothing if there is none. Branch and bound: exponential in the free variables at worst, mostly one bound.
  std::optional<Point> escape(const Domain& domain, Budget& budget);
  // The same with an effort that bounds the search by so many boxes a way; it may be left open then. With none, instances
  // are tried only.
  struct Attempt {
    std::optional<Point> found;
    bool is_settled;
  };
  Attempt attempt(const Domain& domain, std::size_t effort, Budget& budget);

  struct Sufficient {
    std::vector<std::int32_t> members;
    bool is_minimal;
  };
  // Variables among `order` that force the decision whatever else the box allows; `order` itself must. They are tried to
  // be left out in this order. Where the budget ends, a set that is proved to force it.
  Sufficient sufficient(std::span<const std::int32_t> order, const Domain& worlds, Budget& budget);

  std::size_t boxes() const { return boxes_; }  // how many were bounded, for those who tune
  std::size_t sweeps() const { return sweeps_; }

 private:
  bool escapes(const std::int32_t* point);
  class Reduction;
  class Answering;
  enum class Outcome { none, found, open };
  Outcome find_escape(const Domain& domain, std::size_t effort, Point& found, Budget& budget);
  double limit_of(const Mix& need) const;
  bool is_above(double limit, Budget& budget);
  bool cannot_be_met(const Mix& need, const Domain& domain, Budget& budget);
  void lacks(const Way& way, const Point& point, std::vector<double>& weights);
  Outcome search(std::size_t of_way, const Domain& domain, std::size_t most_boxes, Point& found, Budget& budget);
  // One bound for each way: it may prove that there is no escape, find one, or leave it open.
  Outcome bound_all(const Domain& domain, Point& found, Budget& budget);
  std::vector<std::int32_t> free_variables(const Domain& domain) const;
  bool look_near(const Way& way, const Domain& domain, Point& found, Budget& budget);
  bool chase(std::size_t of_way, const Domain& domain, std::size_t effort, Point& found, Budget& budget);
  std::optional<Relaxation::Split> open_split(const Way& way, const Domain& domain);
  std::optional<Relaxation::Split> open_split(std::size_t tree, const Domain& domain) const;
  void draw_near(Point& point, const Domain& domain);

  const Ensemble& ensemble_;
  Point states_;
  std::vector<std::uint8_t> keeps_;
  std::vector<Way> ways_;
  std::vector<Turns> turns_;  // of each way
  std::unique_ptr<Relaxation> relaxation_;  // while a question is answered: it takes much room
  Descent descent_;
  std::vector<Point> escaped_;  // instances found so far whose class is not kept
  std::vector<std::int32_t> leaves_;
  std::vector<double> scores_;
  std::size_t boxes_ = 0, sweeps_ = 0;
};

// What is in use only while a question is answered.
class Inquiry::Answering {
 public:
  explicit Answering(Inquiry& inquiry);
  ~Answering();
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;

 private:
  Inquiry& inquiry_;
};

}  // namespace quia
