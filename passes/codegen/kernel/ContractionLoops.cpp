// Which loops of a contraction are m, n and k.
#include "passes/codegen/kernel/ContractionLoops.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

Node *findProduct(llvm::ArrayRef<Node *> nodes) {
  Node *found = nullptr;
  for (Node *node : nodes) {
    if (node->op != Op::Reduced)
      continue;
    const Reduction &reduction = *node->reduction;
    if (found || (reduction.order != Reduction::Chain && !reduction.isOfIntegers))
      return nullptr;
    found = node;
  }
  return found;
}

static bool dependsOn(Node *node, llvm::ArrayRef<unsigned> group) {
  return (node->deps & setOf(group)) != 0;
}

Node *loadWithin(Node *node) {
  for (;;) {
    if (node->op == Op::Convert)
      node = node->operands[0];
    else if (node->op == Op::Select && node->operands[2]->op == Op::Constant)
      node = node->operands[1];
    else
      return node->op == Op::Load ? node : nullptr;
  }
}

bool isAlong(Node *node, const LoopGroup &group) {
  Node *load = loadWithin(node);
  return load && strideOf(load->index, group) == 1;
}

// All loops that a alone depends on, as rows: where its rows are copied there need not be one
// distance between them. A filter's gradient has its window's positions and its channels.
static void joinRows(const Graph &graph, ContractionLoops &loops) {
  constexpr int64_t fewRows = 64;
  Node *a = loops.a->op == Op::Convert ? loops.a->operands[0] : loops.a;
  bool isRead = a->op == Op::Load && !a->mask && strideOf(a->index, loops.m);
  if (isRead && loops.mSize >= fewRows)
    return;
  llvm::SmallVector<LoopGroup> rows, outer;
  for (const LoopGroup &group : loops.outer)
    (dependsOn(loops.b, group) ? outer : rows).push_back(group);
  if (rows.empty())
    return;
  rows.push_back(loops.m);
  llvm::sort(rows, [](const LoopGroup &x, const LoopGroup &y) { return x.front() < y.front(); });
  loops.m = rows.pop_back_val();
  loops.mAround = std::move(rows);
  loops.outer = std::move(outer);
  auto points = [&](llvm::ArrayRef<LoopGroup> groups) {
    int64_t count = 1;
    for (const LoopGroup &group : groups)
      count *= boundsOf(graph, group).second;
    return count;
  };
  loops.outerCount = points(loops.outer);
  loops.mSize = points(loops.mAround) * boundsOf(graph, loops.m).second;
}

std::optional<int64_t> strideOfRows(const ContractionLoops &loops, const Graph &graph,
                                    Index index) {
  std::optional<int64_t> stride = strideOf(index, loops.m);
  int64_t rows = boundsOf(graph, loops.m).second;
  for (const LoopGroup &group : llvm::reverse(loops.mAround)) {
    std::optional<int64_t> around = strideOf(index, group);
    if (!stride || !around || *around != *stride * rows)
      return std::nullopt;
    rows *= boundsOf(graph, group).second;
  }
  return stride;
}

// A product, what is multiplied in it, and what its loops are read off.
struct Multiplied {
  Node *product, *a, *b;
  std::vector<Node *> live;
  llvm::ArrayRef<Index> stores;
};

static std::optional<ContractionLoops> contractionOf(const NestGraph &nest, const Multiplied &what,
                                                     bool mayBeTurned);

static Multiplied multiplied(Node *product, llvm::ArrayRef<Node *> roots,
                             llvm::ArrayRef<Index> stores) {
  llvm::ArrayRef<Node *> operands = product->reduction->inputs[0]->operands;
  return {product, operands[0], operands[1], Graph::reachable(roots), stores};
}

std::optional<ContractionLoops> findContraction(const NestGraph &nest) {
  Node *product = findProduct(Graph::reachable(nest.rootNodes()));
  std::optional<ContractionLoops> loops;
  llvm::SmallVector<Index> stores = nest.stores();
  if (product)
    loops =
        contractionOf(nest, multiplied(product, nest.rootNodes(), stores), /*mayBeTurned=*/true);
  if (!loops || loops->kSize < (loops->isTurned ? 2 : 4))
    return std::nullopt;
  joinRows(nest.g->graph, *loops);
  return loops;
}

std::optional<ContractionLoops> contractionOf(const NestGraph &nest, Node *product,
                                              llvm::ArrayRef<Node *> roots,
                                              llvm::ArrayRef<Index> stores) {
  return contractionOf(nest, multiplied(product, roots, stores), /*mayBeTurned=*/false);
}

std::optional<ContractionLoops> contractionOf(const NestGraph &nest, Node *product, Node *a,
                                              Node *b) {
  llvm::SmallVector<Index> stores = nest.stores();
  Multiplied what{product, a, b, Graph::reachable(nest.rootNodes()), stores};
  llvm::append_range(what.live, Graph::reachable({a, b}));
  return contractionOf(nest, what, /*mayBeTurned=*/false);
}

