// From the program on global values to the program of one device. Values are visited in program
// order; each gets a local layout (axes and tile a dimension), each op the local form that its
// family's file gives it. Passes.td shows an example.
#include "passes/localize/Passes.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/UnreadOps.h"
#include "passes/localize/Handlers.h"

namespace tessera {
#define GEN_PASS_DEF_LOCALIZEPROGRAM
#include "passes/localize/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::localize {
namespace {

// Shardings on other meshes than the main one would need another program.
LogicalResult verifyOneMesh(ModuleOp module, const sharding::Mesh &mesh) {
  LogicalResult result = success();
  for (auto other : module.getOps<sdy::MeshOp>()) {
    sharding::Mesh plain = sdy::toMesh(other);
    if (plain.axes.empty() || (plain.axes == mesh.axes && plain.deviceIds == mesh.deviceIds))
      continue;
    result = other.emitError() << "a program has one mesh; @" << plain.name << " differs from @"
                               << mesh.name << ": use the axes of one mesh throughout";
  }
  return result;
}

LogicalResult localizeFunction(func::FuncOp function, Localizer &l) {
  // Built aside: where the global values are, their shardings can be looked up.
  Region &global = function.getBody(), local;
  Block *entry = l.b.createBlock(&local);
  SmallVector<Type> inputs, outputs;
  sdy::SignatureAttributes attributes(function);
  for (BlockArgument arg : global.getArguments()) {
    l.loc = arg.getLoc();
    LocalLayout layout = l.annotated(arg);
    inputs.push_back(l.localType(arg, layout));
    setGlobalTypeOfArgument(attributes, arg.getArgNumber(), arg.getType());
    l.setLocal(arg, {entry->addArgument(inputs.back(), arg.getLoc()), layout});
  }
  LogicalResult visited = l.visitBlock(global.front());
  if (succeeded(visited)) {
    SmallVector<Value> results;
    Operation *end = global.front().getTerminator();
    l.loc = end->getLoc();
    for (OpOperand &operand : end->getOpOperands()) {
      unsigned i = operand.getOperandNumber();
      LocalLayout layout =
          l.layoutOf(function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::kShardingAttr),
                     shapeOf(operand.get()));
      layout.partial.clear();
      setGlobalTypeOfResult(attributes, i, operand.get().getType());
      results.push_back(l.move(l.local(operand.get()), shapeOf(operand.get()), layout));
      outputs.push_back(results.back().getType());
    }
    func::ReturnOp::create(l.b, l.loc, results);
  }
  if (failed(visited))
    return failure();
  global.dropAllReferences();
  global.takeBody(local);
  // Slices that a roll made superfluous, masks of operands that turned out to need none.
  eraseUnread(global.front());
  function.setType(FunctionType::get(function.getContext(), inputs, outputs));
  return success();
}

struct LocalizeProgram : impl::LocalizeProgramBase<LocalizeProgram> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    sdy::MeshTable meshes(module);
    sharding::Mesh none{"mesh", {}, {}};
    const sharding::Mesh &mesh = meshes.main() ? *meshes.main() : none;
    if (failed(verifyOneMesh(module, mesh)))
      return signalPassFailure();
    cost::Topology topology = topologyOf(module);
    HandlerTable handlers = allHandlers(&getContext());
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      Localizer l(module, mesh, topology, handlers);
      if (failed(localizeFunction(function, l)))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tessera::localize
