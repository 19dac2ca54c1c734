// Finds the ops of an attention's gradient and puts them into one kernel.
//
//   s = q . k        p = softmax(s)    o = p . v         o, m, l = exec.fused(q, k, v)   (FormAttention)
//   dp = do . v      dv = p . do                         d = rowsum(do * o)
//   ds = p * (dp - rowsum(p * dp))                  ->   dq, dk, dv = exec.fused(q, k, v, do, m, l, d):
//   dq = ds . k      dk = ds . q                           s and p again, dp, ds, dq, dk, dv
//
// Which ops belong together is read off the program (ScorePlane.h); whether code is generated for them
// as one kernel is asked of its graph (GradientLoops.h). Of few heads its keys are in parts (KeyParts.h),
// or it is two kernels: a cell of one has some queries, of the other some keys.
#include "passes/fuse/FormAttentionGradient.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "lib/fusion/AttentionStays.h"
#include "passes/UnreadOps.h"
#include "passes/codegen/kernel/GradientLoops.h"
#include "passes/fuse/KeyParts.h"
#include "passes/fuse/OutlinedOps.h"
#include "passes/fuse/ScorePlane.h"
#include "passes/fuse/SoftmaxSum.h"

#include "mlir/IR/Diagnostics.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

namespace {

// What attention sums up over queries, where its values alone have a gradient; not what a loss does, whose
// logits have the form of scores: their gradient is summed up over both and stays an array for the one, so
// that it is there for the other. `depth`: of conversions, of what drops some or scales all, and of quotients.
bool isProbability(Value value, int depth = 6) {
  Operation *op = value.getDefiningOp();
  if (depth > 0 && isa_and_nonnull<DivOp>(op))
    return isProbability(op->getOperand(0), depth - 1);
  if (depth > 0 && isa_and_nonnull<ConvertOp, MulOp, SelectOp>(op))
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return isProbability(operand, depth - 1); });
  return isa_and_nonnull<ExpOp>(op);
}

// The gradient of one attention.
class Gradient {
public:
  Gradient(Block &block, DotGeneralOp scores, const fusion::AttentionLimits &limits)
      : block(block), plane(block, scores), limits(limits) {}

  // Whether there is one, of which nothing else reads a value of pairs.
  bool isThere() const {
    return !plane.other && plane.hasExponentials() &&
           llvm::any_of(own(), [](const Consumer &consumer) {
             return consumer.isOfGradient || isProbability(consumer.factor());
           });
  }

  // Or, where it could be formed, only what its kernel reads instead of sums over keys.
  bool form(std::string &why, bool onlySums = false) {
    AtEnd end(block);
    if (!outline({kernelOf([](const Consumer &) { return true; })}, end.builder, why))
      return false;
    // A cell is a head or a part of its keys, of one kernel; or a part of its queries, and of another
    // kernel of its keys.
    SmallVector<Type> types(formed[0].getResultTypes());
    auto isOfRows = [](const Consumer &consumer) { return consumer.isOfRows; };
    auto isOfKeys = [](const Consumer &consumer) { return !consumer.isOfRows; };
    int64_t parts = fusion::keyParts(sizes);
    bool isOfBoth = llvm::any_of(own(), isOfRows) && llvm::any_of(own(), isOfKeys);
    bool isInParts = isOfBoth && parts > 1 && splitKeys(parts, end.builder);
    if (isOfBoth && !isInParts && parts != 1) {
      discard();
      if (!outline({kernelOf(isOfRows), kernelOf(isOfKeys)}, end.builder, why))
        return false;
    }
    bool isKnown = replaceSums(end.builder, why);
    if (!isKnown || onlySums) {
      discard();
      eraseUnread(replacedSums);
      return isKnown && !replacedSums.empty();
    }
    for (auto [kernel, fused] : llvm::zip(kernels, formed))
      if (isInParts)
        kernel.replaceWith(end.builder, joinKeyParts(fused, types, end.builder));
      else
        kernel.replaceWith(end.builder, fused.getResults());
    eraseUnread(replacedSums);
    return true;
  }

private:
  using Consumer = ScorePlane::Consumer;

  // The consumers of the gradient.
  std::vector<Consumer> own() const {
    std::vector<Consumer> found;
    for (const Consumer &consumer : plane.consumers)
      if (consumer.isOfGradient || !consumer.isOfRows)
        found.push_back(consumer);
    return found;
  }

  bool outline(std::vector<OutlinedOps> parts, OpBuilder &b, std::string &why) {
    kernels = std::move(parts);
    for (OutlinedOps &kernel : kernels) {
      if (kernel.isCircular())
        why = "what one of its results is computed of reads another one";
      formed.push_back(kernel.outline(b, kernel.results[0].value.getLoc()));
      if (why.empty())
        check(formed.back(), why);
    }
    if (!why.empty())
      discard();
    return why.empty();
  }

