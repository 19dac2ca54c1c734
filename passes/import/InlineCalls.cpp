// Puts the bodies of called functions where they are called, in nested regions too.
//
//   func.func @main(%x) { %0 = call @f(%x)  return %0 }        func.func @main(%x) {
//   func.func private @f(%y) {                            ->     %0 = stablehlo.add %x, %x
//     %0 = stablehlo.add %y, %y  return %0 }                     return %0 }
//
// Works from callers to callees, so that the work is the size of the result: a body is copied once
// for each call that reaches the entry, and moved for the last one. Operations get the location "at
// <body> called from <call>". A composite is a call of its decomposition. Functions that nothing
// refers to any more are erased.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace tessera {
#define GEN_PASS_DEF_INLINECALLS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

// The name of the function that `op` calls, or null.
FlatSymbolRefAttr calleeOf(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCalleeAttr();
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return composite.getDecompositionAttr();
  return {};
}

// "at <location in the body> called from <call>" for everything in a body, each pair made once.
class CallSite {
public:
  explicit CallSite(Location call) : call(call) {}

  void relocate(Operation &root) {
    root.walk([&](Operation *op) {
      op->setLoc(at(op->getLoc()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            arg.setLoc(at(arg.getLoc()));
    });
  }

private:
  Location at(Location inside) {
    auto [it, isNew] = known.try_emplace(inside.getAsOpaquePointer(), LocationAttr());
    if (isNew)
      it->second = CallSiteLoc::get(inside, call);
    return it->second;
  }

  Location call;
  DenseMap<const void *, LocationAttr> known;
};

class Inliner {
public:
  explicit Inliner(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      functions[function.getSymNameAttr()] = function;
    for (auto [name, function] : functions)
      function.walk([&](Operation *op) {
        if (FlatSymbolRefAttr callee = calleeOf(op))
          ++calls[callee.getAttr()];
      });
  }

  // Fails on a function that calls itself, directly or through others.
  LogicalResult checkNoRecursion(func::FuncOp function) {
    State &state = states[function];
    if (state == State::Done)
      return success();
    if (state == State::Open)
      return function.emitError() << "function @" << function.getSymName()
                                  << " calls itself; write the recursion as stablehlo.while";
    state = State::Open;
    WalkResult result = function.walk([&](Operation *op) {
      FlatSymbolRefAttr callee = calleeOf(op);
      if (!callee)
        return WalkResult::advance();
      func::FuncOp target = functions.lookup(callee.getAttr());
      if (!target || target.isExternal()) {
        op->emitError() << "calls @" << callee.getValue() << ", which has no body in this module";
        return WalkResult::interrupt();
      }
      return failed(checkNoRecursion(target)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    states[function] = State::Done;
    return failure(result.wasInterrupted());
  }

  void inlineInto(func::FuncOp entry) {
    SmallVector<Operation *> work;
    collect(entry.getBody(), work);
    while (!work.empty())
      inlineCall(work.pop_back_val(), work);
  }

private:
  enum class State { New, Open, Done };

  void collect(Region &region, SmallVectorImpl<Operation *> &work) {
    region.walk([&](Operation *op) {
      if (calleeOf(op))
        work.push_back(op);
    });
  }

  void inlineCall(Operation *call, SmallVectorImpl<Operation *> &work) {
    StringAttr name = calleeOf(call).getAttr();
    func::FuncOp callee = functions.lookup(name);
    Block &body = callee.getBody().front();
    bool last = --calls[name] == 0 && callee.isPrivate();
    CallSite site(call->getLoc());
    SmallVector<Value> results;
    if (last) {
      for (auto [arg, operand] : llvm::zip(body.getArguments(), call->getOperands()))
        arg.replaceAllUsesWith(operand);
      results = llvm::to_vector(body.getTerminator()->getOperands());
      body.getTerminator()->erase();
      for (Operation &op : body) {
        site.relocate(op);
        op.walk([&](Operation *inner) {
          if (calleeOf(inner))
            work.push_back(inner);
        });
      }
      call->getBlock()->getOperations().splice(call->getIterator(), body.getOperations());
    } else {
      IRMapping mapping;
      mapping.map(body.getArguments(), call->getOperands());
      OpBuilder builder(call);
      for (Operation &op : body.without_terminator()) {
        Operation *copy = builder.clone(op, mapping);
        site.relocate(*copy);
        copy->walk([&](Operation *inner) {
          if (FlatSymbolRefAttr next = calleeOf(inner)) {
            ++calls[next.getAttr()];
            work.push_back(inner);
          }
        });
      }
      for (Value result : body.getTerminator()->getOperands())
        results.push_back(mapping.lookupOrDefault(result));
    }
    call->replaceAllUsesWith(results);
    call->erase();
    if (last)
      functions.erase(name), callee.erase();
  }

  DenseMap<StringAttr, func::FuncOp> functions;
  DenseMap<StringAttr, int64_t> calls;
  DenseMap<Operation *, State> states;
};

// An asynchronous operation runs where it starts: communicate and order decide anew what overlaps.
void startAtOnce(func::FuncOp entry) {
  SmallVector<stablehlo::AsyncStartOp> starts;
  entry.walk([&](stablehlo::AsyncStartOp op) { starts.push_back(op); });
  for (stablehlo::AsyncStartOp start : starts) {
    Block &body = start.getBody().front();
    Operation *inner = &body.front();
    inner->setOperands(start->getOperands());
    inner->moveBefore(start);
    for (Operation *done : llvm::make_early_inc_range(start->getUsers())) {
      done->replaceAllUsesWith(inner->getResults());
      done->erase();
    }
    start.erase();
  }
}

// The public function @main, or the only public one.
func::FuncOp entryOf(ModuleOp module) {
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (function.getSymName() == "main")
      return function;
    if (only)
      return {};
    only = function;
  }
  return only;
}

struct InlineCallsPass : impl::InlineCallsBase<InlineCallsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp entry = entryOf(module);
    if (!entry) {
      module.emitError(
          "the module has no public function @main with a body: name the entry with --entry");
      return signalPassFailure();
    }
    Inliner inliner(module);
    if (failed(inliner.checkNoRecursion(entry)))
      return signalPassFailure();
    inliner.inlineInto(entry);
    startAtOnce(entry);

    // Custom calls may still name functions; what nothing names goes.
    llvm::DenseSet<StringAttr> named;
    entry.walk([&](Operation *op) {
      op->getAttrDictionary().walk(
          [&](SymbolRefAttr symbol) { named.insert(symbol.getRootReference()); });
    });
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function != entry && !named.contains(function.getSymNameAttr()))
        function.erase();
  }
};

} // namespace
} // namespace tessera
