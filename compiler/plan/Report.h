// A plan as JSON, and as people read it.
#pragma once

#include "compiler/explanation/Decision.h"
#include "compiler/plan/Trial.h"
#include "lib/plan/HiddenSearch.h"

namespace tessera::planning {

constexpr char kSearch[] = "search"; // the kind of what no name is known for

// Where communication hides behind computing, and what no plan on the mesh is below then; 0: not known.
struct Hiding {
  plan::HiddenTime time;
  double bound = 0;
};

// A way to shard the program, compiled.
struct Candidate {
  std::string kind; // "data", "tensor", ..
  const OnMesh *onMesh = nullptr;
  plan::Assignment folded;            // of the program with equal layers as one
  double seconds = 0, lowerBound = 0; // as the search counts; 0: no bound is known
  double bytes = 0;                   // that a device holds at its peak, as the search counts
  double given = 0;                   // of that, what the program is given and gives back
  double again = 0;                   // of `seconds`: copies that are brought again so that it fits
  double computing = 0, leastComputing = 0; // of `seconds`; of any plan on the mesh
  // Seconds where communication hides behind launches, and where behind half of them: what takes least of the
  // one, then of the other, is compiled first.
  double likely = 0, cautious = 0;
  double wary = 0; // where some of what could hide is waited for
  // Where communication hides behind computing, as the search ranks plans; and where what is read first is
  // waited for, too, as far as nothing is computed beside it.
  Hiding hiding, waiting;
  bool isFound = false, isTried = false; // by the search; by compiling it
  double leastOverhead = 0;              // of all plans that were compiled
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

// What no plan on the mesh is below, and what the plan takes in the same terms: all that the search counts;
// what it counts where communication hides behind computing; or its computing and what the compiled program
// waits for beside, where nothing computes in less than the bound. None where none says anything.
struct Proof {
  enum Of { All, Hiding, Computing } of = All;
  double seconds = 0, lowerBound = 0;
  double gap() const { return std::max(0.0, 1 - lowerBound / seconds); }
};
std::optional<Proof> proofOf(const Candidate &candidate);

} // namespace tessera::planning
