#include "passes/package/StepWork.h"

#include "dialects/comm/CommOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tessera::exec;

namespace tessera {

static double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(byteSize(type)) : 0;
}

// What a kernel reads of an argument: no more than what slices and lookups take of it.
static double bytesRead(BlockArgument argument) {
  double all = bytesOf(argument), parts = 0;
  for (OpOperand &use : argument.getUses()) {
    fusion::NodeKind kind = fusionKindOf(use.getOwner());
    bool takesPart = (kind == fusion::NodeKind::Slice || kind == fusion::NodeKind::Movement) &&
                     use.getOperandNumber() == 0;
    bool updatesPart = kind == fusion::NodeKind::Update && use.getOperandNumber() == 0;
    parts += takesPart ? bytesOf(use.getOwner()->getResult(0)) : updatesPart ? 0 : all;
  }
  return std::min(all, parts);
}

static cost::Compute workOf(KernelOp kernel) {
  cost::Compute work{0, 0};
  for (Operation &op : *kernel.getBlock())
    if (!isa<YieldOp>(op))
      work.flops += flopsOf(&op);
  for (BlockArgument argument : kernel.getBlock()->getArguments())
    work.bytes += bytesRead(argument);
  for (Value result : kernel.getBlock()->getTerminator()->getOperands()) {
    Operation *made = result.getDefiningOp();
    bool inPlace = made && fusionKindOf(made) == fusion::NodeKind::Update &&
                   isa<BlockArgument>(made->getOperand(0));
    work.bytes += bytesOf(inPlace ? made->getOperand(1) : result);
  }
  return work;
}

namespace {

class Counter {
public:
  Counter(ProgramOp program, const cost::Topology &topology) : topology(topology) {
    for (auto kernel : program->getParentOfType<ModuleOp>().getOps<KernelOp>())
      kernels[kernel.getSymName()] = workOf(kernel);
    for (auto function : program.getBlock()->getOps<FunctionOp>()) {
      std::vector<KernelRun> runs;
      count(*function.getBlock(), 1, runs);
      functions[function.getSymName()] = std::move(runs);
    }
  }

  void count(Block &block, double times, std::vector<KernelRun> &into) {
    for (Operation &op : block)
      if (auto dispatch = dyn_cast<DispatchOp>(op)) {
        into.push_back({{kernels.lookup(dispatch.getKernel()), times}, &op});
      } else if (auto copy = dyn_cast<CopyOp>(op)) {
        double bytes = double(copy.getTo().getDefiningOp<BufferOp>().getBytes());
        into.push_back({{{0, 2 * bytes}, times}, &op});
      } else if (auto loop = dyn_cast<LoopOp>(op)) {
        double trips = times * double(loop.getTripCount().value_or(1));
        if (!loop.getCondition().empty())
          count(loop.getCondition().front(), trips, into);
        count(loop.getBody().front(), trips, into);
      } else if (auto branch = dyn_cast<BranchOp>(op)) {
        countLongest(branch, times, into);
      } else if (auto call = dyn_cast<CallOp>(op)) {
        for (KernelRun run : functions.lookup(call.getFunction())) {
          run.times *= times;
          into.push_back(run);
        }
      }
  }

private:
  void countLongest(BranchOp branch, double times, std::vector<KernelRun> &into) {
    std::vector<KernelRun> longest;
    double most = -1;
    for (Region &region : branch.getBlocks()) {
      std::vector<KernelRun> runs;
      count(region.front(), times, runs);
      double seconds = 0;
      for (const KernelRun &run : runs)
        seconds += cost::secondsOf(topology, run);
      if (seconds > most)
        most = seconds, longest = std::move(runs);
    }
    into.insert(into.end(), longest.begin(), longest.end());
  }

  const cost::Topology &topology;
  llvm::StringMap<cost::Compute> kernels;
  llvm::StringMap<std::vector<KernelRun>> functions;
};

} // namespace

std::vector<KernelRun> kernelRuns(ProgramOp program, const cost::Topology &topology) {
  std::vector<KernelRun> runs;
  Counter(program, topology).count(*program.getBlock(), 1, runs);
  return runs;
}

static cost::CollectiveKind pricedAs(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return cost::CollectiveKind::AllReduce;
  case CollectiveKind::AllGather:
    return cost::CollectiveKind::AllGather;
  case CollectiveKind::ReduceScatter:
    return cost::CollectiveKind::ReduceScatter;
  case CollectiveKind::AllToAll:
    return cost::CollectiveKind::AllToAll;
  case CollectiveKind::Broadcast:
    return cost::CollectiveKind::Broadcast;
  case CollectiveKind::Permute:
    return cost::CollectiveKind::Permute;
  }
  return cost::CollectiveKind::Permute;
}

std::optional<cost::Repeated<cost::Transfer>> transferOf(const CollectiveFigures &figures,
                                                         const sharding::Mesh &mesh) {
  auto start = dyn_cast<StartOp>(figures.op);
  auto axes = start ? dyn_cast<comm::AxesAttr>(start.getAxes()) : comm::AxesAttr();
  if (!axes || !figures.count)
    return std::nullopt;
  return cost::Repeated<cost::Transfer>{{pricedAs(start.getKind()),
                                         double(figures.bytes) / double(figures.count),
                                         axes.toAxisRefs(mesh)},
                                        double(figures.count)};
}

cost::StepTime predictStep(ProgramOp program, const cost::Topology &topology,
                           const sharding::Mesh *mesh) {
  std::vector<cost::Repeated<cost::Compute>> kernels;
  for (const KernelRun &run : kernelRuns(program, topology))
    kernels.push_back(run);
  std::vector<cost::Repeated<cost::Transfer>> transfers;
  if (mesh)
    for (const CollectiveFigures &figures : collectiveFigures(program))
      if (auto transfer = transferOf(figures, *mesh))
        transfers.push_back(*transfer);
  return cost::stepTime(topology, mesh ? *mesh : sharding::Mesh(), kernels, transfers);
}

} // namespace tessera
