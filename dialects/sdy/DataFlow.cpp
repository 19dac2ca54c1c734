#include "dialects/sdy/DataFlow.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

enum class Kind { None, Loop, Branch, Barrier, Region };

// StableHLO's ops are known by name here, so that this dialect stands alone.
Kind kindOf(Operation *op) {
  if (isa<ManualComputationOp, NamedComputationOp>(op))
    return Kind::Region;
  return llvm::StringSwitch<Kind>(op->getName().getStringRef())
      .Case("stablehlo.while", Kind::Loop)
      .Cases({"stablehlo.case", "stablehlo.if"}, Kind::Branch)
      .Case("stablehlo.optimization_barrier", Kind::Barrier)
      .Default(Kind::None);
}

Value returned(Region &region, unsigned index) {
  return region.front().getTerminator()->getOperand(index);
}

} // namespace

SmallVector<DataFlowEdge> dataFlowEdges(Operation *op) {
  SmallVector<DataFlowEdge> edges;
  Kind kind = kindOf(op);
  if (kind == Kind::None)
    return edges;
  if (kind == Kind::Region)
    for (auto [i, argument] : llvm::enumerate(op->getRegion(0).getArguments()))
      edges.push_back({{op->getOperand(i)}, {argument}, true, static_cast<unsigned>(i)});
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    DataFlowEdge edge{{}, {result}, false, static_cast<unsigned>(i)};
    if (kind == Kind::Loop || kind == Kind::Barrier)
      edge.sources.push_back(op->getOperand(i));
    if (kind == Kind::Loop) {
      edge.sources.push_back(returned(op->getRegion(1), i));
      for (Region &region : op->getRegions())
        edge.targets.push_back(region.getArgument(i));
    } else {
      for (Region &region : op->getRegions())
        edge.sources.push_back(returned(region, i));
    }
    edges.push_back(edge);
  }
  return edges;
}

bool holdsProgram(Operation *op) {
  return isa<ModuleOp, FunctionOpInterface>(op) || kindOf(op) != Kind::None;
}

bool isEdgeTarget(Value value) {
  if (Operation *op = value.getDefiningOp())
    return kindOf(op) != Kind::None || isa<CallOpInterface>(op);
  Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
  if (auto function = dyn_cast_or_null<FunctionOpInterface>(parent))
    return function.isPrivate();
  return parent && kindOf(parent) != Kind::None;
}

} // namespace tessera::sdy
