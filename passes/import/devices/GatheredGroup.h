// A collective over groups that no mesh axes have, or with a reduction that no collective knows:
// its operands are gathered along the axes that hold the groups, and each device takes its group's
// from there.
//
//   groups {0, 3}, {1, 2} of mesh ["x"=4]:
//   %all = comm.all_gather(%x as 1x..) dim 0 over <@mesh, ["x"=4]>                    // 4x..
//   %mine = stablehlo.gather(%all, row axis_index of [[0, 3], [1, 2], [1, 2], [0, 3]])  // 2x..
//
// What it receives grows with those axes, not with the group.
#pragma once

#include "lib/sharding/DeviceGroups.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera::import {

/// Element `i` of a vector, a scalar.
mlir::Value elementOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value vector, int64_t i);

class GatheredGroup {
public:
  GatheredGroup(mlir::OpBuilder &b, mlir::Location loc, const sharding::Mesh &mesh,
                sharding::GroupTable table)
      : b(b), loc(loc), mesh(mesh), table(std::move(table)) {}

  int64_t size() const { return table.largest; }

  // The members' values, in the group's order, along a new first dimension.
  mlir::Value rows(mlir::Value operand);
  // The device's own place in its group, i32.
  mlir::Value rank();

  mlir::Value allGather(mlir::Value operand, int64_t dim);
  mlir::Value allReduce(mlir::Value operand, mlir::Region &computation);
  mlir::Value reduceScatter(mlir::Value operand, int64_t dim, mlir::Region &computation);
  mlir::Value allToAll(mlir::Value operand, int64_t split, int64_t concat);
  // The first member's, or that of the member `root` (i32); zeros outside of groups.
  mlir::Value broadcast(mlir::Value operand, mlir::Value root = {});
  // Rows of each member's operand go where their sender says: jax.lax.ragged_all_to_all.
  mlir::Value raggedAllToAll(mlir::ValueRange operands);

private:
  mlir::Value entryOfTable(llvm::ArrayRef<int64_t> flat, int64_t columns); // [columns] of i32
  mlir::Value isMember();                                                  // [size] of i1
  mlir::Value part(mlir::Value x, int64_t dim);      // the rank's, of size() parts
  mlir::Value joined(mlir::Value rows, int64_t dim); // rows along dim
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> dims);
  mlir::Value zeros(mlir::Type element, llvm::ArrayRef<int64_t> shape);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const sharding::Mesh &mesh;
  sharding::GroupTable table;
};

} // namespace tessera::import
