// Ops around a large reduction round as XLA:CPU rounds them, which hands them to a library
// together: in f32 throughout, and a product before it is added to something.
//
//   %m = stablehlo.multiply %x, %y : tensor<4096x8xbf16>    %m = stablehlo.multiply %p, %q : f32
//   %s = stablehlo.subtract %m, %z                          %s = stablehlo.subtract %m, %r : f32
//   %w = stablehlo.convert %s : bf16 -> f32                      {tessera.uncontracted}
//   %t = stablehlo.reduce(%w) applies stablehlo.add  ->     %t = stablehlo.reduce(%s) applies add
//
// Conversions of the operands make %p, %q and %r. ReductionClusters decides what is handed over:
// arithmetic on at least 4,096 elements, broadcasts and contractions that lead to a reduction or
// come after one. See docs/rationale/narrow-floats.md.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ReductionClusters.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera {
#define GEN_PASS_DEF_ROUNDCLUSTERS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::ClusterNode;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static bool isBF16(Value value) { return typeOf(value).getElementType().isBF16(); }
static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().isF32() || type.getElementType().isBF16());
}

//===--- What is in a cluster ---===//

// How the dimensions of a contraction's operand lie; other orders are copied into one of these.
enum class OperandOrder { ContractedLast, ContractedFirst, Copied };

static OperandOrder orderOf(RankedTensorType type, ArrayRef<int64_t> batch,
                            ArrayRef<int64_t> contracted) {
  auto isRange = [](ArrayRef<int64_t> dims, int64_t from) {
    return llvm::equal(dims, llvm::seq<int64_t>(from, from + dims.size()));
  };
  if (!isRange(batch, 0))
    return OperandOrder::Copied;
  if (isRange(contracted, type.getRank() - contracted.size()))
    return OperandOrder::ContractedLast;
  return isRange(contracted, batch.size()) ? OperandOrder::ContractedFirst : OperandOrder::Copied;
}

static OperandOrder orderOfLhs(DotGeneralOp dot) {
  auto dims = dot.getDotDimensionNumbers();
  return orderOf(dot.getLhs().getType(), dims.getLhsBatchingDimensions(),
                 dims.getLhsContractingDimensions());
}

static OperandOrder orderOfRhs(DotGeneralOp dot) {
  auto dims = dot.getDotDimensionNumbers();
  return orderOf(dot.getRhs().getType(), dims.getRhsBatchingDimensions(),
                 dims.getRhsContractingDimensions());
}

static bool readsCopy(Operation *user, Value value) {
  auto dot = dyn_cast<DotGeneralOp>(user);
  return dot && ((dot.getLhs() == value && orderOfLhs(dot) == OperandOrder::Copied) ||
                 (dot.getRhs() == value && orderOfRhs(dot) == OperandOrder::Copied));
}

// Arithmetic that is done in f32, and by the library.
static bool isArithmetic(Operation *op) {
  return isa<AddOp, SubtractOp, MulOp, DivOp, MaxOp, MinOp, PowOp, ExpOp, Expm1Op, LogOp, Log1pOp,
             LogisticOp, TanhOp, SqrtOp, RsqrtOp, AbsOp, NegOp, FloorOp, CeilOp, SignOp>(op);
}

static ClusterNode::Kind kindOf(Operation *op) {
  if (op->getNumResults() != 1 || !llvm::all_of(op->getResults(), isFloat) ||
      !llvm::all_of(op->getOperands(), isFloat))
    return ClusterNode::Outside;
  Value result = op->getResult(0);
  bool isLarge = typeOf(result).getNumElements() >= fusion::kLargeArray;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    // Sums of bf16 round after each addition.
    Block &combiner = reduce.getBody().front();
    bool isKnown =
        llvm::hasNItems(combiner, 2) &&
        (isa<MaxOp, MinOp>(combiner.front()) || (isa<AddOp>(combiner.front()) && !isBF16(result)));
    isLarge = typeOf(reduce.getInputs()[0]).getNumElements() >= fusion::kLargeArray;
    return isKnown && isLarge ? ClusterNode::Reduction : ClusterNode::Outside;
  }
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    if (!isLarge && isBF16(result))
      return ClusterNode::Outside;
    return orderOfLhs(dot) == OperandOrder::ContractedFirst ? ClusterNode::Edge
                                                            : ClusterNode::Member;
  }
  if (isa<BroadcastInDimOp, ReshapeOp>(op))
    return ClusterNode::Member;
  if (!isLarge)
    return ClusterNode::Outside;
  if (isArithmetic(op) || isa<ConvertOp>(op))
    return ClusterNode::Member;
  return isa<CbrtOp, SineOp, CosineOp, TanOp, Atan2Op, RemOp>(op) ? ClusterNode::Edge
                                                                  : ClusterNode::Outside;
}

//===--- What is in f32 ---===//

