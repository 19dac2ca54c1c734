#include "passes/codegen/kernel/KernelKey.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "dialects/tessera/SumMarks.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace tessera::codegen {

namespace {

class KeyWriter {
public:
  explicit KeyWriter(KernelKey &key) : key(key) {}

  void add(Block &block) {
    key.push_back(block.getNumArguments());
    for (BlockArgument argument : block.getArguments()) {
      number(argument);
      addType(argument.getType());
    }
    key.push_back(block.getOperations().size());
    for (Operation &op : block)
      add(op);
  }

private:
  void add(Operation &op) {
    key.push_back(reinterpret_cast<uintptr_t>(op.getName().getAsOpaquePointer()));
    addAttribute(op.getPropertiesAsAttribute());
    if (isa<stablehlo::CustomCallOp>(op)) // elsewhere such attributes have no meaning
      addAttribute(op.getDiscardableAttrDictionary());
    key.push_back(static_cast<uintptr_t>(getSummed(&op)));
    key.push_back(op.getNumOperands());
    for (Value operand : op.getOperands())
      key.push_back(number(operand));
    key.push_back(op.getNumResults());
    for (Value result : op.getResults()) {
      number(result);
      addType(result.getType());
    }
    key.push_back(op.getNumRegions());
    if (op.getNumRegions())
      key.push_back(static_cast<uintptr_t>(getTripCount(&op).value_or(-1)));
    for (Region &region : op.getRegions()) {
      key.push_back(region.getBlocks().size());
      for (Block &block : region)
        add(block);
    }
  }

  void addType(Type type) { key.push_back(reinterpret_cast<uintptr_t>(type.getAsOpaquePointer())); }

  void addAttribute(Attribute attribute) {
    key.push_back(reinterpret_cast<uintptr_t>(attribute.getAsOpaquePointer()));
  }

  uintptr_t number(Value value) {
    return numbers.try_emplace(value, static_cast<uintptr_t>(numbers.size())).first->second;
  }

  KernelKey &key;
  DenseMap<Value, uintptr_t> numbers;
};

} // namespace

KernelKey keyOf(const KernelSource &kernel) {
  KernelKey key;
  key.push_back(kernel.inplace.size());
  for (int64_t input : kernel.inplace)
    key.push_back(static_cast<uintptr_t>(input));
  key.push_back(static_cast<uintptr_t>(kernel.mostScratch));
  key.push_back(kernel.apart.size());
  llvm::append_range(key, kernel.apart);
  KeyWriter(key).add(*kernel.body);
  return key;
}

} // namespace tessera::codegen
