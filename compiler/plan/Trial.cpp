#include "compiler/plan/Trial.h"

#include "compiler/ExplainMemory.h"
#include "compiler/Phases.h"
#include "compiler/mends/Change.h"
#include "compiler/plan/Search.h"
#include "compiler/source/Diagnostics.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Beside.h"
#include "lib/plan/Layouts.h"
#include "lib/process/OutOfMemory.h"
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/Passes.h"
#include "passes/package/StepWork.h"
#include "passes/propagate/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/xxhash.h"

namespace tessera::planning {

using namespace mlir;

static func::FuncOp mainOf(const Source &source) {
  return source.imported.get().lookupSymbol<func::FuncOp>("main");
}

void Source::findWhatIsBeside(int64_t devices) {
  plan::findSecondsBeside(program->program, devices, topology);
}

OnMesh::OnMesh(const Source &source, const sharding::Mesh &mesh)
    : source(source), mesh(mesh), ways(source.plain(), mainOf(source), this->mesh, source.topology),
      foldedWays(source.folded.program, mainOf(source), this->mesh, source.topology) {}

std::vector<Annotation> OnMesh::annotationsFor(const plan::Assignment &planned,
                                               ArrayRef<int32_t> also, bool fewest) const {
  bool isFolded = folded().ops.size() < program().ops.size();
  plan::DecisivePlaces decisive =
      fewest && isFolded ? plan::decisivePlacesOf(program().graph, planned, source.places.places,
                                                  ways.all(), also, source.folded, foldedWays.all())
                         : plan::decisivePlaces(program().graph, unfolded(planned),
                                                source.places.places, ways.all(), also, fewest);
  std::vector<Annotation> annotations;
  for (int32_t number : decisive.places) {
    const plan::AnnotationPlace &place = source.places.places[number];
    annotations.push_back({place.kind, source.places.spots[number],
                           plan::closed(unfolded(planned)[place.values.front()])});
  }
  return annotations;
}

bool OnMesh::havePlaces(ArrayRef<int32_t> values, ArrayRef<Annotation> but) const {
  llvm::DenseSet<int32_t> meant; // by what stands for them: equal layers are annotated together
  for (int32_t value : values)
    meant.insert(source.folded.valueOf[value]);
  auto isMeant = [&](int32_t value) { return meant.contains(source.folded.valueOf[value]); };
  for (auto [place, spot] : llvm::zip_equal(source.places.places, source.places.spots))
    if (llvm::any_of(place.values, isMeant) &&
        llvm::none_of(but, [kind = place.kind, &spot](const Annotation &each) {
          return each.kind == kind && each.spot == spot;
        }))
      return true;
  return false;
}

std::vector<int32_t> OnMesh::othersIn(const ModuleGraph &now,
                                      const plan::Assignment &planned) const {
  std::vector<int32_t> others;
  plan::Planned whole = unfolded(planned);
  auto valueAt = [&](int32_t value) { return now.valueAt(value); };
  for (const auto &[key, value] : knownValues(now.graph, valueAt))
    if (auto it = source.known.find(key); it != source.known.end())
      if (!plan::liesAlike(now.graph.values[value].sharding, whole[it->second]))
        others.push_back(it->second);
  return others;
}

namespace {

using AddPasses = llvm::function_ref<void(OpPassManager &)>;

bool runPasses(ModuleOp module, AddPasses add) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // the phases verify themselves
  add(passes);
  return succeeded(passes.run(module));
}

// Phases behind one and before another.
void addPhasesBetween(StringRef first, StringRef last, OpPassManager &passes) {
  bool isBetween = false;
  for (const Phase &phase : phases()) {
    isBetween &= phase.name != last;
    if (isBetween)
      phase.build(passes);
    isBetween |= phase.name == first;
  }
}

// Whether a program with buffers fits into what there is. It is changed for that.
bool fits(ModuleOp module, int64_t bytes) {
  codegen::KernelScratch scratch;
  FailureOr<MemoryFigures> figures = fuse::figuresWithScratch(module, scratch);
  return succeeded(figures) && figures->total() <= bytes;
}

uint64_t hashOf(const sharding::PropagationGraph &graph) {
  std::string key;
  for (const sharding::PropagatedValue &value : graph.values)
    sharding::appendKey(key, value.sharding);
  return llvm::xxh3_64bits(key);
}

// One plan on its way: into the author's program, and with it down the road.
class Trial {
public:
  Trial(const Source &source, ModuleOp read, const OnMesh &onMesh)
      : source(source), read(read), onMesh(onMesh),
        quiet(read.getContext(), [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && tried.error.empty())
            tried.error = oneLine(diagnostic.str());
          return success();
        }) {}

