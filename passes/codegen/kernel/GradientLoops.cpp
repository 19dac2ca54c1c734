#include "passes/codegen/kernel/GradientLoops.h"
#include "passes/codegen/kernel/InnerProducts.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

// Finds one part after the other; each returns false, and says why, when it is not there.
class Finder {
public:
  Finder(const JointNests &nests, std::string &why)
      : nests(nests), graph(nests.graph()), live(Graph::reachable(nests.rootNodes())),
        stores(nests.stores()), why(why) {}

  std::optional<GradientLoops> find() {
    if (!findFactors() || !findProducts() || !findSides() || !findLoops() || !fillProducts() ||
        !fillResults())
      return std::nullopt;
    findLimits();
    return std::move(found);
  }

private:
  bool fail(const char *what) {
    why = what;
    return false;
  }

  int64_t sizeOf(const LoopGroup &group) const { return boundsOf(graph, group).second; }
  // Loops of one index are nowhere.
  DimSet withoutOnes(DimSet dims) const {
    for (unsigned dim = 0; dim < graph.dims.size(); ++dim)
      if (graph.dims[dim].size == 1)
        dims &= ~(DimSet(1) << dim);
    return dims;
  }
  DimSet ownOf(Node *sum) const { return withoutOnes(sum->reduction->ownDims); }
  DimSet depsOf(Node *node) const { return withoutOnes(node->deps); }

  // Each output is a function of one sum of products, of which one factor has sums of its own.
  bool findFactors() {
    for (auto [i, nest] : llvm::enumerate(nests.nests)) {
      if (nest->roots.size() != 1 || nest->roots[0].value.im)
        return fail("a result is complex");
      auto sums = outermostReductions(nest->rootNodes());
      if (sums.size() != 1 || !isProductSum(sums[0]))
        return fail("a result is not one product of f32 sums");
      GradientLoops::Result &result = found.results.emplace_back();
      result.nest = static_cast<unsigned>(i);
      ContractionLoops &loops = result.loops;
      loops.product = sums[0];
      loops.a = sums[0]->reduction->inputs[0]->operands[0];
      loops.b = sums[0]->reduction->inputs[0]->operands[1];
      if (outermostReductions({loops.a}).empty())
        std::swap(loops.a, loops.b);
      if (!outermostReductions({loops.b}).empty())
        return fail("both factors of a product have sums of their own");
      auto at = llvm::find(found.factors, loops.a);
      result.factor = static_cast<unsigned>(at - found.factors.begin());
      if (at == found.factors.end())
        found.factors.push_back(loops.a);
    }
    return true;
  }

  bool findProducts() {
    for (Node *sum : outermostReductions(found.factors)) {
      if (!isProductSum(sum))
        return fail("a factor is computed of a sum over keys or queries that is none of products");
      ContractionLoops &loops = found.products.emplace_back();
      loops.product = sum;
      loops.a = sum->reduction->inputs[0]->operands[0];
      loops.b = sum->reduction->inputs[0]->operands[1];
      if (!outermostReductions({loops.a, loops.b}).empty())
        return fail("an operand is a reduction's result");
    }
    constexpr size_t most = 3; // a block of each lies in a cache
    if (found.products.empty() || found.products.size() > most || found.factors.size() > most)
      return fail("its factors have none or too many products in them");
    return true;
  }

  // Loops of the one operand of the first product, of the other, and of both.
  bool findSides() {
    const ContractionLoops &first = found.products[0];
    DimSet own = ownOf(first.product), a = depsOf(first.a) & ~own, b = depsOf(first.b) & ~own;
    both = a & b;
    rows = a & ~both, columns = b & ~both;
    auto isOfBoth = [&](DimSet dims) { return (dims & rows) && (dims & columns); };
    if (isOfColumns(knownOfQueries()))
      std::swap(rows, columns);
    for (GradientLoops::Result &result : found.results) {
      DimSet sum = ownOf(result.loops.product);
      if (isOfBoth(sum) || !isOfBoth(depsOf(result.loops.a)))
        return fail("a result is no sum over keys or over queries");
      result.isOfRows = (sum & columns) != 0;
      // Queries with keys of their own have loops of both, as have parts of the keys.
      moveToBoth((result.isOfRows ? columns : rows) & rootDims(result.nest));
    }
    for (GradientLoops::Result &result : found.results)
      if (ownOf(result.loops.product) != (result.isOfRows ? columns : rows))
        return fail("a result is a sum over a part of the keys or of the queries");
    return rows && columns ? true : fail("it has one query, or one key");
  }

