// Scratch of kernels lies in the arena: arrays and scratch are laid out together. Passes.td shows an
// example.
#include "passes/codegen/Passes.h"

#include "dialects/exec/ExecOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/memory/Arena.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {

#define GEN_PASS_DEF_PLACESCRATCH
#include "passes/codegen/Passes.h.inc"

namespace {

// The arrays of a program's arena, and the dispatches that need scratch.
class ArenaProgram {
public:
  ArenaProgram(exec::ProgramOp program, const mlir::SymbolTable &symbols) : program(program) {
    program.walk([&](mlir::Operation *op) {
      if (auto buffer = mlir::dyn_cast<exec::BufferOp>(op))
        add(buffer);
      else if (auto dispatch = mlir::dyn_cast<exec::DispatchOp>(op))
        add(dispatch, symbols.lookup<exec::KernelOp>(dispatch.getKernel()));
    });
  }

  // Where that is less than arrays by themselves, and beside them the largest scratch.
  void layOut() {
    if (!isKnown || dispatches.empty())
      return;
    std::vector<memory::Request> requests;
    for (auto &[array, buffers] : arrays) {
      llvm::ArrayRef<int64_t> numbers = numbersOf(array);
      memory::Request &request = requests.emplace_back();
      request.bytes = numbers[1];
      for (size_t i = 2; i < numbers.size(); i += 2)
        request.live.push_back({numbers[i], numbers[i + 1]});
    }
    for (auto &[dispatch, bytes] : dispatches) {
      auto time = static_cast<int64_t>(*dispatch.getTime());
      requests.push_back({bytes, {{time, time + 2}}});
    }
    memory::Layout layout = memory::layOut(requests);
    if (layout.bytes >= static_cast<int64_t>(program.getArenaBytes()) + mostScratch)
      return;
    size_t next = 0;
    for (auto &[array, buffers] : arrays) {
      int64_t moved = layout.spots[next++].offset - numbersOf(array)[0];
      for (exec::BufferOp buffer : buffers)
        buffer.setOffset(static_cast<int64_t>(buffer.getOffset()) + moved);
    }
    for (auto &[dispatch, bytes] : dispatches)
      dispatch.setScratchAt(layout.spots[next++].offset);
    program.setArenaBytes(layout.bytes);
  }

private:
  // Its offset, its bytes, and the times when it is needed.
  static llvm::ArrayRef<int64_t> numbersOf(mlir::Attribute array) {
    return mlir::cast<mlir::DenseI64ArrayAttr>(array).asArrayRef();
  }

  void add(exec::BufferOp buffer) {
    if (buffer.getSpace() != exec::Space::Arena)
      return;
    if (mlir::Attribute array = buffer.getArrayAttr())
      arrays[array].push_back(buffer);
    else
      isKnown = false;
  }

  void add(exec::DispatchOp dispatch, exec::KernelOp kernel) {
    int64_t bytes = kernel ? kernel.getScratchBytes().value_or(0) : 0;
    mostScratch = std::max(mostScratch, bytes);
    isKnown &= dispatch.getTime().has_value();
    if (bytes)
      dispatches.push_back({dispatch, bytes});
  }

  exec::ProgramOp program;
  // With the ranges that are in each.
  llvm::MapVector<mlir::Attribute, std::vector<exec::BufferOp>> arrays;
  std::vector<std::pair<exec::DispatchOp, int64_t>> dispatches;
  int64_t mostScratch = 0;
  bool isKnown = true;
};

struct PlaceScratchPass : impl::PlaceScratchBase<PlaceScratchPass> {
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<exec::ProgramOp>()) {
      ArenaProgram(program, symbols).layOut();
      program.walk([](exec::BufferOp buffer) { buffer.removeArrayAttr(); });
      program.walk([](exec::DispatchOp dispatch) { dispatch.removeTimeAttr(); });
    }
  }
};

} // namespace
} // namespace tessera
