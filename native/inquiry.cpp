#include "inquiry.hpp"

#include <algorithm>
#include <numeric>

namespace quia {

namespace {

constexpr int sweeps_at_root = 60, sweeps_in_trial = 8, sweeps_below = 16, sweeps_between_proposals = 4;
constexpr double share_of_first_try = 0.7;
constexpr std::size_t most_descents = 3, first_gap = 4, strike_again = 4, most_remembered = 1000;

}  // namespace

Inquiry::Inquiry(const Ensemble& ensemble, std::span<const std::int32_t> states, std::span<const std::uint8_t> keeps)
    : ensemble_(ensemble), states_(states.begin(), states.end()), keeps_(keeps.begin(), keeps.end()),
      ways_(ways_out(ensemble, keeps)), relaxation_(ensemble), descent_(ensemble) {}

bool Inquiry::escapes(const std::int32_t* point) { return !keeps_[ensemble_.decide(point, leaves_, scores_)]; }

// Of very many instances the older ones are forgotten: looking through them would take longer than finding another.
void Inquiry::forget() {
  if (escaped_.size() > most_remembered) escaped_.erase(escaped_.begin(), escaped_.begin() + most_remembered / 2);
}

std::optional<Point> Inquiry::escape(const Domain& domain, Budget& budget) {
  forget();
  for (const Point& point : escaped_)
    if (domain.contains(point)) return point;
  std::optional<Point> found = find_escape(domain, budget);
  if (found) escaped_.push_back(*found);
  return found;
}

std::optional<Point> Inquiry::find_escape(const Domain& domain, Budget& budget) {
  const Point nearest = domain.nearest(states_);
  if (escapes(nearest.data())) return nearest;
  // The way that lacks the least comes first.
  std::vector<std::pair<double, std::size_t>> by_lack;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    descent_.start(mixed(ways_[i], std::vector<double>(ways_[i].needs.size(), 1.0)), nearest);
    by_lack.emplace_back(descent_.sum(), i);
  }
  std::sort(by_lack.begin(), by_lack.end());
  for (const auto& [lack, i] : by_lack) {
    std::optional<Point> found = look_near(ways_[i], domain, budget);
    if (found || search(ways_[i], domain, SIZE_MAX, found, budget) == Outcome::found) {
      draw_near(*found, domain);
      return found;
    }
  }
  return {};
}

Inquiry::Outcome Inquiry::bound_all(const Domain& domain, std::optional<Point>& found, Budget& budget) {
  Outcome outcome = Outcome::none;
  for (const Way& way : ways_) {
    found = look_near(way, domain, budget);
    const Outcome here = found ? Outcome::found : search(way, domain, 1, found, budget);
    if (here == Outcome::found) {
      draw_near(*found, domain);
      return here;
    }
    if (here == Outcome::open) outcome = here;
  }
  return outcome;
}

std::vector<std::int32_t> Inquiry::free_variables(const Domain& domain) const {
  std::vector<std::int32_t> free;
  for (std::size_t v = 0; v < states_.size(); ++v)
    if (ensemble_.is_tested(v) && domain.is_free(v)) free.push_back(static_cast<std::int32_t>(v));
  return free;
}

std::optional<Point> Inquiry::look_near(const Way& way, const Domain& domain, Budget& budget) {
  descent_.start(mixed(way, std::vector<double>(way.needs.size(), 1.0)), domain.nearest(states_));
  descent_.descend(free_variables(domain), domain, 0, budget);
  if (descent_.sum() <= 0 && escapes(descent_.point().data())) return descent_.point();
  return {};
}

