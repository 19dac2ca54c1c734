#include "passes/codegen/kernel/NestWork.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "lib/cost/ProductCells.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/ElementWork.h"
#include "passes/codegen/kernel/GroupedProduct.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/NestParts.h"
#include "passes/codegen/kernel/ShortRows.h"
#include "passes/codegen/kernel/TermRange.h"
#include "passes/codegen/kernel/TurnedLoads.h"
#include "passes/codegen/kernel/WaitingChains.h"
#include "passes/codegen/kernel/WindowSums.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace tessera::codegen {

using cost::Access;
using cost::ElementClass;
using cost::Folding;
using cost::KernelWork;

namespace {

constexpr double kColumnsOfStrips = 64; // an array of fewer is read and written as it lies

// Counts the nodes of a nest.
class Counter {
public:
  // `attention`: what the nest computes, where that is one.
  Counter(const NestGraph &nest, KernelWork &work, const AttentionLoops *attention = nullptr)
      : nest(nest), attention(attention), graph(nest.g->graph), work(work),
        live(Graph::reachable(nest.rootNodes())) {
    groups = collapseLoops(graph, nest.dims, live, nest.stores());
    if (!nest.takesRows())
      turned = turnedLoads(graph, groups, live);
    if (groups.empty() || !nest.keepsVectors(live, groups.back().back()))
      return;
    if (!nest.takesRows() && !turned && shortRows(graph, groups, live, nest.stores()))
      vector = groups[groups.size() - 2];
    llvm::append_range(vector, groups.back());
  }

  void count() {
    product = findContraction(nest);
    if (std::optional<GroupedProduct> grouped = product ? std::nullopt : findGroupedProduct(nest))
      product = *grouped;
    if (product) {
      turned.reset();
      resultsAlong = setOf(product->isTurned ? product->m : product->n);
      if (product->isTurned)
        for (const LoopGroup &around : product->mAround)
          resultsAlong |= setOf(around);
      countProduct(*product);
      work.of(Access::Strided) += readApart(graph, *product, work.products.back());
      work.of(Access::Pieces) += copiesInPieces(graph, *product, work.products.back());
    } else if (attention) {
      countAttention();
    } else if ((windowSums = findWindowSums(nest))) {
      work.grid = std::max(work.grid, double(windowSums->cells()));
    }
    for (Node *node : live)
      if (node->op == Op::Reduced)
        countFolding(node);
    for (Node *node : live) {
      double times = pointsOf(node->deps) * (node->deps & keys ? shareOfKeys : 1);
      if (countsAsFlop(node) && !inProduct.contains(node))
        work.flops += times;
      times *= node->deps & keys ? paddingOfKeys : 1;
      if (inProduct.contains(node))
        continue;
      if (node->op == Op::Load)
        countLoad(node, times);
      else if (!node->local)
        countOperation(node, padded(node, times), isOneByOne(node));
    }
    countWaits();
    double points = pointsOf(setOf(nest.dims));
    for (const Root &root : nest.roots) {
      if (root.isPart) {
        double lanes = lanesOf(root.kind) * points;
        work.of(Folding::Columns) += lanes;
        work.flops += points;
        continue;
      }
      double stored = root.isOfRow ? pointsOf(root.offset->deps) : points;
      work.moved += stored * byteSize(root.kind);
      countStore(root, stored);
    }
    if (!product && !vector.empty())
      work.runs += points / extentOf(vector);
  }

  // Bytes that are read of each of the kernel's arrays; of one no more than all.
  void countArrays(llvm::MutableArrayRef<cost::Touched> arrays) const {
    for (Node *node : live)
      if (node->op == Op::Load && size_t(node->buffer()) < arrays.size()) {
        cost::Touched &array = arrays[node->buffer()];
        array.bytes += pointsOf(node->deps) * double(byteSize(node->kind));
        array.inStrips |= inStrips.contains(node);
      }
  }

  // Whether results are written by tiles of a product, which are narrower than they are.
  bool writesStrips = false;
  // By blocks of what is turned.
  bool writesBlocks() const { return turned.has_value(); }

private:
  double pointsOf(DimSet deps) const {
    double points = 1;
    for (unsigned dim = 0; dim < graph.dims.size(); ++dim)
      if (deps >> dim & 1)
        points *= double(graph.dims[dim].high - graph.dims[dim].low);
    return points;
  }

  double extentOf(llvm::ArrayRef<unsigned> group) const {
    auto [low, high] = boundsOf(graph, group);
    return double(std::max<int64_t>(high - low, 1));
  }

