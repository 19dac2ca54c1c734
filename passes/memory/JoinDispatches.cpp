// Makes one launch of small kernels on a GPU that are alike (AlikeKernels.h): a launch takes as long as
// some megabytes, and an optimizer has one for each array. Places in memory have been given before, so
// that nothing is needed longer than it has its place: what lies between two kernels that come together
// touches neither. Passes.td shows an example.
#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "lib/target/GpuArchitectures.h"
#include "passes/memory/AlikeKernels.h"
#include "passes/memory/BufferRanges.h"
#include "passes/memory/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/StringSet.h"

#include <list>
#include <map>

namespace tessera {
#define GEN_PASS_DEF_JOINDISPATCHES
#include "passes/memory/Passes.h.inc"

using namespace mlir;
using namespace tessera::exec;
using memory::AlikeKernel;
using memory::ByteRange;

namespace {

constexpr int64_t kMostElements = 1 << 20; // of a kernel for whose time a launch counts
constexpr int64_t kShort = 1 << 16; // of one that may wait for others that messages are needed for
constexpr size_t kMostOperands = 480; // a launch has room for 512 addresses
constexpr int kMostApart = 128;       // instructions between the first and the last

struct Accesses {
  SmallVector<ByteRange> reads, writes;

  static bool meet(ArrayRef<ByteRange> some, ArrayRef<ByteRange> others) {
    return llvm::any_of(some, [&](const ByteRange &range) {
      return llvm::any_of(others, [&](const ByteRange &other) { return range.overlaps(other); });
    });
  }
  // Whether the order of both matters.
  bool meets(const Accesses &other) const {
    return meet(writes, other.writes) || meet(writes, other.reads) || meet(reads, other.writes);
  }
  void add(const Accesses &other) {
    llvm::append_range(reads, other.reads);
    llvm::append_range(writes, other.writes);
  }
};

struct Group {
  codegen::KernelKey key;
  SmallVector<std::pair<DispatchOp, int64_t>> members; // with their elements
  Accesses accesses;
  size_t operands = 0;
  int begin = 0;
  bool isShort = true;
};

class Joiner {
public:
  Joiner(ProgramOp program, SymbolTable &symbols) : program(program), symbols(symbols) {}

  void join(Block &block) {
    std::list<Group> open;
    auto close = [&](llvm::function_ref<bool(const Group &)> isOver) {
      for (auto it = open.begin(); it != open.end();) {
        auto next = std::next(it);
        if (isOver(*it))
          closed.splice(closed.end(), open, it);
        it = next;
      }
    };
    int number = 0;
    for (Operation &op : block) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          join(inner);
      if (isa<BufferOp, exec::ConstantOp, FunctionOp>(op))
        continue;
      ++number;
      auto dispatch = dyn_cast<DispatchOp>(op);
      const AlikeKernel *alike = dispatch ? alikeOf(dispatch) : nullptr;
      if (isa<WaitOp>(op)) {
        close([](const Group &group) { return !group.isShort; });
      } else if (!alike) { // it may have scratch where an array lies that is not needed any more
        close([](const Group &) { return true; });
      } else {
        Accesses accesses = accessesOf(dispatch);
        close([&](const Group &group) {
          return number - group.begin > kMostApart || group.accesses.meets(accesses);
        });
        add(open, dispatch, *alike, accesses, number);
      }
    }
    close([](const Group &) { return true; });
  }

  void rewrite() {
    for (Group &group : closed)
      if (group.members.size() > 1)
        rewrite(group);
  }

private:
  const AlikeKernel *alikeOf(DispatchOp dispatch) {
    auto [it, isNew] = known.try_emplace(dispatch.getKernel());
    if (isNew)
      it->second = memory::alikeKernel(symbols.lookup<KernelOp>(dispatch.getKernel()));
    return it->second && it->second->elements <= kMostElements ? &*it->second : nullptr;
  }

  Accesses accessesOf(DispatchOp dispatch) {
    auto rangeOf = [&](Value buffer) { return memory::rangeOf(program, buffer); };
    return {llvm::map_to_vector(dispatch.getInputs(), rangeOf),
            llvm::map_to_vector(dispatch.getOutputs(), rangeOf)};
  }

  // Whether both read an array, not only a number: its bytes would be moved, and priced, for each.
  static bool sharesArrays(ArrayRef<ByteRange> some, ArrayRef<ByteRange> others) {
    constexpr int64_t kNumber = 8;
    return llvm::any_of(some, [&](const ByteRange &range) {
      return range.end - range.begin > kNumber && Accesses::meet(range, others);
    });
  }

