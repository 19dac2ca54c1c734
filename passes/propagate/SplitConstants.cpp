// Gives each use of a constant expression its own copy of it, two operands of one op (a loop's
// zeros, say) included. Two uses of one constant have nothing to do with each other, and should not
// pass shardings on to one another. Scalars are shared: nothing shards them. Passes.td shows an example.
#include "dialects/sdy/SdyOps.h"
#include "passes/propagate/ConstantExpressions.h"
#include "passes/propagate/Passes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITCONSTANTS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;

namespace {

// Copies for one use: an expression that it reaches in two ways is copied once.
class Copies {
public:
  explicit Copies(const ConstantExpressions &expressions) : expressions(expressions) {}

  Value copy(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !expressions.contains(op) || cast<ShapedType>(value.getType()).getRank() == 0)
      return value;
    if (Value done = mapping.lookupOrNull(value))
      return done;
    if (expressions.isConstant(op))
      for (Value operand : op->getOperands())
        if (Value copied = copy(operand); copied != operand)
          mapping.map(operand, copied);
    OpBuilder builder(
        op); // beside the original: a use may be inside a region, and loops should stay as small
    Value copied = builder.clone(*op, mapping)->getResult(0);
    mapping.map(value, copied);
    return copied;
  }

private:
  const ConstantExpressions &expressions;
  IRMapping mapping;
};

struct SplitConstants : impl::SplitConstantsBase<SplitConstants> {
  void runOnOperation() override {
    ConstantExpressions expressions;
    SmallVector<Operation *> originals, users;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (expressions.add(op))
        originals.push_back(op);
      else
        users.push_back(op);
    });
    for (Operation *user : users)
      for (OpOperand &operand : user->getOpOperands())
        if (isa<ShapedType>(operand.get().getType()))
          operand.set(Copies(expressions).copy(operand.get()));
    for (Operation *op : llvm::reverse(originals))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
} // namespace tessera
