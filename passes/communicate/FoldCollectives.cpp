// Two collectives that one or none can replace. Passes.td shows an example.
#include "passes/communicate/Passes.h"

#include "dialects/comm/CommOps.h"

namespace tessera {
#define GEN_PASS_DEF_FOLDCOLLECTIVES
#include "passes/communicate/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace tessera::communicate {
namespace {

// One operand, one result.
template <typename Op> Op single(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op && op->getNumOperands() == 1 ? op : Op();
}

Value foldSlice(comm::SliceOp slice, OpBuilder &b) {
  if (auto gather = single<comm::AllGatherOp>(slice.getInput());
      gather && gather.getAxes() == slice.getAxes() && gather.getDim() == slice.getDim())
    return gather.getInputs().front();
  auto reduce = single<comm::AllReduceOp>(slice.getInput());
  if (!reduce || reduce.getAxes() != slice.getAxes() || !slice.getInput().hasOneUse())
    return {};
  return comm::ReduceScatterOp::create(b, slice.getLoc(), reduce.getInputs().front(),
                                       slice.getAxes(), int64_t(slice.getDim()),
                                       reduce.getReduction())
      .getResult(0);
}

Value foldGather(comm::AllGatherOp gather, OpBuilder &b) {
  if (gather->getNumOperands() != 1)
    return {};
  Value input = gather.getInputs().front();
  if (auto slice = input.getDefiningOp<comm::SliceOp>();
      slice && slice.getAxes() == gather.getAxes() && slice.getDim() == gather.getDim())
    return slice.getInput();
  auto scatter = single<comm::ReduceScatterOp>(input);
  if (!scatter || scatter.getAxes() != gather.getAxes() || scatter.getDim() != gather.getDim() ||
      !input.hasOneUse())
    return {};
  return comm::AllReduceOp::create(b, gather.getLoc(), scatter.getInputs().front(),
                                   gather.getAxes(), scatter.getReduction())
      .getResult(0);
}

bool isTrivial(Operation *op) {
  if (!isa_and_nonnull<comm::CommDialect>(op->getDialect()) ||
      op->getNumOperands() != op->getNumResults())
    return false;
  std::optional<Attribute> axes = op->getInherentAttr("axes");
  if (!axes || cast<comm::AxesAttr>(*axes).getGroupSize() != 1)
    return false;
  auto shift = dyn_cast<comm::ShiftOp>(op); // away from the only device: zeros come
  return !isa<comm::PermuteOp>(op) && !(shift && !shift.getWrap() && shift.getOffset() != 0);
}

struct FoldCollectives : impl::FoldCollectivesBase<FoldCollectives> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      OpBuilder b(op);
      Value folded;
      if (isTrivial(op)) {
        op->replaceAllUsesWith(op->getOperands());
        op->erase();
        return;
      }
      if (auto slice = dyn_cast<comm::SliceOp>(op))
        folded = foldSlice(slice, b);
      else if (auto gather = dyn_cast<comm::AllGatherOp>(op))
        folded = foldGather(gather, b);
      if (!folded)
        return;
      Operation *input = op->getOperand(0).getDefiningOp();
      op->getResult(0).replaceAllUsesWith(folded);
      op->erase();
      if (input->use_empty())
        input->erase();
    });
  }
};

} // namespace
} // namespace tessera::communicate
