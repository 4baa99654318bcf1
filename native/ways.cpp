#include "ways.hpp"

#include <algorithm>

namespace quia {

namespace {

// Classes from `first` to `last` of one block, in one range of its score.
void need_between_cuts(const Ensemble& ensemble, std::size_t block, std::size_t first, std::size_t last, Way& way) {
  const std::vector<double>& cuts = ensemble.cuts();
  if (first > 0)
    way.needs.push_back(
        {{{block, -1.0}}, cuts[first - 1] - ensemble.constant(0), ensemble.rounding(), false, {{0, -1.0}}});
  if (last < cuts.size())
    way.needs.push_back({{{block, 1.0}}, ensemble.constant(0) - cuts[last], ensemble.rounding(), false, {{0, 1.0}}});
}

// One score: each run of classes that are not kept lies between two cuts.
std::vector<Way> between_cuts(const Ensemble& ensemble, std::span<const std::uint8_t> keeps) {
  std::vector<Way> ways;
  const std::size_t classes = keeps.size();
  for (std::size_t first = 0; first < classes; ++first) {
    if (keeps[first]) continue;
    std::size_t last = first;
    while (last + 1 < classes && !keeps[last + 1]) ++last;
    Way way;
    need_between_cuts(ensemble, 0, first, last, way);
    ways.push_back(std::move(way));
    first = last;
  }
  return ways;
}

// Two blocks of one score: the pairs of classes are covered by rectangles, as large as they can be.
std::vector<Way> pairs_between_cuts(const Ensemble& ensemble, std::span<const std::uint8_t> keeps) {
  const auto classes = static_cast<std::size_t>(ensemble.block_classes());
  std::vector<std::uint8_t> is_covered(keeps.size());
  std::vector<Way> ways;
  for (std::size_t pair = 0; pair < keeps.size(); ++pair) {
    if (keeps[pair] || is_covered[pair]) continue;
    const std::size_t row = pair / classes, column = pair % classes;
    std::size_t top = row, bottom = row, left = column, right = column;
    while (left > 0 && !keeps[row * classes + left - 1]) --left;
    while (right + 1 < classes && !keeps[row * classes + right + 1]) ++right;
    const auto is_open = [&](std::size_t other) {
      const auto begin = keeps.begin() + static_cast<std::ptrdiff_t>(other * classes);
      return std::all_of(begin + static_cast<std::ptrdiff_t>(left), begin + static_cast<std::ptrdiff_t>(right + 1),
                         [](std::uint8_t is_kept) { return !is_kept; });
    };
    while (top > 0 && is_open(top - 1)) --top;
    while (bottom + 1 < classes && is_open(bottom + 1)) ++bottom;
    for (std::size_t i = top; i <= bottom; ++i)
      for (std::size_t j = left; j <= right; ++j) is_covered[i * classes + j] = 1;
    Way way;
    need_between_cuts(ensemble, 0, top, bottom, way);
    need_between_cuts(ensemble, 1, left, right, way);
    if (right < top) way.turns.push_back({0, false});
    if (left > bottom) way.turns.push_back({0, true});
    ways.push_back(std::move(way));
  }
  return ways;
}

Mix beats(const Ensemble& ensemble, std::size_t block, std::size_t winner, std::size_t loser) {
  const std::size_t first = block * ensemble.block_scores();
  return {{{first + loser, 1.0}, {first + winner, -1.0}},
          ensemble.constant(loser) - ensemble.constant(winner),
          2 * ensemble.rounding() + ensemble.indistinct(),
          winner < loser,
          {{loser, 1.0}, {winner, -1.0}}};
}

// Where a class is overtaken by another one: it loses, or that one gains. If a rule rounds, what else changes may matter.
std::vector<Way::Turn> overtaking(const Ensemble& ensemble, std::size_t first, std::size_t second) {
  std::vector<Way::Turn> turns{{first, false}, {second, true}};
  if (ensemble.rule() == ScoreRule::argmax) return turns;
  for (std::size_t score = 0; score < ensemble.block_scores(); ++score) {
    const bool counts = ensemble.rule() != ScoreRule::logistic || score == first || score == second;
    if (counts && score != first) turns.push_back({score, false, false});
    if (counts && score != second) turns.push_back({score, true, false});
  }
  return turns;
}

// The first instance has a class, and for the second one that makes such a pair not kept beats all that make one kept.
std::vector<Way> pairs_of_winners(const Ensemble& ensemble, std::span<const std::uint8_t> keeps) {
  const auto classes = static_cast<std::size_t>(ensemble.block_classes());
  std::vector<Way> ways;
  for (std::size_t first = 0; first < classes; ++first) {
    const auto row = keeps.subspan(first * classes, classes);
    for (std::size_t second = 0; second < classes; ++second) {
      if (row[second]) continue;
      Way way;
      for (std::size_t loser = 0; loser < classes; ++loser)
        if (loser != first) way.needs.push_back(beats(ensemble, 0, first, loser));
      for (std::size_t loser = 0; loser < classes; ++loser)
        if (row[loser]) way.needs.push_back(beats(ensemble, 1, second, loser));
      if (row[first]) way.turns = overtaking(ensemble, first, second);
      ways.push_back(std::move(way));
    }
  }
  return ways;
}

}  // namespace

std::vector<Way> ways_out(const Ensemble& ensemble, std::span<const std::uint8_t> keeps) {
  if (ensemble.block_count() == 2)
    return ensemble.rule() == ScoreRule::cuts ? pairs_between_cuts(ensemble, keeps) : pairs_of_winners(ensemble, keeps);
  if (ensemble.rule() == ScoreRule::cuts) return between_cuts(ensemble, keeps);
  // A class that is not kept beats all that are: then none of these is the greatest.
  std::vector<Way> ways;
  for (std::size_t winner = 0; winner < keeps.size(); ++winner) {
    if (keeps[winner]) continue;
    Way way;
    for (std::size_t loser = 0; loser < keeps.size(); ++loser)
      if (keeps[loser]) way.needs.push_back(beats(ensemble, 0, winner, loser));
    ways.push_back(std::move(way));
  }
  return ways;
}

Mix mixed(const Way& way, const std::vector<double>& weights) {
  if (way.needs.size() == 1) return way.needs.front();
  Mix mix;
  const auto add = [](auto& terms, const auto& of_need, double weight) {
    for (const auto& [score, factor] : of_need) {
      const auto known =
          std::find_if(terms.begin(), terms.end(), [score = score](const auto& term) { return term.first == score; });
      if (known == terms.end())
        terms.emplace_back(score, weight * factor);
      else
        known->second += weight * factor;
    }
  };
  for (std::size_t i = 0; i < way.needs.size(); ++i) {
    const Mix& need = way.needs[i];
    mix.constant += weights[i] * need.constant;
    mix.limit += weights[i] * need.limit;
    add(mix.terms, need.terms, weights[i]);
    add(mix.folded, need.folded, weights[i]);
  }
  return mix;
}

}  // namespace quia