Inquiry::Outcome Inquiry::search(const Way& way, const Domain& domain, std::size_t most_boxes,
                                 std::optional<Point>& found, Budget& budget) {
  const std::vector<std::int32_t> free = free_variables(domain);
  std::vector<double> weights(way.needs.size(), 1.0);
  std::vector<Domain> stack{domain};
  bool is_root = true;
  const auto end = [&](Point point) {
    found = std::move(point);
    return Outcome::found;
  };
  for (std::size_t boxes = 0; !stack.empty(); ++boxes) {
    if (boxes == most_boxes) return Outcome::open;
    budget.check();
    ++boxes_;
    Domain box = std::move(stack.back());
    stack.pop_back();
    const Mix mix = mixed(way, weights);
    relaxation_.build(mix, box, budget);
    // Where sums are exact, a tie is one, and is no matter of rounding.
    const double limit = way.needs.size() == 1 && relaxation_.is_exact()
                             ? (mix.takes_ties ? Ensemble::grain : -Ensemble::grain) / 2
                             : mix.limit;
    const auto is_out = [&] { return relaxation_.bound() > limit && relaxation_.safe_bound(budget) > limit; };
    if (is_out()) continue;
    Point point = box.nearest(states_);
    if (relaxation_.is_constant()) {
      if (escapes(point.data())) return end(point);
      if (const auto open = open_split(way, box)) {
        stack.push_back(box.side(open->variable, open->state, false));
        stack.push_back(box.side(open->variable, open->state, true));
      }
      continue;
    }
    bool is_pruned = false;
    double last = relaxation_.bound();
    const int most = most_boxes == 1 ? sweeps_in_trial : is_root ? sweeps_at_root : sweeps_below;
    for (int i = 1; i <= most && !is_pruned; ++i) {
      relaxation_.sweep(budget);
      ++sweeps_;
      is_pruned = is_out();
      if (is_pruned || (i % sweeps_between_proposals && i < most)) continue;
      relaxation_.propose(point);
      if (escapes(point.data())) return end(point);
      if (way.needs.size() == 1) {
        descent_.start(mix, point);
        descent_.descend(free, box, 0, budget);
        if (descent_.sum() <= 0 && escapes(descent_.point().data())) return end(descent_.point());
      }
      const double now = relaxation_.bound();
      if (now - last < 0.02 * (limit - now)) break;
      last = now;
    }
    is_root = false;
    if (is_pruned) continue;
    if (boxes + 1 == most_boxes) return Outcome::open;
    if (way.needs.size() > 1) {  // what the proposal lacks counts for more from now on
      double most_lacking = 0;
      std::vector<double> lack;
      for (const Mix& need : way.needs) {
        descent_.start(need, point);
        lack.push_back(std::max(descent_.sum(), 0.0));
        most_lacking = std::max(most_lacking, lack.back());
      }
      if (most_lacking > 0) {
        double total = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) total += weights[i] *= 0.7 + lack[i] / most_lacking;
        for (double& weight : weights) weight = std::max(weight / total * static_cast<double>(weights.size()), 1e-3);
      }
    }
    const Relaxation::Struck struck = relaxation_.strike_out(limit, box, budget);
    if (struck.is_all) continue;
    const bool is_much_smaller = struck.cells * strike_again > struck.of;
    const Relaxation::Split split = is_much_smaller ? Relaxation::Split{} : relaxation_.best_split(limit, box, budget);
    if (split.variable < 0) {
      stack.push_back(std::move(box));
      continue;
    }
    // The side that looks more like an escape is explored first, so it is pushed last.
    stack.push_back(box.side(split.variable, split.state, split.below > split.above));
    stack.push_back(box.side(split.variable, split.state, split.below <= split.above));
  }
  return Outcome::none;
}

