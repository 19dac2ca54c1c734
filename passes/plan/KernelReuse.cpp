#include "passes/plan/KernelReuse.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/interfaces/ArrayBytes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace tessera {

using namespace mlir;

namespace {

class ReuseWalk {
public:
  ReuseWalk(const llvm::DenseMap<Operation *, int32_t> &numbers, std::vector<plan::Kernel> &kernels)
      : numbers(numbers), kernels(kernels) {}

  // The steps before leave what they can in the cache.
  void run(ModuleOp module) {
    for (int step = 0; step < 2; ++step)
      for (auto function : module.getOps<func::FuncOp>())
        if (!function.isExternal())
          walk(function.getBody().front(), step == 1);
  }

private:
  // `isSteady`: of a loop, what its trips find that the trip before has left.
  void walk(Block &block, bool isSteady) {
    for (Operation &op : block) {
      if (auto it = numbers.find(&op); it != numbers.end()) {
        touch(cast<exec::FusedOp>(op), kernels[it->second]);
        continue;
      }
      bool isLoop = isa<stablehlo::WhileOp>(op);
      for (int trip = isLoop && isSteady ? 0 : 1; trip < 2; ++trip)
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            walk(inner, isSteady && trip == 1);
    }
  }

  void touch(exec::FusedOp fused, plan::Kernel &kernel) {
    kernel.reuse.clear();
    double begin = clock;
    for (auto [i, array] : llvm::enumerate(kernel.work.arrays)) {
      bool isRead = i < fused->getNumOperands();
      size_t result = i - fused->getNumOperands();
      Value value = isRead                            ? fused->getOperand(unsigned(i))
                    : result < fused->getNumResults() ? Value(fused->getResult(unsigned(result)))
                                                      : Value();
      if (!value)
        kernel.reuse.push_back(0);
      else if (isRead || isKept(value))
        kernel.reuse.push_back(sinceTouched(value, array.bytes));
      else
        kernel.reuse.push_back(begin - takePlace(bytesOf(value)));
      clock += array.bytes;
    }
    for (Value result : fused->getResults()) {
      last[result] = begin;
      uses[result] = 0;
    }
    for (Value operand : fused->getOperands()) {
      last[operand] = begin;
      if (++uses[operand] == std::distance(operand.use_begin(), operand.use_end()) &&
          operand.getDefiningOp<exec::FusedOp>())
        freed.insert({bytesOf(operand), begin});
    }
  }

  // For the next trip or step, or whoever called.
  static bool isKept(Value value) {
    return llvm::any_of(value.getUsers(),
                        [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
  }

  double sinceTouched(Value value, double bytes) const {
    auto it = last.find(value);
    double since = it == last.end() ? clock : clock - it->second;
    // Of a part, each time another one.
    return bytes < bytesOf(value) ? std::max(since, bytesOf(value)) : since;
  }

  // When the memory was touched in which an array of so many bytes is written.
  double takePlace(double bytes) {
    auto it = freed.lower_bound(bytes);
    if (it == freed.end())
      return 0;
    double at = it->second;
    freed.erase(it);
    return at;
  }

  const llvm::DenseMap<Operation *, int32_t> &numbers;
  std::vector<plan::Kernel> &kernels;
  llvm::DenseMap<Value, double> last;  // when each was touched
  llvm::DenseMap<Value, int64_t> uses; // so far
  std::multimap<double, double> freed; // bytes of memory that is free, and when it was touched
  double clock = 0;                    // bytes touched so far
};

} // namespace

void findReuse(ModuleOp formed, const llvm::DenseMap<Operation *, int32_t> &numbers,
               std::vector<plan::Kernel> &kernels) {
  ReuseWalk(numbers, kernels).run(formed);
}

} // namespace tessera
