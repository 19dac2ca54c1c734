// Refuses sharding groups whose members have different ranks, are annotated with different closed
// shardings, or lie in different manual computations, where different axes are left: they are to be
// sharded alike, and cannot be. Passes.td shows an example.
#include "dialects/sdy/PlainData.h"
#include "passes/propagate/ClosedSharding.h"
#include "passes/propagate/Passes.h"

#include <map>

namespace tessera {
#define GEN_PASS_DEF_CHECKGROUPS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;
using namespace tessera::sdy;

namespace {

struct CheckGroups : impl::CheckGroupsBase<CheckGroups> {
  void runOnOperation() override {
    std::map<int64_t, Value> any, first; // of each group; that is annotated
    std::map<int64_t, ManualAxesAttr> around;
    getOperation().walk([&](ShardingGroupOp op) {
      auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
      Value member = any.try_emplace(op.getGroupId(), op.getInput()).first->second;
      if (rankOf(member) != rankOf(op.getInput())) {
        op.emitError() << "sharding group " << op.getGroupId() << " holds a value of rank "
                       << rankOf(op.getInput()) << " here and one of rank " << rankOf(member)
                       << "; give them groups of their own";
        return signalPassFailure();
      }
      auto outer = op->getParentOfType<ManualComputationOp>();
      ManualAxesAttr manual = outer ? outer.getManualAxes() : ManualAxesAttr();
      if (around.try_emplace(op.getGroupId(), manual).first->second != manual) {
        op.emitError()
            << "sharding group " << op.getGroupId()
            << " has members on both sides of the boundary of a manual computation; give "
               "them groups of their own";
        return signalPassFailure();
      }
      TensorShardingAttr sharding = getSharding(op.getInput());
      if (!sharding || !isClosed(sharding))
        return;
      Value other = first.try_emplace(op.getGroupId(), op.getInput()).first->second;
      TensorShardingAttr before = getSharding(other);
      if (before == sharding)
        return;
      InFlightDiagnostic error = emitError(op.getInput().getLoc())
                                 << "sharding group " << op.getGroupId() << " holds a value with "
                                 << sharding << " here and one with " << before
                                 << "; give both the same sharding, or take one out of the group";
      error.attachNote(other.getLoc()) << "the other value";
      signalPassFailure();
    });
  }
};

} // namespace
} // namespace tessera
