// Where a maximum is in memory anyway, it tells the signs of what it is of: x > c where max(x, c) > c.
// Passes.td shows an example.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {
#define GEN_PASS_DEF_SIGNSOFMAXIMA
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static Operation *behindViews(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<ReshapeOp, TransposeOp, ConvertOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

// Whether `values` are computed of one of `sought`, as far as `mostOps` ops behind `first` tell,
// nearest first.
static bool areComputedOf(ArrayRef<Value> values, Operation *first,
                          const SmallPtrSetImpl<Operation *> &sought, size_t mostOps) {
  SmallVector<Value, 16> work(values);
  SmallPtrSet<Operation *, 16> seen;
  for (size_t next = 0; next < work.size() && seen.size() < mostOps; ++next) {
    Operation *op = work[next].getDefiningOp();
    if (sought.contains(op))
      return true;
    if (op && op->getBlock() == first->getBlock() && first->isBeforeInBlock(op) &&
        seen.insert(op).second)
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

using Ops = SmallPtrSet<Operation *, 8>;

// The ops behind the other operands of products that read `value`.
static void collectFactors(Value value, Ops &factors) {
  for (Operation *user : value.getUsers()) {
    if (isa<ReshapeOp, TransposeOp, ConvertOp>(user))
      collectFactors(user->getResult(0), factors);
    else if (fusionKindOf(user) == fusion::NodeKind::Contraction)
      for (Value operand : user->getOperands())
        factors.insert(behindViews(operand));
  }
}

// Those that are computed of `maximum`: their products come when they do. A weight isn't, though it
// may be gathered or computed behind the maximum: its product comes at once.
static Ops laterFactors(MaxOp maximum) {
  constexpr size_t mostOps = 256; // some times the 66 between a gradient and its layer in a ResNet
  Ops factors, later, sought;
  sought.insert(maximum);
  collectFactors(maximum, factors);
  for (Operation *op : factors)
    if (op && op != maximum &&
        areComputedOf(llvm::to_vector(op->getOperands()), maximum, sought, mostOps))
      later.insert(op);
  return later;
}

// Whether some product needs `maximum` at a time when what reads `signs` is still to be computed:
// both are computed of one gradient. Otherwise the maximum would be held for its signs.
static bool isThereAnyway(MaxOp maximum, const Ops &factors, CompareOp signs) {
  constexpr size_t mostOps = 64; // a product, its bias, a norm and a residual's sum between them
  SmallVector<Value, 16> values;
  for (Operation *reader : signs->getUsers())
    if (reader->getBlock() == maximum->getBlock())
      llvm::append_range(values, reader->getOperands());
  return areComputedOf(values, maximum, factors, mostOps);
}

// What x may be compared with, as it is known by: constants of one number by that.
using Bound = const void *;
static Bound boundOf(Value value) {
  DenseElementsAttr numbers;
  bool isNumber = matchPattern(value, m_Constant(&numbers)) && numbers.isSplat();
  return isNumber ? numbers.getAsOpaquePointer() : value.getAsOpaquePointer();
}

static bool asksForSigns(CompareOp op) {
  ComparisonDirection direction = op.getComparisonDirection();
  return (direction == ComparisonDirection::GT || direction == ComparisonDirection::LE) &&
         op.getCompareType() != ComparisonType::TOTALORDER;
}

using SignsByMaximum = llvm::MapVector<Operation *, SmallVector<CompareOp, 1>>;
static SignsByMaximum collectSigns(Block &block) {
  DenseMap<std::pair<Value, Bound>, MaxOp> maxima;
  for (auto op : block.getOps<MaxOp>()) {
    maxima.try_emplace({op.getLhs(), boundOf(op.getRhs())}, op);
    maxima.try_emplace({op.getRhs(), boundOf(op.getLhs())}, op);
  }
  SignsByMaximum signs;
  if (maxima.empty())
    return signs;
  for (auto op : block.getOps<CompareOp>())
    if (asksForSigns(op))
      if (MaxOp maximum = maxima.lookup({op.getLhs(), boundOf(op.getRhs())}))
        signs[maximum].push_back(op);
  return signs;
}

static void readOff(MaxOp maximum, CompareOp signs) {
  if (signs->isBeforeInBlock(maximum)) {
    DominanceInfo dominance;
    bool hasOperands = llvm::all_of(maximum->getOperands(), [&](Value operand) {
      return dominance.properlyDominates(operand, signs);
    });
    if (!hasOperands)
      return;
    maximum->moveBefore(signs);
  }
  signs.getLhsMutable().assign(maximum);
}

namespace {
struct SignsOfMaxima : impl::SignsOfMaximaBase<SignsOfMaxima> {
  void runOnOperation() override {
    getOperation()->walk([](Block *block) {
      for (auto &[op, comparisons] : collectSigns(*block)) {
        auto maximum = cast<MaxOp>(op);
        Ops factors = laterFactors(maximum);
        for (CompareOp signs : comparisons)
          if (isThereAnyway(maximum, factors, signs))
            readOff(maximum, signs);
      }
    });
  }
};
} // namespace
} // namespace tessera
