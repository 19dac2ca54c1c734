#include "passes/order/BlockTasks.h"

#include "dialects/comm/Collective.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "dialects/tessera/ScratchMarks.h"
#include "lib/cost/BranchLinks.h"
#include "lib/cost/KernelTerms.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/memory/InplaceOperands.h"
#include "passes/placement/MemorySpaces.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using tessera::stablehlo::WhileOp;

namespace tessera::order {

bool isCollective(Operation *op) {
  return isa<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp, comm::AllToAllOp,
             comm::PermuteOp, comm::ShiftOp, comm::BroadcastOp>(op);
}

bool isTransfer(Operation *op) {
  auto transfer = dyn_cast<comm::TransferOp>(op);
  return transfer &&
         (transfer.getIndex() || transfer.getInput().getType() == transfer.getOutput().getType());
}

bool isFree(Operation *op) { return isa<stablehlo::ReshapeOp, stablehlo::ConstantOp>(op); }

static int64_t sizeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? byteSize(tensor) : 0;
}

bool isDonated(func::FuncOp func, unsigned argument) {
  return func.getArgAttr(argument, "tf.aliasing_output") ||
         func.getArgAttr(argument, "jax.buffer_donor");
}

// Of the device's memory.
static int64_t bytesOf(Value value) { return placement::isInHost(value) ? 0 : sizeOf(value); }

static bool neverChanges(WhileOp loop, unsigned i) {
  Block &body = loop.getBody().front();
  return body.getTerminator()->getOperand(i) == body.getArgument(i);
}

namespace {

class Builder {
public:
  Builder(Block &block, const cost::Topology &topology, const sdy::MeshTable &meshes,
          llvm::function_ref<BlockCost(Block &)> costOf)
      : block(block), topology(topology), meshes(meshes), costOf(costOf) {
    if (const sharding::Mesh *mesh = meshes.main())
      turns = cost::turnsOf(topology, *mesh);
  }

  BlockTasks run() {
    addArguments();
    for (Operation &op : block.without_terminator())
      if (!isFree(&op))
        addTask(&op);
      else if (isa<stablehlo::ReshapeOp>(op))
        alias(op.getResult(0), op.getOperand(0));
    carry();
    leave();
    return std::move(result);
  }

private:
  int addStorage(Value value) {
    int number = result.storages.size();
    result.storages.push_back({bytesOf(value)});
    storages[value] = number;
    return number;
  }

  void alias(Value value, Value of) {
    if (auto found = storages.find(of); found != storages.end())
      storages[value] = found->second;
  }

  // What a loop carries and changes lies in arrays that are there when its body begins. Arguments
  // of a function are the caller's.
  void addArguments() {
    auto loop = dyn_cast<WhileOp>(block.getParentOp());
    if (!loop)
      return;
    for (BlockArgument argument : block.getArguments())
      if (!neverChanges(loop, argument.getArgNumber()))
        result.storages[addStorage(argument)].before = true;
  }

  void carry() {
    auto loop = dyn_cast<WhileOp>(block.getParentOp());
    if (!loop || &block != &loop.getBody().front())
      return;
    for (auto [argument, next] :
         llvm::zip(block.getArguments(), block.getTerminator()->getOperands())) {
      auto read = storages.find(argument), written = storages.find(next);
      if (read != storages.end() && written != storages.end() && read->second != written->second)
        result.carries.push_back(
            {read->second, written->second,
             turns * cost::rooflineSeconds(topology.device, 0,
                                           2 * static_cast<double>(sizeOf(argument)))});
    }
  }

