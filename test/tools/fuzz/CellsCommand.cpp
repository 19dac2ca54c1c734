#include "test/tools/fuzz/Commands.h"
#include "test/tools/fuzz/Modules.h"

#include "compiler/Compile.h"
#include "dialects/sdy/PlainData.h"
#include "passes/reshard/ValueShardings.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::fuzz {
namespace {

using namespace mlir;
using sharding::FactorKind;

llvm::StringRef nameOf(FactorKind kind) {
  switch (kind) {
  case FactorKind::PassThrough:
    return "pass-through";
  case FactorKind::Reduction:
    return "reduction";
  case FactorKind::Permutation:
    return "permutation";
  case FactorKind::NeedReplication:
    return "need-replication";
  }
  return "";
}

// The cells of one op. What reshard moved before the op counts as it was, too: a dimension that had
// to be gathered for the op is one that the program had sharded.
class Cells {
public:
  Cells(Operation *op, const ValueShardings &shardings, llvm::StringSet<> &found)
      : op(op), shardings(shardings), found(found), rule(*sdy::getRule(op)) {}

  void collect() {
    for (Value operand : op->getOperands())
      partial |= !shardings.of(operand).unreduced.empty() || !before(operand).unreduced.empty();
    for (Value result : op->getResults())
      partial |= !shardings.of(result).unreduced.empty();
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      add(rule.operands[i], shardings.of(operand));
      add(rule.operands[i], before(operand));
    }
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      add(rule.results[i], shardings.of(result));
  }

private:
  sharding::TensorSharding before(Value operand) const {
    auto reshard = operand.getDefiningOp<sdy::ReshardOp>();
    return shardings.of(reshard ? reshard.getInput() : operand);
  }

  void add(const sharding::TensorFactors &dims, const sharding::TensorSharding &sharding) {
    for (auto [factors, dim] : llvm::zip(dims, sharding.dims)) {
      int64_t shards = 1;
      for (const sharding::AxisRef &axis : dim.axes)
        shards *= axis.size;
      for (int32_t factor : factors) { // major to minor, as far as the shards go
        if (shards == 1)
          break;
        int64_t size = rule.factors[factor].size;
        found.insert((op->getName().getStringRef() + " " + nameOf(rule.factors[factor].kind) +
                      (size % shards ? " uneven" : " even") + (partial ? " partial" : " whole"))
                         .str());
        shards = size && shards % size == 0 ? shards / size : 1;
      }
    }
  }

  Operation *op;
  const ValueShardings &shardings;
  llvm::StringSet<> &found;
  sharding::FactorRule rule;
  bool partial = false;
};

} // namespace

int cells(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return 1;
  CompileOptions options;
  options.stopAfter = "reshard";
  CompileResult result = compile((*file)->getBuffer(), options, silentListener());
  std::string problem;
  auto module = result.error.empty() ? parse(result.program, path, problem) : nullptr;
  if (!module) {
    llvm::errs() << (result.error.empty() ? "error: " + problem : result.error) << "\n";
    return 1;
  }
  llvm::StringSet<> found;
  sdy::MeshTable meshes(*module);
  if (const sharding::Mesh *mesh = meshes.main()) {
    ValueShardings shardings(*mesh, module->getContext());
    module->walk([&](Operation *op) {
      if (!isa<sdy::ReshardOp>(op) && sdy::getRule(op))
        Cells(op, shardings, found).collect();
    });
  }
  for (const auto &cell : found)
    llvm::errs() << cell.getKey() << "\n";
  return 0;
}

} // namespace tessera::fuzz
