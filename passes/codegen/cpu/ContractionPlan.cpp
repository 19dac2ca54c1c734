// What tiles a contraction gets.
#include "passes/codegen/cpu/Contraction.h"

#include "lib/cost/CellBounds.h"
#include "passes/codegen/kernel/ContractionWork.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace tessera::codegen {

// The load that a value is, when it is read as it is.
static bool isDirect(Node *node, ElementKind kind) {
  return node->op == Op::Load && node->kind == kind && !node->mask;
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

// Squares of pairs that are turned end where k does: blocks are whole ones then.
static bool goesInBlocks(const ContractionPlan &plan, const VectorFeatures &features) {
  bool endsInSquare = plan.isPaired && plan.acrossB;
  if (endsInSquare && (plan.k.size() > 1 || plan.kSize % (2 * int64_t(plan.lanes)) != 0))
    return false;
  return plan.hasPairsOfBf16() ? canGoInBlocks(plan, plan.packsA, plan.packsB)
                               : canGoInLargeBlocks(plan, plan.packsA, plan.packsB);
}

// Smaller panels where there is no room for what they would be.
static void keepWithin(ContractionPlan &plan, const cost::Product &product, int64_t most) {
  if (most == 0)
    return;
  cost::CellBytes bytes;
  int64_t ofSum = byteSize(plan.product->kind), element = byteSize(plan.packedKind());
  if (plan.packsA && !plan.byTiles)
    bytes.rowOfA = plan.panelK() * element;
  if (plan.isTurned) // results of a panel's rows wait, too
    bytes.rowOfA += plan.lanes * ofSum;
  if (plan.packsB)
    bytes.columnOfB = plan.panelLength() * element;
  if (plan.kBlock)
    bytes.sum = ofSum;
  bytes.hasPanelsOfB = !plan.byTiles;
  cost::fitInto(plan, product, plan.rows, plan.columns(), bytes, most);
}

static void chooseCells(ContractionPlan &plan, const Graph &graph, const VectorFeatures &features) {
  cost::Product product;
  product.batch = double(plan.outerCount);
  product.m = double(plan.mSize), product.n = double(plan.nSize), product.k = double(plan.kSize);
  product.a = plan.packsA ? cost::Product::Plain : cost::Product::None;
  product.isTurned = plan.isTurned;
  int64_t bytes = plan.product->kind == ElementKind::F64 ? 8 : 4;
  const Reduction &reduction = *plan.product->reduction;
  bool isMatrix = !reduction.isOfWindow && plan.mAround.empty();
  static_cast<ContractionCells &>(plan) =
      plan.isPaired && reduction.isOfBf16 && isMatrix
          ? cost::pairCells(product, plan.rows, plan.columns(), goesInBlocks(plan, features),
                            !plan.acrossA)
          : cost::contractionCells(
                product, plan.rows, plan.columns(), bytes, goesInBlocks(plan, features),
                isMatrix ? cost::CellBounds::ofMatrices(features.bytes) : cost::CellBounds());
  if (readsFewRows(plan))
    passRows(plan, product, plan.columns());
  if (isNarrow(plan))
    narrowCells(plan, product, plan.columns());
  if (plan.acrossA && !plan.mAround.empty())
    makeTall(plan, product, boundsOf(graph, plan.m).second, plan.columns());
  keepWithin(plan, product, graph.mostScratch);
}

// An operand as tiles read it: bf16 that is only moved as its bits.
static Node *asBf16(Graph &graph, Node *node) {
  Node *raw = unwidened(node);
  if (raw->kind != ElementKind::BF16)
    return node;
  Node *bits = graph.movedBits(raw);
  return bits ? bits : raw;
}

void chooseUnits(ContractionPlan &plan, Graph &graph) {
  plan.byTiles = true;
  plan.lanes = 16;
  plan.vectors = plan.nSize > 16 ? 2 : 1;
  plan.rows = std::min<int64_t>(plan.mSize, 32);
  plan.a = asBf16(graph, plan.a);
  plan.b = asBf16(graph, plan.b);
}

void chooseCopies(ContractionPlan &plan, const Graph &graph) {
  const LoopGroup &inner = plan.k.back();
  int64_t size = boundsOf(graph, inner).second;
  plan.acrossA = plan.packsA && isAcross(plan, graph);
  // Tiles take 32 rows at a time.
  if (plan.byTiles && !plan.mAround.empty())
    plan.acrossA &= boundsOf(graph, plan.m).second % 32 == 0;
  plan.acrossB = plan.packsB && isAlong(plan.b, inner) && !isAlong(plan.b, plan.n);
  if (plan.hasPairs()) {
    Node *read = plan.isOfIntegers() ? unwidened(plan.b) : plan.b;
    ElementKind kind = plan.isOfIntegers() ? read->kind : ElementKind::U16;
    plan.acrossB = plan.acrossB && isDirect(read, kind) && strideOf(read->index, plan.n) &&
                   size >= 2 * plan.lanes && (!plan.byTiles || size % 2 == 0);
  } else {
    plan.acrossB = plan.acrossB && plan.lanes >= 4 && size >= plan.lanes;
    plan.isAlongK = plan.packsB && !plan.acrossB && plan.lanes >= 4 && isAlongItsK(plan, graph);
    plan.acrossB |= plan.isAlongK;
  }
}

static void planTiles(ContractionPlan &plan, Graph &graph) {
  chooseUnits(plan, graph);
  const LoopGroup &inner = plan.k.back();
  bool isDirectA = isDirect(plan.a, ElementKind::U16) && strideOf(plan.a->index, plan.m) &&
                   plan.k.size() == 1 && isAlong(plan.a, inner) && plan.kSize == plan.panelK() &&
                   plan.mAround.empty();
  plan.packsA = !isDirectA;
  plan.packsB = true;
  chooseCopies(plan, graph);
  cost::Product product;
  product.batch = double(plan.outerCount);
  product.m = double(plan.mSize), product.n = double(plan.nSize);
  product.k = double(plan.panelK());
  product.a = plan.packsA ? cost::Product::Plain : cost::Product::None;
  static_cast<ContractionCells &>(plan) =
      tileCells(product, plan.rows, plan.columns(), blockOfTiles(plan));
  keepWithin(plan, product, graph.mostScratch);
}

void chooseTile(ContractionPlan &plan, const VectorFeatures &features) {
  unsigned widest = features.bytes / byteSize(plan.product->kind);
  plan.lanes = std::min<int64_t>(widest, llvm::PowerOf2Ceil(plan.nSize));
  plan.vectors = plan.nSize > plan.lanes && !plan.isTurned ? 2 : 1;
  unsigned registers = features.bytes == 64 ? 32 : 16;
  // Of two tiles one vector would be multiplied twice.
  if (plan.vectors == 2 && registers == 32 && llvm::divideCeil(plan.nSize, plan.lanes) == 3)
    plan.vectors = 3;
  if (readsFewRows(plan))
    plan.vectors = std::min(llvm::bit_floor<unsigned>((registers - 2) / (plan.mSize + 1)), 8u);
  if (plan.isTurned) // squares, which are turned in registers
    plan.rows = std::min<int64_t>(plan.lanes, plan.mSize);
  else
    chooseRows(plan, registers);
}

void choosePairs(ContractionPlan &plan, Graph &graph, const VectorFeatures &features) {
  unsigned widest = features.bytes / byteSize(plan.product->kind);
  bool multipliesPairs = plan.isOfIntegers() ? features.pairs : features.bf16 && widest == 16;
  plan.isPaired = multipliesPairs && plan.lanes == widest && suitsPairs(graph, plan);
  if (!plan.isPaired)
    return;
  if (plan.isOfIntegers()) {
    plan.a = graph.convert(unwidened(plan.a), ElementKind::I16);
    plan.b = graph.convert(unwidened(plan.b), ElementKind::I16);
  } else { // bits, which are only moved
    plan.a = asBf16(graph, plan.a);
    plan.b = asBf16(graph, plan.b);
  }
}

// Rows of a that lie side by side: with a stride between k's each step of a tile would read a line of its own,
// and a block of them would not stay in the first-level cache with a panel of b.
static bool copiesTiles(const ContractionPlan &plan) {
  return !plan.isPaired && plan.acrossA && !plan.isTurned && plan.mAround.empty() &&
         liesAlong(plan.a, plan.product->kind, plan.m);
}

std::optional<ContractionPlan> planContraction(const NestGraph &nest,
                                               const VectorFeatures &features) {
  std::optional<ContractionLoops> loops = findContraction(nest);
  if (!loops)
    return std::nullopt;
  ContractionPlan plan{*loops};
  const Reduction &reduction = *plan.product->reduction;
  if (reduction.isOfBf16 && features.bf16Tiles) {
    // Whole units only are left out, and of one block.
    if (!reduction.blockEnds.empty() &&
        (reduction.together % Reduction::tileUnit != 0 || !reduction.isOfOneTileBlock))
      return std::nullopt;
    planTiles(plan, nest.g->graph);
    return plan;
  }
  return planByVectors(nest, *loops, features);
}

ContractionPlan planByVectors(const NestGraph &nest, const ContractionLoops &loops,
                              const VectorFeatures &features) {
  ContractionPlan plan{loops};
  const Reduction &reduction = *plan.product->reduction;
  chooseTile(plan, features);
  choosePairs(plan, nest.g->graph, features);
  if (plan.isPaired) {
    plan.packsA = plan.packsB = true; // in the order that adds the products in the order of k
  } else {
    ElementKind kind = plan.product->kind;
    plan.packsA =
        !isDirect(plan.a, kind) || !strideOf(plan.a->index, plan.m) || !plan.mAround.empty();
    plan.packsB = !isDirect(plan.b, kind) || strideOf(plan.b->index, plan.n) != 1;
    plan.packsA = plan.packsA || copiesFarA(plan);
    plan.packsB = plan.packsB || copiesFarB(plan);
    plan.packsA = plan.packsA || copiesForLarge(plan);
    plan.packsB =
        plan.packsB || copiesForLarge(plan) || copiesForFewRows(plan, features.bytes < 64);
    plan.packsA |= plan.isTurned;
    if (!reduction.blockEnds.empty())
      plan.packsA = plan.packsB = true; // the ends are those of panels
  }
  chooseCopies(plan, nest.g->graph);
  plan.isBySets = !plan.isPaired;
  chooseCells(plan, nest.g->graph, features);
  if (features.bytes == 64 && !plan.kBlock) // rows of b as they lie: whole ones are copied as fast
    plan.isBySets = false;
  plan.inTilesA = copiesTiles(plan);
  // Of panels alone, whose rows are those of one loop: in whole blocks of the order of addition.
  bool hasBlocks = plan.kSize > Reduction::chainBlock && reduction.blockEnds.empty();
  if (hasBlocks && plan.packsA && plan.packsB && !plan.isTurned)
    plan.terms = rangeOfTerms(nest.g->graph, plan);
  return plan;
}

} // namespace tessera::codegen
