// Finds the ops of an attention and puts them into one kernel. Which ops belong together is read off
// the program here; whether what they compute is attention is decided on the kernel's graph
// (AttentionLoops.h), where any order of dimensions is the same; whether it pays by
// lib/fusion/AttentionStays.h.
//
//   s = q . k
//   p = softmax(where(mask, s * c, -inf))    ->   o = exec.fused(q, k, v): s, p, o as on the left
//   o = p . v
#include "passes/fuse/FormAttention.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "lib/fusion/AttentionStays.h"
#include "passes/UnreadOps.h"
#include "passes/codegen/kernel/AttentionLoops.h"
#include "passes/fuse/BlockGraph.h"
#include "passes/fuse/FormAttentionGradient.h"
#include "passes/fuse/OutlinedOps.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ScorePlane.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

namespace {

constexpr unsigned mostOps = 200;    // between the products
constexpr unsigned mostReaders = 24; // ops beside the second product, and after it

bool movesOrConverts(Operation *op) {
  NodeKind kind = fusionKindOf(op);
  return kind == NodeKind::Reshape || kind == NodeKind::Transpose || kind == NodeKind::Broadcast ||
         kind == NodeKind::Convert;
}

// What one attention is made of.
class Candidate {
public:
  // `yieldsRows`: what is known of each query, the largest score and the sum, may be read outside.
  Candidate(Block &block, DotGeneralOp values, unsigned side, bool yieldsRows)
      : kernel(block), values(values), side(side), yieldsRows(yieldsRows) {}

  // False where it is none by its ops already.
  bool collect() {
    kernel.inside.insert(values);
    if (!collectScores() || !joinReaders())
      return false;
    for (Value operand : scores->getOperands())
      kernel.addPrologue(operand);
    kernel.addPrologue(values->getOperand(1 - side));
    kernel.addResult(values, side, result);
    result = kernel.results[0].value;
    if (!yieldsRows)
      return isLast(result.getDefiningOp());
    for (Operation *op : rowsRead)
      kernel.addResult(op->getResult(0));
    return !rowsRead.empty() && !kernel.isCircular();
  }

  Operation *scoreProduct() { return scores; }
  exec::FusedOp outline() {
    OpBuilder b(&kernel.block, std::next(result.getDefiningOp()->getIterator()));
    return kernel.outline(b, values.getLoc());
  }
  // In the place of the ops, which nothing else reads then.
  void replaceWith(AtEnd &end, exec::FusedOp fused) {
    if (yieldsRows) {
      fused->remove(); // moved, it would have the whole block numbered again
      end.builder.insert(fused);
      return kernel.replaceWith(end.builder, fused.getResults());
    }
    OpBuilder b(&kernel.block, std::next(fused->getIterator()));
    kernel.replaceWith(b, fused.getResults());
  }

private:
  // The ops that a value is computed of, as far as `follows` goes, but for the first.
  bool collectOperands(llvm::SetVector<Operation *> &reached,
                       llvm::function_ref<bool(Operation *, Value)> follows) const {
    if (Operation *first = kernel.inBlock(values->getOperand(side)))
      reached.insert(first);
    for (size_t i = 0; i < reached.size(); ++i) {
      if (i > mostOps)
        return false;
      Operation *op = reached[i];
      if (OutlinedOps::isBetween(op))
        for (Value operand : op->getOperands())
          if (Operation *next = kernel.inBlock(operand); next && follows(op, operand))
            reached.insert(next);
    }
    return true;
  }

  // The product that the probabilities are computed of, pair by pair. What is known of queries may be
  // computed of further ones, as where several attentions are merged.
  bool findScores() {
    int64_t elements = typeOf(values->getOperand(side)).getNumElements();
    llvm::SetVector<Operation *> ofPairs;
    if (!collectOperands(ofPairs, [&](Operation *, Value operand) {
          return typeOf(operand).getNumElements() == elements;
        }))
      return false;
    for (Operation *op : ofPairs)
      if (auto product = dyn_cast<DotGeneralOp>(op)) {
        if (scores)
          return false;
        scores = product;
      }
    return scores != nullptr;
  }

