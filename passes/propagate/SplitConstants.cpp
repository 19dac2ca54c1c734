// Gives each use of a constant expression its own copy of it, two operands of one op (a loop's
// zeros, say) included. Two uses of one constant have nothing to do with each other, and should not
// pass shardings on to one another, but where the user says so: a sharding group of a constant is one
// of all its copies. Scalars are shared: nothing shards them. Passes.td shows an example.
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
  Copies(const ConstantExpressions &expressions, DenseSet<Operation *> &copied)
      : expressions(expressions), copied(copied) {}

  Value copy(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !expressions.contains(op) || cast<ShapedType>(value.getType()).getRank() == 0)
      return value;
    if (Value done = mapping.lookupOrNull(value))
      return done;
    if (expressions.isConstant(op))
      for (Value operand : op->getOperands())
        if (Value own = copy(operand); own != operand)
          mapping.map(operand, own);
    OpBuilder builder(
        op); // beside the original: a use may be inside a region, and loops should stay as small
    Value own = builder.clone(*op, mapping)->getResult(0);
    mapping.map(value, own);
    copied.insert(op);
    for (Operation *user : value.getUsers())
      if (auto group = dyn_cast<sdy::ShardingGroupOp>(user))
        sdy::ShardingGroupOp::create(builder, group.getLoc(), own, group.getGroupIdAttr());
    return own;
  }

private:
  const ConstantExpressions &expressions;
  DenseSet<Operation *> &copied;
  IRMapping mapping;
};

bool isGroup(Operation *op) { return isa<sdy::ShardingGroupOp>(op); }

struct SplitConstants : impl::SplitConstantsBase<SplitConstants> {
  void runOnOperation() override {
    ConstantExpressions expressions;
    SmallVector<Operation *> originals, users;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (expressions.add(op))
        originals.push_back(op);
      else if (!isGroup(op))
        users.push_back(op);
    });
    DenseSet<Operation *> copied;
    for (Operation *user : users)
      for (OpOperand &operand : user->getOpOperands())
        if (isa<ShapedType>(operand.get().getType()))
          operand.set(Copies(expressions, copied).copy(operand.get()));
    for (Operation *op : llvm::reverse(originals))
      if (op->use_empty() || (copied.contains(op) && llvm::all_of(op->getUsers(), isGroup))) {
        for (Operation *group : llvm::make_early_inc_range(op->getUsers()))
          group->erase();
        op->erase();
      }
  }
};

} // namespace
} // namespace tessera
