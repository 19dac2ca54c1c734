#include "passes/codegen/kernel/GradientWork.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/ElementWork.h"
#include "passes/codegen/kernel/InnerProducts.h"
#include "passes/codegen/kernel/Partition.h"
#include "passes/codegen/kernel/WaitingChains.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace tessera::codegen {

// Operands are copied into panels, but for factors, which lie in the scratch. `share`: of the pairs of
// queries and keys, those that are multiplied.
static cost::Product productOf(const Graph &graph, const ContractionLoops &loops, double batch,
                               double share) {
  cost::Product product;
  product.type =
      loops.product->reduction->isOfBf16 ? cost::ProductType::BF16 : cost::ProductType::F32;
  product.isWidened = !suitsPairs(graph, loops);
  product.batch = batch;
  product.m = double(loops.mSize) * share; // as if fewer queries saw all
  product.n = double(loops.nSize);
  product.k = double(loops.kSize);
  product.run = product.k;
  return product;
}

cost::KernelWork workOf(const JointNests &nests, const GradientLoops &gradient) {
  constexpr int64_t rows = pricedTile.queries, columns = pricedTile.keys;
  cost::KernelWork work;
  auto heads = double(gradient.outerCount * gradient.aroundCount);
  GradientCells cells = gradientCells(sizesOf(gradient), rows, columns, 64, true, true);
  auto shareOf = [&](KeyTile tile) {
    return shareWithin(gradient.limits, gradient.rows, gradient.rowCount, gradient.columnCount,
                       nests.graph(), gradient.outer, tile);
  };
  double share = shareOf({});
  // Whole tiles are computed, of results of queries the keys that a tile sees; those of keys are sums over
  // all queries of a block.
  double ofTiles = shareOf({rows, columns}), ofRows = shareOf({rows, 1}),
         ofColumns = shareOf({cells.block, rows});
  double strips = std::ceil(double(gradient.columnCount) / double(cells.strip));
  double blocks = std::ceil(double(gradient.rowCount) / double(cells.block));
  for (const ContractionLoops &loops : gradient.products) {
    cost::Product &product =
        work.products.emplace_back(productOf(nests.graph(), loops, heads, ofTiles));
    product.a = product.b = cost::Product::Plain;
    product.timesA = strips;
    work.flops += product.flops() * share / ofTiles;
  }
  for (const GradientLoops::Result &result : gradient.results) {
    double seen = result.isOfRows ? ofRows : ofColumns;
    cost::Product &product =
        work.products.emplace_back(productOf(nests.graph(), result.loops, heads, seen));
    product.b = cost::Product::Plain;
    // Factors are copied so that pairs of queries lie together: of each block whole vectors of keys, and
    // zeros in one beyond.
    if (product.type == cost::ProductType::BF16 && !product.isWidened && !result.isOfRows) {
      auto all = double(llvm::alignTo(gradient.columnCount, columns));
      product.a = cost::Product::Plain;
      product.timesA =
          (shareOf({cells.block, columns}) * all + columns) / (seen * double(gradient.columnCount));
    }
    product.timesB = result.isOfRows ? 1 : strips;
    product.run = double(result.isOfRows ? cells.strip : cells.block);
    work.flops += product.flops() * share / seen;
    work.moved += 8 * heads * product.n *
                  (result.isOfRows ? double(gradient.rowCount) * strips
                                   : double(gradient.columnCount) * blocks) *
                  seen;
  }
  // What is computed of each pair lies between in a cache.
  double pairs = heads * double(gradient.rowCount) * double(gradient.columnCount) * share;
  double computed =
      heads * double(gradient.rowCount * llvm::alignTo(gradient.columnCount, columns)) * ofTiles;
  llvm::DenseSet<Node *> inProducts;
  for (const ContractionLoops &loops : gradient.products)
    for (Node *node : Graph::reachable({loops.product}))
      inProducts.insert(node);
  DimSet ofQueries = setOf(gradient.rows), ofKeys = setOf(gradient.columns);
  std::vector<Node *> ofFactors = Graph::reachable(gradient.factors);
  auto isOfPairs = [&](Node *node) {
    return !inProducts.contains(node) && (node->deps & ofQueries) && (node->deps & ofKeys);
  };
  work.of(cost::ElementClass::Waiting) += waitsOf(ofFactors, [&](Node *node) {
    return isOfPairs(node) && node->op != Op::Load ? computed : 0;
  });
  for (Node *node : ofFactors)
    if (isOfPairs(node)) {
      countOperation(node, computed, work);
      work.flops += countsAsFlop(node) ? pairs : 0;
      if (node->op == Op::Load)
        work.moved += double(byteSize(node->kind)) * pairs;
    }
  work.moved += 4 * 2 * pairs * double(gradient.products.size() + gradient.factors.size());
  work.grid = double(gradient.outerCount);
  if (sizesOf(gradient).mayBeHidden) // positions lie anywhere, as far as is known
    work.inMean = 0.5;
  return work;
}

} // namespace tessera::codegen
