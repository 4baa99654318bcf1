#include "batch.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "changes.hpp"
#include "dual_count.hpp"
#include "family.hpp"
#include "graph_reasons.hpp"
#include "hitting.hpp"
#include "minimum_parts.hpp"
#include "regions.hpp"
#include "widen.hpp"
#include "workers.hpp"

namespace quia {

namespace {

constexpr std::size_t chunk_rows = 128;

// The reasons listed for one more row; the caller adds the row's number of ties.
void append(ReasonColumns& columns, const SetTable& reasons, const std::vector<std::int32_t>& variables) {
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    for_each_member(reasons.row(i), reasons.words,
                    [&](std::size_t member) { columns.members.push_back(variables[member]); });
    columns.member_start.push_back(static_cast<std::int64_t>(columns.members.size()));
  }
  columns.reason_start.push_back(static_cast<std::int64_t>(columns.member_start.size()) - 1);
}

// The end of a row's general reasons.
void end_general(ReasonColumns& columns) {
  columns.reason_start.push_back(static_cast<std::int64_t>(columns.regions.size()));
}

class RowExplainer {
 public:
  RowExplainer(const Graph& graph, const BatchOptions& options, Regions& regions, const std::atomic<bool>& cancelled)
      : graph_(graph), options_(options), regions_(regions),
        budget_(Budget::no_timeout, options.memory, {}, &cancelled),
        at_once_(!graph.is_tree() && !options.costs && LeastLanes::suits(graph) ? lane_count : 1),
        has_frozen_(options.frozen && std::any_of(options.frozen, options.frozen + graph.variable_count(),
                                                  [](std::uint8_t is_frozen) { return is_frozen != 0; })) {}

  void explain(std::span<const std::int32_t> states, std::size_t rows, BatchColumns& columns) {
    const std::size_t width = graph_.variable_count();
    std::array<Question, lane_count> questions;
    for (std::size_t row = 0; row < rows; row += at_once_) {
      const std::size_t count = std::min(at_once_, rows - row);
      for (std::size_t k = 0; k < count; ++k) {
        const auto own = states.subspan((row + k) * width, width);
        questions[k] = Question(own, graph_.decide(own), options_.keeps, options_.frozen, graph_.impossible());
      }
      if (at_once_ > 1) {
        budget_.restart(Budget::no_timeout);
        lanes_.run(graph_, {questions.data(), count}, budget_);
      }
      for (std::size_t k = 0; k < count; ++k) explain(questions[k], k, columns);
    }
  }

 private:
  void explain(const Question& question, std::size_t lane, BatchColumns& columns) {
    budget_.restart(options_.timeout_per_row);
    columns.decision.push_back(question.decision);
    const bool wants_all = options_.sufficient || options_.count_necessary || options_.count_sufficient;
    if (graph_.is_tree() && options_.shortest && explain_tree(question, wants_all, columns)) return;
    const Least least = lanes_.at(lane);
    explain_graph(question, wants_all, at_once_ > 1 ? &least : nullptr, columns);
  }

  // False, with nothing added, if the instance is too wide for a walk.
  bool explain_tree(const Question& question, bool wants_all, BatchColumns& columns) {
    bool finished = false;
    try {
      finished = scratch_.walk.run(graph_, question, !wants_all, options_.costs, budget_);
    } catch (const TooWide&) {
      return false;
    }
    const SetTable& clauses = scratch_.walk.clauses();
    localise_costs(scratch_.walk.members());
    if (options_.necessary) {
      // Clauses come by length, so the shortest are the first ones; the cheapest may be anywhere.
      std::int64_t best = INT64_MAX;
      std::size_t ties = 0;
      ties_.universe = clauses.universe;
      ties_.words = clauses.words;
      ties_.clear();
      for (std::size_t i = 0; i < clauses.size(); ++i) {
        const std::int64_t cost = cost_of(clauses.row(i), clauses.words, costs());
        if (cost > best) {
          if (!costs()) break;
          continue;
        }
        if (cost < best) {
          best = cost;
          ties = 0;
          ties_.clear();
        }
        if (ties++ < options_.limit) ties_.add(clauses.row(i));
      }
      if (finished) {
        list(columns.necessary, Natural(ties), ties_, scratch_.walk.members(), question, true);
      } else {
        append_unknown(columns.necessary);
      }
    }
    if (options_.count_necessary) {
      if (finished)
        columns.count_necessary.add(Natural(clauses.size()));
      else
        columns.count_necessary.add_unknown();
    }
    explain_sufficient(finished ? &clauses : nullptr, scratch_.walk.members(), question, columns);
    return true;
  }