  bool isOfColumns(Node *node) const {
    return node && (node->deps & columns) && !(node->deps & rows);
  }

  // What is subtracted from scores; without exponentials, what is read of one side alone.
  Node *knownOfQueries() const {
    Node *known = nullptr;
    for (Node *node : Graph::reachable(found.factors)) {
      if (node->op == Op::Exp)
        if (Node *shifted = throughConvert(node->operands[0]); shifted->op == Op::Sub)
          return shifted->operands[1];
      bool isOfProducts = llvm::any_of(found.products, [&](const ContractionLoops &loops) {
        return (node->deps & loops.product->reduction->ownDims) != 0;
      });
      if (node->op == Op::Load && isOfColumns(node) && !isOfProducts)
        known = node;
    }
    return known;
  }

  void moveToBoth(DimSet dims) {
    both |= dims;
    rows &= ~dims;
    columns &= ~dims;
  }
  DimSet rootDims(unsigned nest) const { return withoutOnes(setOf(nests.nests[nest]->dims)); }

  std::vector<LoopGroup> groupsOf(DimSet dims, llvm::ArrayRef<unsigned> order) const {
    llvm::SmallVector<unsigned> inOrder;
    for (unsigned dim : order)
      if (dims >> dim & 1)
        inOrder.push_back(dim);
    auto groups = collapseLoops(graph, inOrder, live, stores);
    return {groups.begin(), groups.end()};
  }

  bool findLoops() {
    // The order in which some result has them, outer first.
    llvm::SmallVector<unsigned> order;
    for (const auto &nest : nests.nests)
      order.append(nest->dims.begin(), nest->dims.end());
    for (const GradientLoops::Result &result : found.results)
      llvm::append_range(order, result.loops.product->reduction->dims);
    llvm::SmallVector<unsigned> once;
    for (unsigned dim : order)
      if (!llvm::is_contained(once, dim))
        once.push_back(dim);
    found.outer = groupsOf(both, once);
    found.around = groupsOf(rows, once);
    std::vector<LoopGroup> inner = groupsOf(columns, once);
    if (inner.size() != 1 || found.around.empty())
      return fail("its keys are several loops");
    found.columns = inner[0];
    auto longest = std::max_element(
        found.around.begin(), found.around.end(),
        [&](const LoopGroup &x, const LoopGroup &y) { return sizeOf(x) < sizeOf(y); });
    found.rows = *longest;
    found.around.erase(longest);
    for (const LoopGroup &group : found.outer)
      found.outerCount *= sizeOf(group);
    for (const LoopGroup &group : found.around)
      found.aroundCount *= sizeOf(group);
    found.rowCount = sizeOf(found.rows);
    found.columnCount = sizeOf(found.columns);
    return true;
  }

  bool fillProducts() {
    for (ContractionLoops &loops : found.products) {
      if (depsOf(loops.a) & columns)
        std::swap(loops.a, loops.b);
      DimSet known = both | ownOf(loops.product);
      if ((depsOf(loops.a) & ~(known | rows)) || (depsOf(loops.b) & ~(known | columns)))
        return fail("a product in its factors is not of queries and keys");
      loops.m = found.rows;
      loops.n = found.columns;
      loops.mSize = found.rowCount;
      loops.nSize = found.columnCount;
      splitSums(graph, live, loops);
      if (loops.k.empty())
        return fail("its queries have one element each");
    }
    return true;
  }