  // What whole vectors compute: along the inner loop, or along the rows or columns of a product's tiles.
  double padded(Node *node, double times) const {
    DimSet along = product ? resultsAlong : setOf(alongOf(node));
    if (!(node->deps & along))
      return times;
    double extent = product ? double(product->isTurned ? product->mSize : product->nSize)
                            : extentOf(alongOf(node));
    return times / extent * 16 * std::ceil(extent / 16);
  }

  // No vectors run along any loop of it.
  bool isOneByOne(Node *node) const {
    return !product && !keys && alongOf(node).empty() && node->deps;
  }

  void countOperation(Node *node, double times, bool oneByOne) {
    constexpr double lanes = 4; // that a vector instruction would compute in the same time
    KernelWork own;
    codegen::countOperation(node, times, own);
    if (oneByOne)
      for (ElementClass each : {ElementClass::Arithmetic, ElementClass::Narrowed})
        own.of(each) *= lanes;
    work += own;
  }

  // Of what vectors compute, chains that are too long to be hidden.
  void countWaits() {
    auto times = [&](Node *node) {
      bool isComputed = node->op != Op::Load && node->op != Op::Reduced && !node->local &&
                        !inProduct.contains(node);
      if (!isComputed || !(node->deps & (keys ? keys : setOf(alongOf(node)))))
        return 0.0;
      double points = pointsOf(node->deps);
      return keys ? points * shareOfKeys * paddingOfKeys : padded(node, points);
    };
    work.of(ElementClass::Waiting) += waitsOf(live, times);
  }

  // What the vector loop is for this node.
  const LoopGroup &alongOf(Node *node) const {
    return !rows.empty() && (vector.empty() || (node->deps & setOf(rows))) ? rows : vector;
  }

  void countFolding(Node *node) {
    const Reduction &reduction = *node->reduction;
    if (inProduct.contains(node))
      return;
    double points = pointsOf(reduction.deps | reduction.ownDims | node->deps);
    if (isFloat(node->kind))
      work.flops += points;
    double lanes = lanesOf(node->kind) * points;
    if (reduction.best != Reduction::NoBest && reduction.order == Reduction::Rows &&
        reduction.loops.size() == 1 && (vector.empty() || !(reduction.deps & setOf(vector)))) {
      rows.assign(reduction.loops.back().begin(), reduction.loops.back().end());
      if (node->aux == 0)
        work.of(Folding::Rows) += kBest * lanes;
      return;
    }
    if (reduction.simple.empty()) {
      if (node->aux == 0)
        for (Node *step : Graph::reachable(reduction.results))
          if (step->local && step->op != Op::External)
            work.of(Folding::Stepwise) += lanesOf(step->kind) * points;
      return;
    }
    if (isExtremum(reduction.simple.front(), node->kind))
      work.of(ElementClass::Arithmetic) += (kExtremum - 1) * lanes;
    if (reduction.order == Reduction::Chain) {
      if (windowSums)
        work.of(Folding::Columns) += padded(node, lanes);
      else if (isOneByOne(node))
        work.of(ElementClass::OneByOne) += points;
      else
        work.of(Folding::Chain) += padded(node, lanes);
      return;
    }
    if (isOneByOne(node) && reduction.order == Reduction::Columns) {
      work.of(ElementClass::OneByOne) += points;
      return;
    }
    // The loop that vectors run along, when it is not one of the results'.
    bool isAlongRows = vector.empty() || !(reduction.deps & setOf(vector));
    work.of(isAlongRows ? Folding::Rows : Folding::Columns) +=
        isAlongRows ? lanes : padded(node, lanes);
    if (isAlongRows && reduction.order == Reduction::Rows && !reduction.loops.empty()) {
      rows.assign(reduction.loops.back().begin(), reduction.loops.back().end());
      double sums = pointsOf(reduction.deps);
      work.runs += sums;
      work.of(Folding::Halves) += (isExtremum(reduction.simple.front(), node->kind) ? 2 : 1) * sums;
    }
  }

  // Bytes from one element to the next, of which lines have two.
  static constexpr int64_t mostInLine = 32;

  // Elements that do not lie one after the other are written one by one, as they are read.
  void countStore(const Root &root, double times) {
    if (isHalfFloat(root.kind))
      work.of(ElementClass::Narrowed) += times;
    if (product || keys || vector.empty() || !root.offset)
      return;
    int64_t stride = std::abs(strideOf(root.offset, vector).value_or(mostInLine));
    if (root.value.im) // both parts of a number, one after the other
      stride /= 2;
    if (stride > 1)
      work.of(stride * int64_t(byteSize(root.kind)) <= mostInLine ? Access::Gathered
                                                                  : Access::Strided) += times;
  }

