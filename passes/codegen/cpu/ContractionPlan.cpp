// Which loops of a contraction are m, n and k, and what tiles they get.
#include "passes/codegen/cpu/Contraction.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

static DimSet setOf(llvm::ArrayRef<unsigned> group) {
  DimSet all = 0;
  for (unsigned dim : group)
    all |= DimSet(1) << dim;
  return all;
}

// The only reduction in the graph, a chain of products.
static Node *findProduct(llvm::ArrayRef<Node *> nodes) {
  Node *found = nullptr;
  for (Node *node : nodes) {
    if (node->op != Op::Reduced)
      continue;
    if (found || node->reduction->order != Reduction::Chain)
      return nullptr;
    found = node;
  }
  return found;
}

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
  // A panel of b should stay in the second-level cache with what streams past it; about 200 us a
  // cell.
  constexpr double flopsOfCell = 16e6;
  constexpr int64_t panelBytes = 384 << 10;
  int64_t bytes = plan.product->kind == ElementKind::F64 ? 8 : 4;
  int64_t columns = plan.columns();
  plan.nChunk = std::max<int64_t>(panelBytes / (bytes * plan.kSize) / columns * columns, columns);
  double flopsOfColumn = 2.0 * plan.mSize * plan.kSize;
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
  plan.mChunk = atLeast(std::max<int64_t>(wanted, plan.rows * 8), plan.mSize, plan.rows);
  double flopsOfTile = flopsOfRow * plan.mChunk;
  plan.outerChunk =
      std::clamp<int64_t>(static_cast<int64_t>(flopsOfCell / 8 / flopsOfTile), 1, plan.outerCount);
}

std::optional<ContractionPlan> planContraction(NestGraph &nest) {
  Emitter &e = nest.g->emitter;
  ContractionPlan plan;
  plan.product = findProduct(e.live);
  if (!plan.product)
    return std::nullopt;
  Reduction &reduction = *plan.product->reduction;
  plan.a = reduction.inputs[0]->operands[0];
  plan.b = reduction.inputs[0]->operands[1];
  llvm::SmallVector<Index> stores;
  for (const Root &root : nest.roots)
    stores.push_back(root.offset);

  auto groups = e.collapse(nest.dims, e.live, stores);
  if (groups.empty())
    return std::nullopt;
  auto dependsOn = [](Node *node, const Group &group) { return (node->deps & setOf(group)) != 0; };
  // b is the operand that has the result's innermost loop.
  if (dependsOn(plan.a, groups.back()))
    std::swap(plan.a, plan.b);
  if (dependsOn(plan.a, groups.back()) || !dependsOn(plan.b, groups.back()))
    return std::nullopt;
  auto sizeOf = [&](const Group &group) { return e.bounds(group).second; };
  size_t mGroup = groups.size();
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    bool inA = dependsOn(plan.a, groups[i]), inB = dependsOn(plan.b, groups[i]);
    if (!inA && !inB)
      return std::nullopt;
    if (inA && !inB && (mGroup == groups.size() || sizeOf(groups[i]) >= sizeOf(groups[mGroup])))
      mGroup = i;
  }
  if (mGroup == groups.size())
    return std::nullopt;
  for (size_t i = 0; i + 1 < groups.size(); ++i)
    if (i != mGroup) {
      plan.outer.push_back(groups[i]);
      plan.outerCount *= sizeOf(groups[i]);
    }
  plan.m = groups[mGroup];
  plan.n = groups.back();
  plan.mSize = sizeOf(plan.m);
  plan.nSize = sizeOf(plan.n);
  for (Index store : stores)
    if (e.stride(store, plan.n) != 1)
      return std::nullopt;
  for (const Group &group : e.collapse(reduction.dims, e.live, {}))
    plan.k.push_back(group);
  plan.kStride.resize(plan.k.size());
  for (size_t i = plan.k.size(); i-- > 0;) {
    plan.kStride[i] = plan.kSize;
    plan.kSize *= sizeOf(plan.k[i]);
  }
  // Products of a few terms are better off as plain sums.
  if (plan.kSize < 4)
    return std::nullopt;

  ElementKind kind = plan.product->kind;
  unsigned widest = e.features.bytes / byteSize(kind);
  plan.lanes = std::min<int64_t>(widest, llvm::PowerOf2Ceil(plan.nSize));
  plan.vectors = plan.nSize > plan.lanes ? 2 : 1;
  chooseRows(plan, e.features.bytes == 64 ? 32 : 16);

  Node *rawA = throughConvert(plan.a), *rawB = throughConvert(plan.b);
  const Group &inner = plan.k.back();
  plan.isPaired = e.features.bf16 && widest == 16 && plan.lanes == 16 && kind == ElementKind::F32 &&
                  rawA->kind == ElementKind::BF16 && rawB->kind == ElementKind::BF16 &&
                  sizeOf(inner) % 2 == 0;
  if (plan.isPaired) {
    plan.a = rawA;
    plan.b = rawB;
    plan.packsA = plan.packsB = true; // in the order that adds the products in the order of k
  } else {
    plan.packsA = !isDirect(plan.a, kind) || !e.stride(plan.a->index, plan.m);
    plan.packsB = !isDirect(plan.b, kind) || e.stride(plan.b->index, plan.n) != 1;
    // Rows of b that lie apart are worth copying when many rows of a go past them.
    bool isFar = !plan.packsB && e.stride(plan.b->index, inner).value_or(0) >= 256;
    plan.packsB |= isFar && plan.mSize >= 64 && plan.kSize >= 64;
  }
  // Copies go along what is contiguous in memory.
  auto isAlong = [&](Node *node, const Group &group) {
    Node *raw = throughConvert(node);
    return raw->op == Op::Load && e.stride(raw->index, group) == 1;
  };
  plan.acrossA = plan.packsA && isAlong(plan.a, plan.m) && !isAlong(plan.a, inner);
  int64_t step = plan.isPaired ? 32 : 16;
  plan.acrossB = plan.packsB && isAlong(plan.b, inner) && !isAlong(plan.b, plan.n) &&
                 isDirect(plan.b, plan.isPaired ? ElementKind::BF16 : ElementKind::F32) &&
                 e.stride(plan.b->index, plan.n) && plan.lanes == 16 && sizeOf(inner) >= step;
  chooseCells(plan);
  return plan;
}

} // namespace tessera::codegen
