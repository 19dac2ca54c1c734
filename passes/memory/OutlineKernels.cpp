// Names the computation of every kernel, once for all that are equal but for their locations and
// annotations. Passes.td shows an example.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "dialects/tessera/SumMarks.h"
#include "passes/OpsWithin.h"
#include "passes/codegen/kernel/KernelKey.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

#include <map>

namespace tessera {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/memory/Passes.h.inc"

using namespace mlir;

// The op that says most about a kernel: what its name begins with.
static StringRef dominantOp(Block *body) {
  Operation *dominant = nullptr;
  int best = -1;
  for (Operation &op : body->without_terminator()) {
    int weight = fusionKindOf(&op) == fusion::NodeKind::Contraction ? 3
                 : op.getNumRegions()                               ? 2
                 : op.hasTrait<OpTrait::ConstantLike>()             ? 0
                                                                    : 1;
    if (weight >= best) {
      best = weight;
      dominant = &op;
    }
  }
  if (auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(dominant))
    return call.getCallTargetName();
  return dominant ? dominant->getName().stripDialect() : "identity";
}

static exec::KernelOp outline(exec::FusedOp fused, OpBuilder &b) {
  auto kernel = exec::KernelOp::create(b, fused.getLoc(), "kernel", fused.getInplaceAttr(), nullptr,
                                       nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, nullptr);
  IRMapping mapping;
  fused.getBody().cloneInto(&kernel.getBody(), mapping);
  // What users wrote on ops for people or other tools has no meaning here and would keep equal
  // kernels apart.
  kernel.walk([](Operation *op) {
    if (isa<stablehlo::CustomCallOp, exec::KernelOp>(op))
      return;
    int64_t summed = getSummed(op); // codegen reads it
    std::optional<int64_t> trips = getTripCount(op);
    for (NamedAttribute attr : llvm::to_vector(op->getDiscardableAttrs()))
      op->removeDiscardableAttr(attr.getName());
    setSummed(op, summed);
    if (trips)
      setTripCount(op, trips);
  });
  return kernel;
}

static codegen::KernelKey keyOf(exec::FusedOp fused) {
  codegen::KernelSource source{"", fused.getBlock(), {}};
  if (std::optional<ArrayRef<int64_t>> inplace = fused.getInplace())
    source.inplace.assign(inplace->begin(), inplace->end());
  return codegen::keyOf(source);
}

namespace {
struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b(&getContext());
    b.setInsertionPointToStart(module.getBody());
    std::map<codegen::KernelKey, StringAttr> names;
    llvm::StringMap<int> counts;
    for (exec::FusedOp fused : opsWithin<exec::FusedOp>(module)) {
      if (fused->getParentOfType<exec::FusedOp>() || fused->getParentOfType<exec::KernelOp>())
        continue; // of a loop in one kernel
      StringAttr &name = names[keyOf(fused)];
      if (!name) {
        exec::KernelOp kernel = outline(fused, b);
        StringRef dominant = dominantOp(kernel.getBlock());
        name = b.getStringAttr(dominant + "_" + Twine(counts[dominant]++));
        kernel.setSymName(name);
      }
      fused.setKernelAttr(FlatSymbolRefAttr::get(name));
    }
  }
};
} // namespace
} // namespace tessera
