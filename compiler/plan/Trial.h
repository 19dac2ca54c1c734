// A plan of one mesh, found and tried: its annotations in the author's program, and what a step of that
// program costs when it has gone the road.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "compiler/plan/Places.h"
#include "lib/cost/StepTime.h"
#include "lib/plan/Folded.h"
#include "passes/plan/PropagationWays.h"

#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace tessera::planning {

// A program to be planned: as it was read and numbered, and as import leaves it.
struct Source {
  mlir::OwningOpRef<mlir::ModuleOp> read, imported;
  bool isImported = false; // `read` is what import left: its author's annotations are GSPMD's
  bool isAnnotated = false;
  cost::Topology topology;
  std::unique_ptr<PlanProgram> program; // of `imported`
  plan::Folded folded;
  KnownValues known;
  Places places;

  const plan::Program &plain() const { return program->program; }
  // Of each value what can be computed while it moves, before the program is folded.
  void findWhatIsBeside(int64_t devices);
};

// A mesh, and how propagation goes on it.
class OnMesh {
public:
  // `source` must outlive it.
  OnMesh(const Source &source, const sharding::Mesh &mesh);
  OnMesh(const OnMesh &) = delete;

  const sharding::Mesh &getMesh() const { return mesh; }
  const plan::Program &program() const { return source.plain(); }
  const plan::Program &folded() const { return source.folded.program; }
  const cost::Topology &topology() const { return source.topology; }
  // How the program's values lie by an assignment of the folded one.
  plan::Planned unfolded(const plan::Assignment &planned) const {
    return {planned, source.folded.valueOf};
  }

  // What is to be annotated for values to lie as planned for the folded program; `also`: values that must be.
  std::vector<Annotation> annotationsFor(const plan::Assignment &planned,
                                         llvm::ArrayRef<int32_t> also, bool fewest) const;

  // Whether one of these values, or what is folded with it, can be annotated where it is not yet.
  bool havePlaces(llvm::ArrayRef<int32_t> values, llvm::ArrayRef<Annotation> but) const;

  // Values that lie otherwise in an annotated program, behind propagation.
  std::vector<int32_t> othersIn(const ModuleGraph &propagated,
                                const plan::Assignment &planned) const;

private:
  const Source &source;
  sharding::Mesh mesh;
  PropagationWays ways, foldedWays;
};

struct Tried {
  mlir::OwningOpRef<mlir::ModuleOp> annotated; // the author's program
  std::vector<Annotation> annotations;
  cost::StepTime time;
  int64_t peakBytes = 0;
  int64_t givenBytes = 0;              // of that, arguments and results
  std::vector<explain::AtPeak> atPeak; // largest first
  size_t others = 0;                   // values that lie otherwise than planned
  bool hasPlaces = true;               // that could be annotated for those
  uint64_t lies = 0;                   // how all values lie behind propagation: a hash
  std::string error;                   // "" where it compiles; else what its compiler says
  bool computesAgain = false;          // some of its values, as they do not fit otherwise
  bool isFewest = false;               // its annotations are no more than are needed
  bool isTooLarge = false; // nothing was found that fits, nor the least that it needs tried
  int64_t leastBytes = 0;  // that it needs, where it does not fit
};

struct TrialWishes {
  // No more annotations than are needed, which takes longer to find out.
  bool fewest = false;
  // Where nothing is found that fits, as far down as it goes: what that needs, which at times fits. That
  // takes longest of all.
  bool triesLeast = false;
  bool triesAll = false; // to fit, however many programs that takes
  // Called when the plan is written down, with its annotations: what it returns, which must not look at
  // programs, goes on beside what is compiled.
  std::function<std::function<void()>(llvm::ArrayRef<Annotation>)> beside = nullptr;
};

// `read`: the program as it was read, the source's or the same in another context. `planned`: for the folded
// program.
Tried tryPlan(const Source &source, mlir::ModuleOp read, const OnMesh &onMesh,
              const plan::Assignment &planned, const TrialWishes &wishes);

// With the fewest annotations. Where all values lie as in `tried`, a step takes what it took there.
Tried tryFewest(const Source &source, const OnMesh &onMesh, const plan::Assignment &planned,
                const Tried &tried);

} // namespace tessera::planning
