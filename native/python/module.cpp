// The module quia._kernel.
#include "common.hpp"

NB_MODULE(_kernel, module) {
  nanobind::exception<quia::OverBudget>(module, "OverBudget", PyExc_RuntimeError);
  quia::bind_graph(module);
  quia::bind_nnf(module);
  quia::bind_family(module);
  quia::bind_ensemble(module);
  quia::bind_threshold(module);
  quia::bind_chain(module);
  quia::bind_separators(module);
}