  // The scores, and all that depends on them up to the probabilities; beside that what is cheap to
  // compute where it is read.
  bool collectScores() {
    llvm::SetVector<Operation *> reached;
    if (!findScores() || !collectOperands(reached, [&](Operation *op, Value) {
          return scores->isBeforeInBlock(op) || OutlinedOps::isCheap(op);
        }))
      return false;
    SmallVector<Operation *> ops(reached.begin(), reached.end());
    llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    for (Operation *op : ops) {
      bool depends = op == scores || llvm::any_of(op->getOperands(), [&](Value operand) {
                       return dependent.contains(operand.getDefiningOp());
                     });
      if (depends && op != scores && !OutlinedOps::isBetween(op))
        return false;
      if (depends)
        dependent.insert(op);
    }
    auto &inside = kernel.inside;
    inside.insert(dependent.begin(), dependent.end());
    for (Operation *op : llvm::reverse(ops))
      if (!dependent.contains(op) && OutlinedOps::isBetween(op) && OutlinedOps::isCheap(op) &&
          llvm::any_of(op->getUsers(), [&](Operation *user) { return inside.contains(user); }))
        inside.insert(op);
    return true;
  }

  // What nothing reads may stand behind the result, and read what is not there yet.
  bool isLast(Operation *last) const {
    return llvm::all_of(kernel.inside,
                        [&](Operation *op) { return op == last || op->isBeforeInBlock(last); });
  }

  bool isOfRows(Operation *op) const {
    return !ofValues.contains(op) && typeOf(op->getResult(0)).getNumElements() <
                                         typeOf(scores->getResult(0)).getNumElements();
  }

  // What else reads the scores and what is computed of them must come into one value with the
  // product's result, as where the program divides that by the sum: they are no arrays any more.
  bool joinReaders() {
    dependent.insert(values);
    ofValues.insert(values);
    for (unsigned steps = 0; steps < mostReaders; ++steps) {
      Operation *next = nullptr, *read = nullptr;
      bool isOne = true;
      rowsRead.clear();
      for (Operation *op : dependent)
        for (Operation *user : op->getUsers()) {
          if (!isReadBy(user))
            continue;
          if (yieldsRows && isOfRows(op)) {
            rowsRead.insert(op);
            continue;
          }
          isOne &= !read || read == op;
          read = op;
          if (user->getBlock() != &kernel.block || !OutlinedOps::isBetween(user))
            user = nullptr;
          if (!next || (user && user->isBeforeInBlock(next)))
            next = user;
        }
      if (isOne && read && (read == values || values->isBeforeInBlock(read))) {
        result = read->getResult(0);
        return true;
      }
      if (!next)
        return false;
      addReader(next);
    }
    return false;
  }

  void addReader(Operation *reader) {
    kernel.inside.insert(reader);
    dependent.insert(reader);
    if (llvm::any_of(reader->getOperands(),
                     [&](Value operand) { return ofValues.contains(operand.getDefiningOp()); }))
      ofValues.insert(reader);
    for (Value operand : reader->getOperands())
      if (Operation *op = kernel.inBlock(operand); op && fusionKindOf(op) == NodeKind::Constant)
        kernel.inside.insert(op);
      else if (yieldsRows)
        joinMoved(op);
  }

  // What moves a value of rows to where a reader wants it; others may read it, too.
  bool joinMoved(Operation *op) {
    if (!op || dependent.contains(op))
      return op && isOfRows(op);
    if (!movesOrConverts(op) || !joinMoved(kernel.inBlock(op->getOperand(0))))
      return false;
    kernel.inside.insert(op);
    kernel.ofResults.insert(op);
    return true;
  }

  bool isReadBy(Operation *user) const {
    if (!kernel.inside.contains(user))
      return true;
    return kernel.ofResults.contains(user) &&
           llvm::any_of(user->getUsers(), [&](Operation *next) { return isReadBy(next); });
  }

  OutlinedOps kernel;
  DotGeneralOp values, scores;
  unsigned side; // which operand the probabilities are
  bool yieldsRows;
  Value result;
  llvm::SetVector<Operation *> dependent; // on the scores
  DenseSet<Operation *> ofValues;         // and on the product of the values
  llvm::SetVector<Operation *> rowsRead;
};

} // namespace

// Whether the kernel is attention, as code is generated for it, and pays.
static bool isAttention(exec::FusedOp fused, const fusion::AttentionLimits &limits,
                        std::string &why) {
  ScopedDiagnosticHandler silent(fused.getContext(), [](Diagnostic &) { return success(); });
  codegen::KernelSource kernel{"", fused.getBlock(), {}};
  codegen::JointNests nests(kernel);
  if (!nests.build()) {
    why = "no code is generated for one of its ops";
    return false;
  }
  auto loops = codegen::findAttention(nests, why);
  if (loops && !fusion::attentionStays(codegen::sizesOf(*loops), limits))
    why = "it has few queries or keys, or too many elements for each of them";
  return loops && why.empty();
}

