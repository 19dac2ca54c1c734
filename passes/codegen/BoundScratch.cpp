// Kernels go by smaller pieces where their scratch has no room beside the arrays. Passes.td shows an
// example; passes/memory/ScratchRoom.h says how much room there is.
#include "passes/codegen/BoundScratch.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "passes/codegen/Passes.h"
#include "passes/memory/ScratchRoom.h"
#include "llvm/ADT/DenseSet.h"
#include <limits>

namespace tessera {

#define GEN_PASS_DEF_BOUNDSCRATCH
#include "passes/codegen/Passes.h.inc"

using namespace mlir;

namespace {

// Layouts that are tried: an arena has holes, so that it takes more than what lives.
constexpr int kLayouts = 3;

// The arrays of the arena and the kernels of a program by the time when they are needed.
struct ArenaUse {
  explicit ArenaUse(ModuleOp module) {
    llvm::StringMap<int> numbers;
    for (auto kernel : module.getOps<exec::KernelOp>()) {
      numbers[kernel.getSymName()] = static_cast<int>(kernels.size());
      kernels.push_back(kernel);
    }
    llvm::DenseSet<Attribute> seen;
    module.walk([&](Operation *op) {
      if (auto buffer = dyn_cast<exec::BufferOp>(op))
        add(buffer, seen);
      else if (auto dispatch = dyn_cast<exec::DispatchOp>(op); dispatch && dispatch.getTime())
        uses.push_back({numbers.lookup(dispatch.getKernel()),
                        static_cast<int64_t>(*dispatch.getTime()), /*bytes=*/0});
    });
    for (memory::ScratchUse &use : uses)
      use.bytes = static_cast<int64_t>(kernels[use.kernel].getScratchBytes().value_or(0));
  }

  void add(exec::BufferOp buffer, llvm::DenseSet<Attribute> &seen) {
    auto array = buffer.getArrayAttr();
    if (buffer.getSpace() != exec::Space::Arena || !array || !seen.insert(array).second)
      return;
    llvm::ArrayRef<int64_t> numbers = array.asArrayRef(); // offset, bytes, and times
    memory::Request request{numbers[1], {}};
    for (size_t i = 2; i < numbers.size(); i += 2)
      request.live.push_back({numbers[i], numbers[i + 1]});
    arrays.push_back(std::move(request));
  }

  std::vector<exec::KernelOp> kernels;
  std::vector<memory::Request> arrays;
  std::vector<memory::ScratchUse> uses;
};

// Of arrays and scratch, as they will be laid out.
FailureOr<int64_t> arenaBytes(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createPlaceScratch());
  if (failed(passes.run(*copy)))
    return failure();
  int64_t bytes = 0, apart = 0;
  for (auto program : copy->getOps<exec::ProgramOp>()) {
    bytes = std::max(bytes, static_cast<int64_t>(program.getArenaBytes()));
    bool isPlaced = false;
    program.walk(
        [&](exec::DispatchOp dispatch) { isPlaced |= dispatch.getScratchAt().has_value(); });
    if (!isPlaced)
      for (auto kernel : copy->getOps<exec::KernelOp>())
        apart = std::max(apart, static_cast<int64_t>(kernel.getScratchBytes().value_or(0)));
  }
  return bytes + apart;
}

struct BoundScratchPass : impl::BoundScratchBase<BoundScratchPass> {
  void runOnOperation() override {
    codegen::KernelScratch scratch;
    if (failed(boundScratch(getOperation(), scratch)))
      signalPassFailure();
  }
};

} // namespace

LogicalResult boundScratch(ModuleOp module, codegen::KernelScratch &scratch) {
  std::optional<int64_t> within = scheduleOf(module).scratchWithin;
  if (!within)
    return success();
  scratch.describe(module);
  ArenaUse use(module);
  Builder builder(module.getContext());
  auto bound = [&](llvm::ArrayRef<int64_t> most) {
    for (auto [kernel, bytes] : llvm::zip(use.kernels, most))
      kernel.setMostScratchAttr(bytes ? builder.getI64IntegerAttr(bytes) : IntegerAttr());
    scratch.describe(module);
  };
  int64_t space = *within, least = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> best;
  for (int layout = 0; layout < kLayouts && least > *within; ++layout) {
    std::vector<int64_t> most =
        memory::scratchRoom(use.arrays, use.uses, use.kernels.size(), space);
    bound(most);
    FailureOr<int64_t> takes = arenaBytes(module);
    if (failed(takes))
      return failure();
    space -= std::max<int64_t>(*takes - *within, *within / 64);
    if (*takes >= least)
      continue;
    least = *takes;
    best = std::move(most);
  }
  bound(best);
  return success();
}

} // namespace tessera
