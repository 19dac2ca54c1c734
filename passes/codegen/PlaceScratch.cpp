// Scratch of kernels lies in the arena, or in a result that is not written yet: arrays and scratch are
// laid out together. Passes.td shows an example.
#include "passes/codegen/Passes.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/memory/Arena.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {

#define GEN_PASS_DEF_PLACESCRATCH
#include "passes/codegen/Passes.h.inc"

namespace {

// The arrays of a program that it may put anywhere, what the caller lends it for them, and the
// dispatches that need scratch.
class ArenaProgram {
public:
  // `wanted`: what arrays and scratch should take at most; 0: as little as is easily found.
  ArenaProgram(exec::ProgramOp program, const mlir::SymbolTable &symbols, int64_t wanted)
      : program(program), wanted(wanted) {
    program.walk([&](mlir::Operation *op) {
      if (auto buffer = mlir::dyn_cast<exec::BufferOp>(op))
        add(buffer);
      else if (auto dispatch = mlir::dyn_cast<exec::DispatchOp>(op))
        add(dispatch, symbols.lookup<exec::KernelOp>(dispatch.getKernel()));
    });
  }

  // Where that is less than arrays by themselves, and beside them the largest scratch. A search that
  // knows more places may end with more bytes: what lies in the arena is laid out by itself, too.
  void layOut() {
    if (!isKnown || dispatches.empty())
      return;
    Attempt best = describe(/*usesGiven=*/true), inArena = describe(/*usesGiven=*/false);
    best.layOut(wanted);
    if (best.layout.bytes > memory::leastBytes(inArena.requests)) {
      inArena.layOut(wanted);
      if (inArena.layout.bytes <= best.layout.bytes)
        best = std::move(inArena);
    }
    if (best.layout.bytes < static_cast<int64_t>(program.getArenaBytes()) + mostScratch)
      carryOut(best);
  }

private:
  // Memory by itself: the arena, or an array of the caller's.
  using Home = std::pair<exec::Space, int64_t>;
  struct Array {
    llvm::ArrayRef<int64_t> numbers; // its offset, its bytes, and the times when it is needed
    std::vector<exec::BufferOp> buffers;

    memory::Request request() const {
      memory::Request request{numbers[1], {}};
      for (size_t i = 2; i < numbers.size(); i += 2)
        request.live.push_back({numbers[i], numbers[i + 1]});
      return request;
    }
  };
  struct Given {
    llvm::MapVector<mlir::Attribute, Array> arrays;
    bool isKnown = true;
  };

  void add(exec::BufferOp buffer) {
    bool isArena = buffer.getSpace() == exec::Space::Arena;
    if (!isArena && buffer.getSpace() != exec::Space::Input &&
        buffer.getSpace() != exec::Space::Output)
      return;
    Given &home = homes[{buffer.getSpace(), isArena ? 0 : int64_t(buffer.getIndex())}];
    if (auto array = buffer.getArrayAttr()) {
      Array &entry = home.arrays[array];
      entry.numbers = array.asArrayRef();
      entry.buffers.push_back(buffer);
    } else {
      home.isKnown = false;
      isKnown &= !isArena;
    }
  }

  void add(exec::DispatchOp dispatch, exec::KernelOp kernel) {
    int64_t bytes = kernel ? kernel.getScratchBytes().value_or(0) : 0;
    mostScratch = std::max(mostScratch, bytes);
    isKnown &= dispatch.getTime().has_value();
    if (bytes)
      dispatches.push_back({dispatch, bytes});
  }

  // What lies where it may, and behind it scratch.
  struct Attempt {
    std::vector<memory::Request> requests;
    std::vector<memory::Pool> pools;
    std::vector<Array *> arrays; // of the first requests
    std::vector<Home> homes;     // of the pools
    memory::Layout layout;

    void layOut(int64_t wanted) {
      layout = memory::layOut(requests, pools, /*alignment=*/64, wanted);
    }
  };

  // An array that fills memory of the caller's is what that is for, and stays; where there is none, it
  // is unknown when the caller needs that memory, and all in it stays.
  Attempt describe(bool usesGiven) {
    Attempt attempt;
    for (auto &[home, given] : homes) {
      bool isArena = home.first == exec::Space::Arena;
      int64_t size = isArena ? -1 : bytesOf(home);
      auto fills = [&](const auto &entry) { return entry.second.numbers[1] == size; };
      if (!isArena && (!usesGiven || !given.isKnown || llvm::none_of(given.arrays, fills)))
        continue;
      memory::Pool pool{size, {}};
      for (auto &entry : given.arrays) {
        memory::Request request = entry.second.request();
        if (fills(entry)) {
          pool.taken = memory::united(pool.taken, request.live);
          continue;
        }
        attempt.arrays.push_back(&entry.second);
        attempt.requests.push_back(std::move(request));
      }
      if (isArena)
        continue;
      attempt.pools.push_back(std::move(pool));
      attempt.homes.push_back(home);
    }
    for (auto &[dispatch, bytes] : dispatches) {
      auto time = static_cast<int64_t>(*dispatch.getTime());
      attempt.requests.push_back({bytes, {{time, time + 2}}});
    }
    return attempt;
  }

  void carryOut(const Attempt &attempt) {
    auto homeOf = [&](memory::Spot spot) {
      return spot.pool < 0 ? Home{exec::Space::Arena, 0}
                           : attempt.homes[static_cast<size_t>(spot.pool)];
    };
    size_t next = 0;
    for (const Array *array : attempt.arrays) {
      memory::Spot spot = attempt.layout.spots[next++];
      auto [space, index] = homeOf(spot);
      for (exec::BufferOp buffer : array->buffers) {
        int64_t from = static_cast<int64_t>(buffer.getOffset()) - array->numbers[0];
        buffer.setSpace(space);
        buffer.setIndex(index);
        buffer.setOffset(spot.offset + from);
      }
    }
    for (auto &[dispatch, bytes] : dispatches) {
      memory::Spot spot = attempt.layout.spots[next++];
      dispatch.setScratchAt(spot.offset);
      if (auto [space, index] = homeOf(spot); space != exec::Space::Arena) {
        dispatch.setScratchIn(space);
        dispatch.setScratchIndex(index);
      }
    }
    program.setArenaBytes(attempt.layout.bytes);
  }

  int64_t bytesOf(const Home &home) {
    mlir::ArrayAttr parameters =
        home.first == exec::Space::Input ? program.getInputs() : program.getOutputs();
    return byteSize(mlir::cast<exec::ParameterAttr>(parameters[home.second]).getLocal());
  }

  exec::ProgramOp program;
  int64_t wanted;
  llvm::MapVector<Home, Given> homes;
  std::vector<std::pair<exec::DispatchOp, int64_t>> dispatches;
  int64_t mostScratch = 0;
  bool isKnown = true;
};

struct PlaceScratchPass : impl::PlaceScratchBase<PlaceScratchPass> {
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    int64_t wanted = scheduleOf(getOperation()).scratchWithin.value_or(0);
    for (auto program : getOperation().getOps<exec::ProgramOp>()) {
      ArenaProgram(program, symbols, wanted).layOut();
      program.walk([](exec::BufferOp buffer) { buffer.removeArrayAttr(); });
      program.walk([](exec::DispatchOp dispatch) { dispatch.removeTimeAttr(); });
    }
  }
};

} // namespace
} // namespace tessera
