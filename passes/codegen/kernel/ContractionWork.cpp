#include "passes/codegen/kernel/ContractionWork.h"

#include "lib/cost/CellBounds.h"
#include "lib/cost/ProductTile.h"
#include "passes/codegen/kernel/Partition.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace tessera::codegen {

using cost::Product;

Node *unwidened(Node *node) { return node->op == Op::Convert ? node->operands[0] : node; }

// Whether all of its numbers are signed ones of 16 bits.
static bool fitsPair(Node *node) {
  unsigned bits = bitWidth(node->kind);
  return !isFloat(node->kind) && bits > 1 && bits <= (isSigned(node->kind) ? 16 : 15);
}

bool suitsPairs(const Graph &graph, const ContractionLoops &loops) {
  const Reduction &reduction = *loops.product->reduction;
  Node *a = unwidened(loops.a), *b = unwidened(loops.b);
  bool isOfBf16 = loops.product->kind == ElementKind::F32 && a->kind == ElementKind::BF16 &&
                  b->kind == ElementKind::BF16;
  return (reduction.isOfIntegers ? fitsPair(a) && fitsPair(b) : isOfBf16) &&
         boundsOf(graph, loops.k.back()).second % 2 == 0 &&
         (reduction.blockEnds.empty() || reduction.together % 2 == 0);
}

static bool isPlainLoad(Node *node) { return node->op == Op::Load && !node->mask; }

// `along`: a loop that the copy's vectors run along; along `turned` lies what is turned by squares.
static Product::Copy copyOf(Node *node, const LoopGroup &along, const LoopGroup &turned) {
  if (!loadWithin(node))
    return Product::Computed;
  return isAlong(node, along)    ? Product::Plain
         : isAlong(node, turned) ? Product::Turned
                                 : Product::Computed;
}

// Whether pairs of b that lie along k are turned by squares: of what is widened before, they are read one
// by one (cpu/ContractionPlan.cpp).
static bool turnsPairs(const Graph &graph, const ContractionLoops &loops) {
  constexpr int64_t squareOfPairs = 32;
  Node *b = unwidened(loops.b);
  return isPlainLoad(b) && b->kind == ElementKind::BF16 && strideOf(b->index, loops.n) &&
         boundsOf(graph, loops.k.back()).second >= squareOfPairs;
}

static const LoopGroup &vectorsOfA(const Graph &graph, const ContractionLoops &loops) {
  return isAcross(loops, graph) ? loops.m : loops.k.back();
}

static double chunksOf(double size, int64_t chunk) { return std::ceil(size / double(chunk)); }

// What a cell copies where its kernel's scratch is bounded.
static cost::CellBytes bytesOf(const Product &product, int64_t kBlock, int64_t element) {
  auto k = static_cast<int64_t>(product.k);
  int64_t panel = (kBlock ? std::min(kBlock, k) : k) * element;
  return {product.a == Product::None ? 0 : panel, product.b == Product::None ? 0 : panel,
          kBlock ? int64_t(4) : 0};
}

// What other loops make of them, and a bound of scratch. `rows`, `columns`: of a tile, by vectors of `lanes`.
static void placeCells(ContractionCells &cells, const Graph &graph, const ContractionLoops &loops,
                       const Product &product, int64_t rows, int64_t columns, int64_t lanes,
                       int64_t element) {
  if (!loops.mAround.empty() && isAcross(loops, graph))
    makeTall(cells, product, boundsOf(graph, loops.m).second,
             loops.nSize > lanes ? 2 * lanes : lanes);
  if (readsFewRows(loops))
    passRows(cells, product, 128);
  if (isNarrow(loops))
    narrowCells(cells, product, 16);
  if (graph.mostScratch)
    cost::fitInto(cells, product, std::min<int64_t>(loops.mSize, rows),
                  std::min<int64_t>(llvm::PowerOf2Ceil(loops.nSize), columns),
                  bytesOf(product, cells.kBlock, element), graph.mostScratch);
}