void splitSums(const Graph &graph, llvm::ArrayRef<Node *> live, ContractionLoops &loops) {
  loops.k = collapseLoops(graph, loops.product->reduction->dims, live, {});
  loops.kStride.resize(loops.k.size());
  loops.kSize = 1;
  for (size_t i = loops.k.size(); i-- > 0;) {
    loops.kStride[i] = loops.kSize;
    loops.kSize *= boundsOf(graph, loops.k[i]).second;
  }
  loops.kOfB =
      collapseLoops(graph, loops.product->reduction->dims, Graph::reachable({loops.b}), {});
}

// The group that columns are, among `groups` of a result: its innermost, `b` being the operand that has
// it. Of a convolution also another, where that one is short: the other operand's longest.
static size_t columnsOf(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                        const ContractionLoops &loops) {
  constexpr int64_t enough = 16;
  auto sizeOf = [&](size_t i) { return boundsOf(graph, groups[i]).second; };
  size_t last = groups.size() - 1, best = last;
  if (sizeOf(last) >= enough)
    return last;
  for (size_t i = 0; i < last; ++i)
    if (dependsOn(loops.a, groups[i]) && !dependsOn(loops.b, groups[i]) && sizeOf(i) >= enough &&
        (best == last || sizeOf(i) > sizeOf(best)))
      best = i;
  return best;
}

// Whether a has its k's side by side, and fewer columns go past it than a vector has: the other way
// round its rows fill the vectors, and it is read once, turned by squares.
static bool isNarrowProduct(const Graph &graph, const ContractionLoops &loops, int64_t columns) {
  constexpr int64_t fewColumns = 4, longRow = 256;
  llvm::ArrayRef<unsigned> inner = loops.product->reduction->dims;
  while (inner.size() > 1 && graph.dims[inner.back()].size == 1)
    inner = inner.drop_back();
  return columns <= fewColumns && !inner.empty() && graph.dims[inner.back()].size >= longRow &&
         isAlong(loops.a, LoopGroup{inner.back()});
}

static std::optional<ContractionLoops> contractionOf(const NestGraph &nest, const Multiplied &what,
                                                     bool mayBeTurned) {
  const Graph &graph = nest.g->graph;
  ContractionLoops loops;
  loops.product = what.product;
  Reduction &reduction = *what.product->reduction;
  loops.a = what.a;
  loops.b = what.b;
  auto groups = collapseLoops(graph, nest.dims, what.live, what.stores);
  if (groups.empty())
    return std::nullopt;
  // b is the operand that has the result's innermost loop.
  if (dependsOn(loops.a, groups.back()))
    std::swap(loops.a, loops.b);
  if (dependsOn(loops.a, groups.back()) || !dependsOn(loops.b, groups.back()))
    return std::nullopt;
  auto sizeOf = [&](llvm::ArrayRef<unsigned> group) { return boundsOf(graph, group).second; };
  size_t nGroup = groups.size() - 1, mGroup = groups.size();
  bool isNarrow = isNarrowProduct(graph, loops, sizeOf(groups.back()));
  if (mayBeTurned && (reduction.isOfWindow || isNarrow) && !reduction.isOfBf16)
    nGroup = columnsOf(graph, groups, loops);
  loops.isTurned = nGroup + 1 != groups.size();
  if (loops.isTurned)
    std::swap(loops.a, loops.b);
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == nGroup)
      continue;
    bool inA = dependsOn(loops.a, groups[i]), inB = dependsOn(loops.b, groups[i]);
    if (!inA && !inB)
      return std::nullopt;
    if (inA && !inB && (mGroup == groups.size() || sizeOf(groups[i]) >= sizeOf(groups[mGroup])))
      mGroup = i;
  }
  if (mGroup == groups.size())
    return std::nullopt;
  for (size_t i = 0; i < groups.size(); ++i)
    if (i != mGroup && i != nGroup) {
      loops.outer.push_back(groups[i]);
      loops.outerCount *= sizeOf(groups[i]);
    }
  loops.m = groups[mGroup];
  loops.n = groups[nGroup];
  loops.mSize = sizeOf(loops.m);
  loops.nSize = sizeOf(loops.n);
  for (const Root &root : nest.roots)
    if (auto stride = strideOf(root.offset, loops.n); !stride || (*stride != 1 && !loops.isTurned))
      return std::nullopt;
  splitSums(graph, what.live, loops);
  return loops;
}

// Elements between one k and the next.
static int64_t stepOf(const ContractionLoops &loops, Node *node) {
  return node->op == Op::Load ? strideOf(node->index, loops.k.back()).value_or(0) : 0;
}

static constexpr int64_t longK = 4096; // goes in blocks

bool copiesFarA(const ContractionLoops &loops) {
  int64_t step = stepOf(loops, loops.a);
  // Of long sums also where k's lie in a few lines each: a block of them would be in a part of the
  // cache only.
  bool isFar = step >= 256 || (step >= 64 && loops.kSize >= longK);
  return isFar && strideOf(loops.a->index, loops.m) == 1 && loops.nSize >= 64 && loops.kSize >= 64;
}

