#include "inquiry.hpp"

#include <algorithm>
#include <limits>

namespace quia {

namespace {

constexpr int sweeps_at_root = 60, sweeps_in_trial = 8, sweeps_below = 16, sweeps_between_proposals = 4;
constexpr std::size_t chased_leaves = 16;
constexpr int kicks = 20;
constexpr std::size_t most_efforts = 64;
constexpr double least_weight = 1e-3;
constexpr std::size_t strike_again = 4, most_remembered = 1000;

}  // namespace

Inquiry::Inquiry(const Ensemble& ensemble, std::span<const std::int32_t> states, std::span<const std::uint8_t> keeps)
    : ensemble_(ensemble), states_(states.begin(), states.end()), keeps_(keeps.begin(), keeps.end()),
      ways_(ways_out(ensemble, keeps)), descent_(ensemble) {
  for (const Way& way : ways_) turns_.emplace_back(ensemble, way);
}

bool Inquiry::escapes(const std::int32_t* point) { return !keeps_[ensemble_.decide(point, leaves_, scores_)]; }

Inquiry::Answering::Answering(Inquiry& inquiry) : inquiry_(inquiry) {
  inquiry.relaxation_ = std::make_unique<Relaxation>(inquiry.ensemble_);
  // Of very many instances the older ones are forgotten: looking through them would take longer than finding another.
  std::vector<Point>& escaped = inquiry.escaped_;
  if (escaped.size() > most_remembered) escaped.erase(escaped.begin(), escaped.begin() + most_remembered / 2);
}

Inquiry::Answering::~Answering() { inquiry_.relaxation_.reset(); }

std::optional<Point> Inquiry::escape(const Domain& domain, Budget& budget) {
  return attempt(domain, SIZE_MAX, budget).found;
}

Inquiry::Attempt Inquiry::attempt(const Domain& domain, std::size_t effort, Budget& budget) {
  const Answering answering(*this);
  for (const Point& point : escaped_)
    if (domain.contains(point)) return {point, true};
  Point found;
  const Outcome outcome = find_escape(domain, effort, found, budget);
  if (outcome != Outcome::found) return {{}, outcome == Outcome::none};
  escaped_.push_back(found);
  return {found, true};
}

Inquiry::Outcome Inquiry::find_escape(const Domain& domain, std::size_t effort, Point& found, Budget& budget) {
  const Point nearest = domain.nearest(states_);
  found = nearest;
  if (escapes(nearest.data())) return Outcome::found;
  // The way that lacks the least comes first; of two instances, the one in which they are told apart most.
  std::vector<std::pair<double, std::size_t>> by_lack;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    if (turns_[i].size()) {
      by_lack.emplace_back(-turns_[i].most_change(), i);
      continue;
    }
    descent_.start(mixed(ways_[i], std::vector<double>(ways_[i].needs.size(), 1.0)), nearest);
    by_lack.emplace_back(descent_.sum(), i);
  }
  std::sort(by_lack.begin(), by_lack.end());
  Outcome outcome = Outcome::none;
  for (const auto& [lack, i] : by_lack) {
    Domain open = domain;
    if (!turns_[i].narrow(open)) continue;
    const bool is_near = look_near(ways_[i], open, found, budget) || chase(i, open, effort, found, budget);
    const Outcome here = is_near       ? Outcome::found
                         : effort == 0 ? Outcome::open
                                       : search(i, open, effort, found, budget);
    if (here == Outcome::found) {
      draw_near(found, domain);
      return here;
    }
    if (here == Outcome::open) outcome = here;
  }
  return outcome;
}

