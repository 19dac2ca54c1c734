#include "lib/plan/Memory.h"

#include "lib/sharding/CrossingRows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>

namespace tessera::plan {

llvm::SmallVector<Lifetime, 1> lifetimes(const ValueFacts &facts) {
  llvm::SmallVector<Lifetime, 1> all;
  if (facts.stored)
    all.push_back(facts);
  for (const Lifetime &other : facts.others)
    if (other.stored)
      all.push_back(other);
  return all;
}

double heldBytes(const Program &program, int32_t value, const sharding::TensorSharding &sharding) {
  const sharding::PropagatedValue &it = program.graph.values[value];
  if (it.free)
    return 0;
  return sharding::localBytes(it.shape, it.elementBytes, sharding);
}

// Donated arrays are taken by results. `bytesOf`: of a value.
static double givenBytes(const Program &program, llvm::function_ref<double(int32_t)> bytesOf) {
  double given = 0, donated = 0, results = 0;
  for (auto [v, facts] : llvm::enumerate(program.values)) {
    double bytes = double(1 + facts.others.size()) * bytesOf(int32_t(v)); // with what is folded
    if (facts.argument >= 0) {
      given += bytes;
      donated += facts.donated ? bytes : 0;
    }
    if (facts.result >= 0)
      results += bytes;
  }
  return given + std::max(0.0, results - donated);
}

double givenBytes(const Program &program, const Assignment &assignment) {
  return givenBytes(program, [&](int32_t v) { return heldBytes(program, v, assignment[v]); });
}

double leastGivenBytes(const Program &program, int64_t devices) {
  return givenBytes(program,
                    [&](int32_t v) {
                      const sharding::PropagatedValue &value = program.graph.values[v];
                      auto whole = sharding::TensorSharding::replicatedOver(value.shape.size());
                      return sharding::localBytes(value.shape, value.elementBytes, whole);
                    }) /
         double(devices);
}

void HeldOver::add(const Held &held) {
  change.resize(std::max<size_t>(change.size(), held.last + 2));
  change[held.first] += held.bytes;
  change[held.last + 1] -= held.bytes;
}

void HeldOver::addValues(const Program &program, const Assignment &assignment) {
  for (size_t v = 0; v < assignment.size(); ++v) {
    double bytes = heldBytes(program, int32_t(v), assignment[v]);
    for (const Lifetime &held : lifetimes(program.values[v]))
      add({held.first, held.last, bytes});
  }
}

double HeldOver::peakBytes() const {
  double held = 0, peak = 0;
  for (double bytes : change)
    peak = std::max(peak, held += bytes);
  return peak;
}

double peakBytes(const Program &program, const Assignment &assignment) {
  HeldOver held;
  held.addValues(program, assignment);
  return held.peakBytes();
}

} // namespace tessera::plan
