#include "passes/memory/EmitProgram.h"

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/memory/AliasedArguments.h"
#include "passes/memory/ParameterNames.h"

#include "mlir/IR/Builders.h"
#include <map>
#include <tuple>

#pragma clang diagnostic error "-Wswitch" // each case has a place here

using namespace mlir;
using tessera::stablehlo::CaseOp;
using tessera::stablehlo::WhileOp;

namespace tessera::memory {
namespace {

// What the device executes, as the collective is called on tensors.
exec::Reduction executed(comm::ReductionKind kind) {
  switch (kind) {
  case comm::ReductionKind::Sum:
    return exec::Reduction::Sum;
  case comm::ReductionKind::Product:
    return exec::Reduction::Product;
  case comm::ReductionKind::Max:
    return exec::Reduction::Max;
  case comm::ReductionKind::Min:
    return exec::Reduction::Min;
  case comm::ReductionKind::And:
    return exec::Reduction::And;
  case comm::ReductionKind::Or:
    return exec::Reduction::Or;
  }
  llvm_unreachable("every case is above");
}

exec::CollectiveKind executed(comm::CollectiveKind kind) {
  switch (kind) {
  case comm::CollectiveKind::AllReduce:
    return exec::CollectiveKind::AllReduce;
  case comm::CollectiveKind::AllGather:
    return exec::CollectiveKind::AllGather;
  case comm::CollectiveKind::ReduceScatter:
    return exec::CollectiveKind::ReduceScatter;
  case comm::CollectiveKind::AllToAll:
    return exec::CollectiveKind::AllToAll;
  case comm::CollectiveKind::Permute:
    return exec::CollectiveKind::Permute;
  case comm::CollectiveKind::Broadcast:
    return exec::CollectiveKind::Broadcast;
  case comm::CollectiveKind::Shift:
    return exec::CollectiveKind::Permute;
  }
  llvm_unreachable("every case is above");
}

class Emitter {
public:
  Emitter(func::FuncOp func, Liveness &liveness)
      : func(func), liveness(liveness), b(func), buffers(func.getContext()) {}

  LogicalResult run() {
    planMoves();
    int64_t arenaBytes = placeArrays(Memory::Device), hostBytes = placeArrays(Memory::Host);
    auto program = exec::ProgramOp::create(b, func.getLoc(), func.getSymName(), meshOf(), inputs(),
                                           outputs(), arenaBytes, liveness.constantBytes, hostBytes,
                                           /*file_bytes=*/0, /*devices=*/nullptr);
    Block *body = b.createBlock(&program.getBody());
    func.walk([&](stablehlo::ConstantOp constant) {
      if (constant->getParentOfType<exec::FusedOp>())
        return;
      const Place &place = liveness.storages.placeOf(liveness.arrayOf(constant));
      exec::ConstantOp::create(b, constant.getLoc(), place.index,
                               cast<ElementsAttr>(constant.getValue()));
    });
    // Buffers first, for people; instructions after them.
    auto marker = exec::WaitOp::create(b, func.getLoc(), 0);
    buffers.setInsertionPoint(marker);
    emit(func.getBody().front());
    marker.erase();
    (void)body;
    func.erase();
    return success();
  }

private:
  // The space of an array at a place.
  static exec::Space spaceOf(Place::Kind kind, Memory memory) {
    switch (kind) {
    case Place::Arena:
      return memory == Memory::Host ? exec::Space::HostArena : exec::Space::Arena;
    case Place::Input:
      return exec::Space::Input;
    case Place::Output:
      return exec::Space::Output;
    case Place::Constant:
      return exec::Space::Constant;
    }
    llvm_unreachable("every case is above");
  }

