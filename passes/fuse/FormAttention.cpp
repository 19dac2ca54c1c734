// Finds the ops of an attention and puts them into one kernel. Which ops belong together is read off
// the program here; whether what they compute is attention is decided on the kernel's graph
// (AttentionLoops.h), where any order of dimensions is the same; whether it pays by
// lib/fusion/AttentionStays.h.
//
//   s = q . k
//   p = softmax(where(mask, s * c, -inf))    ->   o = exec.fused(q, k, v): s, p, o as on the left
//   o = p . v
#include "passes/fuse/FormAttention.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "lib/fusion/AttentionStays.h"
#include "passes/UnreadOps.h"
#include "passes/codegen/kernel/AttentionLoops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

namespace {

constexpr unsigned mostOps = 200;    // between the products
constexpr unsigned mostReaders = 24; // ops beside the second product, and after it

// What one attention is made of.
class Candidate {
public:
  Candidate(Block &block, DotGeneralOp values, unsigned side)
      : block(block), values(values), side(side) {}

  // False where it is none by its ops already.
  bool collect() {
    inside.insert(values);
    if (!collectScores() || !joinReaders())
      return false;
    for (Value operand : scores->getOperands())
      addPrologue(operand);
    addPrologue(values->getOperand(1 - side));
    addEpilogue();
    return isLast(result.getDefiningOp());
  }

  Operation *scoreProduct() { return scores; }

  exec::FusedOp outline() {
    OpBuilder b(&block, std::next(result.getDefiningOp()->getIterator()));
    order = rowsOfValues();
    SmallVector<Operation *> ops(inside.begin(), inside.end());
    llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    llvm::SetVector<Value> inputs;
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        if (!isInside(operand))
          inputs.insert(operand);
    auto fused = exec::FusedOp::create(b, values.getLoc(), TypeRange(turned(typeOf(result), order)),
                                       inputs.getArrayRef(), nullptr, nullptr);
    Block *body = b.createBlock(&fused.getBody());
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (Operation *op : ops)
      b.clone(*op, mapping);
    exec::YieldOp::create(b, fused.getLoc(), turn(b, mapping.lookup(result), order));
    return fused;
  }

  // In the place of the ops, which nothing else reads then.
  void replaceWith(exec::FusedOp fused) {
    OpBuilder b(&block, std::next(fused->getIterator()));
    SmallVector<int64_t> back(order.size());
    for (auto [to, from] : llvm::enumerate(order))
      back[from] = static_cast<int64_t>(to);
    result.replaceAllUsesWith(turn(b, fused.getResult(0), back));
    SmallVector<Operation *> ops(inside.begin(), inside.end());
    llvm::sort(ops, [](Operation *x, Operation *y) { return y->isBeforeInBlock(x); });
    for (Operation *op : ops)
      if (op->use_empty())
        op->erase();
  }

private:
  // The order of the product's dimensions in which a query's values lie together; empty where they
  // do, or where the program has an order of its own.
  SmallVector<int64_t> rowsOfValues() {
    if (side == 0 || result != values->getResult(0))
      return {};
    auto numbers = values.getDotDimensionNumbers();
    auto batch = static_cast<int64_t>(numbers.getLhsBatchingDimensions().size());
    int64_t rank = typeOf(result).getRank();
    int64_t own = typeOf(values->getOperand(0)).getRank() - batch -
                  static_cast<int64_t>(numbers.getLhsContractingDimensions().size());
    SmallVector<int64_t> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim < batch || dim >= batch + own)
        dims.push_back(dim);
    for (int64_t dim = batch; dim < batch + own; ++dim)
      dims.push_back(dim);
    return dims;
  }
  static RankedTensorType turned(RankedTensorType type, ArrayRef<int64_t> order) {
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(type.getDimSize(dim));
    return order.empty() ? type : type.clone(shape);
  }
  static Value turn(OpBuilder &b, Value value, ArrayRef<int64_t> order) {
    if (order.empty())
      return value;
    return TransposeOp::create(b, value.getLoc(), turned(typeOf(value), order), value, order);
  }

  bool isInside(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && inside.contains(op);
  }
  Operation *inBlock(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &block ? op : nullptr;
  }

  static bool readsNothing(Region &region) {
    return llvm::all_of(region.front(), [&](Operation &op) {
      return llvm::all_of(op.getOperands(), [&](Value operand) {
        return region.isAncestor(operand.getParentRegion());
      });
    });
  }

  static bool isBetween(Operation *op) {
    switch (fusionKindOf(op)) {
    case NodeKind::Constant:
    case NodeKind::Pointwise:
    case NodeKind::Convert:
    case NodeKind::Broadcast:
    case NodeKind::Reshape:
    case NodeKind::Transpose:
      return true;
    case NodeKind::Slice:
      return isa<SliceOp>(op);
    case NodeKind::Reduce:
      return isa<ReduceOp>(op) && op->getNumResults() == 1 && readsNothing(op->getRegion(0));
    default:
      return false;
    }
  }

