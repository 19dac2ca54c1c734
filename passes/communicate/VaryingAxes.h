// Along which mesh axes values differ from device to device, as a program of one device shows it.
//
//   %0 = comm.slice %replicated dim 0 over x     x
//   %1 = stablehlo.add %0, %argumentOnY          x, y
//   %2 = comm.all_gather(%1) dim 0 over x        y
//
// What is found is certain: a value that is the same on all devices along an axis, in the meaning of
// the program, has no bit there. Bits may lack where a collective works along a part of an axis.
#pragma once

#include "dialects/comm/CommOps.h"
#include "lib/mesh/Mesh.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::communicate {

class VaryingAxes {
public:
  VaryingAxes(mlir::ModuleOp module, const sharding::Mesh &mesh);

  // Whether the value differs along every one of these axes.
  bool alongAll(mlir::Value value, comm::AxesAttr axes) const;

  // `now` is what `old` was.
  void replace(mlir::Value old, mlir::Value now) { bits[now] = of(old); }
  void forget(mlir::Operation *op) {
    for (mlir::Value result : op->getResults())
      bits.erase(result);
  }

private:
  using Bits = uint64_t; // by axis of the mesh

  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitLoop(mlir::Operation *loop);
  bool add(mlir::Value value, Bits bits); // whether that is new
  Bits of(mlir::Value value) const { return bits.lookup(value); }
  Bits bitsOf(comm::AxesAttr axes, bool parts) const;

  const sharding::Mesh &mesh;
  llvm::DenseMap<mlir::Value, Bits> bits;
};

} // namespace tessera::communicate
