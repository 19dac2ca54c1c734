// What kernels need beside arrays, for orders within a bound. Passes.td shows an example.
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_SIZESCRATCH
#include "passes/fuse/Passes.h.inc"

namespace {
struct SizeScratch : impl::SizeScratchBase<SizeScratch> {
  void runOnOperation() override {
    codegen::KernelScratch scratch;
    fuse::sizeScratch(getOperation(), scratch);
  }
};
} // namespace
} // namespace tessera