  // What a block gives is needed behind it. Results of a function lie in the caller's arrays, which
  // temporaries use until they are written; those of donated arguments are there already.
  void leave() {
    Operation *end = block.getTerminator();
    auto func = dyn_cast<func::FuncOp>(block.getParentOp());
    DenseMap<Type, int64_t> donated;
    if (func)
      for (BlockArgument argument : block.getArguments())
        if (!placement::isInHost(argument))
          donated[argument.getType()] += isDonated(func, argument.getArgNumber());
    for (Value value : end->getOperands()) {
      bool isThere = func && !placement::isInHost(value) && donated[value.getType()]-- > 0;
      auto found = storages.find(value);
      if (found == storages.end())
        continue;
      cost::Storage &storage = result.storages[found->second];
      if (isThere) {
        storage.bytes = 0;
        continue;
      }
      storage.kept = true;
      storage.given = func != nullptr;
    }
  }

  void dependOn(Value value, llvm::SetVector<int> &operands, llvm::SetVector<int> &reads) {
    if (auto found = storages.find(value); found != storages.end())
      reads.insert(found->second);
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &block)
      return;
    if (!isFree(def))
      operands.insert(numbers.lookup(def));
    else
      for (Value operand : def->getOperands())
        dependOn(operand, operands, reads);
  }

