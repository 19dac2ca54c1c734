// A plan as JSON, and as people read it.
#pragma once

#include "compiler/PlanTrial.h"
#include "compiler/explain/Decision.h"

namespace tessera::planning {

constexpr char kSearch[] = "search"; // the kind of what no name is known for

// A way to shard the program, compiled.
struct Candidate {
  std::string kind; // "data", "tensor", ..
  const OnMesh *onMesh = nullptr;
  plan::Assignment folded, values;       // `values`: of the whole program, once it is tried
  double seconds = 0, lowerBound = 0;    // as the search counts; 0: no bound is known
  bool isFound = false, isTried = false; // by the search; by compiling it
  Tried tried;
};

struct Planned {
  const Candidate *best = nullptr;
  std::vector<const Candidate *> others; // of other kinds, the quickest of each
  std::vector<explain::Decision> decisions;
  std::string name; // of the program
  double searchSeconds = 0;
};

std::string planJson(const Planned &planned, mlir::ModuleOp read);
// With `all`: every decision, not only the ten that matter most.
std::string planText(const Planned &planned, mlir::ModuleOp read, bool all);

// "the result of dot_general at model.py:7 in layer".
std::string constraintText(mlir::Operation *op);

// How far the plan may be from the best, as the search counts; none where it gives no bound.
std::optional<double> gapOf(const Candidate &candidate);

} // namespace tessera::planning
