#include "lib/plan/States.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

std::vector<State> statesOf(const Program &program) {
  llvm::DenseMap<int32_t, int32_t> ofResult;
  for (auto [v, facts] : llvm::enumerate(program.values))
    if (facts.result >= 0)
      ofResult[facts.result] = int32_t(v);
  std::vector<State> states;
  const std::vector<sharding::PropagatedValue> &values = program.graph.values;
  for (auto [v, facts] : llvm::enumerate(program.values)) {
    auto given = facts.donatedTo < 0 ? ofResult.end() : ofResult.find(facts.donatedTo);
    if (given != ofResult.end() && values[given->second].shape == values[v].shape)
      states.push_back({int32_t(v), given->second});
  }
  return states;
}

} // namespace tessera::plan
