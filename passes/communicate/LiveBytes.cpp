#include "passes/communicate/LiveBytes.h"

#include "dialects/comm/Collective.h"
#include "dialects/interfaces/ArrayBytes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tessera::communicate {
namespace {

bool isPassing(Operation *op) {
  return op->getNumRegions() == 0 && becomesNoArray(fusionKindOf(op));
}

bool isMilestone(Operation *op) {
  return isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op) ||
         comm::collectiveFacts(op) || fusionKindOf(op) == fusion::NodeKind::Contraction;
}

} // namespace

bool becomesNoArray(fusion::NodeKind kind) {
  using Kind = fusion::NodeKind;
  return kind == Kind::Constant || kind == Kind::Reshape || kind == Kind::Broadcast ||
         kind == Kind::Convert;
}

LiveBytes::LiveBytes(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>())
    for (Block &block : func.getBody())
      measure(block);
}

double LiveBytes::room(Operation *op) const {
  auto found = live.find(op);
  return found == live.end() ? 0 : peak(op) - found->second;
}

// Backwards: a value is there from its op to its last reader, and through what passes it on.
void LiveBytes::measure(Block &block) {
  llvm::DenseSet<Value> there;
  bool isFunction = isa<func::FuncOp>(block.getParentOp()); // arguments are the caller's
  double bytes = 0, most = 0;
  auto read = [&](Value value) {
    if (value.getParentBlock() != &block || !there.insert(value).second)
      return;
    Operation *op = value.getDefiningOp();
    if (op ? !isPassing(op) : !isFunction)
      bytes += bytesOf(value);
  };
  for (Operation &op : llvm::reverse(block)) {
    bool passes = isPassing(&op);
    bool isRead = llvm::any_of(op.getResults(), [&](Value value) { return there.contains(value); });
    if (passes && !isRead)
      continue;
    op.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), read); });
    for (Value result : op.getResults())
      if (!there.contains(result) && !passes)
        bytes += bytesOf(result); // written, if for nobody
    if (isMilestone(&op)) {
      live[&op] = bytes;
      most = std::max(most, bytes);
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          measure(inner);
    }
    for (Value result : op.getResults())
      if (!passes)
        bytes -= bytesOf(result);
  }
  peaks[&block] = most;
}

} // namespace tessera::communicate