  // The one kernel that is formed, with its keys in parts; false where it stays as it is.
  bool splitKeys(int64_t parts, OpBuilder &b) {
    SmallVector<KeysOfResult> results;
    for (const Consumer &consumer : own()) {
      const ScorePlane::Dims *dims = plane.dimsOf(consumer.factor());
      if (!dims)
        return false;
      const auto *key = llvm::find_if(*dims, [&](int dim) { return plane.isKey(dim); });
      bool isOne = key != dims->end() &&
                   llvm::count_if(*dims, [&](int dim) { return plane.isKey(dim); }) == 1;
      if (!isOne || plane.sizeOf(*key) % parts != 0)
        return false;
      results.push_back({consumer.side, key - dims->begin()});
    }
    exec::FusedOp inParts = inKeyParts(formed[0], results, parts, b);
    if (!inParts)
      return false;
    std::string why;
    check(inParts, why);
    if (!why.empty()) {
      inParts.erase();
      return false;
    }
    discard();
    formed.push_back(inParts);
    return true;
  }

  void discard() {
    for (exec::FusedOp fused : formed)
      fused.erase();
    formed.clear();
  }

  OutlinedOps kernelOf(llvm::function_ref<bool(const Consumer &)> takes) {
    OutlinedOps kernel(block);
    for (Consumer &consumer : own()) {
      if (!takes(consumer))
        continue;
      kernel.inside.insert(consumer.product);
      addFactor(kernel, consumer.factor());
      kernel.addPrologue(consumer.product->getOperand(1 - consumer.side));
      kernel.addResult(consumer.product, consumer.side, consumer.product->getResult(0));
    }
    return kernel;
  }

  // What a value of pairs is computed of, up to sums over keys.
  void addFactor(OutlinedOps &kernel, Value value) {
    Operation *op = kernel.inBlock(value);
    if (!op || kernel.inside.contains(op) || isa<ReduceOp>(op))
      return;
    bool isOfPairs = plane.ops.contains(op);
    if (!isOfPairs && !(OutlinedOps::isBetween(op) && OutlinedOps::isCheap(op)))
      return;
    kernel.inside.insert(op);
    bool isProduct = isOfPairs && isa<DotGeneralOp>(op);
    for (Value operand : op->getOperands())
      isProduct ? kernel.addPrologue(operand) : addFactor(kernel, operand);
  }

  // As code is generated for it; and whether it pays.
  void check(exec::FusedOp fused, std::string &why) {
    ScopedDiagnosticHandler silent(fused.getContext(), [](Diagnostic &) { return success(); });
    codegen::KernelSource kernel{"", fused.getBlock(), {}};
    codegen::JointNests nests(kernel);
    if (!nests.build()) {
      why = "no code is generated for one of its ops";
      return;
    }
    auto loops = codegen::findGradient(nests, why);
    if (!loops)
      return;
    sizes = codegen::sizesOf(*loops);
    if (!fusion::attentionStays(sizes, limits))
      why = "it is too small, or has too many elements for each query";
  }

  bool replaceSums(OpBuilder &b, std::string &why) {
    SmallVector<std::pair<ReduceOp, Value>> replaced;
    SumsOfResults made;
    for (ReduceOp sum : plane.sums) {
      if (!plane.isOfGradient(sum->getOperand(0)))
        continue;
      Value same = sumOfResults(plane, sum, made, b, why);
      if (!same)
        return false;
      replaced.push_back({sum, same});
    }
    for (auto [sum, same] : replaced)
      sum->getResult(0).replaceAllUsesWith(same);
    for (auto [sum, same] : replaced)
      replacedSums.push_back(sum);
    return true;
  }

  Block &block;
  ScorePlane plane;
  const fusion::AttentionLimits &limits;
  std::vector<OutlinedOps> kernels;
  SmallVector<exec::FusedOp> formed;
  SmallVector<Operation *> replacedSums;
  fusion::Attention sizes; // of the kernel that was checked last
};

} // namespace

// How many there were, or had sums.
static unsigned formGradients(Block &block, ReasonsAgainst &reasons,
                              const fusion::AttentionLimits &limits, bool onlySums) {
  unsigned formed = 0;
  auto isLarge = [&](DotGeneralOp product) {
    auto type = typeOf(product->getResult(0));
    return type.hasStaticShape() &&
           type.getNumElements() >= limits.leastPairs(/*mayBeHidden=*/true);
  };
  for (Operation *op = &block.front(); op;) {
    auto product = dyn_cast<DotGeneralOp>(op);
    op = op->getNextNode();
    if (!product || !isLarge(product))
      continue;
    Gradient gradient(block, product, limits);
    if (!gradient.isThere())
      continue;
    // Where one is formed ops are gone, and others stand elsewhere: this says where to go on.
    Operation *mark = markBefore(*op);
    std::string why;
    bool isFormed = gradient.form(why, onlySums);
    formed += isFormed;
    if (!isFormed)
      reasons[product] = "of its gradient, " + why;
    op = mark->getNextNode();
    mark->erase();
  }
  return formed;
}

unsigned formAttentionGradients(Block &block, ReasonsAgainst &reasons,
                                const fusion::AttentionLimits &limits) {
  return formGradients(block, reasons, limits, /*onlySums=*/false);
}

unsigned replaceSoftmaxSums(Block &block, const fusion::AttentionLimits &limits) {
  ReasonsAgainst reasons;
  return formGradients(block, reasons, limits, /*onlySums=*/true);
}

} // namespace tessera::fuse