  // The product of as many elements as there are probabilities, and all that depends on it up to
  // them; beside that what is cheap to compute where it is read.
  bool collectScores() {
    int64_t elements = typeOf(values->getOperand(side)).getNumElements();
    llvm::SetVector<Operation *> reached;
    if (Operation *first = inBlock(values->getOperand(side)))
      reached.insert(first);
    for (size_t i = 0; i < reached.size(); ++i) {
      if (i > mostOps)
        return false;
      Operation *op = reached[i];
      if (isa<DotGeneralOp>(op) && typeOf(op->getResult(0)).getNumElements() == elements) {
        if (scores && scores != op)
          return false;
        scores = cast<DotGeneralOp>(op);
      }
      if (isBetween(op))
        for (Value operand : op->getOperands())
          if (Operation *next = inBlock(operand))
            reached.insert(next);
    }
    if (!scores)
      return false;
    SmallVector<Operation *> ops(reached.begin(), reached.end());
    llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    for (Operation *op : ops) {
      bool depends = op == scores || llvm::any_of(op->getOperands(), [&](Value operand) {
                       return dependent.contains(operand.getDefiningOp());
                     });
      if (depends && op != scores && !isBetween(op))
        return false;
      if (depends)
        dependent.insert(op);
    }
    inside.insert(dependent.begin(), dependent.end());
    for (Operation *op : llvm::reverse(ops))
      if (!dependent.contains(op) && isBetween(op) && isCheap(op) &&
          llvm::any_of(op->getUsers(), [&](Operation *user) { return inside.contains(user); }))
        inside.insert(op);
    return true;
  }

  // What nothing reads may stand behind the result, and read what is not there yet.
  bool isLast(Operation *last) const {
    return llvm::all_of(inside,
                        [&](Operation *op) { return op == last || op->isBeforeInBlock(last); });
  }

  // What else reads the scores and what is computed of them must come into one value with the
  // product's result, as where the program divides that by the sum: they are no arrays any more.
  bool joinReaders() {
    dependent.insert(values);
    for (unsigned steps = 0; steps < mostReaders; ++steps) {
      Operation *next = nullptr, *read = nullptr;
      bool isOne = true;
      for (Operation *op : dependent)
        for (Operation *user : op->getUsers()) {
          if (inside.contains(user))
            continue;
          isOne &= !read || read == op;
          read = op;
          if (user->getBlock() != &block || !isBetween(user))
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
    inside.insert(reader);
    dependent.insert(reader);
    for (Value operand : reader->getOperands())
      if (Operation *op = inBlock(operand); op && fusionKindOf(op) == NodeKind::Constant)
        inside.insert(op);
  }

  static bool isCheap(Operation *op) {
    return fusionKindOf(op) != NodeKind::Reduce && !isExpensive(op);
  }

  // What an operand is read through: it is computed for every chunk of the other's.
  void addPrologue(Value value) {
    Operation *op = inBlock(value);
    if (!op || inside.contains(op))
      return;
    switch (fusionKindOf(op)) {
    case NodeKind::Transpose:
    case NodeKind::Reshape:
    case NodeKind::Convert:
    case NodeKind::Broadcast:
    case NodeKind::Constant:
      break;
    case NodeKind::Pointwise: {
      auto isSplat = [](Value operand) {
        auto constant = operand.getDefiningOp<ConstantOp>();
        return constant && isa<SplatElementsAttr>(constant.getValue());
      };
      if (isExpensive(op) || llvm::count_if(op->getOperands(), std::not_fn(isSplat)) > 1)
        return;
      break;
    }
    default:
      return;
    }
    inside.insert(op);
    for (Value operand : op->getOperands())
      addPrologue(operand);
  }

  void addEpilogue() {
    for (Value value = result; value.hasOneUse();) {
      Operation *user = *value.getUsers().begin();
      NodeKind kind = fusionKindOf(user);
      bool moves = kind == NodeKind::Transpose || kind == NodeKind::Convert;
      if (user->getBlock() != &block || !(moves || kind == NodeKind::Reshape))
        break;
      value = user->getResult(0);
      pending.push_back(user);
      if (!moves)
        continue; // at the end it is a view of the result
      inside.insert(pending.begin(), pending.end());
      pending.clear();
      result = value;
    }
  }

  Block &block;
  DotGeneralOp values, scores;
  unsigned side; // which operand the probabilities are
  Value result;
  SmallVector<int64_t> order; // of the kernel's result
  llvm::SetVector<Operation *> inside;
  llvm::SetVector<Operation *> dependent; // on the scores
  SmallVector<Operation *> pending;
};

} // namespace

// Whether the kernel is attention, as code is generated for it, and pays.
static bool isAttention(exec::FusedOp fused) {
  ScopedDiagnosticHandler silent(fused.getContext(), [](Diagnostic &) { return success(); });
  codegen::KernelSource kernel{"", fused.getBlock(), {}};
  codegen::NestGraph nest(kernel, {0u}, /*update=*/false);
  std::string why;
  if (!nest.build())
    return false;
  auto loops = codegen::findAttention(nest, why);
  if (!loops)
    return false;
  return fusion::attentionStays(codegen::sizesOf(*loops));
}

void formAttention(Block &block) {
  // What nothing reads any more, as where it is computed again, is no reader of scores.
  eraseUnread(block);
  // From the last on: ops are erased, those of later products first.
  SmallVector<DotGeneralOp> products(block.getOps<DotGeneralOp>());
  DenseSet<Operation *> taken; // products that are scores of one
  for (DotGeneralOp product : llvm::reverse(products)) {
    if (taken.contains(product))
      continue;
    for (unsigned side : {0u, 1u}) {
      Candidate candidate(block, product, side);
      if (!candidate.collect())
        continue;
      exec::FusedOp fused = candidate.outline();
      if (!isAttention(fused)) {
        fused.erase();
        continue;
      }
      taken.insert(candidate.scoreProduct());
      candidate.replaceWith(fused);
      break;
    }
  }
}

} // namespace tessera::fuse
