// Small programs drawn by a seed, and what the best of all their assignments takes.
#pragma once

#include "EinsumProgram.h"
#include "lib/plan/AssignmentPrices.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <limits>
#include <random>

namespace tessera::plan {

// Programs of a few products and sums, in which several ops read one value, some of them in loops.
inline EinsumProgram randomProgram(std::mt19937 &random, int ops) {
  auto below = [&](size_t end) { return random() % end; };
  constexpr int64_t kSize = 256;
  EinsumProgram of;
  std::vector<int32_t> values{of.argument({kSize, kSize}), of.argument({kSize, kSize})};
  int32_t shared = values[below(values.size())]; // read by all
  for (int op = 0; op < ops; ++op) {
    int32_t other = values[below(values.size())];
    switch (below(4)) {
    case 0:
      values.push_back(of.einsum("mk,kn->mn", {shared, other}));
      break;
    case 1:
      values.push_back(of.einsum("mk,nk->mn", {other, shared}));
      break;
    case 2:
      values.push_back(of.einsum("mk->km", {shared}));
      break;
    default:
      values.push_back(of.pointwise({other, shared}));
    }
    OpFacts &facts = of.program.ops.back();
    size_t operands = of.program.graph.ops.back().operands.size();
    facts.times = double(1 + 2 * below(2));
    facts.operandTimes.clear();
    for (size_t i = 0; i < operands; ++i)
      facts.operandTimes.push_back(below(2) ? facts.times : 1);
    facts.reads.assign(operands, 1);
    facts.writes.assign(1, 1);
  }
  return of;
}

// The least of all assignments of candidates there are.
inline double leastOf(const MeshTables &tables,
                      llvm::function_ref<double(const Assignment &)> secondsOf) {
  std::vector<size_t> at(tables.listOf.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  while (true) {
    Assignment assignment;
    for (size_t v = 0; v < at.size(); ++v)
      assignment.push_back(tables.lists[tables.listOf[v]][at[v]]);
    least = std::min(least, secondsOf(assignment));
    size_t v = 0;
    while (v < at.size() && ++at[v] == tables.lists[tables.listOf[v]].size())
      at[v++] = 0;
    if (v == at.size())
      return least;
  }
}

} // namespace tessera::plan