static ContractionCells commonCells(const Graph &graph, const ContractionLoops &loops,
                                    const Product &product) {
  ContractionCells cells = cost::commonCells(
      product, canGoInBlocks(loops, product.a != Product::None, product.b != Product::None));
  int64_t element = product.type == cost::ProductType::BF16 && !product.isWidened ? 2
                    : product.type == cost::ProductType::F64                      ? 8
                                                                                  : 4;
  placeCells(cells, graph, loops, product, product.isTurned ? 16 : 8, product.isTurned ? 16 : 32,
             /*lanes=*/16, element);
  return cells;
}

// b is copied for each panel of rows where not all of a cell's columns are copied at a time.
static double timesOfB(const Product &product, const ContractionCells &cells) {
  return chunksOf(product.m, cells.nPanel < cells.nChunk ? cells.mPanel : cells.mChunk);
}

// How cells of short vectors get their operands, and how often (CellBounds.h).
static Product::Copies copiesByShortVectors(const Graph &graph, const ContractionLoops &loops,
                                            Product product) {
  bool isLarge = copiesForLarge(loops);
  if (product.a == Product::None && isLarge)
    product.a = copyOf(loops.a, vectorsOfA(graph, loops), loops.k.back());
  if (product.b == Product::None && (isLarge || copiesForFewRows(loops, /*hasShortVectors=*/true)))
    product.b = copyOf(loops.b, loops.n, loops.k.back());
  bool isMatrix = !loops.product->reduction->isOfWindow && loops.mAround.empty();
  bool inBlocks = canGoInLargeBlocks(loops, product.a != Product::None, product.b != Product::None);
  ContractionCells cells = cost::shortCells(product, inBlocks, isMatrix);
  constexpr int64_t lanes = 8;
  cost::Tile tile = cost::tileOf(product, lanes);
  placeCells(cells, graph, loops, product, static_cast<int64_t>(tile.rows),
             static_cast<int64_t>(tile.columns), lanes,
             product.type == cost::ProductType::F64 ? 8 : 4);
  return {product.a, product.b, chunksOf(product.n, cells.nChunk), timesOfB(product, cells)};
}

// How the processor's own tiles get their operands, and how often (cpu/ContractionTiles.cpp).
static Product::Copies copiesByTiles(const Graph &graph, const ContractionLoops &loops,
                                     Product product) {
  Node *a = unwidened(loops.a);
  const LoopGroup &inner = loops.k.back();
  bool isDirect = isPlainLoad(a) && a->kind == ElementKind::BF16 && strideOf(a->index, loops.m) &&
                  strideOf(a->index, inner) == 1 && loops.k.size() == 1 &&
                  loops.kSize % Reduction::tileUnit == 0 && loops.mAround.empty();
  product.k = double(llvm::alignTo(static_cast<int64_t>(product.k), Reduction::tileUnit));
  product.a = isDirect ? Product::None : Product::Plain;
  ContractionCells cells = tileCells(product, std::min<int64_t>(loops.mSize, 32),
                                     loops.nSize > 16 ? 32 : 16, blockOfTiles(loops));
  if (graph.mostScratch)
    cost::fitInto(cells, product, std::min<int64_t>(loops.mSize, 32), loops.nSize > 16 ? 32 : 16,
                  {0, int64_t(product.k) * 2, 0, /*hasPanelsOfB=*/false}, graph.mostScratch);
  Product::Copy copy = isDirect ? Product::None : copyOf(loops.a, inner, loops.m);
  return {copy, copyOf(loops.b, loops.n, inner), chunksOf(product.n, cells.nChunk),
          chunksOf(product.m, cells.mChunk)};
}

