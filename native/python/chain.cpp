// Chain: a network along an order of its features, compiled into an ordered decision graph.
#include "../chain.hpp"

#include "../sifting.hpp"
#include "../sub_classifiers.hpp"
#include "common.hpp"

#include <limits>

namespace quia {

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object states_of(std::span<const std::int32_t> states) {
  return to_numpy(std::vector<std::int32_t>(states.begin(), states.end()));
}

// The level of each node, where its children start, and they; the root.
nb::tuple to_arrays(const OrderedGraph& graph, OrderedGraph::Id root) {
  std::vector<std::int32_t> level, child;
  std::vector<std::int64_t> start{0};
  for (std::size_t id = 0; id < graph.size(); ++id) {
    level.push_back(graph.level(static_cast<OrderedGraph::Id>(id)));
    const auto children = graph.children(static_cast<OrderedGraph::Id>(id));
    child.insert(child.end(), children.begin(), children.end());
    start.push_back(static_cast<std::int64_t>(child.size()));
  }
  return nb::make_tuple(to_numpy(std::move(level)), to_numpy(std::move(start)), to_numpy(std::move(child)), root);
}

OrderedGraph checked(const Array<std::int32_t>& state_counts, std::int32_t classes, const Array<std::int32_t>& level,
                     const Array<std::int64_t>& start, const Array<std::int32_t>& child) {
  if (classes < 1 || level.size() < static_cast<std::size_t>(classes) || start.size() != level.size() + 1 ||
      start.data()[0] != 0 || start.data()[level.size()] != static_cast<std::int64_t>(child.size()))
    throw nb::value_error("the graph has arrays whose lengths do not fit together");
  for (const std::int32_t count : span(state_counts))
    if (count < 1) throw nb::value_error("the graph has a level without a state");
  const auto levels = static_cast<std::int32_t>(state_counts.size());
  OrderedGraph graph({state_counts.data(), state_counts.data() + levels}, classes, level.size());
  for (std::size_t id = 0; id < level.size(); ++id) {
    const std::int32_t here = level.data()[id];
    const std::int64_t begin = start.data()[id], end = start.data()[id + 1];
    const bool is_leaf = id < static_cast<std::size_t>(classes);
    if (here < 0 || here > levels || is_leaf != (here == levels) ||
        end - begin != (is_leaf ? 0 : state_counts.data()[here]))
      throw nb::value_error("the graph has a node whose level or number of children is wrong");
    for (std::int64_t edge = begin; edge < end; ++edge) {
      const std::int32_t below = child.data()[edge];
      if (below < 0 || static_cast<std::size_t>(below) >= id || level.data()[below] <= here)
        throw nb::value_error("the graph has a child that does not come before its parent, at a later level");
    }
    if (!is_leaf && graph.make(here, child.data() + begin) != static_cast<OrderedGraph::Id>(id))
      throw nb::value_error("the graph is not reduced");
  }
  return graph;
}

}  // namespace

void bind_chain(nb::module_& module) {
  nb::exception<TooFarApart>(module, "TooFarApart", PyExc_RuntimeError);
  nb::class_<Chain>(module, "Chain")
      .def(
          "__init__",
          [](Chain* self, Array<std::int32_t> state_counts, Array<std::int32_t> widths, Array<std::int64_t> start,
             Array<std::int32_t> from, Array<std::int32_t> to, Matrix values, Array<double> weights,
             Array<double> errors) {
            if (values.shape(1) != weights.size()) throw nb::value_error("values has not a column for each class");
            new (self) Chain({span(state_counts),
                              span(widths),
                              span(start),
                              span(from),
                              span(to),
                              {values.data(), values.size()},
                              span(weights),
                              span(errors)});
          },
          "state_counts"_a, "widths"_a, "start"_a, "from_"_a, "to"_a, "values"_a, "weights"_a, "errors"_a)
      .def(
          "compile",
          [](const Chain& chain, Array<std::int32_t> ranks, nb::callable decide, nb::callable same,
             std::int64_t most_nodes, std::optional<std::int64_t> most_work, std::optional<double> timeout,
             std::int64_t memory) {
            if (ranks.size() != static_cast<std::size_t>(chain.class_count()))
              throw nb::value_error("there is not one rank for each class");
            if (most_nodes < 0) throw nb::value_error("most_nodes is negative");
            if (most_work && *most_work < 0) throw nb::value_error("most_work is negative");
            const Most most{static_cast<std::size_t>(most_nodes),
                            most_work ? static_cast<std::size_t>(*most_work) : std::numeric_limits<std::size_t>::max()};
            const ExactAnswers exact{[&](std::span<const std::int32_t> first, std::span<const std::int32_t> rest) {
                                       nb::gil_scoped_acquire gil;
                                       const auto given =
                                           nb::cast<std::int32_t>(decide(states_of(first), states_of(rest)));
                                       if (given < 0 || given >= chain.class_count())
                                         throw nb::value_error("decide gave no class");
                                       return given;
                                     },
                                     [&](std::span<const std::int32_t> first, std::span<const std::int32_t> second) {
                                       nb::gil_scoped_acquire gil;
                                       return nb::cast<bool>(same(states_of(first), states_of(second)));
                                     }};
            Budget budget = make_budget(timeout, memory);
            const SubClassifiers made = without_gil([&] { return compile(chain, span(ranks), exact, most, budget); });
            return nb::make_tuple(to_arrays(made.graph, made.root), made.has_impossible, made.messages, made.recognised,
                                  made.exact);
          },
          "ranks"_a, "decide"_a, "same"_a, nb::kw_only(), "most_nodes"_a, "most_work"_a = nb::none(),
          "timeout"_a = nb::none(), "memory"_a = default_memory);
  module.def(
      "sift",
      [](const Array<std::int32_t>& state_counts, std::int32_t classes, const Array<std::int32_t>& level,
         const Array<std::int64_t>& start, const Array<std::int32_t>& child, std::int32_t root, std::int64_t most_work,
         std::optional<double> timeout, std::int64_t memory) {
        const OrderedGraph graph = checked(state_counts, classes, level, start, child);
        if (root < 0 || static_cast<std::size_t>(root) >= graph.size()) throw nb::value_error("there is no such root");
        if (most_work < 0) throw nb::value_error("most_work is negative");
        Budget budget = make_budget(timeout, memory);
        Sifted made = without_gil([&] { return sift(graph, root, static_cast<std::size_t>(most_work), budget); });
        return nb::make_tuple(to_arrays(made.graph, made.root), to_numpy(std::move(made.order)));
      },
      "state_counts"_a, "classes"_a, "level"_a, "start"_a, "child"_a, "root"_a, nb::kw_only(), "most_work"_a,
      "timeout"_a = nb::none(), "memory"_a = default_memory);
}

}  // namespace quia