namespace {

class BlockRounding {
public:
  explicit BlockRounding(Block &block) : block(block) {}
  void run();

private:
  void findClusters();
  bool isInCluster(Operation *op) { return op && clusterOf.contains(op); }
  bool computesInF32(Operation *op) {
    return isInCluster(op) || isArithmetic(op) || isa<DotGeneralOp>(op) ||
           (isa<ConvertOp>(op) && typeOf(op->getResult(0)).getElementType().isF32());
  }
  bool isReadInF32(Value value, SmallVectorImpl<Value> &moved);
  void findUnrounded();
  Value wide(OpBuilder &b, Value value);
  void rewrite(Operation *op);

  Block &block;
  DenseMap<Operation *, Operation *> clusterOf; // its last op
  llvm::DenseSet<Value> unrounded;              // bf16 values that are in f32 from now on
  DenseMap<Value, Value> wideOf;
  SmallVector<Operation *> replaced;
};

} // namespace

void BlockRounding::findClusters() {
  SmallVector<Operation *> ops;
  DenseMap<Operation *, int> numbers;
  for (Operation &op : block) {
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
  std::vector<ClusterNode> nodes(ops.size());
  for (auto [op, node] : llvm::zip_equal(ops, nodes)) {
    node.kind = kindOf(op);
    if (node.kind != ClusterNode::Outside)
      for (Operation *user : op->getUsers())
        node.users.push_back(
            user->getBlock() != &block || readsCopy(user, op->getResult(0)) ? -1 : numbers[user]);
  }
  for (auto [op, last] : llvm::zip_equal(ops, fusion::reductionClusters(nodes)))
    if (last >= 0)
      clusterOf[op] = ops[last];
}

// Whether all that read `value`, moved about or not, compute in f32.
bool BlockRounding::isReadInF32(Value value, SmallVectorImpl<Value> &moved) {
  moved.push_back(value);
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (user->getBlock() != &block)
      return false;
    if (isa<TransposeOp, ReshapeOp, BroadcastInDimOp, SliceOp>(user) && !isInCluster(user))
      return isReadInF32(user->getResult(0), moved);
    return computesInF32(user);
  });
}

void BlockRounding::findUnrounded() {
  for (Operation &op : block) {
    auto it = clusterOf.find(&op);
    if (it == clusterOf.end() || !isBF16(op.getResult(0)) || isa<ReduceOp>(op))
      continue;
    Value value = op.getResult(0);
    if (it->second != &op) {
      unrounded.insert(value);
      continue;
    }
    SmallVector<Value> moved;
    if (typeOf(value).getNumElements() >= fusion::kLargeArray && isReadInF32(value, moved))
      unrounded.insert(moved.begin(), moved.end());
  }
}

Value BlockRounding::wide(OpBuilder &b, Value value) {
  if (!isBF16(value))
    return value;
  if (Value known = wideOf.lookup(value))
    return known;
  return ConvertOp::create(b, value.getLoc(), typeOf(value).clone(b.getF32Type()), value);
}

void BlockRounding::rewrite(Operation *op) {
  bool readsUnrounded =
      llvm::any_of(op->getOperands(), [&](Value v) { return wideOf.contains(v); });
  bool makesUnrounded = op->getNumResults() == 1 && unrounded.contains(op->getResult(0));
  if (!readsUnrounded && !makesUnrounded)
    return;
  OpBuilder b(op);
  Value result = op->getResult(0), made;
  auto rounded = [&](Value value) {
    return ConvertOp::create(b, op->getLoc(), typeOf(value).clone(b.getBF16Type()), value);
  };
  if (isa<ReduceOp>(op)) { // the maximum of the rounded numbers
    op->setOperand(0, rounded(wideOf.lookup(op->getOperand(0))));
    return;
  }
  if (isa<ConvertOp>(op)) {
    made = wide(b, op->getOperand(0));
  } else {
    SmallVector<Value> operands(op->getOperands());
    // A product of bf16 numbers is exact in f32 as it is.
    if (!isa<DotGeneralOp>(op) || readsUnrounded)
      for (Value &operand : operands)
        operand = wide(b, operand);
    Operation *clone = b.clone(*op);
    clone->setOperands(operands);
    made = clone->getResult(0);
    made.setType(typeOf(result).clone(b.getF32Type()));
  }
  if (makesUnrounded)
    wideOf[result] = made;
  else
    result.replaceAllUsesWith(isBF16(result) ? rounded(made) : made);
  replaced.push_back(op);
}

void BlockRounding::run() {
  findClusters();
  if (clusterOf.empty())
    return;
  for (Operation &op : block)
    if (isa<AddOp, SubtractOp>(op))
      for (Value operand : op.getOperands())
        if (auto product = operand.getDefiningOp<MulOp>())
          if (isInCluster(&op) || isInCluster(product))
            op.setAttr("tessera.uncontracted", UnitAttr::get(op.getContext()));
  findUnrounded();
  if (unrounded.empty())
    return;
  SmallVector<Operation *> ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  for (Operation *op : ops)
    rewrite(op);
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
}

namespace {
struct RoundClusters : impl::RoundClustersBase<RoundClusters> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!isa<ReduceOp>(op))
            BlockRounding(block).run();
    });
  }
};
} // namespace
} // namespace tessera