cost::Product productOf(const Graph &graph, const ContractionLoops &loops) {
  Product product;
  ElementKind kind = loops.product->kind;
  bool isBf16 = loops.product->reduction->isOfBf16;
  product.type = isBf16                     ? cost::ProductType::BF16
                 : kind == ElementKind::F32 ? cost::ProductType::F32
                 : kind == ElementKind::F64 ? cost::ProductType::F64
                                            : cost::ProductType::Other;
  product.isWidened = isBf16 && !suitsPairs(graph, loops);
  product.batch = double(loops.outerCount);
  product.isTurned = loops.isTurned;
  product.m = double(loops.mSize), product.n = double(loops.nSize), product.k = double(loops.kSize);
  DimSet phased = 0; // terms that are zero are left out
  for (auto [dim, step] : graph.wantedPhases) {
    product.k /= phased >> dim & 1 ? 1 : double(step);
    phased |= DimSet(1) << dim;
  }
  auto isDirect = [&](Node *node) { return isPlainLoad(node) && node->kind == kind; };
  bool copiesA = isBf16 || loops.isTurned || !isDirect(loops.a) ||
                 !strideOf(loops.a->index, loops.m) || !loops.mAround.empty() || copiesFarA(loops);
  bool copiesB =
      isBf16 || !isDirect(loops.b) || strideOf(loops.b->index, loops.n) != 1 || copiesFarB(loops);
  if (copiesA)
    product.a = copyOf(loops.a, vectorsOfA(graph, loops), loops.k.back());
  if (copiesB)
    product.b =
        isAlongItsK(loops, graph) ? Product::Turned : copyOf(loops.b, loops.n, loops.k.back());
  if (product.b == Product::Turned && isBf16 && !product.isWidened && !turnsPairs(graph, loops))
    product.b = Product::Computed;
  auto [low, high] = boundsOf(graph, loops.k.back());
  product.run = copiesA && copiesB ? product.k : double(std::max<int64_t>(high - low, 1));
  if (!copiesB && loops.k.size() == 1)
    product.strideOfB =
        double(std::abs(strideOf(loops.b->index, loops.k.back()).value_or(0)) * byteSize(kind));
  ContractionCells cells = commonCells(graph, loops, product);
  product.timesA = chunksOf(product.n, cells.nChunk);
  product.timesB = timesOfB(product, cells);
  product.byShortVectors = copiesByShortVectors(graph, loops, product);
  if (isBf16)
    product.byTiles = copiesByTiles(graph, loops, product);
  return product;
}

double cellsOf(const Graph &graph, const ContractionLoops &loops, const cost::Product &product) {
  ContractionCells cells = commonCells(graph, loops, product);
  return product.timesA * chunksOf(product.m, cells.mChunk) *
         chunksOf(product.batch, cells.outerChunk);
}

double wholeCellOf(const Graph &graph, const ContractionLoops &loops,
                   const cost::Product &product) {
  ContractionCells cells = commonCells(graph, loops, product);
  auto part = [](int64_t chunk, double size) { return std::min(double(chunk) / size, 1.0); };
  return part(cells.mChunk, product.m) * part(cells.nChunk, product.n) *
         part(cells.outerChunk, product.batch);
}

// Loads that lie in one piece along none of the loops that the copy's vectors run along.
static double countApart(Node *node, llvm::ArrayRef<unsigned> along) {
  double loads = 0;
  for (Node *load : Graph::reachable({node}))
    if (load->op == Op::Load && (load->deps & setOf(along))) {
      std::optional<int64_t> stride = strideOf(load->index, along);
      loads += !stride || std::abs(*stride) > 1;
    }
  return loads;
}

double readApart(const Graph &graph, const ContractionLoops &loops, const cost::Product &product) {
  double elements = 0;
  if (product.a == Product::Computed)
    elements += countApart(loops.a, vectorsOfA(graph, loops)) * product.m * product.timesA;
  if (product.b == Product::Computed)
    elements += countApart(loops.b, loops.n) * product.n * product.timesB;
  return elements * product.batch * product.k;
}

double copiesInPieces(const Graph &graph, const ContractionLoops &loops,
                      const cost::Product &product) {
  constexpr double enough = 16, stepsOfRun = 16, stepsOfEnds = 5, stepsOfPiece = 2.5;
  auto [low, high] = boundsOf(graph, vectorsOfA(graph, loops));
  auto size = double(high - low);
  if (!loops.isTurned || size >= enough)
    return 0;
  // Rows begin anew for each k where they are copied side by side, and else run along k's innermost loop:
  // ends of blocks, which lie anywhere in that, are looked for each time.
  if (isAcross(loops, graph))
    return product.batch * product.timesA * product.m / size *
           (stepsOfRun + stepsOfPiece * product.k);
  bool inBlocks = commonCells(graph, loops, product).kBlock > 0;
  double ofRun = inBlocks ? stepsOfEnds : stepsOfPiece;
  return product.batch * product.timesA * product.m * (stepsOfRun + ofRun * product.k / size);
}

} // namespace tessera::codegen
