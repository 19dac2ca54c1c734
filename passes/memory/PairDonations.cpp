// Chooses for each donated argument (`jax.buffer_donor`) the output that takes its memory.
// Passes.td shows an example.
#include "dialects/comm/CommOps.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/memory/AliasedArguments.h"
#include "passes/memory/Donations.h"
#include "passes/memory/InplaceOperands.h"
#include "passes/memory/Passes.h"
#include "passes/placement/MemorySpaces.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_PAIRDONATIONS
#include "passes/memory/Passes.h.inc"

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace {

constexpr llvm::StringLiteral kDonor = "jax.buffer_donor", kOutput = "tf.aliasing_output";

class Donations {
public:
  explicit Donations(func::FuncOp func)
      : func(func), entry(func.getBody().front()), ret(entry.getTerminator()) {}

  void run() {
    dropUnequal();
    std::vector<memory::DonatedArray> arrays, outputs;
    for (BlockArgument argument : entry.getArguments())
      if (isFree(argument))
        arguments.push_back(argument);
    if (arguments.empty())
      return;
    for (Operation &op : entry)
      time[&op] = time.size();
    SmallVector<BlockArgument> aliased = memory::aliasedArgumentsOf(func);
    for (OpOperand &use : ret->getOpOperands()) {
      if (aliased[use.getOperandNumber()])
        continue;
      outputNumbers.push_back(use.getOperandNumber());
      // Of a value that is returned twice the second is a copy, made at the end.
      bool isCopy = !outputOf.try_emplace(use.get(), outputs.size()).second;
      outputs.push_back(describe(use.get(), isCopy ? time.lookup(ret) : writtenAt(use.get())));
    }
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      lastReaders.clear();
      lastRead = -1;
      read(argument);
      arrays.push_back(describe(argument, lastRead));
      if (lastReaders.size() == 1)
        findInplace(i, *lastReaders.front());
    }
    sdy::SignatureAttributes attributes(func);
    for (auto [argument, output] :
         llvm::zip_equal(arguments, memory::pairDonations(arrays, outputs, inplace)))
      if (output >= 0) {
        attributes.removeArgument(argument.getArgNumber(), kDonor);
        attributes.setArgument(argument.getArgNumber(), kOutput,
                               Builder(func).getI32IntegerAttr(outputNumbers[output]));
      }
  }

private:
  bool isFree(BlockArgument argument) {
    unsigned i = argument.getArgNumber();
    return func.getArgAttr(i, kDonor) && !func.getArgAttr(i, kOutput);
  }

  void dropUnequal() {
    sdy::SignatureAttributes attributes(func);
    for (BlockArgument argument : entry.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto output = func.getArgAttrOfType<IntegerAttr>(i, kOutput);
      if (!output || (bytesOf(argument) == bytesOf(ret->getOperand(output.getInt())) &&
                      isInHost(argument) == isInHost(ret->getOperand(output.getInt()))))
        continue;
      attributes.removeArgument(i, kOutput);
      attributes.setArgument(i, kDonor, BoolAttr::get(func.getContext(), true));
    }
  }

  static int64_t bytesOf(Value value) { return byteSize(cast<RankedTensorType>(value.getType())); }

  bool isInHost(Value value) const { return placement::isInHost(value); }

  memory::DonatedArray describe(Value value, int64_t when) {
    std::pair<Type, int> key(value.getType(), isInHost(value));
    int type = types.try_emplace(key, types.size()).first->second;
    return {bytesOf(value), type, when, isInHost(value)};
  }

  // When the array of a returned value is written first.
  int64_t writtenAt(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || isa<stablehlo::ConstantOp>(def))
      return time.lookup(ret); // a copy
    if (isa<stablehlo::ReshapeOp>(def))
      return writtenAt(def->getOperand(0));
    if (auto wait = dyn_cast<comm::WaitOp>(def))
      return time.lookup(wait.getHandle().getDefiningOp());
    return time.lookup(def);
  }

  // Every reading of the array behind `value`.
  void read(Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *reader = entry.findAncestorOpInBlock(*use.getOwner());
      if (reader == use.getOwner() && isa<stablehlo::ReshapeOp>(reader)) {
        read(reader->getResult(0));
        continue;
      }
      int64_t when = time.lookup(reader);
      if (auto start = dyn_cast<comm::StartOp>(reader))
        when = time.lookup(*start.getHandle().user_begin());
      if (auto start = dyn_cast<comm::StartTransferOp>(reader))
        when = time.lookup(*start.getHandle().user_begin());
      if (when > lastRead)
        lastReaders.clear();
      lastRead = std::max(lastRead, when);
      if (when == lastRead)
        lastReaders.push_back(&use);
    }
  }

  // The outputs that the last reader of argument `i` computes in its place.
  void findInplace(int i, OpOperand &use) {
    Operation *reader = use.getOwner();
    unsigned operand = use.getOperandNumber();
    if (reader == ret)
      return addInplace(i, use.get());
    if (reader->getBlock() != &entry)
      return;
    if (isa<WhileOp>(reader))
      return addInplace(i, reader->getResult(operand));
    auto transfer = dyn_cast<comm::TransferOp>(reader);
    auto start = dyn_cast<comm::StartTransferOp>(reader);
    if ((transfer && transfer.getInto() == use.get()) || (start && start.getInto() == use.get()))
      return addInplace(i, reader->getResult(0));
    auto fused = dyn_cast<exec::FusedOp>(reader);
    if (!fused)
      return;
    memory::InplaceOperands operands(fused);
    for (unsigned k = 0; k < fused.getNumResults(); ++k)
      if (operands.isUpdate(k) ? operands.updatedBy(k) == operand
                               : operands.isReadWhereWritten(operand, k))
        addInplace(i, fused.getResult(k));
  }

  void addInplace(int i, Value value) {
    if (auto it = outputOf.find(value); it != outputOf.end())
      inplace.push_back({i, it->second});
    for (Operation *user : value.getUsers())
      if (isa<stablehlo::ReshapeOp>(user))
        addInplace(i, user->getResult(0));
      else if (isa<comm::WaitOp>(user) && user->getOperand(1) == value)
        addInplace(i, user->getResult(0));
  }

  func::FuncOp func;
  Block &entry;
  Operation *ret;
  DenseMap<Operation *, int64_t> time;
  DenseMap<std::pair<Type, int>, int> types;
  SmallVector<BlockArgument> arguments; // that are donated
  SmallVector<int> outputNumbers;       // that nobody lends memory to
  DenseMap<Value, int> outputOf;
  SmallVector<OpOperand *> lastReaders; // of the argument that is looked at
  int64_t lastRead = -1;
  std::vector<std::pair<int, int>> inplace;
};

struct PairDonations : impl::PairDonationsBase<PairDonations> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        Donations(func).run();
  }
};

} // namespace
} // namespace tessera
