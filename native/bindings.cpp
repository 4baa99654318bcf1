// The module quia._kernel: arguments checked at the door, the GIL released, signals looked for.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "batch.hpp"
#include "class_formula.hpp"
#include "complete_reason.hpp"
#include "family.hpp"
#include "graph.hpp"
#include "graph_reasons.hpp"
#include "nnf_reasons.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace quia;

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
std::span<const T> span(const Array<T>& array) { return {array.data(), array.size()}; }

constexpr std::int64_t default_memory = std::int64_t(2) << 30;

// Python handles signals in its main thread only; elsewhere this does nothing.
void look_for_signals() {
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Budget make_budget(std::optional<double> timeout = {}, std::int64_t memory = INT64_MAX) {
  if (timeout && !(*timeout >= 0)) throw nb::value_error("timeout is negative or not a number");
  if (memory < 0) throw nb::value_error("memory is negative");
  return Budget(timeout.value_or(Budget::no_timeout), static_cast<std::size_t>(memory), look_for_signals);
}

template <class Work>
auto without_gil(Work work) {
  nb::gil_scoped_release release;
  return work();
}

nb::int_ to_python(const Natural& number) {
  PyObject* result = PyLong_FromString(number.to_hexadecimal().c_str(), nullptr, 16);
  if (!result) throw nb::python_error();
  return nb::steal<nb::int_>(result);
}

nb::tuple to_tuple(const Word* set, std::size_t words, const std::vector<std::int32_t>& variables) {
  nb::list members;
  for_each_member(set, words, [&](std::size_t member) { members.append(variables[member]); });
  return nb::tuple(members);
}

template <class T>
nb::object to_numpy(std::vector<T> values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

nb::tuple to_arrays(FlatNnf made) {
  return nb::make_tuple(to_numpy(std::move(made.kind)), to_numpy(std::move(made.literal)),
                        to_numpy(std::move(made.child_start)), to_numpy(std::move(made.child)));
}

// Costs are positive, and so small that no sum of them overflows.
const std::int64_t* checked_costs(const std::optional<Array<std::int64_t>>& costs, std::size_t variables) {
  if (!costs) return nullptr;
  if (costs->size() < variables)
    throw std::invalid_argument("costs has " + std::to_string(costs->size()) + " entries; it needs " + std::to_string(variables));
  std::int64_t sum = 0;
  for (const std::int64_t cost : span(*costs)) {
    if (cost <= 0) throw std::invalid_argument("a cost is " + std::to_string(cost) + "; costs are positive");
    if (cost > (INT64_MAX >> 2) - sum) throw std::invalid_argument("the costs add up to more than 2^61");
    sum += cost;
  }
  return costs->data();
}

const std::uint8_t* checked_frozen(const std::optional<Array<std::uint8_t>>& frozen, std::size_t variables) {
  if (frozen && frozen->size() < variables)
    throw std::invalid_argument("frozen has " + std::to_string(frozen->size()) + " entries; it needs " + std::to_string(variables));
  return frozen ? frozen->data() : nullptr;
}

void check_target(const Graph& graph, std::int32_t target) {
  if (target < -1 || target >= graph.class_count())
    throw std::invalid_argument("target is " + std::to_string(target) + " of " + std::to_string(graph.class_count()) + " classes");
}

Question make_question(const Graph& graph, const Array<std::int32_t>& states, std::int32_t target, const std::uint8_t* frozen) {
  graph.check_states(span(states));
  check_target(graph, target);
  return Question{span(states), graph.classify(states.data()), target, frozen};
}

std::span<const Fate> checked_fate(const Nnf& nnf, const Array<std::uint8_t>& fate) {
  if (fate.size() != nnf.node_count())
    throw std::invalid_argument("fate has " + std::to_string(fate.size()) + " entries for " + std::to_string(nnf.node_count()) + " nodes");
  for (const std::uint8_t each : span(fate))
    if (each > 2) throw std::invalid_argument("a fate is " + std::to_string(each));
  return {reinterpret_cast<const Fate*>(fate.data()), fate.size()};
}

NnfKind checked_gate(std::uint8_t kind) {
  if (kind != 3 && kind != 4) throw std::invalid_argument("kind is " + std::to_string(kind) + "; gates are 3 and 4");
  return static_cast<NnfKind>(kind);
}

// Sets one after the other, as tuples of variables. Safe to share between threads.
class SetIterator {
 public:
  SetIterator(std::vector<std::int32_t> variables, std::unique_ptr<Listing> listing)
      : variables_(std::move(variables)), listing_(std::move(listing)) {}
  SetIterator(std::vector<std::int32_t> variables, HittingSets hitting, double seconds)
      : variables_(std::move(variables)), hitting_(std::move(hitting)), seconds_(seconds) {}

  nb::object next() {
    std::vector<Word> copy;
    bool found = false;
    {
      nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      if (!complete_) throw_stop_ = true;
      if (!throw_stop_) {
        const auto start = std::chrono::steady_clock::now();
        Budget budget(seconds_, SIZE_MAX, look_for_signals);
        try {
          const Word* set = listing_ ? listing_->next(budget) : hitting_->next(budget);
          if (set) {
            copy.assign(set, set + words_for(variables_.size()));
            found = true;
          }
        } catch (const OverBudget&) {
          complete_ = false;
        }
        // Only the time spent here counts, not what the caller does between two sets.
        if (seconds_ < Budget::no_timeout)
          seconds_ -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
    }
    if (!found) throw nb::stop_iteration();
    return to_tuple(copy.data(), copy.size(), variables_);
  }
  bool complete() {
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return complete_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::int32_t> variables_;
  std::unique_ptr<Listing> listing_;
  std::optional<HittingSets> hitting_;
  double seconds_ = Budget::no_timeout;
  bool complete_ = true, throw_stop_ = false;
};

Family family_of(const std::vector<std::vector<std::int32_t>>& sets) {
  std::vector<std::int32_t> variables;
  for (const auto& set : sets) variables.insert(variables.end(), set.begin(), set.end());
  std::sort(variables.begin(), variables.end());
  variables.erase(std::unique(variables.begin(), variables.end()), variables.end());
  if (!variables.empty() && variables.front() < 0) throw nb::value_error("a variable is negative");
  SetTable table(variables.size());
  for (const auto& set : sets) {
    Word* row = table.add();
    for (const std::int32_t variable : set)
      put(row, std::lower_bound(variables.begin(), variables.end(), variable) - variables.begin());
  }
  keep_minimal(table);
  return Family(std::move(variables), std::move(table), true);
}

const std::int64_t* family_costs(const Family& family, const std::optional<Array<std::int64_t>>& costs) {
  return checked_costs(costs, family.variables().empty() ? 0 : static_cast<std::size_t>(family.variables().back()) + 1);
}

nb::dict by_key(const auto& counts) {
  nb::dict result;
  for (const auto& [key, count] : counts) result[nb::int_(key)] = to_python(count);
  return result;
}

// The chunks' columns end to end, each chunk given up as soon as it is copied.
void put_numbers(nb::dict& into, const char* name, std::vector<NumberColumn*> parts) {
  std::vector<std::int64_t> values;
  std::vector<std::uint8_t> complete;
  nb::dict large;
  for (NumberColumn* part : parts) {
    for (const auto& [row, number] : part->large) large[nb::int_(values.size() + row)] = to_python(number);
    values.insert(values.end(), part->values.begin(), part->values.end());
    complete.insert(complete.end(), part->complete.begin(), part->complete.end());
    *part = {};
  }
  into[name] = to_numpy(std::move(values));
  into["large"] = large;
  into["complete"] = to_numpy(std::move(complete));
}

nb::dict join(std::vector<BatchColumns>& chunks, ReasonColumns BatchColumns::*kind) {
  std::vector<NumberColumn*> ties;
  std::vector<std::int64_t> reason_start{0}, member_start{0};
  std::vector<std::int32_t> members;
  for (BatchColumns& chunk : chunks) {
    ReasonColumns& part = chunk.*kind;
    ties.push_back(&part.ties);
    const std::int64_t reasons = static_cast<std::int64_t>(member_start.size()) - 1;
    const auto base = static_cast<std::int64_t>(members.size());
    for (std::size_t i = 1; i < part.reason_start.size(); ++i) reason_start.push_back(reasons + part.reason_start[i]);
    for (std::size_t i = 1; i < part.member_start.size(); ++i) member_start.push_back(base + part.member_start[i]);
    members.insert(members.end(), part.members.begin(), part.members.end());
    part.reason_start = {};
    part.member_start = {};
    part.members = {};
  }
  nb::dict result;
  put_numbers(result, "ties", ties);
  result["reason_start"] = to_numpy(std::move(reason_start));
  result["member_start"] = to_numpy(std::move(member_start));
  result["members"] = to_numpy(std::move(members));
  return result;
}

nb::dict join(std::vector<BatchColumns>& chunks, NumberColumn BatchColumns::*kind) {
  std::vector<NumberColumn*> counts;
  for (BatchColumns& chunk : chunks) counts.push_back(&(chunk.*kind));
  nb::dict result;
  put_numbers(result, "count", counts);
  return result;
}

std::span<const std::int32_t> checked_rows(const Graph& graph, const Rows& rows) {
  if (rows.shape(1) != graph.variable_count())
    throw std::invalid_argument("rows have " + std::to_string(rows.shape(1)) + " states; the graph has " +
                                std::to_string(graph.variable_count()) + " variables");
  return {rows.data(), rows.size()};
}

using Costs = std::optional<Array<std::int64_t>>;
using Frozen = std::optional<Array<std::uint8_t>>;

void bind_graph(nb::module_& module) {
  nb::class_<Graph>(module, "Graph")
      .def("__init__",
           [](Graph* self, Array<std::int32_t> variable, Array<std::int32_t> klass, Array<std::int64_t> edge_start,
              Array<std::int32_t> child, Array<std::int64_t> range_start, Array<std::int32_t> range_low,
              Array<std::int32_t> range_high, Array<std::int32_t> state_counts, std::int32_t class_count) {
             const GraphArrays arrays{span(variable), span(klass), span(edge_start), span(child), span(range_start),
                                      span(range_low), span(range_high), span(state_counts), class_count};
             without_gil([&] { return new (self) Graph(arrays); });
           },
           "variable"_a, "klass"_a, "edge_start"_a, "child"_a, "range_start"_a, "range_low"_a, "range_high"_a,
           "state_counts"_a, "class_count"_a)
      .def_prop_ro("node_count", &Graph::node_count)
      .def_prop_ro("is_tree", &Graph::is_tree)
      .def("classify",
           [](const Graph& graph, Rows states, unsigned threads) {
             const auto rows = checked_rows(graph, states);
             return to_numpy(without_gil([&] { return classify_rows(graph, rows, states.shape(0), threads, look_for_signals); }));
           },
           "states"_a, nb::kw_only(), "threads"_a = 2)
      .def("necessary",
           [](const Graph& graph, Array<std::int32_t> states, std::int32_t target, Frozen frozen, bool shortest, Costs costs,
              std::optional<double> timeout, std::int64_t memory) {
             const Question question = make_question(graph, states, target, checked_frozen(frozen, graph.variable_count()));
             const std::int64_t* prices = checked_costs(costs, graph.variable_count());
             Budget budget = make_budget(timeout, memory);
             return without_gil([&] {
               GraphScratch scratch;
               return necessary(graph, question, shortest, prices, scratch, budget);
             });
           },
           "states"_a, nb::kw_only(), "target"_a = -1, "frozen"_a = nb::none(), "shortest"_a = false, "costs"_a = nb::none(),
           "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def("complete_reason",
           [](const Graph& graph, Array<std::int32_t> states, std::int32_t target, Frozen frozen) {
             const Question question = make_question(graph, states, target, checked_frozen(frozen, graph.variable_count()));
             Budget budget = make_budget();
             FlatNnf made = without_gil([&] { return complete_reason(graph, question, budget); });
             return to_arrays(std::move(made));
           },
           "states"_a, nb::kw_only(), "target"_a = -1, "frozen"_a = nb::none())
      .def("shortest_length",
           [](const Graph& graph, Array<std::int32_t> states, std::int32_t target, Frozen frozen, Costs costs) {
             const Question question = make_question(graph, states, target, checked_frozen(frozen, graph.variable_count()));
             const std::int64_t* prices = checked_costs(costs, graph.variable_count());
             Budget budget = make_budget();
             const std::int64_t length = without_gil([&] {
               GraphScratch scratch;
               return shortest_length(graph, question, prices, scratch, budget);
             });
             return length == no_clause ? std::optional<std::int64_t>() : length;
           },
           "states"_a, nb::kw_only(), "target"_a = -1, "frozen"_a = nb::none(), "costs"_a = nb::none())
      .def("batch",
           [](const Graph& graph, Rows states, std::int32_t target, Frozen frozen, Costs costs, std::int64_t limit,
              bool shortest, bool wants_necessary, bool wants_sufficient, bool count_necessary, bool count_sufficient, unsigned threads,
              std::optional<double> timeout_per_row, std::int64_t memory) {
             const auto rows = checked_rows(graph, states);
             check_target(graph, target);
             if (limit < 0) throw nb::value_error("limit is negative");
             if (memory < 0) throw nb::value_error("memory is negative");
             if (timeout_per_row && !(*timeout_per_row >= 0)) throw nb::value_error("timeout_per_row is negative or not a number");
             BatchOptions options;
             options.target = target;
             options.frozen = checked_frozen(frozen, graph.variable_count());
             options.costs = checked_costs(costs, graph.variable_count());
             options.limit = static_cast<std::size_t>(limit);
             options.shortest = shortest;
             options.necessary = wants_necessary;
             options.sufficient = wants_sufficient;
             options.count_necessary = count_necessary;
             options.count_sufficient = count_sufficient;
             options.threads = std::clamp(threads, 1u, 256u);
             options.timeout_per_row = timeout_per_row.value_or(Budget::no_timeout);
             options.memory = static_cast<std::size_t>(memory);
             auto chunks = without_gil([&] { return explain_rows(graph, rows, states.shape(0), options, look_for_signals); });
             std::vector<std::int32_t> decision;
             for (const BatchColumns& chunk : chunks) decision.insert(decision.end(), chunk.decision.begin(), chunk.decision.end());
             nb::dict result;
             result["decision"] = to_numpy(std::move(decision));
             if (wants_necessary) result["necessary"] = join(chunks, &BatchColumns::necessary);
             if (wants_sufficient) result["sufficient"] = join(chunks, &BatchColumns::sufficient);
             if (count_necessary) result["count_necessary"] = join(chunks, &BatchColumns::count_necessary);
             if (count_sufficient) result["count_sufficient"] = join(chunks, &BatchColumns::count_sufficient);
             return result;
           },
           "states"_a, nb::kw_only(), "target"_a = -1, "frozen"_a = nb::none(), "costs"_a = nb::none(), "limit"_a = 10,
           "shortest"_a = true, "necessary"_a = true, "sufficient"_a = true, "count_necessary"_a = false, "count_sufficient"_a = false,
           "threads"_a = 2, "timeout_per_row"_a = nb::none(), "memory"_a = default_memory);
}

void bind_nnf(nb::module_& module) {
  nb::class_<Nnf>(module, "Nnf")
      .def("__init__",
           [](Nnf* self, Array<std::uint8_t> kind, Array<std::int32_t> literal, Array<std::int64_t> child_start,
              Array<std::int32_t> child) { new (self) Nnf(span(kind), span(literal), span(child_start), span(child)); },
           "kind"_a, "literal"_a, "child_start"_a, "child"_a)
      .def_prop_ro("node_count", &Nnf::node_count)
      .def("necessary",
           [](const Nnf& nnf, bool shortest, Frozen frozen, Costs costs, std::optional<double> timeout, std::int64_t memory) {
             const auto variables = static_cast<std::size_t>(nnf.most_variable() + 1);
             const std::uint8_t* fixed = checked_frozen(frozen, variables);
             const std::int64_t* prices = checked_costs(costs, variables);
             Budget budget = make_budget(timeout, memory);
             return without_gil([&] { return nnf.necessary(shortest, fixed, prices, budget); });
           },
           nb::kw_only(), "shortest"_a = false, "frozen"_a = nb::none(), "costs"_a = nb::none(), "timeout"_a = nb::none(),
           "memory"_a = default_memory)
      .def("values",
           [](const Nnf& nnf, Array<std::uint8_t> fate) {
             const auto fates = checked_fate(nnf, fate);
             Budget budget = make_budget();
             return to_numpy(without_gil([&] { return values(nnf, fates, budget); }));
           },
           "fate"_a)
      .def("replaced",
           [](const Nnf& nnf, Array<std::uint8_t> fate) {
             const auto fates = checked_fate(nnf, fate);
             Budget budget = make_budget();
             return to_arrays(without_gil([&] { return replaced(nnf, fates, budget); }));
           },
           "fate"_a)
      .def("shared_variable",
           [](const Nnf& nnf, std::uint8_t kind) -> nb::object {
             const NnfKind gate = checked_gate(kind);
             Budget budget = make_budget();
             const auto found = without_gil([&] { return shared_variable(nnf, gate, budget); });
             return found ? nb::object(nb::make_tuple(found->node, found->variable)) : nb::none();
           },
           "kind"_a);
}

void bind_family(nb::module_& module) {
  nb::class_<SetIterator>(module, "SetIterator")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &SetIterator::next)
      .def_prop_ro("complete", &SetIterator::complete);
  nb::class_<Family>(module, "Family")
      .def("__init__", [](Family* self, const std::vector<std::vector<std::int32_t>>& sets) { new (self) Family(family_of(sets)); },
           "sets"_a)
      .def_prop_ro("complete", &Family::complete)
      .def_prop_ro("variables", [](const Family& family) { return nb::tuple(nb::cast(family.variables())); })
      .def_prop_ro("is_zdd", [](const Family& family) { return static_cast<bool>(family.zdd()); })
      .def_prop_ro("node_count", [](const Family& family) { return family.zdd() ? family.zdd()->node_count() : 0; })
      .def("count",
           [](const Family& family) {
             Budget budget = make_budget();
             return to_python(without_gil([&] { return family.count(budget); }));
           })
      .def("counts_by_length",
           [](const Family& family) {
             Budget budget = make_budget();
             return by_key(without_gil([&] { return family.counts_by_length(budget); }));
           })
      .def("counts_by_variable",
           [](const Family& family) {
             Budget budget = make_budget();
             return by_key(without_gil([&] { return family.counts_by_variable(budget); }));
           })
      .def("contains", &Family::contains, "members"_a)
      .def("restrict",
           [](const Family& family, const std::vector<std::int32_t>& containing, const std::vector<std::int32_t>& avoiding) {
             Budget budget = make_budget();
             return without_gil([&] { return family.restricted(containing, avoiding, budget); });
           },
           "containing"_a = std::vector<std::int32_t>(), "avoiding"_a = std::vector<std::int32_t>())
      .def("sample",
           [](const Family& family, std::size_t n, std::uint64_t seed) {
             Budget budget = make_budget();
             const SetTable chosen = without_gil([&] { return family.sampled(n, seed, budget); });
             nb::list result;
             for (std::size_t i = 0; i < chosen.size(); ++i) result.append(to_tuple(chosen.row(i), chosen.words, family.variables()));
             return result;
           },
           "n"_a, "seed"_a)
      .def("shortest",
           [](const Family& family, Costs costs) {
             Budget budget = make_budget();
             const std::int64_t* prices = family_costs(family, costs);
             return without_gil([&] { return family.shortest(prices, budget); });
           },
           "costs"_a = nb::none())
      .def("listing",
           [](const Family& family, Costs costs) {
             const std::int64_t* prices = family_costs(family, costs);
             return new SetIterator(family.variables(), without_gil([&] { return family.listing(prices); }));
           },
           "costs"_a = nb::none(), nb::rv_policy::take_ownership)
      .def("dual",
           [](const Family& family, bool shortest, Costs costs, std::optional<double> timeout, std::int64_t memory) {
             const std::int64_t* prices = family_costs(family, costs);
             Budget budget = make_budget(timeout, memory);
             return without_gil([&] { return shortest ? family.shortest_dual(prices, budget) : family.dual(budget); });
           },
           nb::kw_only(), "shortest"_a = false, "costs"_a = nb::none(), "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def("hitting_sets",
           [](const Family& family, Costs costs, bool shortest, std::optional<double> timeout, std::int64_t memory) {
             const std::int64_t* prices = family_costs(family, costs);
             Budget budget = make_budget(timeout, memory);
             HittingSets hitting = without_gil([&] { return family.hitting_sets(prices, shortest, budget); });
             return new SetIterator(family.variables(), std::move(hitting), timeout.value_or(Budget::no_timeout));
           },
           nb::kw_only(), "costs"_a = nb::none(), "shortest"_a = false, "timeout"_a = nb::none(), "memory"_a = default_memory,
           nb::rv_policy::take_ownership)
      .def("one_hitting_set",
           [](const Family& family, Costs costs, std::int64_t memory) {
             const std::int64_t* prices = family_costs(family, costs);
             Budget budget = make_budget({}, memory);
             const auto set = without_gil([&] { return family.one_hitting_set(prices, budget); });
             if (set.empty()) throw nb::value_error("nothing hits the empty set");
             return to_tuple(set.data(), set.size(), family.variables());
           },
           nb::kw_only(), "costs"_a = nb::none(), "memory"_a = default_memory);
}

}  // namespace

NB_MODULE(_kernel, module) {
  nb::exception<OverBudget>(module, "OverBudget", PyExc_RuntimeError);
  bind_graph(module);
  bind_nnf(module);
  bind_family(module);
}
