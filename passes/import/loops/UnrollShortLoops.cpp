// A counted loop of few trips over pointwise ops is written out, so that what its trips compute of an
// element is one kernel: JAX's Threefry is five trips of four rounds. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {
#define GEN_PASS_DEF_UNROLLSHORTLOOPS
#include "passes/import/Passes.h.inc"

using namespace mlir;
using stablehlo::WhileOp;

namespace {

constexpr int64_t kMostTrips = 8, kMostOps = 512;

// Whether each element of its result is made of at most one of each operand.
bool isOfElements(Operation &op) {
  if (isa<stablehlo::ConstantOp>(op))
    return true;
  switch (fusionKindOf(&op)) {
  case fusion::NodeKind::Constant:
  case fusion::NodeKind::Pointwise:
  case fusion::NodeKind::Convert:
  case fusion::NodeKind::Broadcast:
  case fusion::NodeKind::Reshape:
  case fusion::NodeKind::Slice:
    return op.getNumRegions() == 0;
  default:
    return false;
  }
}

bool isShort(WhileOp loop) {
  std::optional<int64_t> trips = getTripCount(loop);
  if (!trips || *trips > kMostTrips)
    return false;
  auto body = loop.getBody().front().without_terminator();
  int64_t ops = llvm::count_if(body, [](Operation &op) { return !isa<stablehlo::ConstantOp>(op); });
  return *trips * ops <= kMostOps && llvm::all_of(body, isOfElements);
}

void unroll(WhileOp loop) {
  OpBuilder b(loop);
  Block &body = loop.getBody().front();
  SmallVector<Value> values(loop.getOperand());
  for (int64_t trip = 0, trips = *getTripCount(loop); trip < trips; ++trip) {
    IRMapping mapping;
    mapping.map(body.getArguments(), values);
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [value, next] : llvm::zip(values, body.getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(next);
  }
  loop.replaceAllUsesWith(values);
  loop.erase();
}

struct UnrollShortLoopsPass : impl::UnrollShortLoopsBase<UnrollShortLoopsPass> {
  void runOnOperation() override {
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops)
      if (isShort(loop))
        unroll(loop);
  }
};

} // namespace
} // namespace tessera
