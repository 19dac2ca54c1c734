// What stands around some of a program's values, as a program of its own.
//
//   a = relu x    b = a . w    c = relu b    d = c . v    e = relu d
//   around b, one value far: main(a, w, v) = { b = a . w    c = relu b    d = c . v } -> d
//
// Two ways to shard a large program that differ in a few values move the same everywhere else. Which of them
// moves less is seen there, where the whole takes as long as all of its ops.
#pragma once

#include "passes/propagate/ModuleGraph.h"

#include "mlir/IR/OwningOpRef.h"

namespace tessera {

class Surroundings {
public:
  using Values = llvm::ArrayRef<sharding::PropagatedValue>;

  // Around some values, by number. `graph`: of the program, which must outlive it as `all` must, its values.
  // None where they are not inside of one function, or where so much stands around them that the whole program is
  // as good.
  static std::optional<Surroundings> of(const ModuleGraph &graph, Values all, mlir::ModuleOp module,
                                        llvm::ArrayRef<int32_t> values);

  // With the whole program's values sharded so.
  mlir::OwningOpRef<mlir::ModuleOp> sharded(Values values);

private:
  Surroundings(const ModuleGraph &graph, Values all, mlir::ModuleOp module,
               mlir::func::FuncOp function)
      : graph(graph), all(all), module(module), function(function) {}
  bool gather(llvm::ArrayRef<int32_t> values);
  bool isFree(mlir::Value value) const;
  bool tellsApart(mlir::Value value) const;
  void findEnds();

  const ModuleGraph &graph;
  Values all;
  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  std::vector<mlir::Operation *> ops; // in the program's order
  llvm::SmallVector<mlir::Value> taken, given;
};

} // namespace tessera
