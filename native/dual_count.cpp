#include "dual_count.hpp"

#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "dual.hpp"
#include "order.hpp"
#include "zdd.hpp"

namespace quia {

namespace {

constexpr std::size_t most = 64;             // members, and clauses, of a component that is searched: a word of each
constexpr std::uint32_t most_states = 1500;  // about what finding an order and making a diagram costs

// Murakami & Uno's search (MMCS): some clause not hit yet is chosen, each of its candidates is taken in turn, and
// every member taken must keep a clause that it alone hits. Recursion is no deeper than a component has members.
class Search {
 public:
  // `place`: of a member among those of its component.
  Search(const SetTable& table, const Component& component, const std::vector<std::uint32_t>& place) {
    for (std::size_t c = 0; c < component.clauses.size(); ++c)
      for_each_member(table.row(component.clauses[c]), table.words, [&](std::size_t member) {
        clauses_[c] |= Word(1) << place[member];
        hit_by_[place[member]] |= Word(1) << c;
      });
    open_ = component.clauses.size() == most ? ~Word(0) : (Word(1) << component.clauses.size()) - 1;
    all_ = component.members.size() == most ? ~Word(0) : (Word(1) << component.members.size()) - 1;
  }

  // Nothing where there are too many to find one by one.
  std::optional<std::uint64_t> count() {
    found_ = 0;
    states_ = 0;
    return go(open_, 0, all_, 0) ? std::optional(found_) : std::nullopt;
  }

 private:
  bool go(Word open, Word once, Word free, Word taken) {
    if (++states_ > most_states) return false;
    if (open == 0) {
      ++found_;
      return true;
    }
    Word branch = 0;
    int fewest = most + 1;
    for (Word rest = open; rest && fewest > 1; rest &= rest - 1) {
      const Word candidates = clauses_[std::countr_zero(rest)] & free;
      const int left = std::popcount(candidates);
      if (left >= fewest) continue;
      fewest = left;
      branch = candidates;
    }
    free &= ~branch;
    for (Word rest = branch; rest; rest &= rest - 1) {
      const Word member = rest & (~rest + 1);
      const Word hits = hit_by_[std::countr_zero(member)];
      const Word then_once = (once & ~hits) | (open & hits);
      bool needed = true;
      for (Word others = taken; others && needed; others &= others - 1)
        needed = hit_by_[std::countr_zero(others)] & then_once;
      if (!needed) continue;  // nor is it a candidate further down: what is hit once only shrinks
      if (!go(open & ~hits, then_once, free, taken | member)) return false;
      free |= member;
    }
    return true;
  }

  std::array<Word, most> clauses_{}, hit_by_{};
  Word open_ = 0, all_ = 0;
  std::uint64_t found_ = 0;
  std::uint32_t states_ = 0;
};

}  // namespace

Natural count_minimal_hitting_sets(const SetTable& clauses, Budget& budget) {
  for (std::size_t i = 0; i < clauses.size(); ++i)
    if (is_empty(clauses.row(i), clauses.words)) return Natural(0);
  Natural product(1);
  std::vector<std::uint32_t> place(clauses.universe, 0);
  const Decomposition decomposition = decompose(clauses);
  for (const Component& component : decomposition.components) {
    budget.step();
    std::optional<std::uint64_t> few;
    if (component.members.size() <= most && component.clauses.size() <= most) {
      for (std::size_t k = 0; k < component.members.size(); ++k)
        place[component.members[k]] = static_cast<std::uint32_t>(k);
      few = Search(clauses, component, place).count();
    }
    product =
        product * (few ? Natural(*few) : Counts(minimal_hitting_sets(clauses, component, budget), budget).total());
  }
  return product;
}

}  // namespace quia
