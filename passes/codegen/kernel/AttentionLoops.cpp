#include "passes/codegen/kernel/AttentionLoops.h"
#include "passes/codegen/kernel/InnerProducts.h"
#include "passes/codegen/kernel/SameLoops.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

namespace {

// Finds one part after the other; each returns false, and says why, when it is not there.
class Finder {
public:
  Finder(const JointNests &nests, std::string &why)
      : nests(nests), nest(*nests.nests.front()), graph(nests.graph()), why(why) {}

  std::optional<AttentionLoops> find() {
    if (findValues() && findQuotient() && findExponential() && findScores() && findFoldings() &&
        checkFurther()) {
      found.limits = limitsOf(found.score, found.scores.m, found.scores.n);
      return std::move(found);
    }
    return std::nullopt;
  }

private:
  bool fail(const char *what) {
    why = what;
    return false;
  }

  static llvm::SmallVector<Node *> reductionsOf(Node *root) {
    return outermostReductions(llvm::ArrayRef(root));
  }
  bool isOfKeys(Node *node) const { return (node->deps & keys) != 0; }
  bool isOfQueries(Node *node) const { return (node->deps & setOf(found.values.m)) != 0; }

  bool findValues() {
    Node *product = nullptr;
    for (Node *node : outermostReductions(nest.rootNodes())) {
      if (!isProductSum(node))
        outside.push_back(node);
      else if (std::exchange(product, node))
        return fail("its result is of several products");
    }
    if (!product)
      return fail("its result is no product of f32 sums");
    for (const auto &further : llvm::drop_begin(nests.nests))
      llvm::append_range(yielded, outermostReductions(further->rootNodes()));
    auto loops = contractionOf(nest, product, nests.rootNodes(), nests.stores());
    if (!loops || loops->k.size() != 1)
      return fail("its result's loops are not those of one product over keys");
    found.values = std::move(*loops);
    keys = found.values.product->reduction->ownDims;
    if (!reductionsOf(found.values.b).empty())
      return fail("the values are a reduction's result");
    return true;
  }

  // The probabilities: linear in a quotient by what does not depend on the key. Where the result is
  // divided instead, the sum is read there.
  bool findQuotient() {
    Node *node = found.values.a;
    for (;;) {
      node = throughConvert(node);
      if (node->op == Op::Select && isZero(node->operands[2]) &&
          reductionsOf(node->operands[0]).empty()) {
        node = node->operands[1];
        continue;
      }
      if (node->op == Op::Exp) {
        found.exponential = isScaled ? node : found.values.a;
        return true;
      }
      if (node->op != Op::Mul && node->op != Op::Div)
        return fail("the values' factors are not divided by their sum");
      Node *left = node->operands[0], *right = node->operands[1];
      if (node->op == Op::Mul && !reductionsOf(right).empty() && reductionsOf(left).empty())
        std::swap(left, right);
      if (!reductionsOf(right).empty()) {
        if (node->op == Op::Mul && isOfKeys(right) && !isOfKeys(left))
          std::swap(left, right);
        if (isOfKeys(right))
          return fail("two functions of the scores are multiplied");
        found.quotient = node;
        found.exponential = left;
        found.normalizer = right;
        found.isDivided = node->op == Op::Div;
        return true;
      }
      node = left;
      isScaled = true;
    }
  }

  bool findExponential() {
    Node *node = found.exponential;
    for (;;) {
      node = throughConvert(node);
      if (node->op != Op::Select || !isZero(node->operands[2]) ||
          !reductionsOf(node->operands[0]).empty())
        break;
      node = node->operands[1];
    }
    if (node->op != Op::Exp)
      return fail("its probabilities are no exponentials");
    node = throughConvert(node->operands[0]);
    if (node->op != Op::Sub)
      return fail("its exponentials are not of scores less the largest");
    found.score = node->operands[0];
    found.shift = node->operands[1];
    return true;
  }

  bool findScores() {
    auto inner = reductionsOf(found.score);
    if (inner.size() != 1 || !isProductSum(inner[0]))
      return fail("its scores are not one product of f32 sums");
    ContractionLoops &scores = found.scores;
    scores.product = inner[0];
    Reduction &reduction = *inner[0]->reduction;
    scores.a = reduction.inputs[0]->operands[0];
    scores.b = reduction.inputs[0]->operands[1];
    if (isOfKeys(scores.a))
      std::swap(scores.a, scores.b);
    if (!isOfQueries(scores.a) || isOfKeys(scores.a) || isOfQueries(scores.b) ||
        !isOfKeys(scores.b))
      return fail("its scores are no product of queries and keys");
    if (!outermostReductions({scores.a, scores.b}).empty())
      return fail("queries or keys are a reduction's result");
    scores.outer = found.values.outer;
    scores.outerCount = found.values.outerCount;
    scores.m = found.values.m;
    scores.n = found.values.k[0];
    scores.mSize = found.values.mSize;
    scores.nSize = found.values.kSize;
    splitSums(graph, Graph::reachable(nest.rootNodes()), scores);
    if (scores.k.empty())
      return fail("its queries have one element each");
    return true;
  }

