#include "ways.hpp"

#include <algorithm>

namespace quia {

namespace {

// One score: each run of classes that are not kept lies between two cuts.
std::vector<Way> between_cuts(const Ensemble& ensemble, std::span<const std::uint8_t> keeps) {
  std::vector<Way> ways;
  const std::vector<double>& cuts = ensemble.cuts();
  const std::size_t classes = keeps.size();
  for (std::size_t first = 0; first < classes; ++first) {
    if (keeps[first]) continue;
    std::size_t last = first;
    while (last + 1 < classes && !keeps[last + 1]) ++last;
    Way way;
    if (first > 0)
      way.needs.push_back({{{0, -1.0}}, cuts[first - 1] - ensemble.constant(0), ensemble.rounding(), false});
    if (last + 1 < classes)
      way.needs.push_back({{{0, 1.0}}, ensemble.constant(0) - cuts[last], ensemble.rounding(), false});
    ways.push_back(std::move(way));
    first = last;
  }
  return ways;
}

}  // namespace

std::vector<Way> ways_out(const Ensemble& ensemble, std::span<const std::uint8_t> keeps) {
  if (ensemble.rule() == ScoreRule::cuts) return between_cuts(ensemble, keeps);
  // A class that is not kept beats all that are: then none of these is the greatest.
  std::vector<Way> ways;
  for (std::size_t winner = 0; winner < keeps.size(); ++winner) {
    if (keeps[winner]) continue;
    Way way;
    for (std::size_t loser = 0; loser < keeps.size(); ++loser)
      if (keeps[loser])
        way.needs.push_back({{{loser, 1.0}, {winner, -1.0}},
                             ensemble.constant(loser) - ensemble.constant(winner),
                             2 * ensemble.rounding() + ensemble.indistinct(),
                             winner < loser});
    ways.push_back(std::move(way));
  }
  return ways;
}

Mix mixed(const Way& way, const std::vector<double>& weights) {
  if (way.needs.size() == 1) return way.needs.front();
  Mix mix;
  for (std::size_t i = 0; i < way.needs.size(); ++i) {
    const Mix& need = way.needs[i];
    mix.constant += weights[i] * need.constant;
    mix.limit += weights[i] * need.limit;
    for (const auto& [score, factor] : need.terms) {
      const auto known = std::find_if(mix.terms.begin(), mix.terms.end(),
                                      [score = score](const auto& term) { return term.first == score; });
      if (known == mix.terms.end())
        mix.terms.emplace_back(score, weights[i] * factor);
      else
        known->second += weights[i] * factor;
    }
  }
  return mix;
}

}  // namespace quia