// The product that is the attention's scores; null where it is none.
static Operation *formFrom(Block &block, DotGeneralOp product,
                           const fusion::AttentionLimits &limits, ReasonsAgainst &reasons) {
  for (bool yieldsRows : {false, true})
    for (unsigned side : {0u, 1u}) {
      Candidate candidate(block, product, side, yieldsRows);
      if (!candidate.collect())
        continue;
      exec::FusedOp fused = candidate.outline();
      std::string why;
      if (isAttention(fused, limits, why)) {
        Operation *scores = candidate.scoreProduct();
        AtEnd end(block); // rows are read before the result may be there
        candidate.replaceWith(end, fused);
        return scores;
      }
      fused.erase();
      reasons.try_emplace(candidate.scoreProduct(), why);
    }
  return nullptr;
}

// What `value` is moved and converted from.
static Value originOf(Value value) {
  for (Operation *op; (op = value.getDefiningOp()) && movesOrConverts(op);)
    value = op->getOperand(0);
  return value;
}

// Whether what is computed of the scores is multiplied by more than made them. A cross entropy's is not: its
// gradients are products with the rows and the weights that its logits are of.
static bool hasValues(const ScorePlane &plane) {
  auto scores = plane.products.front();
  return llvm::any_of(plane.consumers, [&](const ScorePlane::Consumer &consumer) {
    Value factor = originOf(DotGeneralOp(consumer.product)->getOperand(1 - consumer.side));
    return llvm::none_of(scores->getOperands(),
                         [&](Value operand) { return originOf(operand) == factor; });
  });
}

// Of what looks like attention and is none of these kernels.
static void sayWhy(Block &block, const ReasonsAgainst &reasons) {
  for (auto product : block.getOps<DotGeneralOp>()) {
    auto type = typeOf(product->getResult(0));
    if (!type.hasStaticShape() || type.getNumElements() < fusion::leastPairs)
      continue;
    ScorePlane plane(block, product);
    bool isThere = plane.hasExponentials() && hasValues(plane);
    if (!isThere)
      continue;
    InFlightDiagnostic remark =
        emitRemark(product.getLoc())
        << "attention is not one kernel here, so that its scores are arrays: ";
    if (plane.other)
      remark << "'" << plane.other->getName() << "' reads them, or what is computed of them";
    else if (auto why = reasons.lookup(product); !why.empty())
      remark << why;
    else
      remark << "what else reads them does not come together with its result";
  }
}

static void formIn(Block &block, const fusion::AttentionLimits &limits, bool saysWhy) {
  // What nothing reads any more, as where it is computed again, is no reader of scores.
  eraseUnread(block);
  ReasonsAgainst reasons;
  formAttentionGradients(block, reasons, limits);
  // From the last on: ops are erased, those of later products first.
  SmallVector<DotGeneralOp> products(block.getOps<DotGeneralOp>());
  DenseSet<Operation *> taken; // products that are scores of one
  for (DotGeneralOp product : llvm::reverse(products))
    if (!taken.contains(product))
      taken.insert(formFrom(block, product, limits, reasons));
  if (saysWhy)
    sayWhy(block, reasons);
}

static fusion::AttentionLimits limitsOf(ModuleOp module) {
  return scheduleOf(module).smallAttention ? fusion::ofFewScores() : fusion::AttentionLimits();
}

void formAttention(ModuleOp module, bool saysWhy) {
  fusion::AttentionLimits limits = limitsOf(module);
  forEachBlock(module, [&](Block &block) { formIn(block, limits, saysWhy); });
}

int replaceSoftmaxSums(ModuleOp module) {
  fusion::AttentionLimits limits = limitsOf(module);
  int replaced = 0;
  forEachBlock(module, [&](Block &block) {
    eraseUnread(block);
    replaced += static_cast<int>(replaceSoftmaxSums(block, limits));
  });
  return replaced;
}

} // namespace tessera::fuse

namespace tessera {
#define GEN_PASS_DEF_FORMATTENTION
#include "passes/fuse/Passes.h.inc"

namespace {
struct FormAttention : impl::FormAttentionBase<FormAttention> {
  void runOnOperation() override {
    fuse::formAttention(getOperation(), wantsReasons(getOperation()));
  }
};
} // namespace
} // namespace tessera
