#include "compiler/ExplainRemedies.h"

#include "compiler/SourcePlaces.h"
#include "dialects/sdy/PlainData.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera {

using namespace mlir;

static Operation *findImported(ModuleOp module, int32_t number) {
  Operation *found = nullptr;
  module.walk([&](Operation *op) {
    if (op->getNumResults() == 0 || placeOf(op->getLoc()).imported != number)
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

static bool apply(ModuleOp module, const Remedy &remedy) {
  if (remedy.imported < 0) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || remedy.result >= main.getNumArguments())
      return false;
    main.setArgAttr(remedy.result, sdy::kShardingAttr, remedy.sharding);
    return true;
  }
  Operation *op = findImported(module, remedy.imported);
  if (!op || remedy.result >= op->getNumResults())
    return false;
  if (!remedy.sharding) { // a constraint less
    auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op);
    if (!constraint)
      return false;
    constraint.getResult().replaceAllUsesWith(constraint.getInput());
    constraint.erase();
    return true;
  }
  Value value = op->getResult(remedy.result);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto constraint =
      sdy::ShardingConstraintOp::create(builder, op->getLoc(), value, remedy.sharding);
  value.replaceAllUsesExcept(constraint.getResult(), constraint);
  return true;
}

std::optional<std::string> RemedyTrials::tryOut(const Remedy &remedy) {
  if (left-- <= 0)
    return std::nullopt;
  OwningOpRef<ModuleOp> trial = imported.clone();
  // What does not fit is no remedy; nobody needs to hear of it.
  ScopedDiagnosticHandler quiet(imported.getContext(), [](Diagnostic &) { return success(); });
  // In the words of the mesh after reshard, which the program need not have.
  auto error = [&](const Twine &what) { return imported.emitError() << what; };
  if (remedy.sharding && failed(sdy::verifySharding(remedy.sharding, Type(), *trial, error)))
    return std::nullopt;
  if (!apply(*trial, remedy))
    return std::nullopt;
  PassManager passes(imported.getContext());
  passes.enableVerifier(false); // the phases verify themselves
  buildPropagatePipeline(passes);
  buildReshardPipeline(passes);
  if (failed(passes.run(*trial)))
    return std::nullopt;
  Movement then = movementOf(*trial);
  if (now.seconds <= 0 || then.seconds > 0.99 * now.seconds)
    return std::nullopt;
  return llvm::formatv("{0}: {1:f0}% less time to move, {2:f0}% {3} bytes", remedy.text,
                       100 * (1 - then.seconds / now.seconds),
                       100 * std::abs(1 - then.wireBytes / std::max(1.0, now.wireBytes)),
                       then.wireBytes <= now.wireBytes ? "fewer" : "more")
      .str();
}

} // namespace tessera
