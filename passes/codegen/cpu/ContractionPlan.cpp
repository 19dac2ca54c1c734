// What tiles a contraction gets.
#include "passes/codegen/cpu/Contraction.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// The load that a value is, when it is read as it is.
static bool isDirect(Node *node, ElementKind kind) {
  return node->op == Op::Load && node->kind == kind && !node->mask;
}

static Node *throughConvert(Node *node) {
  return node->op == Op::Convert ? node->operands[0] : node;
}

static void chooseRows(ContractionPlan &plan, unsigned registers) {
  int64_t most = std::min<int64_t>((registers - 2 - plan.vectors) / plan.vectors, 12);
  if (plan.mSize <= most) {
    plan.rows = plan.mSize;
    return;
  }
  double best = 1e30;
  for (int64_t rows = std::min<int64_t>(most, 8); rows >= 4; --rows) {
    double cost = llvm::divideCeil(plan.mSize, rows) * (rows + 1.5);
    if (cost < best) {
      best = cost;
      plan.rows = rows;
    }
  }
}

static void chooseCells(ContractionPlan &plan) {
  // A panel of b should stay in the second-level cache with what streams past it, and rows of a that
  // are copied; memory of the device, too, is bounded so. About 200 us a cell.
  constexpr double flopsOfCell = 16e6;
  constexpr int64_t panelBytes = 256 << 10, rowBytes = 128 << 10;
  int64_t bytes = plan.product->kind == ElementKind::F64 ? 8 : 4;
  int64_t columns = plan.columns();
  plan.nChunk = std::max<int64_t>(panelBytes / (bytes * plan.kSize) / columns * columns, columns);
  int64_t mLeast = plan.rows * 8, mMost = plan.mSize;
  if (plan.packsA)
    mMost = std::clamp(rowBytes / (bytes * plan.kSize) / plan.rows * plan.rows,
                       std::min(mLeast, mMost), mMost);
  double flopsOfColumn = 2.0 * mMost * plan.kSize;
  int64_t wanted = static_cast<int64_t>(flopsOfCell / flopsOfColumn) / columns * columns;
  plan.nChunk = std::min(plan.nChunk, std::max(wanted, columns));
  auto atLeast = [](int64_t chunk, int64_t size, int64_t least) {
    // The last chunk must hold a whole tile, since tiles never reach past a chunk.
    while (chunk < size && size % chunk != 0 && size % chunk < least)
      chunk += least;
    return std::min(chunk, size);
  };
  plan.nChunk = atLeast(plan.nChunk, plan.nSize, columns);
  double flopsOfRow = 2.0 * plan.nChunk * plan.kSize;
  wanted = static_cast<int64_t>(flopsOfCell / flopsOfRow) / plan.rows * plan.rows;
  plan.mChunk = atLeast(std::min(std::max(wanted, mLeast), mMost), plan.mSize, plan.rows);
  double flopsOfTile = flopsOfRow * plan.mChunk;
  plan.outerChunk =
      std::clamp<int64_t>(static_cast<int64_t>(flopsOfCell / 8 / flopsOfTile), 1, plan.outerCount);
}

std::optional<ContractionPlan> planContraction(const NestGraph &nest,
                                               const VectorFeatures &features) {
  std::optional<ContractionLoops> loops = findContraction(nest);
  // Products of a few terms are better off as plain sums.
  if (!loops || loops->kSize < 4)
    return std::nullopt;
  ContractionPlan plan{*loops};
  ElementKind kind = plan.product->kind;
  unsigned widest = features.bytes / byteSize(kind);
  plan.lanes = std::min<int64_t>(widest, llvm::PowerOf2Ceil(plan.nSize));
  plan.vectors = plan.nSize > plan.lanes ? 2 : 1;
  chooseRows(plan, features.bytes == 64 ? 32 : 16);

  Node *rawA = throughConvert(plan.a), *rawB = throughConvert(plan.b);
  const LoopGroup &inner = plan.k.back();
  int64_t innerSize = boundsOf(nest.g->graph, inner).second;
  plan.isPaired = features.bf16 && widest == 16 && plan.lanes == 16 && kind == ElementKind::F32 &&
                  rawA->kind == ElementKind::BF16 && rawB->kind == ElementKind::BF16 &&
                  innerSize % 2 == 0;
  if (plan.isPaired) {
    plan.a = rawA;
    plan.b = rawB;
    plan.packsA = plan.packsB = true; // in the order that adds the products in the order of k
  } else {
    plan.packsA = !isDirect(plan.a, kind) || !strideOf(plan.a->index, plan.m);
    plan.packsB = !isDirect(plan.b, kind) || strideOf(plan.b->index, plan.n) != 1;
    // Rows of b that lie apart are worth copying when many rows of a go past them.
    bool isFar = !plan.packsB && strideOf(plan.b->index, inner).value_or(0) >= 256;
    plan.packsB |= isFar && plan.mSize >= 64 && plan.kSize >= 64;
  }
  // Copies go along what is contiguous in memory.
  auto isAlong = [&](Node *node, const LoopGroup &group) {
    Node *raw = throughConvert(node);
    return raw->op == Op::Load && strideOf(raw->index, group) == 1;
  };
  plan.acrossA = plan.packsA && isAlong(plan.a, plan.m) && !isAlong(plan.a, inner);
  int64_t step = plan.isPaired ? 32 : 16;
  plan.acrossB = plan.packsB && isAlong(plan.b, inner) && !isAlong(plan.b, plan.n) &&
                 isDirect(plan.b, plan.isPaired ? ElementKind::BF16 : ElementKind::F32) &&
                 strideOf(plan.b->index, plan.n) && plan.lanes == 16 && innerSize >= step;
  chooseCells(plan);
  return plan;
}

} // namespace tessera::codegen