  void countLoad(Node *node, double times) {
    double bytes = double(byteSize(node->kind));
    const LoopGroup &along = alongOf(node);
    bool readsWhereDataSays = llvm::any_of(node->index->nodes, [&](auto pair) {
      return !along.empty() && (pair.first->deps & setOf(along)) != 0;
    });
    int64_t stride = along.empty() || readsWhereDataSays
                         ? 1
                         : std::abs(strideOf(node->index, along).value_or(mostInLine));
    bool isAcross = stride > 1;
    if (isHalfFloat(node->kind))
      work.of(ElementClass::Arithmetic) += kWiden * padded(node, times);
    if (readsWhereDataSays) {
      work.of(Access::Gathered) += times;
    } else if (!isAcross) {
      work.moved += padded(node, times) * bytes;
    } else if (turned && llvm::is_contained(turned->loads, node)) {
      work.of(Access::Turned) += times;
    } else if (double(stride) * bytes <= mostInLine) {
      work.of(Access::Gathered) += times; // several of a line
    } else {
      // What is read until the next element of a line is.
      double between = 1, extent = 0;
      for (size_t i = groups.size(); i-- > 0;) {
        if (strideOf(node->index, groups[i]) == 1) {
          extent = extentOf(groups[i]);
          break;
        }
        between *= extentOf(groups[i]);
      }
      constexpr double mostLines = 1024;
      work.of(between > mostLines && extent > 0 ? Access::Far : Access::Strided) += times;
    }
  }

  // Two products, and what is done with each score. What the largest and the sum read is the same
  // over other loops, and computed once.
  void countAttention() {
    constexpr int64_t rows = pricedTile.queries, columns = pricedTile.keys;
    fusion::Attention sizes = sizesOf(*attention);
    AttentionCells cells = attentionCells(sizes, rows, columns);
    auto shareOf = [&](KeyTile tile) {
      return shareWithin(attention->limits, attention->scores.m, sizes.queries, sizes.keys, graph,
                         attention->scores.outer, tile);
    };
    shareOfKeys = shareOf({});
    keys = attention->values.product->reduction->ownDims;
    for (Node *node : {attention->largest, attention->sum}) {
      if (!node)
        continue;
      DimSet own = node->reduction->ownDims;
      for (Node *other : live)
        if (other == node || (other->deps & own))
          inProduct.insert(other);
    }
    double shareOfTiles = shareOf({rows, columns});
    double chunks = std::ceil(double(sizes.queries) / double(cells.queries));
    for (const ContractionLoops *loops : {&attention->scores, &attention->values}) {
      countProduct(*loops);
      cost::Product &made = work.products.back();
      work.flops -= made.flops() * (1 - shareOfKeys);
      // As if fewer queries saw all: of the scores whole tiles are computed, of their products with
      // values each key that a tile sees.
      double seen = loops == &attention->scores ? shareOfTiles : shareOf({rows, 1});
      made.m *= seen;
      // All is copied into panels, but for the probabilities, which lie in the scratch.
      made.a = std::max(made.a, cost::Product::Plain);
      made.b = std::max(made.b, cost::Product::Plain);
      made.timesA = 1 / seen;
      made.timesB = chunks;
      made.run = std::min(made.run, double(cells.strip));
      made.byTiles.timesA = made.timesA, made.byTiles.timesB = made.timesB;
      made.byShortVectors.reset();
    }
    work.products.back().a = work.products.back().byTiles.a = cost::Product::None;
    work.grid = chunks * double(sizes.heads);
    if (sizes.mayBeHidden) // positions lie anywhere, as far as is known
      work.inMean = 0.5;
    auto queries = double(sizes.heads * sizes.queries);
    double pairs = queries * double(sizes.keys), scores = pairs * shareOfKeys;
    paddingOfKeys = shareOfTiles / shareOfKeys * double(llvm::alignTo(sizes.keys, columns)) /
                    double(sizes.keys);
    double computed = scores * paddingOfKeys;
    work.of(Folding::Columns) += 2 * computed;
    work.of(ElementClass::Arithmetic) += (kExtremum - 1) * computed;
    // Of each row and strip the largest score is found, then the factor by which what was there
    // shrinks, then the exponentials: each waits for the one before. All that was summed shrinks too.
    // Each step takes longer where it is rounded.
    constexpr double lanes = 16, ofSum = 0.09, ofRounded = 1.5;
    double strips =
        double(llvm::divideCeil(sizes.keys, cells.strip)) * shareOf({rows, cells.strip});
    double sums = std::ceil(double(sizes.valueElements) / lanes); // vectors of them
    work.of(Folding::Attended) +=
        queries * strips * ((isHalfFloat(attention->score->kind) ? ofRounded : 1) + ofSum * sums);
    if (const cost::Product &values = work.products.back();
        values.type == cost::ProductType::BF16 && !values.isWidened)
      work.of(ElementClass::Narrowed) += computed;
    // The sums are divided, not each score.
    if (attention->quotient && inProduct.insert(attention->quotient).second)
      work.of(ElementClass::Division) += queries * double(sizes.valueElements);
    work.flops += 2 * scores;
    work.moved += 5 * 4 * computed; // a row of them lies in a cache
  }

