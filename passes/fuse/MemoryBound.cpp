#include "passes/fuse/MemoryBound.h"

#include "passes/fuse/FormKernels.h"
#include "passes/fuse/RematCopies.h"
#include "passes/fuse/RematStacks.h"
#include "passes/memory/Passes.h"
#include "passes/order/Passes.h"
#include "passes/package/Figures.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>

using namespace mlir;

namespace tessera::fuse {
namespace {

constexpr int kFromStart = 3; // programs that are tried for a bound, each from the one as it is
constexpr int kFurther = 10;  // and from one that computes values again already

// What the phases up to memory make of a copy.
FailureOr<MemoryFigures> figuresOf(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(verify(*copy)) || failed(formKernels(*copy)))
    return failure();
  PassManager passes(module.getContext());
  buildOrderPipeline(passes);
  buildMemoryPipeline(passes);
  if (failed(passes.run(*copy)))
    return failure();
  auto programs = copy->getOps<exec::ProgramOp>();
  if (programs.empty())
    return failure();
  return memoryFigures(*programs.begin());
}

class Search {
public:
  explicit Search(ModuleOp module) : module(module) {}

  LogicalResult begin() {
    FailureOr<MemoryFigures> figures = figuresOf(module);
    if (failed(figures))
      return failure();
    held = figures->arguments + figures->outputs;
    whole.bytes = figures->total();
    return success();
  }

  // The module, with values computed again so that the arena takes `mostBytes` as estimated;
  // null where nothing is left that would lower it.
  FailureOr<RematChoice> lowered(ModuleOp from, int64_t mostBytes) {
    FailureOr<RematTrial> trial = tryKernels(from);
    if (failed(trial))
      return failure();
    Stacks(from).describe(*trial);
    return carriedOut(from, *trial, cost::planRemat(trial->program, mostBytes));
  }

  FailureOr<RematChoice> carriedOut(ModuleOp from, const RematTrial &trial,
                                    const cost::RematPlan &plan) {
    RematChoice choice;
    choice.seconds = plan.seconds;
    choice.peak = plan.peakBytes;
    if (plan.values.empty() && plan.stacks.empty())
      return choice;
    choice.module = from.clone();
    Stacks stacks(*choice.module);
    copyValues(*choice.module, trial, plan.values);
    stacks.drop(plan.stacks);
    FailureOr<MemoryFigures> figures = figuresOf(*choice.module);
    if (failed(figures))
      return failure();
    choice.bytes = figures->total();
    return choice;
  }

  // From the program as it is, with a target that follows what came of the one before; then
  // further from the best.
  FailureOr<RematChoice> aim(int64_t mostBytes) {
    RematChoice best;
    best.bytes = whole.bytes;
    int64_t wanted = std::max<int64_t>(0, mostBytes - held), target = wanted;
    for (int i = 0; i < kFromStart && best.bytes > mostBytes && target > 0; ++i) {
      FailureOr<RematChoice> next = lowered(module, target);
      if (failed(next))
        return failure();
      if (!next->module)
        break;
      target -= next->bytes - held - wanted + wanted / 50;
      bool isLowest = next->peak > target;
      if (next->bytes < best.bytes)
        best = std::move(*next);
      if (isLowest)
        break;
    }
    return descend(std::move(best), mostBytes);
  }

  // Further from a program that computes values again, until it fits or nothing lowers it: in small
  // steps, as kernels come out otherwise than before, then in larger ones.
  FailureOr<RematChoice> descend(RematChoice best, int64_t mostBytes) {
    for (int i = 0; i < kFurther && best.bytes > mostBytes; ++i) {
      int64_t arena = best.bytes - held, wanted = std::max<int64_t>(0, mostBytes - held);
      bool isLower = false;
      for (int64_t target : {arena - arena / 8, arena - arena / 4, int64_t(0)}) {
        FailureOr<RematChoice> next =
            lowered(best.module ? *best.module : module, std::max(wanted, target));
        if (failed(next))
          return failure();
        isLower = next->module && next->bytes < best.bytes;
        if (!isLower)
          continue;
        next->seconds += best.seconds;
        best = std::move(*next);
        break;
      }
      if (!isLower)
        break;
    }
    return best;
  }

  ModuleOp module;
  RematChoice whole;
  int64_t held = 0; // bytes of arguments and outputs
};

std::vector<PeakValue> peakValues(ModuleOp module) {
  std::vector<PeakValue> values;
  FailureOr<RematTrial> trial = tryKernels(module);
  if (failed(trial))
    return values;
  std::vector<Operation *> ops = numberedOps(module);
  for (auto [block, storage] : cost::liveAtPeak(trial->program)) {
    Numbered value = trial->blocks[block].values[storage];
    if (value.op >= 0)
      values.push_back({ops[value.op]->getLoc(), ops[value.op]->getName().stripDialect().str(),
                        trial->program.blocks[block].storages[storage].bytes});
  }
  llvm::stable_sort(values, [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  return values;
}

} // namespace

FailureOr<BoundedProgram> fitInto(ModuleOp module, int64_t mostBytes) {
  Search search(module);
  if (failed(search.begin()))
    return failure();
  BoundedProgram result;
  result.choice.bytes = search.whole.bytes;
  result.fits = search.whole.bytes <= mostBytes;
  if (result.fits)
    return result;
  for (int64_t bound : {mostBytes, int64_t(0)}) {
    RematChoice start;
    start.bytes = search.whole.bytes;
    // Down to the least does not depend on the bound, so that what it ends with is the least.
    FailureOr<RematChoice> choice =
        bound ? search.aim(mostBytes) : search.descend(std::move(start), 0);
    if (failed(choice))
      return failure();
    result.choice = std::move(*choice);
    result.fits = result.choice.bytes <= mostBytes;
    if (result.fits)
      return result;
  }
  result.peak = peakValues(result.choice.module ? *result.choice.module : module);
  return result;
}

} // namespace tessera::fuse