// Where the sum is constant, its parts need not be: a tree is to be decided whose leaves in the box differ in what a need
// is about. Once there is none, the scores that needs compare are known to the last bit, and mostly settle the matter;
// only where they are nearly, but not quite, equal may a rule look at others too.
std::optional<Relaxation::Split> Inquiry::open_split(const Way& way, const Domain& domain) {
  const auto is_of_need = [&](std::size_t tree) {
    return std::any_of(way.needs.begin(), way.needs.end(),
                       [&](const Mix& need) { return need.concerns(ensemble_, tree); });
  };
  for (std::size_t tree = 0; tree < ensemble_.tree_count(); ++tree)
    if (is_of_need(tree))
      if (const auto split = open_split(tree, domain)) return split;
  if (ensemble_.rule() == ScoreRule::argmax || ensemble_.rule() == ScoreRule::cuts) return {};
  const Point point = domain.nearest(states_);
  for (std::size_t tree = 0; tree < leaves_.size(); ++tree) leaves_[tree] = ensemble_.leaf(tree, point.data());
  ensemble_.scores_of(leaves_.data(), scores_.data());
  for (const Mix& need : way.needs) {
    const double lack = scores_[need.terms[0].first] - scores_[need.terms[1].first];
    if (lack > ensemble_.indistinct() || (lack == 0 && !need.takes_ties)) return {};
  }
  for (std::size_t tree = 0; tree < ensemble_.tree_count(); ++tree)
    if (!is_of_need(tree))
      if (const auto split = open_split(tree, domain)) return split;
  return {};
}

std::optional<Relaxation::Split> Inquiry::open_split(std::size_t tree, const Domain& domain) const {
  std::vector<StateSpan> yes, no;
  std::optional<Relaxation::Split> first;
  std::int32_t leaf = -1;
  std::vector<std::pair<std::int32_t, Domain>> work{{ensemble_.root(tree), domain}};
  while (!work.empty()) {
    auto [at, here] = std::move(work.back());
    work.pop_back();
    while (ensemble_.node(at).variable >= 0) {
      const Ensemble::Node& node = ensemble_.node(at);
      part(ensemble_, node, here.of(node.variable), yes, no);
      if (!yes.empty() && !no.empty()) {
        if (!first) first = Relaxation::Split{node.variable, std::max(yes.front().low, no.front().low)};
        work.emplace_back(node.no, here);
        work.back().second.replace(node.variable, no);
        here.replace(node.variable, yes);
      }
      at = yes.empty() ? node.no : node.yes;
    }
    const std::int32_t found = ensemble_.node(at).yes;
    if (leaf >= 0 && !ensemble_.are_alike(leaf, found)) return first;
    leaf = found;
  }
  return {};
}

// Takes back each change that the escape can do without.
void Inquiry::draw_near(Point& point, const Domain& domain) {
  leaves_.resize(ensemble_.tree_count());
  scores_.resize(ensemble_.score_count());
  for (std::size_t tree = 0; tree < leaves_.size(); ++tree) leaves_[tree] = ensemble_.leaf(tree, point.data());
  std::vector<std::int32_t> before;
  for (std::size_t v = 0; v < point.size(); ++v) {
    const std::int32_t state = point[v];
    if (state == states_[v] || !domain.allows(v, states_[v])) continue;
    point[v] = states_[v];
    const auto trees = ensemble_.trees_of(static_cast<std::int32_t>(v));
    before.clear();
    for (const std::int32_t tree : trees) {
      before.push_back(leaves_[tree]);
      leaves_[tree] = ensemble_.leaf(tree, point.data());
    }
    ensemble_.scores_of(leaves_.data(), scores_.data());
    if (!keeps_[ensemble_.class_of(scores_.data())]) continue;
    point[v] = state;
    for (std::size_t i = 0; i < trees.size(); ++i) leaves_[trees[i]] = before[i];
  }
}

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
        if (inquiry_.find_escape(box(), budget_))
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
    if (auto found = inquiry_.find_escape(box(), budget_)) {
      refute(*found);
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
    std::optional<Point> found;
    const Outcome outcome = inquiry_.bound_all(box(), found, budget_);
    if (outcome == Outcome::found) {
      refute(*found);
    } else {
      keep_place(outcome == Outcome::none);
      gap_ = std::min<std::size_t>(2 * gap_, 32);
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
  forget();
  return Reduction(*this, order, worlds, budget).run();
}

}  // namespace quia
