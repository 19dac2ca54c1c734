// The multiplying of a contraction's tile: its sums of k, block by block, from panels or from where the
// operands lie.
#include "passes/codegen/cpu/ContractionEmitter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tessera::codegen {

// A long sum is made of sums over blocks of the flattened k: its rounding error grows with the
// block and the number of blocks, not with k.
void ContractionEmitter::multiply(Tile tile, llvm::ArrayRef<Value> sums) {
  constexpr int64_t block = Reduction::chainBlock;
  if (!kLow)
    llvm::for_each(sums, [&](Value sum) { clear(sum); });
  if (!plan.product->reduction->blockEnds.empty())
    return multiplyInEnds(tile, sums);
  auto inBlocks = [&](int64_t size, int64_t step,
                      llvm::function_ref<void(Value, Value, llvm::ArrayRef<Value>)> multiply) {
    if (plan.kSize <= block)
      return multiply(e.i64(0), e.i64(size), sums);
    llvm::SmallVector<Value> parts = makeSums("part");
    Value end = kHigh ? kHigh : e.i64(size);
    Value low = e.openLoop(kLow ? kLow : e.i64(0), end, step, false);
    Value high =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, e.i64(step)), end);
    llvm::for_each(parts, [&](Value part) { clear(part); });
    multiply(low, high, parts);
    for (auto [sum, part] : llvm::zip(sums, parts))
      addTo(sum, b.CreateLoad(vectorType(), part));
    e.closeLoop();
  };
  const LoopGroup &inner = plan.k.back();
  int64_t innerSize = boundsOf(graph, inner).second, outerSize = plan.kSize / innerSize;
  llvm::SmallVector<unsigned> outer;
  for (const LoopGroup &group : llvm::ArrayRef(plan.k).drop_back())
    outer.append(group.begin(), group.end());
  // k is one loop over panels; elsewhere the inner loop stays one if blocks fit into it, or it into
  // them.
  if (!readsPanels() && (plan.kSize <= block || innerSize % block == 0 || kLow)) {
    e.bindLoop(outer, e.openLoop(e.i64(0), e.i64(outerSize), 1, false));
    inBlocks(innerSize, block, [&](Value low, Value high, llvm::ArrayRef<Value> into) {
      multiplyBlock(tile, low, high, inner, into);
    });
    e.closeLoop();
  } else if (!readsPanels() && block % innerSize == 0) {
    inBlocks(outerSize, block / innerSize, [&](Value low, Value high, llvm::ArrayRef<Value> into) {
      e.bindLoop(outer, e.openLoop(low, high, 1, false));
      multiplyBlock(tile, e.i64(0), e.i64(innerSize), inner, into);
      e.closeLoop();
    });
  } else {
    inBlocks(plan.kSize, block, [&](Value low, Value high, llvm::ArrayRef<Value> into) {
      multiplyBlock(tile, low, high, plan.product->reduction->dims, into);
    });
  }
}

// The same in blocks whose ends are given.
void ContractionEmitter::multiplyInEnds(Tile tile, llvm::ArrayRef<Value> sums) {
  const Reduction &reduction = *plan.product->reduction;
  int64_t count = reduction.blockEnds.size();
  if (count == 1)
    return multiplyBlock(tile, e.i64(0), e.i64(plan.kSize), reduction.dims, sums);
  llvm::SmallVector<Value> parts = makeSums("part");
  auto [low, high] = e.openBlocks(reduction);
  llvm::for_each(parts, [&](Value part) { clear(part); });
  multiplyBlock(tile, low, high, reduction.dims, parts);
  for (auto [sum, part] : llvm::zip(sums, parts))
    addTo(sum, b.CreateLoad(vectorType(), part));
  e.closeLoop();
}

// Where few rows of a go past b, and it is not copied, no cache has its rows, and they lie too far
// apart for the processor to find out.
void ContractionEmitter::fetchAhead(Value fromB) {
  constexpr int64_t farElements = 256, stepsAhead = 16;
  int64_t step = plan.packsB ? 0 : strideOf(plan.b->index, plan.k.back()).value_or(0);
  if (step < farElements || plan.kSize <= stepsAhead)
    return;
  int64_t bytes = byteSize(kind);
  for (unsigned v = 0; v < plan.vectors; ++v)
    e.askForLine(b.CreateConstGEP1_64(b.getInt8Ty(), fromB,
                                      (stepsAhead * step + int64_t(v) * plan.lanes) * bytes));
}

