// An imported module as the plain data for which lib/plan finds shardings.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "lib/cost/DeviceRates.h"
#include "lib/plan/Program.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/propagate/ModuleGraph.h"

namespace tessera {

class PlanProgram {
public:
  // Looks at a copy, brought to where propagation begins: annotations in one form, a copy of each
  // constant for each of its uses. The module stays as it is. Diagnostics of those passes are as usual;
  // after an error `isValid` is false.
  explicit PlanProgram(mlir::ModuleOp module);

  bool isValid() const { return graph != nullptr; }

  plan::Program program;

  // The mesh that annotations are of; null where nothing is annotated.
  const sharding::Mesh *annotatedMesh() const { return annotated; }
  // On how many meshes annotations are: plans are for one.
  size_t countMeshes() const { return graph->allMeshes().size(); }

  // What a value or op of the graph is in the module that was given. A copy of a constant is its
  // original; a function's result is null.
  mlir::Value valueAt(int32_t value) const;
  mlir::Operation *opAt(int32_t op) const;

private:
  mlir::Operation *original(mlir::Operation *copy) const;
  void describeOps();
  // "model.py:7"; "" where nothing says it.
  const std::string &lineOf(mlir::Location location);
  void describeValues();
  void findDistantReads();
  void findArguments();
  void findKernels();
  mlir::OwningOpRef<mlir::ModuleOp> formedCopy();
  void describeKernels(mlir::ModuleOp formed);
  int32_t operandOf(int32_t index, mlir::OpOperand &operand) const;
  plan::Kernel describeKernel(exec::FusedOp fused, const cost::DeviceRates &rates);
  void findLifetimes();
  void shareMemory();
  void runEarly();
  double timesOf(mlir::Block *block);
  int32_t numberOf(mlir::Block *block);

  mlir::ModuleOp given;
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  std::unique_ptr<ModuleGraph> graph;
  const sharding::Mesh *annotated = nullptr;
  std::vector<mlir::Operation *> originals; // by number
  llvm::DenseMap<mlir::Location, std::string> lines;
  llvm::DenseMap<mlir::Block *, double> times;
  llvm::DenseMap<mlir::Block *, int32_t> blockNumbers;
  std::vector<int32_t> endOf;                       // of each op, the last one of its kernel
  std::vector<int32_t> viewed;                      // of a value that is a view: of which; or -1
  std::vector<std::pair<int32_t, int32_t>> inPlace; // a kernel writes the second over the first
};

} // namespace tessera
