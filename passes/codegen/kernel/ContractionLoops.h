// dot_general and convolution as one thing: out[m, n] = sum over k of a[m, k] * b[k, n], where m, n
// and k each may be several loops and a and b are any nodes (a convolution's a is a masked load at
// strided places).
#pragma once

#include "passes/codegen/kernel/LoopGroups.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen {

struct ContractionLoops {
  Node *product = nullptr; // the Reduced node
  Node *a = nullptr, *b = nullptr;
  llvm::SmallVector<LoopGroup> outer; // batch loops, and loops of m and n but for one of each
  LoopGroup m, n;
  // Loops around m that rows go through as well, where a is copied anyhow, or m alone is short: rows
  // are counted through all of them.
  llvm::SmallVector<LoopGroup> mAround;
  llvm::SmallVector<LoopGroup> k;
  // Results lie side by side along rows rather than columns: a convolution with channels first, of
  // small images, and the gradient of its filters.
  bool isTurned = false;
  // The loops of k as b's elements have them: fewer, where a's lie otherwise.
  llvm::SmallVector<LoopGroup> kOfB;
  int64_t mSize = 1, nSize = 1, kSize = 1, outerCount = 1;
  llvm::SmallVector<int64_t> kStride; // of each group of k in the flattened k
};

// Empty when the nest is no contraction, one whose result is not contiguous along n (or along rows,
// where that is worth more), or one of so few terms that it is better off as plain sums.
std::optional<ContractionLoops> findContraction(const NestGraph &nest);
// The same of one of several reductions, with rows of one loop. What else is computed in its loops is
// computed of `roots` and goes to `stores`: loops run as one only where they do there, too.
std::optional<ContractionLoops> contractionOf(const NestGraph &nest, Node *product,
                                              llvm::ArrayRef<Node *> roots,
                                              llvm::ArrayRef<Index> stores);
// The same of a product of `a` and `b`, which are computed otherwise than in the graph.
std::optional<ContractionLoops> contractionOf(const NestGraph &nest, Node *product, Node *a,
                                              Node *b);
// The only reduction in a graph, if it is a product of matrices; else null.
Node *findProduct(llvm::ArrayRef<Node *> nodes);
// Fills in the loops of k.
void splitSums(const Graph &graph, llvm::ArrayRef<Node *> live, ContractionLoops &loops);

// Whether rows of k's that lie apart in memory, of a or b as it is read, are worth copying: many
// rows (or columns) of the other go past them, and each step along k comes to other lines.
bool copiesFarA(const ContractionLoops &loops);
bool copiesFarB(const ContractionLoops &loops);
// The same of b where few rows of a go past it, whatever the above says. `hasShortVectors`: of less than 64
// bytes.
bool copiesForFewRows(const ContractionLoops &loops, bool hasShortVectors);
// The same of both, of an a of many megabytes, which a shared cache mostly does not hold: each panel of b would read
// it from memory once more. Copied, they go in blocks.
bool copiesForLarge(const ContractionLoops &loops);
// Whether a few rows of a go past b where that lies: what counts is how it is read.
bool readsFewRows(const ContractionLoops &loops);
// Whether a few columns of a product go past rows of a matrix, which are turned: it is b then.
bool isNarrow(const ContractionLoops &loops);
// The load that a value is but for conversions, and for zeros where there is nothing to read.
Node *loadWithin(Node *node);
// Whether its elements lie side by side along a loop.
bool isAlong(Node *node, const LoopGroup &group);
// How far an index moves from row to row; none where that differs.
std::optional<int64_t> strideOfRows(const ContractionLoops &loops, const Graph &graph, Index index);
// Whether rows of a, which is copied, are copied side by side rather than each along k.
bool isAcross(const ContractionLoops &loops, const Graph &graph);
// Whether b is copied along its own innermost loop of k, and turned.
bool isAlongItsK(const ContractionLoops &loops, const Graph &graph);
// Whether what is copied can be copied block after block of k.
bool canGoInBlocks(const ContractionLoops &loops, bool copiesA, bool copiesB);
// The same with large ones, of which pairs of bf16 have none.
bool canGoInLargeBlocks(const ContractionLoops &loops, bool copiesA, bool copiesB);
// Of k that the processor's tiles have in panels at a time; 0: all.
int64_t blockOfTiles(const ContractionLoops &loops);
// Whether a value is an array as it lies, of elements of `kind` side by side along a loop, at no place that data says.
bool liesAlong(const Node *node, ElementKind kind, const LoopGroup &along);

} // namespace tessera::codegen
