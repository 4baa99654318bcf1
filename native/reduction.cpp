// One sufficient reason of an ensemble's decision.
#include <algorithm>

#include "inquiry.hpp"

namespace quia {

namespace {

constexpr double share_of_first_try = 0.7;
constexpr std::size_t most_descents = 3, first_gap = 4, last_gap = 32;

}  // namespace

// One variable after the other is freed unless an instance is known, or easily found, that escapes then. Every few of
// them a bound is asked for; most often it proves that what is free may be free, or finds an instance against it. Then the
// last few are tried again, fewer at a time. In the end a whole search proves what no bound did.
class Inquiry::Reduction {
 public:
  Reduction(Inquiry& inquiry, std::span<const std::int32_t> order, const Domain& worlds, Budget& budget)
      : inquiry_(inquiry), order_(order), worlds_(worlds), whole_(budget), budget_(budget),
        is_free_(inquiry.states_.size()) {
    const Point nearest = worlds.nearest(inquiry.states_);
    for (const Way& way : inquiry.ways_) {
      descents_.emplace_back(inquiry.ensemble_);
      descents_.back().start(mixed(way, std::vector<double>(way.needs.size(), 1.0)), nearest);
    }
    std::sort(descents_.begin(), descents_.end(), [](const Descent& a, const Descent& b) { return a.sum() < b.sum(); });
    if (descents_.size() > most_descents) descents_.erase(descents_.begin() + most_descents, descents_.end());
    is_tried_.assign(inquiry.states_.size(), 0);
    for (const std::int32_t v : order) is_tried_[v] = 1;
    for (std::size_t v = 0; v < is_tried_.size(); ++v)
      if (!is_tried_[v] && inquiry.ensemble_.is_tested(v) && worlds.is_free(v))
        free_.push_back(static_cast<std::int32_t>(v));
    keep_place(true);
    count_changes();
  }

  Sufficient run() {
    try {
      if (whole_.is_timed()) budget_.restart(share_of_first_try * whole_.seconds_left());
      for (Descent& descent : descents_) descent.descend(free_, worlds_, 0, budget_);
      while (!is_proved()) {
      }
      return {kept(), true};
    } catch (const OverBudget& end) {
      if (end.cause == OverBudget::Cause::cancelled) throw;
    }
    salvage();
    go_back();
    return {kept(), false};
  }

 private:
  // What is free when the variables before `position` were tried.
  struct Place {
    std::size_t position;
    std::vector<std::int32_t> free;
    std::vector<std::pair<Point, double>> descents;
    bool is_proved;
  };

  // What could not be proved as a whole may be for fewer free variables: halfway between what is proved and what is not.
  void salvage() {
    for (;;) {
      std::size_t proved = places_.size() - 1;
      while (!places_[proved].is_proved) --proved;
      const double left = whole_.is_timed() ? whole_.seconds_left() : 0;
      if (proved + 1 == places_.size() || left <= 0) {
        places_.resize(proved + 1);
        return;
      }
      const std::size_t middle = proved + (places_.size() - proved) / 2;
      places_.resize(middle + 1);
      go_back();
      try {
        budget_.restart(left / 3);
        Point found;
        if (inquiry_.find_escape(box(), SIZE_MAX, found, budget_) == Outcome::found)
          places_.pop_back();
        else
          places_.back().is_proved = true;
      } catch (const OverBudget& end) {
        if (end.cause == OverBudget::Cause::cancelled) throw;
        places_.pop_back();
      }
    }
  }

  bool is_proved() {
    while (position_ < order_.size()) step();
    if (free_.size() == places_.back().free.size() && places_.back().is_proved) return true;
    Point found;
    if (inquiry_.find_escape(box(), SIZE_MAX, found, budget_) == Outcome::found) {
      refute(found);
      return false;
    }
    return true;
  }

  void step() {
    if (position_ >= order_.size()) return;
    budget_.check();
    const std::int32_t variable = order_[position_++];
    if (is_needed(variable)) return;
    is_free_[variable] = 1;
    free_.push_back(variable);
    for (std::size_t i = 0; i < changes_.size(); ++i)
      if (changes_[i] != SIZE_MAX) changes_[i] -= inquiry_.escaped_[i][variable] != inquiry_.states_[variable];
    if (free_.size() - places_.back().free.size() < gap_) return;
    Point found;
    const Outcome outcome = inquiry_.bound_all(box(), found, budget_);
    if (outcome == Outcome::found) {
      refute(found);
    } else {
      keep_place(outcome == Outcome::none);
      gap_ = std::min(2 * gap_, last_gap);
    }
  }

