// A module as the graph that lib/sharding propagates through, and back.
#pragma once

#include "dialects/sdy/DataFlow.h"
#include "dialects/sdy/PlainData.h"
#include "lib/sharding/ConflictCost.h"
#include "lib/sharding/PropagationGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/propagate/ConstantExpressions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace tessera {

class ModuleGraph {
public:
  explicit ModuleGraph(mlir::ModuleOp module);

  sharding::PropagationGraph graph;

  // Lets the predicted time on `topology`, which must outlive the graph, decide conflicts.
  void decideByCost(const cost::Topology &topology);

  // Lets what the program takes and gives back alike (weights, moments) wait until everything else
  // has propagated. False where nothing would wait, or for nothing.
  bool postponeState();

  // Writes the shardings of values that are on a mesh to where values keep them (see PlainData.h).
  void writeBack();
  // Propagation moves axes; by what parts are combined stays as it was said, if it was.
  sdy::TensorShardingAttr attrOf(const sharding::PropagatedValue &value, mlir::MLIRContext *context,
                                 sdy::TensorShardingAttr said) const;

  // The IR behind the graph's numbers. A function's result has no value of its own: null. An edge
  // goes with the op whose edge it is.
  mlir::Value valueAt(int32_t value) const { return valueOf[value]; }
  mlir::Operation *opAt(int32_t op) const { return opOf[op]; }
  int32_t find(mlir::Value value) const { // -1: it has no number
    auto it = numbers.find(value);
    return it == numbers.end() ? -1 : it->second;
  }
  const sharding::Mesh *meshAt(int32_t mesh) const { return meshOf[mesh]; }
  llvm::ArrayRef<const sharding::Mesh *> allMeshes() const { return meshOf; }

private:
  struct FunctionResult {
    mlir::func::FuncOp function;
    unsigned index;
    int32_t value;
  };
  struct ManualArgument {
    sdy::ManualComputationOp op;
    unsigned index;
    int32_t value;
    sharding::ManualView view;
  };

  // A value that callers see, and how many axes its dimensions have from annotations.
  struct Boundary {
    int32_t value;
    bool isResult;
    llvm::ArrayRef<int64_t> shape;
    llvm::SmallVector<size_t> annotated;
  };

  void reserve(mlir::func::FuncOp function);
  void addBoundary(int32_t value, mlir::Type type, bool isResult);
  void evenBoundaries();
  void addRegion(mlir::Region &region);
  void addOp(mlir::Operation *op);
  void addEdge(mlir::Operation *op, const sdy::DataFlowEdge &edge);
  void addRuled(mlir::Operation *op);
  void addReturns(mlir::func::FuncOp function);
  int32_t numberOf(mlir::Value value);
  int32_t newValue(mlir::Value value, mlir::Type type, sdy::TensorShardingAttr sharding);
  int32_t ruleNumber(sharding::FactorRule rule);
  int32_t identityRule(mlir::Type type, size_t sources);
  void append(mlir::Operation *op, sharding::PropagatedOp entry);
  sharding::ManualView viewOf(sdy::TensorShardingAttr sharding, sdy::ManualAxesAttr manual);

  sdy::MeshTable meshes;
  ConstantExpressions constants;
  std::unique_ptr<sharding::ConflictCost> conflictCost;
  std::vector<const sharding::Mesh *> meshOf;
  llvm::DenseMap<mlir::Value, int32_t> numbers;
  std::vector<mlir::Value> valueOf;
  std::vector<mlir::Operation *> opOf;
  std::vector<FunctionResult> functionResults;
  std::vector<Boundary> boundaries;
  std::vector<ManualArgument> manualArguments;
  std::map<std::vector<int64_t>, int32_t> ruleNumbers;
  std::map<int64_t, int32_t> groupNumbers; // a user's numbers: any but those a DenseMap keeps
};

} // namespace tessera