Value ContractionEmitter::multiplyAdd(Value old, Value left, Value right) {
  using namespace llvm::Intrinsic;
  bool isWide = plan.lanes == 16;
  if (!plan.isOfIntegers())
    return plan.isPaired
               ? b.CreateIntrinsic(x86_avx512bf16_dpbf16ps_512, {}, {old, left, right})
               : b.CreateIntrinsic(llvm::Intrinsic::fma, {vectorType()}, {left, right, old});
  if (!plan.isPaired)
    return b.CreateAdd(old, b.CreateMul(left, right));
  if (function.features.addsPairs)
    return b.CreateIntrinsic(isWide ? x86_avx512_vpdpwssd_512 : x86_avx512_vpdpwssd_256, {},
                             {old, left, right});
  return b.CreateAdd(old, b.CreateIntrinsic(isWide ? x86_avx512_pmaddw_d_512 : x86_avx2_pmadd_wd,
                                            {}, {left, right}));
}

// Adds the products of [low, high) of the loop over `along`.
void ContractionEmitter::multiplyBlock(Tile tile, Value low, Value high,
                                       llvm::ArrayRef<unsigned> along, llvm::ArrayRef<Value> sums) {
  Value m0 = tile.m0, n0 = tile.n0;
  int64_t columns = plan.columns(), bytes = byteSize(kind);
  ElementKind stored = plan.packedKind();
  llvm::Type *half = plan.isOfIntegers() ? b.getInt16Ty() : b.getBFloatTy();
  llvm::Type *packed =
      plan.isPaired ? llvm::FixedVectorType::get(half, 2 * plan.lanes) : vectorType();
  Value rowsOfA = nullptr, panel = nullptr;
  if (plan.inTilesA) {
    rowsOfA = tileOfA(m0);
  } else if (plan.packsA) {
    int64_t step = !plan.acrossA ? plan.panelK() : plan.isPaired ? 2 : 1;
    Value first = b.CreateNSWMul(b.CreateNSWSub(m0, panelLow), e.i64(step));
    rowsOfA = e.element(b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, scratchA), stored, first);
  }
  if (plan.packsB)
    panel = panelOfB(n0);
  int64_t aStride = plan.acrossA  ? (plan.isPaired ? 2 : 1)
                    : plan.packsA ? plan.panelK()
                                  : *strideOf(plan.a->index, plan.m);
  auto multiplyStep = [&] {
    Value fromA =
        plan.packsA
            ? e.element(rowsOfA, stored,
                        b.CreateNSWMul(placeOfK(), e.i64(plan.inTilesA  ? plan.rows
                                                         : plan.acrossA ? plan.packedRows()
                                                                        : 1)))
            : e.element(e.bufferPointer(plan.a->buffer()), stored, e.emitIndex(plan.a->index));
    Value fromB = plan.packsB ? e.element(panel, stored, b.CreateNSWMul(placeOfK(), e.i64(columns)))
                              : e.element(e.bufferPointer(plan.b->buffer()), stored,
                                          e.emitIndex(plan.b->index));
    fetchAhead(fromB);
    llvm::SmallVector<Value> right;
    for (unsigned v = 0; v < plan.vectors; ++v) {
      // A register holds `lanes` elements, or as many pairs.
      Value from = b.CreateConstGEP1_64(b.getInt8Ty(), fromB, v * plan.lanes * bytes);
      llvm::Align align(byteSize(stored));
      Value mask = columnMask(v * plan.lanes, plan.lanes);
      if (mask && !plan.packsB)
        right.push_back(
            b.CreateMaskedLoad(packed, from, align, mask, llvm::Constant::getNullValue(packed)));
      else
        right.push_back(b.CreateAlignedLoad(packed, from, align));
    }
    for (int64_t r = 0; r < plan.rows; ++r) {
      Value from = b.CreateConstGEP1_64(memoryType(stored, b.getContext()), fromA, r * aStride);
      Value left;
      if (plan.isPaired) {
        left = b.CreateAlignedLoad(b.getInt32Ty(), from, llvm::Align(2));
        left = b.CreateBitCast(b.CreateVectorSplat(plan.lanes, left), packed);
      } else {
        left = b.CreateAlignedLoad(memoryType(stored, b.getContext()), from, llvm::Align(bytes));
        left = e.splat(left, plan.lanes);
      }
      for (unsigned v = 0; v < plan.vectors; ++v) {
        Value slot = sums[r * plan.vectors + v];
        b.CreateStore(multiplyAdd(b.CreateLoad(vectorType(), slot), left, right[v]), slot);
      }
    }
  };
  int64_t steps = ahead.empty() ? 0 : stepsOfGroup();
  if (steps) {
    low = e.openLoop(low, high, steps, false);
    askInGroup(b.CreateUDiv(kLow ? b.CreateNSWSub(low, kLow) : low, e.i64(steps)));
    high = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, e.i64(steps)), high);
  }
  Value k = e.openLoop(low, high, plan.isPaired ? 2 : 1, false);
  if (readsPanels())
    flat = k;
  else
    e.bindLoop(along, k);
  multiplyStep();
  e.closeLoop();
  flat = nullptr;
  if (steps)
    e.closeLoop();
}

} // namespace tessera::codegen
