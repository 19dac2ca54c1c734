#include "lib/plan/Together.h"

#include "lib/plan/OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include <map>

namespace tessera::plan {

void findTogether(Program &program) {
  std::vector<int32_t> before(program.values.size(), 0); // sums on the longest way to a value
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> groups; // by block and that
  for (auto [index, op] : llvm::enumerate(program.graph.ops)) {
    const OpFacts &facts = program.ops[index];
    int32_t most = 0;
    for (int32_t v : readsOf(program, int32_t(index)))
      most = std::max(most, before[v]);
    bool sums = !facts.moves && op.viewed < 0 && reduces(program.graph.rules[op.rule]);
    for (int32_t v : op.results) {
      bool isSum = sums && program.graph.values[v].shape.empty();
      if (isSum)
        groups[{facts.block, most}].push_back(v);
      before[v] = std::max(before[v], most + isSum);
    }
  }
  for (const auto &[key, values] : groups)
    for (int32_t v : values)
      program.values[v].together = double(values.size());
}

} // namespace tessera::plan
