// A search for the best assignment on one mesh, in rounds: the graph is solved with what readers pay for
// copies now; what that says is priced as an assignment; who used copies and paid too little for them pays
// more in the next round. Each solution's bound holds for all assignments, whoever pays.
#pragma once

#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/CopyAscent.h"
#include "lib/solver/Solve.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>

namespace tessera::plan {

struct RoundLimits {
  int effort = 3;       // of the first solution
  int64_t most = 0;     // rounds after the first
  double proven = 7e-3; // a proof that is good enough
  // Rounds after the first take as much effort, go on though some gain nothing, and end with a solution
  // that is close to the least of its graph.
  bool isThorough = false;
};

// The best of the assignments that were looked at.
struct BestFound {
  Assignment values;                 // empty: none
  double seconds = 0, peakBytes = 0; // with copies brought again, where that makes it fit
  double lowerBound = 0;             // that no assignment is below
  bool fits = false;                 // into the memory
  bool isImpossible = false;         // no assignment is left that fits
  Uses uses;
};

class Rounds {
public:
  // `prices` is kept by reference. `capacity`: bytes that a device has; 0: any.
  Rounds(AssignmentPrices &prices, int64_t capacity);

  // The seconds of an assignment, which becomes the best if it is, and takes no more than `most`.
  double consider(Assignment values, BestFound &best, double most = kImpossible);

  // Readers pay for copies as these used them: the sum of the graph is then what that takes, and below
  // what any other does.
  void share(const Uses &uses);

  // Makes the best better, and raises its bound.
  void run(const RoundLimits &limits, BestFound &best);

  // Leaves out candidates of these values until allowAll. False where a value has none left, or none of
  // them has any.
  using IsOut = llvm::function_ref<bool(int32_t value, const sharding::TensorSharding &)>;
  bool leaveOut(llvm::ArrayRef<int32_t> values, IsOut isOut);
  void allowAll();

  const Formulation &getProblem() const { return *problem; }
  // Of the graph's matrices, and one: what a round goes through.
  int64_t entries() const { return solver::entriesOf(problem->graph) + 1; }

private:
  struct Left {
    std::vector<bool> isOut;
    std::vector<double> costs; // of all candidates
  };
  void build();
  void leaveOut(int32_t vertex, Left &left);
  bool raise(std::optional<CopyAscent> &ascent, const RoundLimits &limits, BestFound &best);
  solver::Solution solveWithout(const std::optional<CopyAscent> &ascent,
                                const solver::Options &options);

  AssignmentPrices &prices;
  int64_t capacity;
  SharedCopies copies;
  std::optional<Formulation> problem; // none before readers know what to pay
  std::map<int32_t, Left> left;       // by vertex, where some candidates are left out
};

} // namespace tessera::plan