  // The largest score and the sum read what the probabilities do, over loops of their own.
  bool findFoldings() {
    auto largest = reductionsOf(found.shift);
    if (largest.size() != 1 || isOfKeys(found.shift) || !folds(largest[0], Op::Max, found.score) ||
        !isMinusInfinity(largest[0]->reduction->inits[0]))
      return fail("what is subtracted from the scores is not their largest");
    found.largest = largest[0];
    for (Node *node : yielded)
      if (countsTies(node))
        found.ties = node;
    auto sums = found.normalizer ? reductionsOf(found.normalizer) : outside;
    if (found.normalizer && !outside.empty())
      return fail("its result is of several reductions");
    if (!found.normalizer)
      sums.append(yielded);
    for (Node *node : sums) {
      if (node == found.largest || node == found.ties || node == found.sum)
        continue;
      if (found.sum)
        return fail("its probabilities are divided by several sums");
      found.sum = node;
    }
    if (!found.sum && (isScaled || !found.normalizer))
      return true; // they are divided, or the result is, by sums that another kernel has left
    if (!found.sum || !folds(found.sum, Op::Add, throughConvert(found.exponential)) ||
        !isZero(found.sum->reduction->inits[0]))
      return fail("its probabilities are not divided by their sum");
    return true;
  }

  // A sum over keys of ones where the score is the largest.
  bool countsTies(Node *node) const {
    const Reduction &reduction = *node->reduction, &over = *found.values.product->reduction;
    if (reduction.simple.size() != 1 || reduction.simple[0] != Op::Add ||
        reduction.inputs.size() != 1 || !isZero(reduction.inits[0]))
      return false;
    Node *input = throughConvert(reduction.inputs[0]);
    if (input->op != Op::Convert || input->operands[0]->op != Op::Compare ||
        input->operands[0]->aux != EQ)
      return false;
    auto operands = llvm::ArrayRef(input->operands[0]->operands);
    for (unsigned i : {0u, 1u})
      if (operands[i] == found.largest &&
          SameLoops(graph).match(found.score, over.dims, operands[1 - i], reduction.dims))
        return true;
    return false;
  }

  bool folds(Node *node, Op op, Node *what) const {
    const Reduction &reduction = *node->reduction, &over = *found.values.product->reduction;
    if (reduction.simple.size() != 1 || reduction.simple[0] != op || reduction.inputs.size() != 1)
      return false;
    Node *input = reduction.inputs[0];
    if (op == Op::Add)
      input = throughConvert(input);
    return SameLoops(graph).match(what, over.dims, input, reduction.dims);
  }

  static bool isMinusInfinity(Node *node) {
    return node->op == Op::Constant && isFloat(node->kind) && numberOf(node) == -HUGE_VAL;
  }

  // What else the kernel yields is of rows.
  bool checkFurther() {
    for (const auto &further : llvm::drop_begin(nests.nests))
      for (const Root &root : further->roots) {
        bool isOfRow = !root.value.im && !(root.value.re->deps & (keys | setOf(found.values.n))) &&
                       llvm::all_of(reductionsOf(root.value.re), [&](Node *node) {
                         return node == found.largest || node == found.sum || node == found.ties;
                       });
        if (!isOfRow)
          return fail("it yields more than its result and what is known of each query");
      }
    return true;
  }

  const JointNests &nests;
  const NestGraph &nest;
  const Graph &graph;
  std::string &why;
  AttentionLoops found;
  DimSet keys = 0;
  bool isScaled = false;             // the exponentials, by what the kernel does not compute
  llvm::SmallVector<Node *> outside; // reductions that the result is of, its product apart
  llvm::SmallVector<Node *> yielded; // and what else is yielded
};

} // namespace

std::optional<AttentionLoops> findAttention(const JointNests &nests, std::string &why) {
  return Finder(nests, why).find();
}

fusion::Attention sizesOf(const AttentionLoops &attention) {
  return {.heads = attention.values.outerCount,
          .queries = attention.values.mSize,
          .keys = attention.scores.nSize,
          .queryElements = attention.scores.kSize,
          .valueElements = attention.values.nSize,
          .mayBeHidden = areMoving(attention.limits, attention.scores.m)};
}

} // namespace tessera::codegen
