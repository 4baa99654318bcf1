#include "ensemble_escape.hpp"

namespace quia {

namespace {

struct Search {
  const Ensemble& ensemble;
  std::span<const std::uint8_t> keeps;
  Budget& budget;
  std::vector<std::vector<std::uint8_t>> allowed;
  std::vector<std::int32_t> leaves{};
  std::vector<double> scores{};

  std::optional<std::vector<std::int32_t>> run(std::span<const std::int32_t> near) {
    budget.check();
    for (std::size_t tree = 0; tree < ensemble.tree_count(); ++tree) {
      std::int32_t at = ensemble.root(tree);
      while (ensemble.node(at).variable >= 0) {
        const Ensemble::Node& node = ensemble.node(at);
        auto& have = allowed[node.variable];
        bool yes = false, no = false;
        for (std::size_t s = 0; s < have.size(); ++s)
          if (have[s]) (ensemble.says_yes(node, static_cast<std::int32_t>(s)) ? yes : no) = true;
        if (yes && no) {
          const auto before = have;
          for (const bool side : {true, false}) {
            for (std::size_t s = 0; s < before.size(); ++s)
              allowed[node.variable][s] = before[s] && ensemble.says_yes(node, static_cast<std::int32_t>(s)) == side;
            if (auto found = run(near)) return found;
          }
          allowed[node.variable] = before;
          return {};
        }
        at = yes ? node.yes : node.no;
      }
    }
    std::vector<std::int32_t> point;
    for (std::size_t v = 0; v < allowed.size(); ++v) {
      const auto& have = allowed[v];
      std::int32_t state = near[v];
      if (state < 0 || !have[state])
        for (state = 0; !have[state];) ++state;
      point.push_back(state);
    }
    if (keeps[ensemble.decide(point.data(), leaves, scores)]) return {};
    return point;
  }
};

}  // namespace

std::optional<std::vector<std::int32_t>> escape(const Ensemble& ensemble, std::span<const std::int32_t> states,
                                                std::span<const std::uint8_t> keeps, const Box& box, Budget& budget) {
  Search search{ensemble, keeps, budget, {}};
  for (const std::int32_t count : ensemble.state_counts()) search.allowed.emplace_back(count, 1);
  for (std::size_t i = 0; i < box.bounded.size(); ++i) {
    auto& have = search.allowed[box.bounded[i]];
    have.assign(have.size(), 0);
    for (std::int64_t r = box.start[i]; r < box.start[i + 1]; ++r)
      for (std::int32_t s = box.low[r]; s <= box.high[r]; ++s) have[s] = 1;
  }
  return search.run(states);
}

}  // namespace quia