Inquiry::Outcome Inquiry::bound_all(const Domain& domain, Point& found, Budget& budget) {
  Outcome outcome = Outcome::none;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    const bool is_near = look_near(ways_[i], domain, found, budget);
    const Outcome here = is_near ? Outcome::found : search(i, domain, 1, found, budget);
    if (here == Outcome::found) {
      draw_near(found, domain);
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

bool Inquiry::look_near(const Way& way, const Domain& domain, Point& found, Budget& budget) {
  descent_.start(mixed(way, std::vector<double>(way.needs.size(), 1.0)), domain.nearest(states_));
  descent_.descend(free_variables(domain), domain, 0, budget);
  if (descent_.sum() > 0 || !escapes(descent_.point().data())) return false;
  found = descent_.point();
  return true;
}

// Of two instances: looks for them where they are told apart most.
bool Inquiry::chase(std::size_t of_way, const Domain& domain, std::size_t effort, Point& found, Budget& budget) {
  const Turns& turns = turns_[of_way];
  if (!turns.size()) return false;
  Chase chase(ensemble_, ways_[of_way]);
  std::size_t left =
      std::max<std::size_t>(chased_leaves / ways_.size(), 1) * std::clamp<std::size_t>(effort, 1, most_efforts);
  for (std::size_t leaf = 0; leaf < turns.size() && left > 0; ++leaf) {
    Domain box = domain;
    if (!turns.narrow_to(leaf, box)) continue;
    --left;
    const std::vector<std::int32_t> free = free_variables(box);
    chase.start(box.nearest(states_));
    for (int i = 0; i < kicks; ++i) {
      if (chase.descend(free, box, budget) && escapes(chase.point().data())) {
        found = chase.point();
        return true;
      }
      chase.kick(free, box);
    }
  }
  return false;
}

// Where sums are exact, a tie is one, and is no matter of rounding.
double Inquiry::limit_of(const Mix& need) const {
  if (!relaxation_->is_exact()) return need.limit;
  return (need.takes_ties ? Ensemble::grain : -Ensemble::grain) / 2;
}

bool Inquiry::is_above(double limit, Budget& budget) {
  return relaxation_->bound() > limit && relaxation_->safe_bound(budget) > limit;
}

// Whether a few sweeps prove that one need by itself is met nowhere.
bool Inquiry::cannot_be_met(const Mix& need, const Domain& domain, Budget& budget) {
  ++boxes_;
  relaxation_->build(need, domain, budget);
  const double limit = limit_of(need);
  for (int i = 0; i < sweeps_in_trial && !relaxation_->is_constant() && !is_above(limit, budget); ++i) {
    relaxation_->sweep(budget);
    ++sweeps_;
  }
  return is_above(limit, budget);
}

// For each need a weight: 1 for what an instance lacks most, little for what it does not lack.
void Inquiry::lacks(const Way& way, const Point& point, std::vector<double>& weights) {
  double most = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    descent_.start(way.needs[i], point);
    weights[i] = std::max(descent_.sum(), 0.0);
    most = std::max(most, weights[i]);
  }
  for (double& weight : weights) weight = most > 0 ? std::max(weight / most, least_weight) : 1;
}

Inquiry::Outcome Inquiry::search(std::size_t of_way, const Domain& domain, std::size_t most_boxes, Point& found,
                                 Budget& budget) {
  const Way& way = ways_[of_way];
  const std::vector<std::int32_t> free = free_variables(domain);
  const bool is_single = way.needs.size() == 1;
  // A sum of several needs may be low where one of them is not yet met: then lower is better.
  const double low_enough = is_single ? 0 : -std::numeric_limits<double>::infinity();
  std::vector<double> weights(way.needs.size(), 1.0);
  if (!is_single) {
    lacks(way, domain.nearest(states_), weights);
    for (std::size_t i = 0; i < way.needs.size(); ++i) {  // that one of them cannot be met is proved more easily
      if (weights[i] <= least_weight) continue;
      if (cannot_be_met(way.needs[i], domain, budget)) return Outcome::none;
    }
  }
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
    if (!turns_[of_way].narrow(box)) continue;
    const Mix mix = mixed(way, weights);
    relaxation_->build(mix, box, budget);
    const double limit =
        is_single && relaxation_->is_exact() ? (mix.takes_ties ? Ensemble::grain : -Ensemble::grain) / 2 : mix.limit;
    const auto is_out = [&] { return relaxation_->bound() > limit && relaxation_->safe_bound(budget) > limit; };
    if (is_out()) continue;
    Point point = box.nearest(states_);
    if (relaxation_->is_constant()) {
      if (escapes(point.data())) return end(point);
      if (const auto open = open_split(way, box)) {
        stack.push_back(box.side(open->variable, open->state, false));
        stack.push_back(box.side(open->variable, open->state, true));
      }
      continue;
    }
    bool is_pruned = false;
    double last = relaxation_->bound();
    const int most = most_boxes == 1 ? sweeps_in_trial : is_root ? sweeps_at_root : sweeps_below;
    for (int i = 1; i <= most && !is_pruned; ++i) {
      relaxation_->sweep(budget);
      ++sweeps_;
      is_pruned = is_out();
      if (is_pruned || (i % sweeps_between_proposals && i < most)) continue;
      relaxation_->propose(point);
      if (escapes(point.data())) return end(point);
      descent_.start(mix, point);
      descent_.descend(free, box, low_enough, budget);
      if (descent_.sum() <= 0 && escapes(descent_.point().data())) return end(descent_.point());
      const double now = relaxation_->bound();
      if (now - last < 0.02 * (limit - now)) break;
      last = now;
    }
    is_root = false;
    if (is_pruned) continue;
    if (boxes + 1 == most_boxes) return Outcome::open;
    if (!is_single) {  // what the proposal lacks counts for more from now on
      std::vector<double> more(weights.size());
      lacks(way, point, more);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::max((weights[i] + more[i]) / 2, least_weight);
    }
    const Relaxation::Struck struck = relaxation_->strike_out(limit, box, budget);
    if (struck.is_all) continue;
    const bool is_much_smaller = struck.cells * strike_again > struck.of;
    const Relaxation::Split split = is_much_smaller ? Relaxation::Split{} : relaxation_->best_split(limit, box, budget);
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

}  // namespace quia
