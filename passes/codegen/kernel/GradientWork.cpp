#include "passes/codegen/kernel/GradientWork.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/InnerProducts.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/Partition.h"

#include "llvm/ADT/DenseSet.h"

#include <cmath>

namespace tessera::codegen {

// Operands are copied into panels, but for factors, which lie in the scratch.
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
  cost::KernelWork work;
  auto heads = double(gradient.outerCount * gradient.aroundCount);
  double share = shareWithin(gradient.limits, gradient.rows, gradient.rowCount,
                             gradient.columnCount, nests.graph(), gradient.outer);
  GradientCells cells = gradientCells(sizesOf(gradient), 8, 32, 64, true, true);
  double strips = std::ceil(double(gradient.columnCount) / double(cells.strip));
  double blocks = std::ceil(double(gradient.rowCount) / double(cells.block));
  for (const ContractionLoops &loops : gradient.products) {
    cost::Product &product =
        work.products.emplace_back(productOf(nests.graph(), loops, heads, share));
    product.a = product.b = cost::Product::Plain;
    product.timesA = strips;
    work.flops += product.flops();
  }
  for (const GradientLoops::Result &result : gradient.results) {
    cost::Product &product =
        work.products.emplace_back(productOf(nests.graph(), result.loops, heads, share));
    product.b = cost::Product::Plain;
    product.timesB = result.isOfRows ? 1 : strips;
    product.run = double(result.isOfRows ? cells.strip : cells.block);
    work.flops += product.flops();
    work.moved += 8 * heads * product.n *
                  (result.isOfRows ? double(gradient.rowCount) * strips
                                   : double(gradient.columnCount) * blocks) *
                  share;
  }
  // What is computed of each pair lies between in a cache.
  double pairs = heads * double(gradient.rowCount) * double(gradient.columnCount) * share;
  llvm::DenseSet<Node *> inProducts;
  for (const ContractionLoops &loops : gradient.products)
    for (Node *node : Graph::reachable({loops.product}))
      inProducts.insert(node);
  DimSet rows = setOf(gradient.rows), columns = setOf(gradient.columns);
  for (Node *node : Graph::reachable(gradient.factors))
    if (!inProducts.contains(node) && (node->deps & rows) && (node->deps & columns)) {
      countOperation(node, pairs, work);
      work.flops += countsAsFlop(node) ? pairs : 0;
      if (node->op == Op::Load)
        work.moved += double(byteSize(node->kind)) * pairs;
    }
  work.moved += 4 * 2 * pairs * double(gradient.products.size() + gradient.factors.size());
  work.grid = double(gradient.outerCount);
  return work;
}

} // namespace tessera::codegen
