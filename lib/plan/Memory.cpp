#include "lib/plan/Memory.h"

#include "lib/sharding/CrossingRows.h"
#include <algorithm>

namespace tessera::plan {

double heldBytes(const Program &program, int32_t value, const sharding::TensorSharding &sharding) {
  const sharding::PropagatedValue &it = program.graph.values[value];
  if (it.free || !program.values[value].stored)
    return 0;
  return sharding::localBytes(it.shape, it.elementBytes, sharding);
}

double peakBytes(const Program &program, const Assignment &assignment) {
  std::vector<double> change(program.graph.ops.size() + 2, 0);
  for (size_t v = 0; v < assignment.size(); ++v) {
    const ValueFacts &facts = program.values[v];
    double bytes = heldBytes(program, int32_t(v), assignment[v]);
    change[facts.first] += bytes;
    change[facts.last + 1] -= bytes;
  }
  double held = 0, peak = 0;
  for (double bytes : change)
    peak = std::max(peak, held += bytes);
  return peak;
}

} // namespace tessera::plan