  // Whether an instance escapes once the variable is free too: a known one, or one found from where the descents are.
  bool is_needed(std::int32_t variable) {
    const Point& states = inquiry_.states_;
    for (std::size_t i = 0; i < changes_.size(); ++i)
      if (changes_[i] == 1 && inquiry_.escaped_[i][variable] != states[variable]) return true;
    free_.push_back(variable);
    // Where it turns out to be needed, every descent goes back to where it still has the instance's state.
    std::vector<std::pair<Point, double>> before;
    bool is_needed = false;
    for (std::size_t i = 0; i < descents_.size() && !is_needed; ++i) {
      Descent& descent = descents_[i];
      before.emplace_back(descent.point(), descent.sum());
      const Descent::Move move = descent.best_move(variable, worlds_.of(variable));
      if (move.state == descent.point()[variable]) continue;
      descent.take(variable, move);
      descent.descend(free_, worlds_, 0, budget_);
      if (descent.sum() > 0 || !inquiry_.escapes(descent.point().data())) continue;
      Point point = descent.point();
      inquiry_.draw_near(point, worlds_);
      add(std::move(point));
      is_needed = true;
    }
    if (is_needed)
      for (std::size_t i = 0; i < before.size(); ++i) descents_[i].back_to(before[i].first, before[i].second);
    free_.pop_back();
    return is_needed;
  }

  void refute(const Point& point) {
    add(point);
    const auto stands = [&](const Place& place) {
      std::size_t changes = 0, within = 0;
      for (const std::int32_t v : order_) changes += point[v] != inquiry_.states_[v];
      for (const std::int32_t v : place.free) within += is_tried_[v] && point[v] != inquiry_.states_[v];
      return within < changes;
    };
    while (!stands(places_.back())) places_.pop_back();
    go_back();
    gap_ = std::max<std::size_t>(gap_ / 2, 1);
  }

  void add(Point point) {
    inquiry_.escaped_.push_back(std::move(point));
    changes_.push_back(kept_changes(inquiry_.escaped_.back()));
  }

  std::size_t kept_changes(const Point& point) const {
    std::size_t count = 0;
    for (const std::int32_t v : order_) count += !is_free_[v] && point[v] != inquiry_.states_[v];
    return count;
  }

  void count_changes() {
    changes_.clear();
    for (const Point& point : inquiry_.escaped_)
      changes_.push_back(worlds_.contains(point) ? kept_changes(point) : SIZE_MAX);
  }

  void keep_place(bool is_proved) {
    places_.push_back({position_, free_, {}, is_proved});
    for (const Descent& descent : descents_) places_.back().descents.emplace_back(descent.point(), descent.sum());
  }

  void go_back() {
    const Place& place = places_.back();
    position_ = place.position;
    free_ = place.free;
    std::fill(is_free_.begin(), is_free_.end(), std::uint8_t(0));
    for (const std::int32_t v : free_) is_free_[v] = 1;
    for (std::size_t i = 0; i < descents_.size(); ++i)
      descents_[i].back_to(place.descents[i].first, place.descents[i].second);
    count_changes();
  }

  Domain box() const {
    Domain result = worlds_;
    for (const std::int32_t v : order_)
      if (!is_free_[v]) result.fix(v, inquiry_.states_[v]);
    return result;
  }

  std::vector<std::int32_t> kept() const {
    std::vector<std::int32_t> members;
    for (const std::int32_t v : order_)
      if (!is_free_[v]) members.push_back(v);
    std::sort(members.begin(), members.end());
    return members;
  }

  Inquiry& inquiry_;
  std::span<const std::int32_t> order_;
  const Domain& worlds_;
  Budget& whole_;
  Budget budget_;  // of the try that is made now
  std::vector<Descent> descents_;
  std::vector<std::uint8_t> is_free_, is_tried_;
  std::vector<std::int32_t> free_;
  std::size_t position_ = 0, gap_ = first_gap;
  std::vector<Place> places_;
  std::vector<std::size_t> changes_;  // of each known instance how many variables it changes that are still kept
};

Inquiry::Sufficient Inquiry::sufficient(std::span<const std::int32_t> order, const Domain& worlds, Budget& budget) {
  const Answering answering(*this);
  return Reduction(*this, order, worlds, budget).run();
}

}  // namespace quia