// Of windows' positions a copy reads a few elements here and there: panels of long sums are blocks, to
// stay in the second-level cache.
static bool isLargeWindow(const ContractionLoops &loops) {
  constexpr int64_t rowsOfPanel = 128, panelElements = 128 << 10;
  return loops.product->reduction->isOfWindow &&
         std::min(loops.mSize, rowsOfPanel) * loops.kSize >= panelElements;
}

bool copiesFarB(const ContractionLoops &loops) {
  int64_t step = stepOf(loops, loops.b);
  constexpr int64_t manyElements = 1 << 18; // more than a core keeps at hand
  bool isFar = step >= 256 || (step >= 64 && step * loops.kSize >= manyElements);
  // Without panels of b there are no blocks, and each k of a tile is divided into its loops.
  bool isOfLongPanels = loops.k.size() > 1 && isLargeWindow(loops);
  return (isFar || isOfLongPanels) && loops.mSize >= 64;
}

// Some rows past a large b, whose rows lie far apart: tiles are narrow, and one after the other would read a line
// of each of b's rows, which come to lie in one set of the first-level cache where they are a multiple of 4 KiB
// apart. With 16 registers tiles are low, too; with 32 it takes long sums, and more rows.
bool copiesForFewRows(const ContractionLoops &loops, bool hasShortVectors) {
  constexpr int64_t farElements = 256, largeElements = 1 << 20;
  int64_t leastRows = hasShortVectors ? 8 : 16, leastTerms = hasShortVectors ? 1 : 2048;
  return loops.mSize >= leastRows && loops.kSize >= leastTerms && loops.k.size() == 1 &&
         loops.kSize * loops.nSize >= largeElements && loops.b->op == Op::Load &&
         strideOf(loops.b->index, loops.k.back()).value_or(0) >= farElements;
}

bool copiesForLarge(const ContractionLoops &loops) {
  constexpr int64_t longK = 1024, wide = 512, largeElements = 8 << 20;
  return loops.k.size() == 1 && loops.kSize >= longK && loops.nSize >= wide &&
         loops.mSize * loops.kSize >= largeElements;
}

bool readsFewRows(const ContractionLoops &loops) {
  constexpr int64_t fewRows = 4, manyColumns = 128;
  Node *b = loops.b;
  return loops.mSize <= fewRows && loops.nSize >= manyColumns && !loops.isTurned &&
         b->op == Op::Load && b->kind == loops.product->kind && !b->mask &&
         strideOf(b->index, loops.n) == 1 && loops.product->reduction->blockEnds.empty() &&
         loops.k.size() == 1;
}

bool isNarrow(const ContractionLoops &loops) {
  return loops.isTurned && !loops.product->reduction->isOfWindow && loops.mAround.empty();
}

bool isAcross(const ContractionLoops &loops, const Graph &graph) {
  auto sizeOf = [&](const LoopGroup &group) { return boundsOf(graph, group).second; };
  return isAlong(loops.a, loops.m) &&
         (!isAlong(loops.a, loops.k.back()) ||
          (loops.isTurned && sizeOf(loops.m) > sizeOf(loops.k.back())));
}

bool isAlongItsK(const ContractionLoops &loops, const Graph &graph) {
  constexpr int64_t least = 4;
  Node *load = loadWithin(loops.b);
  if (!loops.product->reduction->isOfWindow || !load || isAlong(loops.b, loops.n))
    return false;
  std::optional<int64_t> stride = strideOf(load->index, loops.kOfB.back());
  return stride && std::abs(*stride) == 1 && boundsOf(graph, loops.kOfB.back()).second >= least;
}

bool canGoInBlocks(const ContractionLoops &loops, bool copiesA, bool copiesB) {
  if (!loops.product->reduction->blockEnds.empty())
    return false;
  // Of bf16 all is copied anyhow, and of wide results more than once.
  constexpr int64_t longKOfBf16 = 1024, wide = 128;
  const Reduction &reduction = *loops.product->reduction;
  bool isCopiedOften = reduction.isOfBf16 && loops.nSize >= wide;
  if (copiesA && copiesB &&
      (isLargeWindow(loops) || loops.kSize >= (isCopiedOften ? longKOfBf16 : longK)))
    return true;
  return loops.k.size() == 1 && copiesB && (!copiesA || copiesFarA(loops));
}

bool canGoInLargeBlocks(const ContractionLoops &loops, bool copiesA, bool copiesB) {
  return canGoInBlocks(loops, copiesA, copiesB) ||
         (copiesForLarge(loops) && loops.product->reduction->blockEnds.empty());
}

int64_t blockOfTiles(const ContractionLoops &loops) {
  constexpr int64_t block = Reduction::tileBlock;
  bool isWhole = loops.k.size() == 1 && loops.kSize > block && loops.kSize % block == 0;
  return isWhole && loops.mAround.empty() && !loops.isTurned ? block : 0;
}

bool liesAlong(const Node *node, ElementKind kind, const LoopGroup &along) {
  return node->op == Op::Load && node->kind == kind && !node->mask && node->index->nodes.empty() &&
         strideOf(node->index, along) == 1;
}

} // namespace tessera::codegen
