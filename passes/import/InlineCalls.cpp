// Puts the bodies of called functions where they are called, in nested regions too.
//
// Works from callers to callees, so that the work is the size of the result: a body is copied once
// for each call that reaches the entry, and moved for the last one. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/OpsWithin.h"
#include "passes/import/CallGraph.h"
#include "tessera/container.h"

namespace tessera {
#define GEN_PASS_DEF_INLINECALLS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

// A program may have as many operations as it likes, but grow by calls only so far: to this many,
// or this many times what is written.
constexpr uint64_t kMostOperations = uint64_t(1) << 17, kMostGrowth = 16;
// Operations times the regions around them: copying and destroying take that long.
constexpr uint64_t kMostNestedGrowth = uint64_t(1) << 19;
constexpr uint32_t kMostCalls = 1000; // inside of one another; each is a level of locations

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

  // Fails on a function that calls itself or one without a body, and on programs that would be too
  // large or too deeply nested with everything in place.
  LogicalResult check(func::FuncOp entry) {
    import::CallGraph graph;
    SmallVector<func::FuncOp> numbered{entry};
    DenseMap<Operation *, size_t> numbers{{entry, 0}};
    for (size_t i = 0; i < numbered.size(); ++i)
      if (failed(describe(numbered[i], graph.functions.emplace_back(), numbered, numbers)))
        return failure();
    bool recursive;
    std::vector<size_t> order = graph.calleesFirst(0, recursive);
    if (recursive)
      return numbered[order.back()].emitError()
             << "function @" << numbered[order.back()].getSymName()
             << " calls itself; write the recursion as stablehlo.while";
    std::vector<import::InlinedSize> sizes = graph.sizes(order);
    uint64_t written = 0;
    for (const import::CalledFunction &function : graph.functions)
      written += function.operations;
    uint64_t most = std::max(kMostGrowth * written, kMostOperations);
    for (size_t i : order) {
      func::FuncOp function = numbered[i];
      if (sizes[i].operations > most)
        return function.emitError()
               << "function @" << function.getSymName() << " has "
               << (sizes[i].operations == import::kUncountable ? "more than " : "")
               << sizes[i].operations << " operations with what it calls in place, more than the "
               << most
               << " that a program of this length may have; write what is called again and "
                  "again as a loop (stablehlo.while)";
      if (sizes[i].operations > 2 * written &&
          sizes[i].operations * sizes[i].regions > kMostNestedGrowth)
        return function.emitError()
               << "function @" << function.getSymName() << " has " << sizes[i].operations
               << " operations with what it calls in place, in loops and branches "
               << sizes[i].regions << " deep; a program that grows by its calls may have "
               << kMostNestedGrowth << " of them times the depth";
      if (sizes[i].calls > kMostCalls)
        return function.emitError() << "function @" << function.getSymName()
                                    << " begins a chain of more than " << kMostCalls << " calls";
      if (sizes[i].regions > container::kDeepestNesting)
        return function.emitError()
               << "function @" << function.getSymName() << " nests loops and branches "
               << sizes[i].regions << " deep with what it calls in place; programs nest "
               << container::kDeepestNesting << " at most";
    }
    return success();
  }

  void inlineInto(func::FuncOp entry) {
    SmallVector<Operation *> work;
    collect(entry.getBody(), work);
    while (!work.empty())
      inlineCall(work.pop_back_val(), work);
  }

private:
  // Counts what is in a function, and gives those that it calls numbers.
  LogicalResult describe(func::FuncOp function, import::CalledFunction &described,
                         SmallVectorImpl<func::FuncOp> &numbered,
                         DenseMap<Operation *, size_t> &numbers) {
    SmallVector<std::pair<Region *, uint32_t>> regions{{&function.getBody(), 0}};
    while (!regions.empty()) {
      auto [region, depth] = regions.pop_back_val();
      described.regions = std::max(described.regions, depth);
      for (Operation &op : region->getOps()) {
        ++described.operations;
        for (Region &inner : op.getRegions())
          regions.push_back({&inner, depth + 1});
        FlatSymbolRefAttr callee = calleeOf(&op);
        if (!callee)
          continue;
        func::FuncOp target = functions.lookup(callee.getAttr());
        if (!target || target.isExternal())
          return op.emitError() << "calls @" << callee.getValue()
                                << ", which has no body in this module";
        auto [number, isNew] = numbers.try_emplace(target, numbered.size());
        if (isNew)
          numbered.push_back(target);
        described.calls.push_back({number->second, depth});
      }
    }
    return success();
  }

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
};

// An asynchronous operation runs where it starts: communicate and order decide anew what overlaps.
// Its future may only be waited for: it has no value otherwise.
LogicalResult startAtOnce(func::FuncOp entry) {
  for (stablehlo::AsyncStartOp start : opsWithin<stablehlo::AsyncStartOp>(entry)) {
    for (Operation *user : start->getUsers())
      if (!isa<stablehlo::AsyncDoneOp>(user))
        return user->emitError() << "takes a " << start.getResult().getType()
                                 << " that nobody has waited for; give it what "
                                    "stablehlo.async_done makes of that";
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
  return success();
}

// The public function @main; without one, all that are public.
SmallVector<func::FuncOp> entriesOf(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (function.getSymName() == "main")
      return {function};
    entries.push_back(function);
  }
  return entries;
}

struct InlineCallsPass : impl::InlineCallsBase<InlineCallsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> entries = entriesOf(module);
    if (entries.empty()) {
      module.emitError(
          "the module has no public function with a body: name the entry with --entry");
      return signalPassFailure();
    }
    Inliner inliner(module);
    for (func::FuncOp entry : entries)
      if (failed(inliner.check(entry)))
        return signalPassFailure();
    // Custom calls may still name functions; what nothing names goes.
    llvm::DenseSet<StringAttr> named;
    for (func::FuncOp entry : entries) {
      inliner.inlineInto(entry);
      if (failed(startAtOnce(entry)))
        return signalPassFailure();
      named.insert(entry.getSymNameAttr());
      entry.walk([&](Operation *op) {
        op->getAttrDictionary().walk(
            [&](SymbolRefAttr symbol) { named.insert(symbol.getRootReference()); });
      });
    }
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!named.contains(function.getSymNameAttr()))
        function.erase();
  }
};

} // namespace
} // namespace tessera
