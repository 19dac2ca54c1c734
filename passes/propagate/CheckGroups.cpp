// Takes values out of sharding groups whose other members are annotated otherwise, with a warning:
// they stay as they are annotated; or refuses them. Members of different ranks, or in different manual computations,
// where different axes are left, are errors. Passes.td shows an example.
#include "dialects/sdy/PlainData.h"
#include "lib/sharding/CommonSharding.h"
#include "passes/propagate/Passes.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace tessera {
#define GEN_PASS_DEF_CHECKGROUPS
#include "passes/propagate/Passes.h.inc"

using namespace mlir;
using namespace tessera::sdy;

namespace {

int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

// Members of one group, and what the first of them is.
LogicalResult fitsWith(ShardingGroupOp first, ShardingGroupOp op) {
  if (rankOf(first.getInput()) != rankOf(op.getInput()))
    return op.emitError() << "sharding group " << op.getGroupId() << " holds a value of rank "
                          << rankOf(op.getInput()) << " here and one of rank "
                          << rankOf(first.getInput()) << "; give them groups of their own";
  auto manualAround = [](Operation *op) {
    auto outer = op->getParentOfType<ManualComputationOp>();
    return outer ? outer.getManualAxes() : ManualAxesAttr();
  };
  if (manualAround(first) != manualAround(op))
    return op.emitError()
           << "sharding group " << op.getGroupId()
           << " has members on both sides of the boundary of a manual computation; give "
              "them groups of their own";
  return success();
}

// The values of each group; two that share a value are one.
SmallVector<SmallVector<Value>> membersOf(ArrayRef<ShardingGroupOp> ops) {
  std::map<int64_t, int> numbers; // any id may be a group's
  auto numberOf = [&](ShardingGroupOp op) {
    return numbers.try_emplace(op.getGroupId(), int(numbers.size())).first->second;
  };
  llvm::EquivalenceClasses<int> alike;
  llvm::DenseMap<Value, int> groupOf;
  for (ShardingGroupOp op : ops)
    alike.unionSets(numberOf(op), groupOf.try_emplace(op.getInput(), numberOf(op)).first->second);
  llvm::MapVector<int, llvm::SetVector<Value>> members;
  for (ShardingGroupOp op : ops)
    members[alike.getLeaderValue(numberOf(op))].insert(op.getInput());
  SmallVector<SmallVector<Value>> all;
  for (auto &[group, values] : members)
    all.push_back(values.takeVector());
  return all;
}

// What the annotations of a group say together.
struct Annotations {
  Annotations(ArrayRef<Value> members, const MeshTable &meshes) {
    SmallVector<sharding::GroupMember> all;
    SmallVector<const sharding::Mesh *> onMeshes;
    std::vector<sharding::TensorSharding> shardings(members.size());
    for (auto [member, sharding] : llvm::zip_equal(members, shardings)) {
      TensorShardingAttr attr = getSharding(member);
      const sharding::Mesh *mesh = attr ? meshes.lookup(attr) : nullptr;
      if (!mesh || attr.getRank() != rankOf(member)) {
        all.push_back({-1, nullptr});
        continue;
      }
      sharding = toSharding(attr, *mesh);
      if (!llvm::is_contained(onMeshes, mesh))
        onMeshes.push_back(mesh);
      all.push_back({int32_t(llvm::find(onMeshes, mesh) - onMeshes.begin()), &sharding});
    }
    group = sharding::groupSharding(all);
    if (group.mesh >= 0)
      mesh = onMeshes[group.mesh];
  }

  sharding::GroupSharding group;
  const sharding::Mesh *mesh = nullptr;
};

struct CheckGroups : impl::CheckGroupsBase<CheckGroups> {
  using impl::CheckGroupsBase<CheckGroups>::CheckGroupsBase;

  void runOnOperation() override {
    SmallVector<ShardingGroupOp> ops;
    getOperation().walk([&](ShardingGroupOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    std::map<int64_t, ShardingGroupOp> first;
    for (ShardingGroupOp op : ops)
      if (failed(fitsWith(first.try_emplace(op.getGroupId(), op).first->second, op)))
        return signalPassFailure();
    MeshTable meshes(getOperation());
    for (ArrayRef<Value> members : membersOf(ops)) {
      Annotations all(members, meshes);
      for (unsigned m : all.group.contradict)
        if (failed(leave(members[m], toAttr(&getContext(), *all.mesh, all.group.sharding))))
          return signalPassFailure();
    }
  }

private:
  // Takes a value out of its groups, whose others are sharded as `others`.
  LogicalResult leave(Value member, TensorShardingAttr others) {
    InFlightDiagnostic said = refuses ? emitError(member.getLoc()) : emitWarning(member.getLoc());
    said << (refuses ? "is annotated with " : "stays as it is annotated, ") << getSharding(member)
         << ", unlike the others of its sharding group, " << others
         << "; give all of them one sharding, or take this value out of the group";
    if (refuses)
      return failure();
    for (Operation *user : llvm::make_early_inc_range(member.getUsers()))
      if (isa<ShardingGroupOp>(user))
        user->erase();
    return success();
  }
};

} // namespace
} // namespace tessera
