// In which memory each value of a function lies. A transfer says where its result lies, the signature
// where arguments do; from there on values that are only passed on, or of which parts are taken or
// replaced, lie where they came from:
//
//   %h = comm.transfer to host (%x)              host
//   %p = stablehlo.dynamic_slice %h, %i          host: a part of it
//   %n = stablehlo.dynamic_update_slice %h, ..   host: with a part replaced
//   %l = stablehlo.while(%c = %h) ..             host, as is %c: what a loop carries
//   %y = stablehlo.tanh %h                       device: computed there
#pragma once

#include "dialects/comm/CommOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tessera::placement {

// Where values that meet (in what a loop carries, the results of a branch) lie in different memories,
// all lie in the host's.
class MemorySpaces {
public:
  explicit MemorySpaces(mlir::func::FuncOp function);
  bool isInHost(mlir::Value value) const { return host.contains(value); }
  void addInHost(mlir::Value value) { host.insert(value); } // of a rewrite

private:
  llvm::DenseSet<mlir::Value> host;
};

// The same of one value, by what made it, where all transfers are explicit: from the fuse phase on.
bool isInHost(mlir::Value value);

// Whether the op gives its operand `operand` on, whole or in part, without computing on it.
bool passesOn(mlir::Operation *op, unsigned operand);

// Makes all that MemorySpaces assumes explicit transfers: where values of different memories meet,
// and where a device computes on what lies in the host's memory. Transfers of values to where they
// lie go, but those that hold what a loop carries, or a branch gives, in the host's memory in spite
// of what later phases do to it (`keepsHolds`). Each result lies where `results` says, or else where
// its value does, which the signature says from then on.
void makeTransfersExplicit(mlir::func::FuncOp function,
                           llvm::ArrayRef<std::optional<comm::Space>> results, bool keepsHolds);

} // namespace tessera::placement
