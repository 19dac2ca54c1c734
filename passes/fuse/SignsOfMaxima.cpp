// Where a maximum is in memory anyway, it tells the signs of what it is of: x > c where max(x, c) > c.
// Passes.td shows an example.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

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

// The ops behind the other operands of products that read `value`.
static void collectFactors(Value value, SmallPtrSetImpl<Operation *> &factors) {
  for (Operation *user : value.getUsers()) {
    if (isa<ReshapeOp, TransposeOp, ConvertOp>(user))
      collectFactors(user->getResult(0), factors);
    else if (fusionKindOf(user) == fusion::NodeKind::Contraction)
      for (Value operand : user->getOperands())
        factors.insert(behindViews(operand));
  }
}

// Whether some product needs `maximum` at a time when what reads `signs` is still to be computed: both
// are computed of one gradient. Otherwise the maximum would be held for its signs.
static bool isThereAnyway(MaxOp maximum, CompareOp signs) {
  constexpr size_t mostOps = 64; // a product, its bias, a norm and a residual's sum between them
  SmallPtrSet<Operation *, 8> factors;
  collectFactors(maximum, factors);
  SmallVector<Operation *, 16> work;
  SmallPtrSet<Operation *, 16> seen;
  auto push = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op != maximum && op->getBlock() == maximum->getBlock() &&
        maximum->isBeforeInBlock(op) && op != signs && seen.insert(op).second)
      work.push_back(op);
  };
  for (Operation *reader : signs->getUsers())
    if (reader->getBlock() == maximum->getBlock())
      llvm::for_each(reader->getOperands(), push);
  for (size_t next = 0; next < work.size() && next < mostOps; ++next) {
    if (factors.contains(work[next]))
      return true;
    llvm::for_each(work[next]->getOperands(), push);
  }
  return false;
}

static bool isSame(Value a, Value b) {
  DenseElementsAttr left, right;
  return a == b || (matchPattern(a, m_Constant(&left)) && matchPattern(b, m_Constant(&right)) &&
                    left.isSplat() && left == right);
}

static MaxOp maximumOf(CompareOp signs) {
  auto direction = signs.getComparisonDirection();
  if ((direction != ComparisonDirection::GT && direction != ComparisonDirection::LE) ||
      signs.getCompareType() == ComparisonType::TOTALORDER)
    return {};
  for (Operation *user : signs.getLhs().getUsers())
    if (auto maximum = dyn_cast<MaxOp>(user))
      if (maximum->getBlock() == signs->getBlock() &&
          ((maximum.getLhs() == signs.getLhs() && isSame(maximum.getRhs(), signs.getRhs())) ||
           (maximum.getRhs() == signs.getLhs() && isSame(maximum.getLhs(), signs.getRhs()))))
        return maximum;
  return {};
}

namespace {
struct SignsOfMaxima : impl::SignsOfMaximaBase<SignsOfMaxima> {
  void runOnOperation() override {
    getOperation()->walk([](CompareOp signs) {
      MaxOp maximum = maximumOf(signs);
      if (!maximum || !isThereAnyway(maximum, signs))
        return;
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
    });
  }
};
} // namespace
} // namespace tessera
