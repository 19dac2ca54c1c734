// Loops and branches with values that never change or never matter.
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::stablehlo {

OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  auto tuple = getOperand().getDefiningOp<TupleOp>();
  return tuple && getIndex() < tuple.getVal().size() ? OpFoldResult(tuple.getVal()[getIndex()])
                                                     : OpFoldResult();
}

namespace {

// What a loop carries unchanged from a constant is the constant; what nothing reads is not carried.
//
//   while(%i = .., %n = %c8) { LT, %i, %n } { .. return .., %n }   ->   while(%i = ..) { LT, %i, %c8 } { .. }
struct DropCarried : OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhileOp op, PatternRewriter &rewriter) const override {
    if (op->hasAttr("sdy.sharding")) // says one thing for each result
      return failure();
    Block &cond = op.getCond().front(), &body = op.getBody().front();
    Operation *yield = body.getTerminator();
    llvm::BitVector dropped(op.getNumOperands());
    for (unsigned i = 0; i < op.getNumOperands(); ++i) {
      BlockArgument inCond = cond.getArgument(i), inBody = body.getArgument(i);
      bool unchanged = yield->getOperand(i) == inBody;
      bool unread = inCond.use_empty() && op.getResult(i).use_empty() &&
                    llvm::all_of(inBody.getUses(), [&](OpOperand &use) {
                      return use.getOwner() == yield && use.getOperandNumber() == i;
                    });
      if (unchanged && matchPattern(op.getOperand()[i], m_Constant())) {
        for (Value v : {Value(inCond), Value(inBody), Value(op.getResult(i))})
          rewriter.replaceAllUsesWith(v, op.getOperand()[i]);
        dropped.set(i);
      } else if (unread) {
        dropped.set(i);
      }
    }
    if (dropped.none())
      return failure();

    SmallVector<Value> operands;
    SmallVector<Type> types;
    SmallVector<Value> kept;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      if (!dropped[i]) {
        operands.push_back(op.getOperand()[i]);
        types.push_back(op.getResult(i).getType());
        kept.push_back(op.getResult(i));
      }
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(dropped); });
    // The value yielded may have been the argument itself.
    for (unsigned i : dropped.set_bits())
      for (Block *block : {&cond, &body})
        rewriter.replaceAllUsesWith(block->getArgument(i), op.getOperand()[i]);
    cond.eraseArguments(dropped);
    body.eraseArguments(dropped);
    auto loop = WhileOp::create(rewriter, op.getLoc(), types, operands);
    loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getCond(), loop.getCond(), loop.getCond().end());
    rewriter.inlineRegionBefore(op.getBody(), loop.getBody(), loop.getBody().end());
    for (auto [from, to] : llvm::zip(kept, loop.getResults()))
      rewriter.replaceAllUsesWith(from, to);
    rewriter.eraseOp(op);
    return success();
  }
};

// The branch that a constant chooses, in the place of the operation.
void inlineBranch(Operation *op, Region &branch, PatternRewriter &rewriter) {
  Operation *yield = branch.front().getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&branch.front(), op);
  rewriter.replaceOp(op, results);
}

struct ConstantIf : OpRewritePattern<IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IfOp op, PatternRewriter &rewriter) const override {
    APInt pred;
    if (!matchPattern(op.getPred(), m_ConstantInt(&pred)))
      return failure();
    inlineBranch(op, pred.isZero() ? op.getFalseBranch() : op.getTrueBranch(), rewriter);
    return success();
  }
};

struct ConstantCase : OpRewritePattern<CaseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CaseOp op, PatternRewriter &rewriter) const override {
    APInt index;
    if (!matchPattern(op.getIndex(), m_ConstantInt(&index)))
      return failure();
    // An index outside of the branches takes the last.
    uint64_t last = op.getBranches().size() - 1;
    uint64_t i = index.isNegative() ? last : index.getLimitedValue(last);
    inlineBranch(op, op.getBranches()[i], rewriter);
    return success();
  }
};

} // namespace

void WhileOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropCarried>(context);
}
void IfOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantIf>(context);
}
void CaseOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConstantCase>(context);
}

} // namespace tessera::stablehlo
