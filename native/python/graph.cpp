// Graph: questions to a decision graph, one instance at a time or many.
#include "../graph.hpp"
#include "../batch.hpp"
#include "../bounded.hpp"
#include "../changes.hpp"
#include "../complete_reason.hpp"
#include "../escape.hpp"
#include "../family.hpp"
#include "../graph_reasons.hpp"
#include "../widen.hpp"
#include "common.hpp"

namespace quia {

namespace {

using Keeps = std::optional<Array<std::uint8_t>>;
using Numbers = std::optional<Array<std::int32_t>>;

const std::int32_t* checked_numbers(const Numbers& numbers, const Graph& graph) {
  if (!numbers) return nullptr;
  check_numbers(graph, span(*numbers));
  return numbers->data();
}

KeptClasses checked_keeps(const Keeps& keeps, const Graph& graph) {
  if (!keeps) return {};
  if (keeps->size() != static_cast<std::size_t>(graph.class_count()))
    throw std::invalid_argument("keeps has " + std::to_string(keeps->size()) + " entries; the graph has " +
                                std::to_string(graph.class_count()) + " classes");
  return KeptClasses(span(*keeps));
}

Question make_question(const Graph& graph, const Array<std::int32_t>& states, const Keeps& keeps,
                       const Frozen& frozen) {
  const KeptClasses kept = checked_keeps(keeps, graph);
  const std::int32_t decision = graph.decide(span(states));
  if (kept.kept && decision < 0) throw std::invalid_argument("no edge takes the instance, so it has no class");
  if (kept.kept && !kept.kept[decision])
    throw std::invalid_argument("the instance has class " + std::to_string(decision) +
                                ", which is not among those that keep the decision");
  return Question(span(states), decision, kept, checked_frozen(frozen, graph.variable_count()), graph.impossible());
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

// Offsets of a chunk, given up, after those of the chunks before it.
void move_offsets(std::vector<std::int64_t>& from, std::size_t base, std::vector<std::int64_t>& into) {
  for (std::size_t i = 1; i < from.size(); ++i) into.push_back(static_cast<std::int64_t>(base) + from[i]);
  from = {};
}

template <class T>
void move_values(std::vector<T>& from, std::vector<T>& into) {
  into.insert(into.end(), from.begin(), from.end());
  from = {};
}

nb::dict join(std::vector<BatchColumns>& chunks, ReasonColumns BatchColumns::* kind) {
  std::vector<NumberColumn*> ties;
  std::vector<std::int64_t> reason_start{0}, member_start{0};
  std::vector<std::int32_t> members;
  for (BatchColumns& chunk : chunks) {
    ReasonColumns& part = chunk.*kind;
    ties.push_back(&part.ties);
    move_offsets(part.reason_start, member_start.size() - 1, reason_start);
    move_offsets(part.member_start, members.size(), member_start);
    move_values(part.members, members);
  }
  nb::dict result;
  put_numbers(result, "ties", ties);
  result["reason_start"] = to_numpy(std::move(reason_start));
  result["member_start"] = to_numpy(std::move(member_start));
  result["members"] = to_numpy(std::move(members));
  return result;
}

nb::dict join_general(std::vector<BatchColumns>& chunks, ReasonColumns BatchColumns::* kind, const Regions& regions) {
  std::vector<NumberColumn*> ties;
  std::vector<std::int64_t> reason_start{0};
  std::vector<std::int32_t> places;
  for (BatchColumns& chunk : chunks) {
    ReasonColumns& part = chunk.*kind;
    ties.push_back(&part.ties);
    move_offsets(part.reason_start, places.size(), reason_start);
    for (const std::int32_t number : part.regions) places.push_back(regions.place(number));
    part.regions = {};
  }
  nb::dict result;
  put_numbers(result, "ties", ties);
  result["reason_start"] = to_numpy(std::move(reason_start));
  result["region"] = to_numpy(std::move(places));
  return result;
}

nb::dict to_python(RegionArrays&& regions) {
  nb::dict result;
  result["member_start"] = to_numpy(std::move(regions.member_start));
  result["members"] = to_numpy(std::move(regions.members));
  result["range_start"] = to_numpy(std::move(regions.range_start));
  result["range_low"] = to_numpy(std::move(regions.range_low));
  result["range_high"] = to_numpy(std::move(regions.range_high));
  return result;
}

nb::dict join(std::vector<BatchColumns>& chunks, NumberColumn BatchColumns::* kind) {
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

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<Graph>(module, "Graph")
      .def(
          "__init__",
          [](Graph* self, Array<std::int32_t> variable, Array<std::int32_t> klass, Array<std::int64_t> edge_start,
             Array<std::int32_t> child, Array<std::int64_t> range_start, Array<std::int32_t> range_low,
             Array<std::int32_t> range_high, Array<std::int32_t> state_counts, std::int32_t class_count,
             std::int32_t impossible) {
            const GraphArrays arrays{span(variable),    span(klass),     span(edge_start), span(child),
                                     span(range_start), span(range_low), span(range_high), span(state_counts),
                                     class_count,       impossible};
            without_gil([&] { return new (self) Graph(arrays); });
          },
          "variable"_a, "klass"_a, "edge_start"_a, "child"_a, "range_start"_a, "range_low"_a, "range_high"_a,
          "state_counts"_a, "class_count"_a, "impossible"_a = -1)
      .def_prop_ro("node_count", &Graph::node_count)
      .def_prop_ro("is_tree", &Graph::is_tree)
      .def(
          "classify",
          [](const Graph& graph, Rows states, unsigned threads) {
            const auto rows = checked_rows(graph, states);
            return to_numpy(
                without_gil([&] { return classify_rows(graph, rows, states.shape(0), threads, look_for_signals); }));
          },
          "states"_a, nb::kw_only(), "threads"_a = 2)
      .def(
          "necessary",
          [](const Graph& graph, Array<std::int32_t> states, Keeps keeps, Frozen frozen, bool shortest, Costs costs,
             std::optional<double> timeout, std::int64_t memory) {
            const Question question = make_question(graph, states, keeps, frozen);
            const std::int64_t* prices = checked_costs(costs, graph.variable_count());
            Budget budget = make_budget(timeout, memory);
            return without_gil([&] {
              GraphScratch scratch;
              return necessary(graph, question, shortest, prices, scratch, budget);
            });
          },
          "states"_a, nb::kw_only(), "keeps"_a = nb::none(), "frozen"_a = nb::none(), "shortest"_a = false,
          "costs"_a = nb::none(), "timeout"_a = nb::none(), "memory"_a = default_memory)
      .def(
          "complete_reason",
          [](const Graph& graph, Array<std::int32_t> states, Keeps keeps, Frozen frozen) {
            const Question question = make_question(graph, states, keeps, frozen);
            Budget budget = make_budget();
            FlatNnf made = without_gil([&] { return complete_reason(graph, question, budget); });
            return to_arrays(std::move(made));
          },
          "states"_a, nb::kw_only(), "keeps"_a = nb::none(), "frozen"_a = nb::none())
      .def(
          "shortest_length",
          [](const Graph& graph, Array<std::int32_t> states, Keeps keeps, Frozen frozen, Costs costs) {
            const Question question = make_question(graph, states, keeps, frozen);
            const std::int64_t* prices = checked_costs(costs, graph.variable_count());
            Budget budget = make_budget();
            const std::int64_t length = without_gil([&] {
              GraphScratch scratch;
              return shortest_length(graph, question, prices, scratch, budget);
            });
            return length == no_clause ? std::optional<std::int64_t>() : length;
          },
          "states"_a, nb::kw_only(), "keeps"_a = nb::none(), "frozen"_a = nb::none(), "costs"_a = nb::none())
      .def(
          "escape",
          [](const Graph& graph, Array<std::int32_t> states, Array<std::uint8_t> keeps, Array<std::int32_t> bounded,
             Array<std::int64_t> start, Array<std::int32_t> low, Array<std::int32_t> high) {
            graph.check_states(span(states));
            const KeptClasses kept = checked_keeps(keeps, graph);
            const Question question(span(states), -1, kept, nullptr);
            const Box box{span(bounded), span(start), span(low), span(high)};
            check_box(box, graph.state_counts());
            Budget budget = make_budget();
            return without_gil([&] { return escape(graph, question, box, budget); });
          },
          "states"_a, "keeps"_a, "bounded"_a, "start"_a, "low"_a, "high"_a)
      .def(
          "within",
          [](const Graph& graph, Array<std::int32_t> bounded_variables, Array<std::int64_t> start,
             Array<std::int32_t> low, Array<std::int32_t> high) {
            const Box box{span(bounded_variables), span(start), span(low), span(high)};
            check_box(box, graph.state_counts());
            OwnArrays made = without_gil([&] { return bounded(graph, box); });
            return nb::make_tuple(to_numpy(std::move(made.variable)), to_numpy(std::move(made.klass)),
                                  to_numpy(std::move(made.edge_start)), to_numpy(std::move(made.child)),
                                  to_numpy(std::move(made.range_start)), to_numpy(std::move(made.range_low)),
                                  to_numpy(std::move(made.range_high)));
          },
          "bounded"_a, "start"_a, "low"_a, "high"_a)
      .def(
          "widen",
          [](const Graph& graph, Array<std::int32_t> states, const std::vector<std::int32_t>& members, bool necessary,
             Numbers numbers, Keeps keeps, Frozen frozen, bool certain, std::optional<std::int64_t> limit,
             std::optional<double> timeout, std::int64_t memory) {
            const Question question = make_question(graph, states, keeps, frozen);
            if (question.decision < 0) throw std::invalid_argument("no edge takes the instance, so it has no class");
            check_members(graph, question, members);
            if (limit && *limit < 1) throw nb::value_error("limit is less than 1");
            const std::size_t most = limit ? static_cast<std::size_t>(*limit) : SIZE_MAX;
            const std::int32_t* numeric = checked_numbers(numbers, graph);
            Budget budget = make_budget(timeout, memory);
            Ranges boxes;
            without_gil([&] {
              if (necessary)
                Changes().run(graph, question, members, numeric, certain, most, boxes, budget);
              else
                Widening().run(graph, question, members, numeric, most, boxes, budget);
            });
            return nb::make_tuple(to_numpy(std::move(boxes.start)), to_numpy(std::move(boxes.low)),
                                  to_numpy(std::move(boxes.high)));
          },
          "states"_a, "members"_a, nb::kw_only(), "necessary"_a, "numbers"_a = nb::none(), "keeps"_a = nb::none(),
          "frozen"_a = nb::none(), "certain"_a = false, "limit"_a = nb::none(), "timeout"_a = nb::none(),
          "memory"_a = default_memory)
      .def(
          "batch",
          [](const Graph& graph, Rows states, Keeps keeps, Frozen frozen, Costs costs, std::int64_t limit,
             bool shortest, bool wants_necessary, bool wants_sufficient, bool count_necessary, bool count_sufficient,
             bool general, Numbers numbers, unsigned threads, std::optional<double> timeout_per_row,
             std::int64_t memory) {
            const auto rows = checked_rows(graph, states);
            if (limit < 0) throw nb::value_error("limit is negative");
            if (memory < 0) throw nb::value_error("memory is negative");
            if (timeout_per_row && !(*timeout_per_row >= 0))
              throw nb::value_error("timeout_per_row is negative or not a number");
            BatchOptions options;
            options.keeps = checked_keeps(keeps, graph);
            options.frozen = checked_frozen(frozen, graph.variable_count());
            options.costs = checked_costs(costs, graph.variable_count());
            options.limit = static_cast<std::size_t>(limit);
            options.shortest = shortest;
            options.necessary = wants_necessary;
            options.sufficient = wants_sufficient;
            options.count_necessary = count_necessary;
            options.count_sufficient = count_sufficient;
            options.general = general;
            options.numbers = checked_numbers(numbers, graph);
            options.threads = std::clamp(threads, 1u, 256u);
            options.timeout_per_row = timeout_per_row.value_or(Budget::no_timeout);
            options.memory = static_cast<std::size_t>(memory);
            Regions regions;
            auto chunks = without_gil(
                [&] { return explain_rows(graph, rows, states.shape(0), options, regions, look_for_signals); });
            std::vector<std::int32_t> decision;
            for (const BatchColumns& chunk : chunks)
              decision.insert(decision.end(), chunk.decision.begin(), chunk.decision.end());
            nb::dict result;
            result["decision"] = to_numpy(std::move(decision));
            if (general) result["regions"] = to_python(regions.take());
            const auto put = [&](const char* name, ReasonColumns BatchColumns::* kind) {
              result[name] = general ? join_general(chunks, kind, regions) : join(chunks, kind);
            };
            if (wants_necessary) put("necessary", &BatchColumns::necessary);
            if (wants_sufficient) put("sufficient", &BatchColumns::sufficient);
            if (count_necessary) result["count_necessary"] = join(chunks, &BatchColumns::count_necessary);
            if (count_sufficient) result["count_sufficient"] = join(chunks, &BatchColumns::count_sufficient);
            return result;
          },
          "states"_a, nb::kw_only(), "keeps"_a = nb::none(), "frozen"_a = nb::none(), "costs"_a = nb::none(),
          "limit"_a = 10, "shortest"_a = true, "necessary"_a = true, "sufficient"_a = true, "count_necessary"_a = false,
          "count_sufficient"_a = false, "general"_a = false, "numbers"_a = nb::none(), "threads"_a = 2,
          "timeout_per_row"_a = nb::none(), "memory"_a = default_memory);
}

}  // namespace quia