  // Groups of terms are taken to be of one size.
  double shareOfTerms(const ContractionLoops &loops) {
    std::optional<TermRange> terms = rangeOfTerms(nest.g->graph, loops);
    double share = terms && terms->low && terms->high ? 1 / pointsOf(terms->low->deps) : 1;
    return std::max(share, 1 / double(loops.kSize));
  }

  void countProduct(const ContractionLoops &loops) {
    cost::Product made = productOf(graph, loops);
    made.k *= shareInPhases(nest);
    made.k *= shareOfTerms(loops);
    if (double cells = cellsOf(graph, loops, made); cells > work.grid) {
      work.grid = cells;
      work.wholeCell = wholeCellOf(graph, loops, made);
    }
    work.flops += made.flops();
    inProduct.insert(loops.product);
    inProduct.insert(loops.product->reduction->inputs[0]);
    llvm::ArrayRef<Node *> read = loops.product->reduction->inputs[0]->operands;
    for (Node *node : {loops.a, loops.b, unwidened(loops.a), unwidened(loops.b), read[0], read[1],
                       unwidened(read[0]), unwidened(read[1])})
      if (node->op == Op::Load || node->op == Op::Convert)
        inProduct.insert(node);
    int64_t bytes = made.type == cost::ProductType::F64 ? 8 : 4;
    bool goesByTiles = made.n > kColumnsOfStrips && !cost::goesAlongRows(made, bytes);
    writesStrips = goesByTiles && !made.isTurned;
    // Filters that are copied for images with channels first are read in pieces.
    bool readsStrips = made.b == cost::Product::None
                           ? writesStrips
                           : goesByTiles && made.isTurned && loops.product->reduction->isOfWindow;
    if (Node *b = unwidened(loops.b); b->op == Op::Load && readsStrips)
      inStrips.insert(b);
    // What is copied first is read a panel at a time, and nothing is multiplied meanwhile.
    for (auto [node, copy] : {std::pair(loops.a, made.a), std::pair(loops.b, made.b)})
      if (Node *read = unwidened(node); read->op == Op::Load && copy != cost::Product::None)
        inStrips.insert(read);
    // What the results are combined with is read by tiles, as they are written; nobody waits for squares
    // that are.
    for (Node *node : live)
      if (node->op == Op::Load && !inProduct.contains(node) && goesByTiles &&
          (node->deps & setOf(loops.m)) && (node->deps & setOf(loops.n)))
        inStrips.insert(node);
    work.products.push_back(made);
  }

  const NestGraph &nest;
  const AttentionLoops *attention;
  const Graph &graph;
  KernelWork &work;
  std::vector<Node *> live;
  llvm::SmallVector<LoopGroup> groups;
  LoopGroup vector, rows; // loops that run by vectors: of the results, of reductions
  std::optional<ContractionLoops> product;
  DimSet resultsAlong = 0; // what vectors of a product's results run along
  std::optional<WindowSums> windowSums;
  DimSet keys = 0;                           // an attention's
  double shareOfKeys = 1, paddingOfKeys = 1; // that are seen, and what is computed of one of these
  std::optional<TurnedLoads> turned;
  llvm::DenseSet<Node *> inProduct, inStrips;
};

} // namespace

NestWrites countNest(const NestGraph &nest, KernelWork &work,
                     llvm::MutableArrayRef<cost::Touched> arrays) {
  Counter counter(nest, work);
  counter.count();
  counter.countArrays(arrays);
  return {counter.writesStrips, counter.writesBlocks()};
}

void countAttention(const NestGraph &nest, const AttentionLoops &attention, KernelWork &work) {
  Counter(nest, work, &attention).count();
}

KernelWork workOf(const NestGraph &nest) {
  KernelWork work;
  Counter(nest, work).count();
  return work;
}

} // namespace tessera::codegen
