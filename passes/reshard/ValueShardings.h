// The shardings of values as plain data, and values moved to others by sdy.reshard.
#pragma once

#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "lib/sharding/FactorAxes.h"
#include "lib/sharding/ReshardSearch.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera {

int64_t elementBytes(mlir::Value value);

// An op that makes the same value wherever it is asked to, without operands worth moving: a
// constant of one element, an iota, a broadcast scalar.
bool isFree(mlir::Value value);

class ValueShardings {
public:
  ValueShardings(const sharding::Mesh &mesh, mlir::MLIRContext *context)
      : mesh(mesh), context(context) {}

  // Without axes of size 1; replicated where there is no annotation.
  sharding::TensorSharding of(mlir::Value value) const;
  sharding::TensorSharding of(sdy::TensorShardingAttr attr, size_t rank) const;
  sharding::ReductionKind reductionOf(mlir::Value value) const;
  void set(mlir::Value value, const sharding::TensorSharding &sharding) const;
  sdy::TensorShardingAttr attr(const sharding::TensorSharding &sharding) const;

  // What the annotation of `value` says of its parts: a sum where that says no more than `unreduced`.
  sdy::ReductionOp askedOf(mlir::Value value) const;

  // `value` under another sharding, unreduced by `op`: itself when that is the same, a copy of an op that is free, an
  // sdy.reshard made before, or a new one in the block of `value` before `user`, outside of the
  // loops that it does not depend on.
  mlir::Value moved(mlir::Value value, const sharding::TensorSharding &to, mlir::Operation *user,
                    sdy::ReductionOp op = sdy::ReductionOp::SUM);

  // Makes `result` under `made`; its users get it under what it had before.
  sdy::ReshardOp leave(mlir::OpResult result, const sharding::TensorSharding &made);

  // The shardings to which `value` was moved before.
  llvm::ArrayRef<sharding::TensorSharding> copiesOf(mlir::Value value) const {
    auto it = copies.find(value);
    return it == copies.end() ? llvm::ArrayRef<sharding::TensorSharding>() : it->second;
  }

  const sharding::Mesh &getMesh() const { return mesh; }

private:
  const sharding::Mesh &mesh;
  mlir::MLIRContext *context;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> made;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<sharding::TensorSharding, 1>> copies;
};

// The body of each function of a module that has a mesh, with shardings and one planner for all.
void forEachBody(
    mlir::ModuleOp module,
    llvm::function_ref<void(mlir::Block &, ValueShardings &, sharding::ReshardPlanner &)> visit);

} // namespace tessera
