#include "dialects/comm/Collective.h"
#include "lib/cost/Topology.h"

#include "llvm/ADT/TypeSwitch.h"

#pragma clang diagnostic error "-Wswitch" // each case has a place here

using namespace mlir;

namespace tessera::comm {

ReductionKind toReductionKind(sharding::ReductionKind kind) {
  switch (kind) {
  case sharding::ReductionKind::Sum:
    return ReductionKind::Sum;
  case sharding::ReductionKind::Product:
    return ReductionKind::Product;
  case sharding::ReductionKind::Max:
    return ReductionKind::Max;
  case sharding::ReductionKind::Min:
    return ReductionKind::Min;
  case sharding::ReductionKind::And:
    return ReductionKind::And;
  case sharding::ReductionKind::Or:
    return ReductionKind::Or;
  }
  llvm_unreachable("every case is above");
}

links::Pattern pricedAs(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return links::Pattern::AllReduce;
  case CollectiveKind::AllGather:
    return links::Pattern::AllGather;
  case CollectiveKind::ReduceScatter:
    return links::Pattern::ReduceScatter;
  case CollectiveKind::AllToAll:
    return links::Pattern::AllToAll;
  case CollectiveKind::Permute:
    return links::Pattern::Permute;
  case CollectiveKind::Broadcast:
    return links::Pattern::Broadcast;
  case CollectiveKind::Shift:
    return links::Pattern::Permute;
  }
  llvm_unreachable("every case is above");
}

int64_t tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  Type element = tensor.getElementType();
  int64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType(), parts = 2;
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return tensor.getNumElements() * parts * ((bits + 7) / 8);
}

namespace {
int64_t totalBytes(TypeRange types) {
  int64_t sum = 0;
  for (Type type : types)
    sum += tensorBytes(type); // handles count nothing
  return sum;
}

std::optional<CollectiveKind> kindOf(Operation *op) {
  return TypeSwitch<Operation *, std::optional<CollectiveKind>>(op)
      .Case([](AllReduceOp) { return CollectiveKind::AllReduce; })
      .Case([](AllGatherOp) { return CollectiveKind::AllGather; })
      .Case([](ReduceScatterOp) { return CollectiveKind::ReduceScatter; })
      .Case([](AllToAllOp) { return CollectiveKind::AllToAll; })
      .Case([](PermuteOp) { return CollectiveKind::Permute; })
      .Case([](ShiftOp) { return CollectiveKind::Shift; })
      .Case([](BroadcastOp) { return CollectiveKind::Broadcast; })
      .Case([](StartOp start) { return start.getKind(); })
      .Default(std::nullopt);
}
} // namespace

std::optional<CollectiveFacts> collectiveFacts(Operation *op) {
  std::optional<CollectiveKind> kind = kindOf(op);
  if (!kind)
    return std::nullopt;
  // The collectives name it alike, but properties are per op.
  auto axes = cast<AxesAttr>(*op->getInherentAttr("axes"));
  int64_t g = axes.getGroupSize();
  int64_t bytes = *kind == CollectiveKind::ReduceScatter ? totalBytes(op->getOperandTypes())
                                                         : totalBytes(op->getResultTypes());
  int64_t wire = bytes;
  switch (*kind) {
  case CollectiveKind::AllReduce:
    wire = 2 * bytes * (g - 1) / g;
    break;
  case CollectiveKind::AllGather:
  case CollectiveKind::AllToAll:
  case CollectiveKind::ReduceScatter:
    wire = bytes * (g - 1) / g;
    break;
  case CollectiveKind::Permute:
  case CollectiveKind::Shift:
  case CollectiveKind::Broadcast:
    wire = g > 1 ? bytes : 0;
    break;
  }
  return CollectiveFacts{*kind, axes, g, bytes, wire};
}

} // namespace tessera::comm