  static void add(std::list<Group> &open, DispatchOp dispatch, const AlikeKernel &alike,
                  const Accesses &accesses, int number) {
    size_t operands = dispatch->getNumOperands();
    auto it = llvm::find_if(open, [&](const Group &group) {
      return group.key == alike.key && group.operands + operands <= kMostOperands &&
             !sharesArrays(group.accesses.reads, accesses.reads);
    });
    if (it == open.end()) {
      open.push_back({.key = alike.key, .members = {}, .accesses = {}, .begin = number});
      it = std::prev(open.end());
    }
    it->members.push_back({dispatch, alike.elements});
    it->accesses.add(accesses);
    it->operands += operands;
    it->isShort &= alike.elements <= kShort;
  }

  // In the place of the last of them; the largest first, as it says how many elements a thread has.
  void rewrite(Group &group) {
    DispatchOp last = group.members.back().first;
    llvm::stable_sort(group.members, [](auto &a, auto &b) { return a.second > b.second; });
    std::vector<StringAttr> names;
    SmallVector<Value> inputs, outputs;
    for (auto &[dispatch, elements] : group.members) {
      names.push_back(dispatch.getKernelAttr().getAttr());
      llvm::append_range(inputs, dispatch.getInputs());
      llvm::append_range(outputs, dispatch.getOutputs());
    }
    OpBuilder b(last);
    auto joined = DispatchOp::create(b, last.getLoc(), kernelOf(names), inputs, outputs,
                                     last.getTimeAttr(), nullptr, nullptr);
    (void)joined;
    for (auto &[dispatch, elements] : group.members)
      dispatch.erase();
  }

  StringRef kernelOf(const std::vector<StringAttr> &names) {
    StringAttr &name = made[names];
    if (!name)
      name = makeKernel(names).getSymNameAttr();
    return name;
  }

  KernelOp makeKernel(const std::vector<StringAttr> &names) {
    auto first = symbols.lookup<KernelOp>(names.front());
    OpBuilder b(first);
    SmallVector<int64_t> inplace;
    SmallVector<Location> locations;
    SmallVector<Value> results;
    auto kernel = KernelOp::create(
        b, first.getLoc(), (names.front().getValue() + "_for_" + Twine(names.size())).str(),
        nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
        b.getI64IntegerAttr(static_cast<int64_t>(names.size())));
    Block *body = b.createBlock(&kernel.getBody());
    for (StringAttr name : names) {
      auto strand = symbols.lookup<KernelOp>(name);
      int64_t before = body->getNumArguments();
      for (unsigned i = 0; i < strand.getOutputTypes().size(); ++i) {
        int64_t operand = strand.inplaceOperand(i);
        inplace.push_back(operand < 0 ? operand : before + operand);
      }
      IRMapping mapping;
      for (BlockArgument argument : strand.getBlock()->getArguments())
        mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
      for (Operation &op : strand.getBlock()->without_terminator())
        b.clone(op, mapping);
      for (Value output : strand.getBlock()->getTerminator()->getOperands())
        results.push_back(mapping.lookup(output));
      locations.push_back(strand.getLoc());
    }
    YieldOp::create(b, first.getLoc(), results);
    kernel->setLoc(b.getFusedLoc(locations));
    if (llvm::any_of(inplace, [](int64_t operand) { return operand >= 0; }))
      kernel.setInplace(inplace);
    symbols.insert(kernel);
    return kernel;
  }

  ProgramOp program;
  SymbolTable &symbols;
  llvm::StringMap<std::optional<AlikeKernel>> known;
  std::list<Group> closed;
  std::map<std::vector<StringAttr>, StringAttr,
           decltype([](const std::vector<StringAttr> &a, const std::vector<StringAttr> &b) {
             return std::lexicographical_compare(
                 a.begin(), a.end(), b.begin(), b.end(), [](StringAttr x, StringAttr y) {
                   return x.getAsOpaquePointer() < y.getAsOpaquePointer();
                 });
           })>
      made;
};

// Whether no code for a CPU is made of the same kernels, which are quicker one by one there.
bool isForGpuAlone(ModuleOp module) {
  TargetAttr target = getTarget(module);
  return target && llvm::all_of(target.getProcessors(), [](ProcessorAttr processor) {
           return target::isGpu(processor.toProcessor());
         });
}

struct JoinDispatches : impl::JoinDispatchesBase<JoinDispatches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isForGpuAlone(module))
      return;
    SymbolTable symbols(module);
    for (auto program : module.getOps<ProgramOp>()) {
      Joiner joiner(program, symbols);
      joiner.join(*program.getBlock());
      joiner.rewrite();
    }
    llvm::StringSet<> used;
    module.walk([&](DispatchOp dispatch) { used.insert(dispatch.getKernel()); });
    for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
      if (!used.contains(kernel.getSymName()))
        symbols.erase(kernel);
  }
};
} // namespace
} // namespace tessera