  void addTask(Operation *op) {
    llvm::SetVector<int> operands, reads;
    for (Value operand : op->getOperands())
      dependOn(operand, operands, reads);
    if (!isa<exec::FusedOp>(op))
      for (Region &region : op->getRegions())
        region.walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            dependOn(operand, operands, reads);
        });
    cost::Task task;
    task.operands.append(operands.begin(), operands.end());
    task.reads.append(reads.begin(), reads.end());
    if (auto loop = dyn_cast<WhileOp>(op))
      describeLoop(loop, task);
    else
      describe(op, task);
    numbers[op] = result.ops.size();
    result.ops.push_back(op);
    result.tasks.push_back(std::move(task));
  }

  // What the block of `cost` holds beside the op's results.
  static void hold(cost::Task &task, const BlockCost &cost, ValueRange results) {
    task.inside = cost.peakBytes;
    task.insideArrays = cost.arraysAtPeak;
    for (Value value : results) {
      task.inside -= bytesOf(value);
      if (auto same = llvm::find(task.insideArrays, bytesOf(value));
          same != task.insideArrays.end())
        task.insideArrays.erase(same);
    }
    task.inside = std::max<int64_t>(0, task.inside);
  }

  void write(Value value, cost::Task &task) {
    if (sizeOf(value))
      task.writes.push_back(addStorage(value));
  }

  void describeLoop(WhileOp loop, cost::Task &task) {
    SmallVector<Value> carried;
    BlockCost most;
    for (auto [i, value] : llvm::enumerate(loop->getResults())) {
      Value operand = loop->getOperand(i);
      if (neverChanges(loop, i)) {
        alias(value, operand);
        continue;
      }
      carried.push_back(value);
      write(value, task);
      overwrite(task, value, operand);
    }
    for (Region &region : loop->getRegions()) {
      BlockCost cost = costOf(region.front());
      if (cost.links.links)
        task.within = {cost.links.links, task.seconds + cost.links.from, cost.links.until};
      task.seconds += cost.seconds;
      if (cost.peakBytes > most.peakBytes)
        most = std::move(cost);
    }
    if (std::optional<int64_t> trips = getTripCount(loop))
      task.seconds *= static_cast<double>(*trips);
    hold(task, most, carried);
  }

  void overwrite(cost::Task &task, Value value, Value operand) {
    auto to = storages.find(value), from = storages.find(operand);
    if (to != storages.end() && from != storages.end())
      task.inPlace.push_back({to->second, from->second});
  }

  void describe(Operation *op, cost::Task &task) {
    for (Value value : op->getResults())
      write(value, task);
    if (auto fused = dyn_cast<exec::FusedOp>(op)) {
      task.seconds = turns * (cost::kernelSeconds(topology.device, codegen::workOf(fused)) +
                              topology.device.launchSeconds + topology.device.instructionSeconds);
      memory::InplaceOperands inPlace(fused);
      for (auto [i, value] : llvm::enumerate(fused.getResults()))
        for (auto [k, operand] : llvm::enumerate(fused->getOperands()))
          if (inPlace.updatedBy(i) == static_cast<int64_t>(k) ||
              (!inPlace.isUpdate(i) && inPlace.isReadWhereWritten(k, i)))
            overwrite(task, value, operand);
      if (int64_t scratch = getScratchBytes(op)) {
        task.inside = scratch;
        task.insideArrays = {scratch};
      }
    } else if (isCollective(op)) {
      describeCollective(op, task);
    } else if (auto transfer = dyn_cast<comm::TransferOp>(op)) {
      describeTransfer(transfer, task);
    } else {
      BlockCost most;
      for (Region &region : op->getRegions()) {
        BlockCost cost = costOf(region.front());
        task.within = cost::eitherOf(task.within, task.seconds, cost.links, cost.seconds);
        task.seconds = std::max(task.seconds, cost.seconds);
        if (cost.peakBytes > most.peakBytes)
          most = std::move(cost);
      }
      hold(task, most, op->getResults());
    }
  }

  void describeCollective(Operation *op, cost::Task &task) {
    if (isa<comm::AllReduceOp>(op))
      for (auto [value, operand] : llvm::zip(op->getResults(), op->getOperands()))
        overwrite(task, value, operand);
    auto axes = op->getAttrOfType<comm::AxesAttr>("axes");
    double bytes = 0;
    for (Type type : isa<comm::ReduceScatterOp>(op) ? TypeRange(op->getOperandTypes())
                                                    : TypeRange(op->getResultTypes()))
      bytes += byteSize(cast<RankedTensorType>(type));
    if (const sharding::Mesh *mesh = meshes.lookup(axes.getMesh().getValue())) {
      auto refs = axes.toAxisRefs(*mesh);
      cost::CollectiveKind kind = comm::pricedAs(comm::collectiveFacts(op)->kind);
      cost::CollectiveTime time = cost::collectiveTime(topology, *mesh, kind, bytes, refs);
      task.seconds = time.links, task.own = time.cores;
      auto shift = dyn_cast<comm::ShiftOp>(op);
      task.links = topology.routeOf(*mesh, refs)
                       .linksFor(shift ? links::wayOfShift(shift.getOffset()) : links::Way::Both);
    }
    if (!task.links) // a group of one device
      task.links = 1;
  }

  // Each direction has an engine of its own.
  void describeTransfer(comm::TransferOp op, cost::Task &task) {
    bool comesFromHost = placement::isInHost(op.getInput());
    auto host = topology.spaces.find("host");
    double rate = host == topology.spaces.end() ? 0
                  : comesFromHost               ? host->second.toDevice
                                                : host->second.fromDevice;
    auto bytes = static_cast<double>(std::min(sizeOf(op.getInput()), sizeOf(op.getOutput())));
    task.seconds = bytes / (rate > 0 ? rate : topology.device.bytesPerSecond);
    if (isTransfer(op))
      task.links = comesFromHost ? cost::kFromHost : cost::kToHost;
    if (Value into = op.getInto())
      overwrite(task, op.getOutput(), into);
  }

  Block &block;
  const cost::Topology &topology;
  const sdy::MeshTable &meshes;
  llvm::function_ref<BlockCost(Block &)> costOf;
  double turns = 1; // of devices that compute one after the other
  BlockTasks result;
  DenseMap<Operation *, int> numbers;
  DenseMap<Value, int> &storages = result.storageOf;
};

} // namespace

BlockCost costOf(const BlockTasks &tasks, llvm::ArrayRef<cost::Step> steps,
                 const cost::Timeline &line) {
  return {line.seconds, line.peakBytes,
          cost::arraysAtPeak(tasks.tasks, tasks.storages, steps, line),
          cost::linkUseOf(tasks.tasks, steps)};
}

BlockTasks tasksOf(Block &block, const cost::Topology &topology, const sdy::MeshTable &meshes,
                   llvm::function_ref<BlockCost(Block &)> costOf) {
  return Builder(block, topology, meshes, costOf).run();
}

} // namespace tessera::order