  void explain_graph(const Question& question, bool wants_all, const Least* least, BatchColumns& columns) {
    if (options_.necessary && options_.shortest) {
      const Family shortest = quia::necessary(graph_, question, true, options_.costs, scratch_, budget_, least);
      append_family(columns.necessary, shortest, question, true);
    }
    if (!wants_all && options_.shortest) return;
    const Family all = quia::necessary(graph_, question, false, nullptr, scratch_, budget_, least);
    if (options_.necessary && !options_.shortest) append_family(columns.necessary, all, question, true);
    if (options_.count_necessary) {
      if (all.complete())
        columns.count_necessary.add(all.count(budget_));
      else
        columns.count_necessary.add_unknown();
    }
    localise_costs(all.variables());
    std::shared_ptr<const SetTable> clauses;
    try {
      if (all.complete()) {
        if (!all.count_up_to(Family::few_clauses, budget_)) return explain_sufficient_of_many(all, question, columns);
        clauses = all.table(budget_);
      }
    } catch (const OverBudget& over) {
      if (over.cause == OverBudget::Cause::cancelled) throw;
    }
    explain_sufficient(clauses.get(), all.variables(), question, columns);
  }

  // Where the clauses are too many to list, through their diagram.
  void explain_sufficient_of_many(const Family& clauses, const Question& question, BatchColumns& columns) {
    std::optional<Family> all;
    const auto find_all = [&]() -> const Family& {
      if (!all) all = clauses.dual(budget_);
      return *all;
    };
    if (options_.sufficient) {
      try {
        append_family(columns.sufficient,
                      options_.shortest ? clauses.shortest_dual(options_.costs, budget_) : find_all(), question, false);
      } catch (const OverBudget& over) {
        if (over.cause == OverBudget::Cause::cancelled) throw;
        append_unknown(columns.sufficient);
      }
    }
    if (options_.count_sufficient) {
      try {
        columns.count_sufficient.add(find_all().count(budget_));
      } catch (const OverBudget& over) {
        if (over.cause == OverBudget::Cause::cancelled) throw;
        columns.count_sufficient.add_unknown();
      }
    }
  }

  void append_family(ReasonColumns& columns, const Family& family, const Question& question, bool is_necessary) {
    if (!family.complete()) return append_unknown(columns);
    try {
      SetTable first(family.variables().size());
      const auto listing = family.listing(options_.costs, budget_);
      while (first.size() < options_.limit) {
        const Word* set = listing->next(budget_);
        if (!set) break;
        first.add(set);
      }
      list(columns, options_.shortest ? family.count(budget_) : Natural(first.size()), first, family.variables(),
           question, is_necessary);
    } catch (const OverBudget& over) {
      if (over.cause == OverBudget::Cause::cancelled) throw;
      append_unknown(columns);
    }
  }

  // Both kinds of answers from the clauses; null where those are not all known.
  void explain_sufficient(const SetTable* clauses, const std::vector<std::int32_t>& variables, const Question& question,
                          BatchColumns& columns) {
    if (options_.sufficient) {
      try {
        if (!clauses) throw OverBudget(OverBudget::Cause::time);
        if (options_.shortest) {
          const MinimumParts minimum = minimum_hitting_sets(*clauses, costs(), search_, budget_);
          const SetTable first = minimum.first(options_.limit, costs(), budget_);
          list(columns.sufficient, minimum.count(budget_), first, variables, question, false);
        } else {
          const SetTable first = first_hitting_sets(*clauses);
          list(columns.sufficient, Natural(first.size()), first, variables, question, false);
        }
      } catch (const OverBudget& over) {
        if (over.cause == OverBudget::Cause::cancelled) throw;
        append_unknown(columns.sufficient);
      }
    }
    if (options_.count_sufficient) {
      try {
        if (!clauses) throw OverBudget(OverBudget::Cause::time);
        columns.count_sufficient.add(count_minimal_hitting_sets(*clauses, budget_));
      } catch (const OverBudget& over) {
        if (over.cause == OverBudget::Cause::cancelled) throw;
        columns.count_sufficient.add_unknown();
      }
    }
  }

  // One more row: how many reasons there are, and the first of them.
  void list(ReasonColumns& columns, const Natural& ties, const SetTable& reasons,
            const std::vector<std::int32_t>& variables, const Question& question, bool is_necessary) {
    if (!options_.general) {
      columns.ties.add(ties);
      return append(columns, reasons, variables);
    }
    const std::size_t before = columns.regions.size();
    try {
      append_general(columns, reasons, variables, question, is_necessary);
      columns.ties.add(ties);
    } catch (const OverBudget& over) {
      if (over.cause == OverBudget::Cause::cancelled) throw;
      columns.regions.resize(before);
      append_unknown(columns);
    }
  }

  void append_unknown(ReasonColumns& columns) {
    columns.ties.add_unknown();
    if (options_.general)
      end_general(columns);
    else
      append(columns, SetTable(0), {});
  }

  void append_general(ReasonColumns& columns, const SetTable& reasons, const std::vector<std::int32_t>& variables,
                      const Question& question, bool is_necessary) {
    std::size_t left = question.decision < 0 ? 0 : options_.limit;  // an instance that no edge takes has no box
    for (std::size_t i = 0; i < reasons.size() && left > 0; ++i) {
      members_.clear();
      for_each_member(reasons.row(i), reasons.words,
                      [&](std::size_t member) { members_.push_back(variables[member]); });
      const std::vector<std::int32_t>& found = is_necessary ? changed(question, left) : widened(question, left);
      const std::size_t boxes = std::min(found.size(), left);
      columns.regions.insert(columns.regions.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(boxes));
      left -= boxes;
    }
    end_general(columns);
  }