  // An array and how it is seen there, from its byte `from` on.
  Value bufferOf(int array, RankedTensorType type, int64_t from = 0) {
    int c = liveness.storages.find(array);
    Value &buffer = made[{c, type.getAsOpaquePointer(), from}];
    if (!buffer) {
      Place place = liveness.storages.placeOf(c);
      int64_t offset = place.kind == Place::Constant ? place.index : 0;
      if (place.kind == Place::Arena)
        std::tie(place, offset) = spots.at(c);
      bool isParameter = place.kind == Place::Input || place.kind == Place::Output;
      exec::Space space = spaceOf(place.kind, liveness.storages.memoryOf(c));
      bool isPlaced = liveness.storages.memoryOf(c) == Memory::Device &&
                      (place.kind == Place::Arena || isOurs(place));
      buffer = exec::BufferOp::create(buffers, func.getLoc(), exec::BufferType::get(b.getContext()),
                                      space, isParameter ? place.index : 0, offset + from, type,
                                      isPlaced ? arrayAt(c, offset) : DenseI64ArrayAttr());
    }
    return buffer;
  }
  DenseI64ArrayAttr arrayAt(int array, int64_t offset) {
    SmallVector<int64_t> numbers{offset, liveness.storages.bytesOf(array)};
    for (const Segment &live : liveness.storages.liveOf(array))
      numbers.append({live.begin, live.end});
    return b.getDenseI64ArrayAttr(numbers);
  }
  Value bufferOf(Value value) {
    return bufferOf(liveness.arrayOf(value), cast<RankedTensorType>(value.getType()));
  }
  SmallVector<Value> buffersOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return bufferOf(v); });
  }

  // The moves that happen at once at an op, as single copies; needed before arrays have places, for
  // their temporaries.
  struct Copy {
    int from, to;
    RankedTensorType type;
  };
  void planMove(Operation *at, ValueRange from, ArrayRef<int> to) {
    SmallVector<Move> moves;
    std::map<int, RankedTensorType> types;
    for (auto [value, target] : llvm::zip(from, to)) {
      Move move{liveness.storages.find(liveness.arrayOf(value)), liveness.storages.find(target)};
      if (move.from != move.to)
        types[move.to] = cast<RankedTensorType>(value.getType());
      moves.push_back(move);
    }
    int64_t position = liveness.at.begin.lookup(at);
    auto temporary = [&](int array) {
      int saved = liveness.storages.add(liveness.storages.bytesOf(array), {}, true,
                                        liveness.storages.memoryOf(array));
      liveness.storages.live(saved, 4 * position, 4 * position + 2);
      types[saved] = types.at(array);
      return saved;
    };
    for (const Move &move : sequenced(moves, temporary))
      copies[at].push_back({move.from, move.to, types.at(move.to)});
  }
  void planMoves() {
    func.walk([&](Operation *op) {
      if (op->getParentOfType<exec::FusedOp>())
        return; // of a loop in one kernel
      if (auto loop = dyn_cast<WhileOp>(op)) {
        SmallVector<int> slots;
        for (Value value : loop->getResults())
          slots.push_back(liveness.arrayOf(value));
        planMove(loop, loop->getOperands(), slots);
        Operation *yield = loop.getBody().front().getTerminator();
        planMove(yield, yield->getOperands(), slots);
      } else if (auto branch = dyn_cast<CaseOp>(op)) {
        SmallVector<int> slots;
        for (Value value : branch.getResults())
          slots.push_back(liveness.arrayOf(value));
        for (Region &region : branch.getBranches()) {
          Operation *yield = region.front().getTerminator();
          planMove(yield, yield->getOperands(), slots);
        }
      }
    });
    Operation *ret = func.getBody().front().getTerminator();
    SmallVector<int> slots(ret->getNumOperands(), -1);
    SmallVector<BlockArgument> aliased = aliasedArgumentsOf(func);
    for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
      if (aliased[i]) {
        slots[i] = liveness.arrayOf(aliased[i]);
        continue;
      }
      Place place{Place::Output, static_cast<int64_t>(i)};
      slots[i] =
          liveness.storages.placeOf(liveness.arrayOf(value)) == place
              ? liveness.arrayOf(value)
              : liveness.storages.add(byteSize(cast<RankedTensorType>(value.getType())), place,
                                      false, liveness.storages.memoryOf(liveness.arrayOf(value)));
    }
    int64_t end = liveness.at.begin.lookup(ret);
    for (int slot : slots)
      liveness.storages.live(slot, 4 * end + 1, 4 * end + 2);
    planMove(ret, ret->getOperands(), slots);
  }

  // The bytes of the arena in a memory.
  int64_t placeArrays(Memory memory) {
    const Storages &storages = liveness.storages;
    std::vector<Request> requests;
    std::vector<Pool> pools;
    std::vector<int> classes;
    std::vector<Place> places; // of the pools
    for (int i = 0, e = storages.size(); i < e; ++i) {
      if (storages.find(i) != i || storages.memoryOf(i) != memory)
        continue;
      const Place &place = storages.placeOf(i);
      if (place.kind == Place::Arena) {
        classes.push_back(i);
        requests.push_back({storages.bytesOf(i), storages.liveOf(i)});
      } else if (isOurs(place)) {
        places.push_back(place);
        pools.push_back({storages.bytesOf(i), storages.liveOf(i)});
      }
    }
    Layout layout = layOut(requests, pools);
    for (auto [c, spot] : llvm::zip(classes, layout.spots))
      spots[c] = {spot.pool < 0 ? Place{} : places[spot.pool], spot.offset};
    return layout.bytes;
  }

  // Whether an array of the caller's is the program's to write while nobody needs what is in it.
  bool isOurs(const Place &place) {
    return place.kind == Place::Output || (place.kind == Place::Input && isDonated(place.index));
  }
  bool isDonated(unsigned argument) {
    return func.getArgAttr(argument, "tf.aliasing_output") ||
           func.getArgAttr(argument, "jax.buffer_donor");
  }

  FlatSymbolRefAttr meshOf() {
    for (auto mesh : func->getParentOfType<ModuleOp>().getOps<sdy::MeshOp>())
      if (!mesh.getMesh().getAxes().empty())
        return FlatSymbolRefAttr::get(mesh.getSymNameAttr());
    return {};
  }

  Attribute parameter(StringRef name, Type type, DictionaryAttr attrs, bool donated,
                      int64_t alias) {
    auto local = cast<RankedTensorType>(type), global = getGlobalType(attrs);
    if (!global)
      global = local;
    Attribute sharding;
    if (attrs) {
      sharding = attrs.get(sdy::kShardingAttr);
    }
    return exec::ParameterAttr::get(b.getContext(), name, local, global, sharding, donated, alias,
                                    getMemory(attrs) == comm::Space::Host ? exec::Memory::Host
                                                                          : exec::Memory::Device);
  }
  ArrayAttr inputs() {
    SmallVector<Attribute> result;
    std::vector<std::string> names = argumentNames(func);
    for (BlockArgument argument : func.getArguments()) {
      unsigned i = argument.getArgNumber();
      result.push_back(
          parameter(names[i], argument.getType(), func.getArgAttrDict(i), isDonated(i), -1));
    }
    return b.getArrayAttr(result);
  }
  ArrayAttr outputs() {
    SmallVector<BlockArgument> aliased = aliasedArgumentsOf(func);
    SmallVector<Attribute> result;
    std::vector<std::string> names = resultNames(func);
    for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
      result.push_back(parameter(names[i], type, func.getResultAttrDict(i), false,
                                 aliased[i] ? int64_t{aliased[i].getArgNumber()} : -1));
    return b.getArrayAttr(result);
  }

  void emitCopies(Operation *at) {
    for (const Copy &copy : copies[at])
      exec::CopyOp::create(b, at->getLoc(), bufferOf(copy.from, copy.type),
                           bufferOf(copy.to, copy.type));
  }

  void emit(Block &block) {
    for (Operation &op : block) {
      Location loc = op.getLoc();
      if (auto fused = dyn_cast<exec::FusedOp>(op)) {
        exec::DispatchOp::create(b, loc, fused.getKernelAttr(), buffersOf(fused.getInputs()),
                                 buffersOf(fused.getResults()),
                                 b.getI64IntegerAttr(4 * liveness.at.begin.lookup(fused)),
                                 /*scratch_at=*/IntegerAttr(), /*scratch_in=*/exec::SpaceAttr(),
                                 /*scratch_index=*/0);
      } else if (auto start = dyn_cast<comm::StartOp>(op)) {
        emitStart(start);
      } else if (auto transfer = dyn_cast<comm::TransferOp>(op)) {
        if (transfer.getIndex())
          exec::WaitOp::create(b, loc, emitTransfer(transfer));
        else
          emitRepeated(transfer);
      } else if (auto transfer = dyn_cast<comm::StartTransferOp>(op)) {
        sites[transfer] = emitTransfer(transfer);
      } else if (auto wait = dyn_cast<comm::WaitOp>(op)) {
        exec::WaitOp::create(b, loc, sites.lookup(wait.getHandle().getDefiningOp()));
      } else if (auto index = dyn_cast<comm::AxisIndexOp>(op)) {
        exec::CoordinateOp::create(b, loc, index.getAxes(), bufferOf(index.getOutput()));
      } else if (auto loop = dyn_cast<WhileOp>(op)) {
        emitLoop(loop);
      } else if (auto branch = dyn_cast<CaseOp>(op)) {
        auto made = exec::BranchOp::create(b, loc, bufferOf(branch.getIndex()),
                                           branch.getBranches().size());
        for (auto [from, to] : llvm::zip(branch.getBranches(), made.getBlocks()))
          emitInto(from.front(), to);
      } else if (op.hasTrait<OpTrait::IsTerminator>()) {
        emitCopies(&op);
      }
    }
  }

  void emitInto(Block &from, Region &to) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&to);
    emit(from);
  }

  void emitLoop(WhileOp loop) {
    emitCopies(loop);
    std::optional<int64_t> trips = getTripCount(loop);
    Value predicate;
    if (!trips)
      predicate = bufferOf(loop.getCond().front().getTerminator()->getOperand(0));
    auto made = exec::LoopOp::create(b, loop.getLoc(),
                                     trips ? b.getI64IntegerAttr(*trips) : nullptr, predicate);
    if (!trips)
      emitInto(loop.getCond().front(), made.getCondition());
    emitInto(loop.getBody().front(), made.getBody());
  }

  void copy(Location loc, Value from, Value to) { exec::CopyOp::create(b, loc, from, to); }

  // The site that it starts at.
  template <typename Transfer> int64_t emitTransfer(Transfer transfer) {
    Location loc = transfer.getLoc();
    Value output = transfer.getOutput(), into = transfer.getInto(), index = transfer.getIndex();
    int64_t site = nextSite++;
    if (into && liveness.storages.find(liveness.arrayOf(into)) !=
                    liveness.storages.find(liveness.arrayOf(output)))
      copy(loc, bufferOf(into), bufferOf(output)); // which is still needed as it was
    IntegerAttr step;
    if (index) {
      auto whole = cast<RankedTensorType>((into ? into : transfer.getInput()).getType());
      step = b.getI64IntegerAttr(byteSize(whole) / std::max<int64_t>(whole.getDimSize(0), 1));
    }
    exec::CopyStartOp::create(b, loc, site, bufferOf(transfer.getInput()), bufferOf(output),
                              index ? bufferOf(index) : Value(), step);
    return site;
  }

  // The rows that there are; then twice as many, and so on, within the memory that they go to.
  void emitRepeated(comm::TransferOp transfer) {
    Location loc = transfer.getLoc();
    int array = liveness.arrayOf(transfer.getOutput());
    auto from = cast<RankedTensorType>(transfer.getInput().getType());
    auto to = cast<RankedTensorType>(transfer.getOutput().getType());
    if (from == to)
      return copy(loc, bufferOf(transfer.getInput()), bufferOf(transfer.getOutput()));
    SmallVector<int64_t> shape(to.getShape());
    auto rows = [&](int64_t count) {
      shape[0] = count;
      return to.clone(shape);
    };
    int64_t all = to.getDimSize(0), done = from.getDimSize(0), rowBytes = byteSize(to) / all;
    copy(loc, bufferOf(transfer.getInput()), bufferOf(array, rows(done)));
    for (int64_t next; done < all; done += next) {
      next = std::min(done, all - done);
      copy(loc, bufferOf(array, rows(next)), bufferOf(array, rows(next), done * rowBytes));
    }
  }

  void emitStart(comm::StartOp start) {
    int64_t site = nextSite++;
    sites[start] = site;
    exec::ReductionAttr reduction;
    if (start.getReduction())
      reduction = exec::ReductionAttr::get(b.getContext(), executed(*start.getReduction()));
    exec::CollectiveKind kind = executed(start.getKind());
    SmallVector<Value> to;
    for (Value output : start.getOutputs())
      to.push_back(bufferOf(output));
    exec::StartOp::create(b, start.getLoc(), site, kind, start.getAxes(),
                          buffersOf(start.getInputs()), to, reduction, start.getDim().value_or(0),
                          start.getConcatDim().value_or(0), start.getPairsAttr(),
                          start.getOffset().value_or(0), start.getWrap(), nullptr);
  }

  func::FuncOp func;
  Liveness &liveness;
  OpBuilder b, buffers;
  std::map<std::tuple<int, const void *, int64_t>, Value> made;
  std::map<int, std::pair<Place, int64_t>> spots; // of arrays that have no place of the caller's
  DenseMap<Operation *, SmallVector<Copy>> copies;
  DenseMap<Operation *, int64_t> sites;
  int64_t nextSite = 0;
};

} // namespace

LogicalResult emitProgram(func::FuncOp func, Liveness &liveness) {
  return Emitter(func, liveness).run();
}

} // namespace tessera::memory