  bool fillResults() {
    for (GradientLoops::Result &result : found.results) {
      ContractionLoops &loops = result.loops;
      loops.m = result.isOfRows ? found.rows : found.columns;
      loops.mSize = result.isOfRows ? found.rowCount : found.columnCount;
      loops.k = {result.isOfRows ? found.columns : found.rows};
      loops.kStride = {1};
      loops.kSize = result.isOfRows ? found.columnCount : found.rowCount;
      const NestGraph &nest = *nests.nests[result.nest];
      DimSet side = result.isOfRows ? rows : columns, other = result.isOfRows ? columns : rows;
      auto groups = groupsOf(rootDims(result.nest) & ~(both | side), nest.dims);
      bool hasAll = (rootDims(result.nest) & (both | side)) == (both | side);
      if (!hasAll || groups.size() != 1 || strideOf(nest.roots[0].offset, groups[0]) != 1)
        return fail("a result's rows do not lie as one product's");
      loops.n = groups[0];
      loops.nSize = sizeOf(loops.n);
      if (depsOf(loops.b) & ~(both | other | setOf(loops.n)))
        return fail("a result is no product of queries and keys");
      if (depsOf(loops.a) & ~(both | rows | columns))
        return fail("a factor is of more than queries and keys");
    }
    return true;
  }

  // Whether a factor is zero where the score is far below what is subtracted from it.
  static bool vanishes(Node *node, Node *exponential) {
    auto each = [&](unsigned i) {
      return isZero(node->operands[i]) || vanishes(node->operands[i], exponential);
    };
    if (node == exponential || isTie(node, throughConvert(exponential->operands[0])))
      return true;
    switch (node->op) {
    case Op::Convert:
    case Op::Neg:
    case Op::Div:
      return each(0);
    case Op::Mul:
      return each(0) || each(1);
    case Op::Add:
    case Op::Sub:
      return each(0) && each(1);
    case Op::Select:
      return each(1) && each(2);
    default:
      return false;
    }
  }

  // A one where the score is the largest.
  static bool isTie(Node *node, Node *shifted) {
    if (node->op != Op::Convert || node->operands[0]->op != Op::Compare || shifted->op != Op::Sub ||
        node->operands[0]->aux != EQ)
      return false;
    auto both = llvm::ArrayRef(node->operands[0]->operands);
    return llvm::is_contained(both, shifted->operands[0]) &&
           llvm::is_contained(both, shifted->operands[1]);
  }

  void findLimits() {
    Node *exponential = nullptr;
    for (Node *node : Graph::reachable(found.factors))
      if (node->op == Op::Exp && std::exchange(exponential, node))
        return;
    if (!exponential ||
        !llvm::all_of(found.factors, [&](Node *factor) { return vanishes(factor, exponential); }))
      return;
    Node *shifted = throughConvert(exponential->operands[0]);
    if (shifted->op != Op::Sub || (depsOf(shifted->operands[1]) & columns) ||
        !outermostReductions({shifted->operands[1]}).empty())
      return;
    found.shift = shifted->operands[1];
    found.limits = limitsOf(shifted->operands[0], found.rows, found.columns);
  }

  const JointNests &nests;
  const Graph &graph;
  std::vector<Node *> live;
  llvm::SmallVector<Index> stores;
  std::string &why;
  GradientLoops found;
  DimSet both = 0, rows = 0, columns = 0;
};

} // namespace

std::optional<GradientLoops> findGradient(const JointNests &nests, std::string &why) {
  return Finder(nests, why).find();
}

fusion::Attention sizesOf(const GradientLoops &gradient) {
  fusion::Attention sizes;
  sizes.heads = gradient.outerCount;
  sizes.sharing = gradient.aroundCount;
  sizes.queries = gradient.rowCount;
  sizes.keys = gradient.columnCount;
  sizes.mayBeHidden = areMoving(gradient.limits, gradient.rows);
  sizes.queryElements = sizes.valueElements = gradient.products[0].kSize;
  for (const ContractionLoops &product : gradient.products) {
    sizes.queryElements = std::min(sizes.queryElements, product.kSize);
    sizes.valueElements = std::max(sizes.valueElements, product.kSize);
  }
  return sizes;
}

} // namespace tessera::codegen