  // The regions of the necessary reason in members_, the first so many.
  const std::vector<std::int32_t>& changed(const Question& question, std::size_t limit) {
    changes_.run(graph_, question, members_, options_.numbers, false, limit, boxes_, budget_);
    return number_boxes(numbers_);
  }

  const std::vector<std::int32_t>& number_boxes(std::vector<std::int32_t>& into) {
    into.clear();
    for (std::size_t box = 0; box < boxes_.boxes; ++box) into.push_back(regions_.number(members_, boxes_, box));
    return into;
  }

  // The regions of the sufficient reason in members_, the first so many at least. They force the decision whatever the
  // other variables are, so rows that share a reason share them; unless variables are frozen, as each row has its own.
  const std::vector<std::int32_t>& widened(const Question& question, std::size_t limit) {
    if (has_frozen_) {
      widening_.run(graph_, question, members_, options_.numbers, limit, boxes_, budget_);
      return number_boxes(numbers_);
    }
    key_.clear();
    for (const std::int32_t member : members_) {
      key_.push_back(member);
      key_.push_back(question.states[member]);
    }
    const auto known = widened_.find(key_);
    if (known != widened_.end() && known->second.is_enough(limit)) return known->second.numbers;
    if (widened_.size() > most_remembered) widened_.clear();
    Regions::Widened& own = widened_[key_];
    if (regions_.find(key_, limit, own)) return own.numbers;
    own = {};
    widening_.run(graph_, question, members_, options_.numbers, limit, boxes_, budget_);
    number_boxes(own.numbers);
    own.limit = limit;
    regions_.remember(key_, own);
    return own.numbers;
  }

  SetTable first_hitting_sets(const SetTable& clauses) {
    HittingSets hitting(clauses, local_costs_, false, budget_);
    SetTable first(clauses.universe);
    while (first.size() < options_.limit) {
      const Word* set = hitting.next(budget_);
      if (!set) break;
      first.add(set);
    }
    return first;
  }

  void localise_costs(const std::vector<std::int32_t>& variables) {
    local_costs_.clear();
    if (!options_.costs) return;
    for (const std::int32_t variable : variables) local_costs_.push_back(options_.costs[variable]);
  }
  const std::vector<std::int64_t>* costs() const { return options_.costs ? &local_costs_ : nullptr; }

  const Graph& graph_;
  const BatchOptions& options_;
  Regions& regions_;
  Budget budget_;
  const std::size_t at_once_;  // rows
  const bool has_frozen_;
  LeastLanes lanes_;
  GraphScratch scratch_;
  MinimumHitting search_;
  SetTable ties_;
  Widening widening_;
  Changes changes_;
  Ranges boxes_;
  std::vector<std::int32_t> members_;
  static constexpr std::size_t most_remembered = 1u << 16;
  std::unordered_map<std::vector<std::int32_t>, Regions::Widened, HashOfNumbers> widened_;
  std::vector<std::int32_t> numbers_;
  std::vector<std::int32_t> key_;
  std::vector<std::int64_t> local_costs_;
};

}  // namespace

std::vector<BatchColumns> explain_rows(const Graph& graph, std::span<const std::int32_t> states, std::size_t rows,
                                       const BatchOptions& options, Regions& regions,
                                       const std::function<void()>& pulse) {
  const std::size_t width = graph.variable_count();
  // Small chunks while there are few rows, as one slow row should not hold up its neighbours; but full lanes.
  const std::size_t shares = std::max<std::size_t>(1, rows / std::max(1u, options.threads));
  const std::size_t least = graph.is_tree() ? 1 : std::min(shares, lane_count);
  const std::size_t chunk = std::clamp<std::size_t>(rows / 64, least, chunk_rows);
  std::vector<BatchColumns> columns((rows + chunk - 1) / chunk);
  run_chunks(columns.size(), options.threads, pulse, [&](const std::atomic<bool>& cancelled) {
    return [&, explainer = RowExplainer(graph, options, regions, cancelled)](std::size_t index) mutable {
      const std::size_t count = std::min(rows - index * chunk, chunk);
      explainer.explain(states.subspan(index * chunk * width, count * width), count, columns[index]);
    };
  });
  return columns;
}

std::vector<std::int32_t> classify_rows(const Graph& graph, std::span<const std::int32_t> states, std::size_t rows,
                                        unsigned threads, const std::function<void()>& pulse) {
  constexpr std::size_t chunk = 4096;
  const std::size_t width = graph.variable_count();
  std::vector<std::int32_t> classes(rows);
  run_chunks((rows + chunk - 1) / chunk, rows > chunk ? threads : 1, pulse, [&](const std::atomic<bool>&) {
    return [&](std::size_t index) {
      for (std::size_t row = index * chunk; row < std::min(rows, (index + 1) * chunk); ++row) {
        graph.check_states(states.subspan(row * width, width));
        classes[row] = graph.classify(states.data() + row * width);
      }
    };
  });
  return classes;
}

}  // namespace quia
