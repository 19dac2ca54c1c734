// Merges the copies of a function that ended with the same shardings, and drops functions that
// nothing calls.
//
//   call @relu(%0)   call @relu_0(%1)   @relu_0 {tessera.copy_of = @relu}, sharded like @relu
// becomes
//   call @relu(%0)   call @relu(%1)
#include "passes/propagate/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_MERGEFUNCTIONS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral kCopyOf = "tessera.copy_of";

bool same(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() && a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a.getResAttrsAttr() == b.getResAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

struct MergeFunctions : impl::MergeFunctionsBase<MergeFunctions> {
  void runOnOperation() override {
    llvm::MapVector<StringAttr, SmallVector<func::CallOp>> calls;
    getOperation().walk(
        [&](func::CallOp call) { calls[call.getCalleeAttr().getAttr()].push_back(call); });
    DenseMap<StringAttr, SmallVector<func::FuncOp>> kept; // by the original's name
    SmallVector<func::FuncOp> copies;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(kCopyOf))
        copies.push_back(function);
      else
        kept[function.getSymNameAttr()].push_back(function);
    }
    // Copies of callees are made after those of their callers: go back, so that callers see merged
    // callees.
    llvm::stable_sort(copies, [](func::FuncOp a, func::FuncOp b) {
      return a->getAttrOfType<IntegerAttr>("tessera.copy_number").getInt() >
             b->getAttrOfType<IntegerAttr>("tessera.copy_number").getInt();
    });
    for (func::FuncOp copy : copies) {
      SmallVector<func::FuncOp> &others =
          kept[copy->getAttrOfType<FlatSymbolRefAttr>(kCopyOf).getAttr()];
      auto equal = llvm::find_if(others, [&](func::FuncOp other) { return same(copy, other); });
      copy->removeAttr(kCopyOf);
      copy->removeAttr("tessera.copy_number");
      if (equal == others.end()) {
        others.push_back(copy);
        continue;
      }
      for (func::CallOp call : calls[copy.getSymNameAttr()])
        call.setCallee(equal->getSymName());
      copy.walk(
          [&](func::CallOp call) { llvm::erase(calls[call.getCalleeAttr().getAttr()], call); });
      copy.erase();
    }
  }
};

} // namespace
} // namespace tessera
