// Rows that fall into groups, each multiplied by its group's matrix (kernel/GroupedProduct.h). A cell
// goes over the runs of its rows that have one group, and multiplies each as a contraction of its own:
//
//   rows       0 1 2 3 4 5 6 7
//   group      0 0 0 2 2 2 2 -        -: none, a row past the last group
//   ends       3 3 3 7 7 7 7 8
//   products   [0, 3) by b[0]   [3, 7) by b[2]   zeros for [7, 8)
//
// Tiles of a short run have rows around it, too, which are not stored.
#include "passes/codegen/cpu/ContractionEmitter.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

class GroupedRows : public ContractionEmitter {
public:
  GroupedRows(KernelFunction &function, NestGraph &nest, const GroupedProduct &product,
              const ContractionPlan &plan, Emitter &emitter)
      : ContractionEmitter(function, nest, plan, emitter), product(product) {
    llvm::append_range(e.live, Graph::reachable({plan.a, plan.b}));
  }

private:
  void reserveScratch() override {
    ContractionEmitter::reserveScratch();
    scratchGroups = function.reserveScratch(plan.mChunk * sizeof(int32_t));
    scratchEnds = function.reserveScratch(plan.mChunk * sizeof(int32_t));
  }

  Value place(int64_t scratch, Value row) {
    Value array = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratch);
    return b.CreateInBoundsGEP(b.getInt32Ty(), array, row);
  }
  Value read(int64_t scratch, Value row) {
    return b.CreateSExt(b.CreateLoad(b.getInt32Ty(), place(scratch, row)), b.getInt64Ty());
  }
  void write(int64_t scratch, Value row, Value number) {
    b.CreateStore(b.CreateTrunc(number, b.getInt32Ty()), place(scratch, row));
  }

  // Of each row of the cell, -1 where it has none.
  void findGroups(Value low, Value high) {
    Value row = e.openLoop(low, high, 1, false);
    bindRow(row);
    Value group = e.emit(product.groupOfRow);
    for (Node *condition : product.conditions)
      group = b.CreateSelect(e.emit(condition), group, e.i64(-1));
    write(scratchGroups, b.CreateNSWSub(row, low), group);
    e.closeLoop();
  }

  // Of each row the end of its run, from the last one on.
  void findEnds(Value count) {
    Value number = e.openLoop(e.i64(0), count, 1, false), one = e.i64(1);
    Value next = b.CreateNSWSub(count, number), row = b.CreateNSWSub(next, one);
    Value after = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, b.CreateNSWSub(count, one));
    Value goesOn =
        b.CreateAnd(b.CreateICmpSLT(next, count),
                    b.CreateICmpEQ(read(scratchGroups, row), read(scratchGroups, after)));
    write(scratchEnds, row, b.CreateSelect(goesOn, read(scratchEnds, after), next));
    e.closeLoop();
  }

  void emitPoint() override {
    Value low = mLow, high = mHigh, count = b.CreateNSWSub(high, low);
    findGroups(low, high);
    findEnds(count);
    Value row = e.openLoop(e.i64(0), count, 1, false);
    Value before =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(row, e.i64(1)), e.i64(0));
    Value group = read(scratchGroups, row);
    e.openIf(b.CreateOr(b.CreateICmpEQ(row, e.i64(0)),
                        b.CreateICmpNE(group, read(scratchGroups, before))));
    rowsLow = b.CreateNSWAdd(low, row);
    rowsHigh = b.CreateNSWAdd(low, read(scratchEnds, row));
    e.openIf(b.CreateICmpSGE(group, e.i64(0)));
    multiplyRun(group);
    e.closeLoop();
    if (!product.conditions.empty()) {
      e.openIf(b.CreateICmpSLT(group, e.i64(0)));
      storeNothing();
      e.closeLoop();
    }
    e.closeLoop();
    e.closeLoop();
    rowsLow = rowsHigh = nullptr;
    mLow = low, mHigh = high;
  }

  // Whole tiles: from rows before it on where it is shorter than one, or beyond it at the beginning.
  void multiplyRun(Value group) {
    e.bindLevel(product.group, DimSet(1) << product.group, group, 1, nullptr);
    mHigh = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, rowsHigh, e.i64(plan.rows));
    mLow = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, rowsLow,
                                   b.CreateNSWSub(mHigh, e.i64(plan.rows)));
    ContractionEmitter::emitPoint();
  }

  // Results that don't depend on the product.
  void storeNothing() {
    Value zeros = llvm::Constant::getNullValue(e.typeOf(kind, plan.columns()));
    overTiles(nLow, nHigh, plan.columns(), plan.nSize, [&](Value n0, Value skipN) {
      bindRow(e.openLoop(rowsLow, rowsHigh, 1, false));
      finishRow(n0, function.kernel.sharesBuffers() ? skipN : nullptr, zeros);
      e.closeLoop();
    });
  }

  const GroupedProduct &product;
  int64_t scratchGroups = 0, scratchEnds = 0;
};

} // namespace

void emitGroupedRows(KernelFunction &function, NestGraph &nest, const GroupedProduct &product) {
  ContractionPlan plan = planByVectors(nest, product, function.features);
  Emitter emitter = function.emitter(nest.g->graph);
  GroupedRows(function, nest, product, plan, emitter).emit();
}

} // namespace tessera::codegen
