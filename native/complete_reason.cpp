#include "complete_reason.hpp"

namespace quia {

FlatNnf complete_reason(const Graph& graph, const Question& question, Budget& budget) {
  NnfBuilder builder(graph.variable_count(), graph.node_count());
  std::vector<std::int32_t> gamma(graph.node_count());
  std::vector<std::int32_t> parts;
  for (std::int32_t node = 0; node <= graph.root(); ++node) {
    budget.step();
    const std::int32_t variable = graph.variable(node);
    if (variable < 0) {
      gamma[node] = graph.is_wrong(node, question) ? NnfBuilder::no : NnfBuilder::yes;
      continue;
    }
    const auto out = graph.edges(node);
    const std::int32_t taken = graph.taken(node, question.states[variable]);
    // Where no edge takes the instance, the path here has left its state already and says so above.
    const std::int32_t other = taken < 0                      ? NnfBuilder::no
                               : question.is_frozen(variable) ? NnfBuilder::yes
                                                              : builder.literal(variable);
    parts.clear();
    for (std::size_t j = 0; j < out.size(); ++j) {
      const std::int32_t below = gamma[out[j].child];
      parts.push_back(static_cast<std::int32_t>(j) == taken ? below : builder.either(other, below));
    }
    gamma[node] = builder.all(parts);
  }
  return builder.flat(gamma[graph.root()]);
}

}  // namespace quia
