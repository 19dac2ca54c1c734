// Gives every call its own copy of the function it calls, so that each may be sharded its own way.
// Import inlines all calls; this is for modules that come as they are. tessera-merge-functions is
// the way back.
//
//   call @relu(%0)                      call @relu(%0)
//   call @relu(%1)                      call @relu_0(%1)       @relu_0 {tessera.copy_of = @relu}
#include "passes/propagate/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera {
#define GEN_PASS_DEF_FLATTENCALLS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

class Flattener {
public:
  explicit Flattener(ModuleOp module) : symbols(module) {}

  // Takes a function and all it calls for one caller. Fails on recursion.
  LogicalResult take(func::FuncOp function) {
    if (!onStack.insert(function).second)
      return function.emitError() << "@" << function.getSymName()
                                  << " calls itself; only loops can be compiled";
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        continue;
      if (!onStack.contains(callee) && !taken.insert(callee).second) {
        callee = copy(callee);
        call.setCallee(callee.getSymName());
        taken.insert(callee);
      }
      if (failed(take(callee)))
        return failure();
    }
    onStack.erase(function);
    return success();
  }

private:
  func::FuncOp copy(func::FuncOp original) {
    func::FuncOp clone = original.clone();
    if (!clone->hasAttr("tessera.copy_of"))
      clone->setAttr("tessera.copy_of", FlatSymbolRefAttr::get(original.getSymNameAttr()));
    clone->setAttr("tessera.copy_number",
                   IntegerAttr::get(IntegerType::get(clone.getContext(), 64), ++copies));
    symbols.insert(clone, std::next(Block::iterator(original)));
    return clone;
  }

  SymbolTable symbols;
  int64_t copies = 0;
  DenseSet<Operation *> taken, onStack;
};

struct FlattenCalls : impl::FlattenCallsBase<FlattenCalls> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        entries.push_back(function);
    Flattener flattener(getOperation());
    for (func::FuncOp entry : entries)
      if (failed(flattener.take(entry)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