  // Writes the plan down, as annotations that propagation makes it of.
  bool annotate(const plan::Assignment &planned, bool fewest);
  // What a step takes.
  void goRoad(bool triesLeast);
  // What fits only if much is tried, some fifty programs, is none: of a program that is not short.
  bool triesFew = false;

  Tried tried;

private:
  bool run(AddPasses add) {
    bool ran = runPasses(*trial, add);
    if (!ran && tried.error.empty())
      tried.error = "a phase failed and did not say why: a mistake in Tessera";
    return ran;
  }
  void predict();

  const Source &source;
  ModuleOp read;
  const OnMesh &onMesh;
  ScopedDiagnosticHandler quiet;
  OwningOpRef<ModuleOp> trial;
};

bool Trial::annotate(const plan::Assignment &planned, bool fewest) {
  constexpr int kRounds = 3; // in which what lies otherwise is annotated, too
  tried.isFewest = fewest;
  std::vector<int32_t> others;
  for (int round = 0; round < kRounds; ++round) {
    size_t annotations = tried.annotations.size();
    tried.hasPlaces = !round || onMesh.havePlaces(others, tried.annotations);
    if (tried.hasPlaces)
      tried.annotations = onMesh.annotationsFor(planned, others, fewest);
    tried.hasPlaces &= !round || tried.annotations.size() > annotations;
    if (!tried.hasPlaces)
      break;
    tried.annotated = read.clone();
    planning::annotate(*tried.annotated, onMesh.getMesh(), tried.annotations);
    trial = tried.annotated->clone();
    if (!run([&](OpPassManager &passes) {
          if (!source.isImported)
            findPhase("import")->build(passes);
          findPhase("propagate")->build(passes);
        }))
      return false;
    ModuleGraph graph(*trial);
    std::vector<int32_t> now = onMesh.othersIn(graph, planned);
    tried.others = now.size();
    tried.lies = hashOf(graph.graph);
    if (now.empty())
      break;
    others.insert(others.end(), now.begin(), now.end());
  }
  return true;
}

void Trial::predict() {
  ModulePrediction predicted = predictModule(*trial);
  tried.time = predicted.time;
  tried.peakBytes = predicted.memory.total();
  tried.givenBytes = predicted.memory.arguments + predicted.memory.outputs;
  for (auto program : trial->getOps<exec::ProgramOp>())
    tried.atPeak = memoryOf(program).atPeak;
}

void Trial::goRoad(bool triesLeast) {
  auto toBuffers = [](OpPassManager &passes) {
    buildAfterRematerialize(passes);
    addPhasesBetween("fuse", "codegen", passes);
  };
  if (!run([&](OpPassManager &passes) {
        addPhasesBetween("propagate", "fuse", passes);
        buildBeforeRematerialize(passes);
      }))
    return;
  // Most plans fit with nothing computed again: whether this one does is seen when it has buffers.
  std::optional<int64_t> asked = scheduleOf(*trial).memory;
  OwningOpRef<ModuleOp> unformed = asked ? trial->clone() : nullptr;
  if (!run(toBuffers))
    return;
  predict();
  if (!asked || fits(*trial, *asked))
    return;
  trial = std::move(unformed);
  tried.computesAgain = true;
  if (run([&](OpPassManager &passes) {
        passes.addPass(createRematerialize({triesLeast, triesFew}));
        toBuffers(passes);
      }))
    predict();
  else if (int64_t needed = scheduleOf(*trial).memory.value_or(0); needed > *asked)
    tried.leastBytes = needed;
  else
    tried.isTooLarge = !triesLeast;
}

} // namespace

Tried tryPlan(const Source &source, ModuleOp read, const OnMesh &onMesh,
              const plan::Assignment &planned, const TrialWishes &wishes) {
  Trial trial(source, read, onMesh);
  trial.triesFew = sparesTrials(source) && !wishes.triesAll;
  if (!trial.annotate(planned, wishes.fewest))
    return std::move(trial.tried);
  auto goRoad = [&] { trial.goRoad(wishes.triesLeast); };
  if (wishes.beside)
    runBoth(goRoad, wishes.beside(trial.tried.annotations));
  else
    goRoad();
  return std::move(trial.tried);
}

Tried tryFewest(const Source &source, const OnMesh &onMesh, const plan::Assignment &planned,
                const Tried &before) {
  Trial trial(source, source.read.get(), onMesh);
  Tried &tried = trial.tried;
  if (!trial.annotate(planned, /*fewest=*/true))
    return std::move(tried);
  if (before.error.empty() && before.lies == tried.lies) {
    tried.time = before.time;
    tried.computesAgain = before.computesAgain;
    tried.peakBytes = before.peakBytes;
    tried.givenBytes = before.givenBytes;
    tried.atPeak = before.atPeak;
  } else {
    trial.goRoad(/*triesLeast=*/false);
  }
  return std::move(tried);
}

} // namespace tessera::planning
