#include "passes/package/StepWork.h"

#include "dialects/comm/CommOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/Marks.h"
#include "lib/steps/ShortStep.h"
#include "llvm/ADT/StringMap.h"

#include <numeric>

using namespace mlir;
using namespace tessera::exec;

namespace tessera {

namespace {

class Reader {
public:
  Reader(ProgramOp program, const cost::Topology &topology, const sharding::Mesh *mesh)
      : topology(topology), mesh(mesh) {
    int64_t devices = mesh ? mesh->numDevices() : 1;
    result.pool = cost::poolOf(devices, topology.computingAtOnce);
    turns = cost::turnsOf(topology, devices);
    bool isShort = steps::isShort(sizeOf(program, double(devices)));
    result.prices = pricesOf(program, topology, devices, isShort);
    result.done = workOfStep(program, result.prices);
    result.done.steps = isShort ? 0 : 1;
    for (auto kernel : program->getParentOfType<ModuleOp>().getOps<KernelOp>())
      kernels[kernel.getSymName()] = kernel;
  }

  StepWork read(ProgramOp program) {
    for (auto function : program.getBlock()->getOps<FunctionOp>())
      functions[function.getSymName()] = readBlock(*function.getBlock());
    readBlock(*program.getBlock());
    return std::move(result);
  }

private:
  // Trips and calls do not count: where there are loops a step is not short.
  static steps::Size sizeOf(ProgramOp program, double devices) {
    steps::Size size;
    size.devices = devices;
    program->walk([&](Operation *op) {
      size.hasLoops |= isa<LoopOp>(op);
      size.instructions += isa<ProgramOp, BufferOp, exec::ConstantOp, FunctionOp>(op) ? 0 : devices;
    });
    size.bytes = devices * double(memoryFigures(program).total());
    return size;
  }

  // Its number.
  uint32_t readBlock(Block &block) {
    std::vector<cost::Work> works;
    std::vector<Operation *> ops;
    for (Operation &op : block)
      if (!isa<BufferOp, exec::ConstantOp, FunctionOp>(op)) {
        works.push_back(readOp(&op));
        works.back().overhead += turns * topology.device.instructionSeconds;
        ops.push_back(&op);
      }
    result.blocks.push_back(std::move(works));
    result.ops.push_back(std::move(ops));
    return result.blocks.size() - 1;
  }

  cost::Work readOp(Operation *op) {
    using cost::Work;
    Work work;
    if (auto dispatch = dyn_cast<DispatchOp>(op)) {
      const Price &price = result.prices[op];
      KernelOp kernel = kernels.lookup(dispatch.getKernel());
      work.kind = Work::Compute;
      work.seconds = turns * price.seconds;
      work.flops = price.flops;
      work.what = price.hasProducts ? cost::ComputeKind::Products
                  : kernel && (kernel.getLibrary() || kernel.getOutside())
                      ? cost::ComputeKind::Library
                      : cost::ComputeKind::Elementwise;
      work.overhead = turns * topology.device.launchSeconds;
    } else if (isa<CopyOp>(op)) {
      work.kind = Work::Compute;
      work.seconds = turns * result.prices[op].seconds;
      work.what = cost::ComputeKind::Copies;
    } else if (auto start = dyn_cast<StartOp>(op)) {
      links::Route route = routeOf(start, topology, mesh);
      work.kind = Work::Start;
      cost::CollectiveTime time = timeOf(start, topology, mesh);
      work.seconds = time.links;
      work.own = time.cores;
      work.links = route.linksFor(links::wayOfShift(start.getShift()));
      work.site = start.getSite();
      if (result.pool.devices() > 1)
        work.groups = groupsOf(start);
    } else if (auto copy = dyn_cast<CopyStartOp>(op)) {
      work = readTransfer(copy);
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      work.kind = Work::Wait;
      work.site = wait.getSite();
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      work.kind = Work::Loop;
      work.trips = loop.getTripCount().value_or(1);
      readBlocks(loop->getRegions(), work);
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      work.kind = Work::Branch;
      readBlocks(branch->getRegions(), work);
    } else if (auto call = dyn_cast<CallOp>(op)) {
      work.kind = Work::Call;
      work.blocks.push_back(functions.lookup(call.getFunction()));
    }
    return work;
  }

  // Of each device its group, by the number of a device in it.
  std::vector<uint32_t> groupsOf(StartOp start) const {
    if (auto axes = dyn_cast<comm::AxesAttr>(start.getAxes()))
      return cost::groupsAlong(*mesh, axes.toAxisRefs(*mesh));
    std::vector<uint32_t> groupOf = eachAlone();
    if (ArrayAttr groups = start.getGroupsAttr())
      for (auto group : groups.getAsRange<DenseI64ArrayAttr>())
        for (int64_t device : group.asArrayRef())
          groupOf[device] = static_cast<uint32_t>(group[0]);
    return groupOf;
  }

  std::vector<uint32_t> eachAlone() const {
    std::vector<uint32_t> devices(result.pool.devices());
    std::iota(devices.begin(), devices.end(), 0);
    return devices;
  }

  void readBlocks(MutableArrayRef<Region> regions, cost::Work &work) {
    for (Region &region : regions)
      if (!region.empty())
        work.blocks.push_back(readBlock(region.front()));
  }

  // A copy engine carries it.
  cost::Work readTransfer(CopyStartOp copy) {
    auto from = copy.getFrom().getDefiningOp<BufferOp>(),
         to = copy.getTo().getDefiningOp<BufferOp>();
    bool isFromHost = memoryOf(from) != Memory::Device, isToHost = memoryOf(to) != Memory::Device;
    double bytes = double(std::min(from.getBytes(), to.getBytes())); // of a part
    auto host = topology.spaces.find("host");
    double rate = 0;
    if (host != topology.spaces.end())
      rate = isToHost ? host->second.fromDevice : host->second.toDevice;
    cost::Work work;
    work.kind = cost::Work::Start;
    work.seconds = bytes / (rate > 0 ? rate : topology.device.bytesPerSecond);
    work.links = (isToHost ? cost::kToHost : 0) | (isFromHost ? cost::kFromHost : 0);
    work.site = copy.getSite();
    work.groups = eachAlone();
    return work;
  }

  const cost::Topology &topology;
  const sharding::Mesh *mesh;
  double turns = 1; // that devices take to compute
  llvm::StringMap<KernelOp> kernels;
  llvm::StringMap<uint32_t> functions; // their blocks
  StepWork result;
};

} // namespace

StepWork stepWork(ProgramOp program, const cost::Topology &topology, const sharding::Mesh *mesh) {
  return Reader(program, topology, mesh).read(program);
}

links::Route routeOf(StartOp start, const cost::Topology &topology, const sharding::Mesh *mesh) {
  if (auto axes = dyn_cast<comm::AxesAttr>(start.getAxes()))
    return mesh ? topology.routeOf(*mesh, axes.toAxisRefs(*mesh)) : links::Route();
  return links::routeOfTable(topology.network, startedBy(start).group);
}

cost::CollectiveTime timeOf(StartOp start, const cost::Topology &topology,
                            const sharding::Mesh *mesh) {
  Started what = startedBy(start);
  return cost::collectiveTime(topology, mesh ? mesh->numDevices() : 1, what.kind, what.bytes,
                              routeOf(start, topology, mesh), what.group);
}

cost::Prediction predictStep(const StepWork &step, const cost::Topology &topology,
                             size_t mostEvents) {
  // What happens when is shown of one device, as if all did the same at the same time.
  cost::Prediction prediction =
      cost::predict(step.blocks, mostEvents, mostEvents ? cost::CorePool() : step.pool);
  const cost::DeviceRates &rates = topology.device;
  double fixed = step.done.steps > 0 ? step.done.steps * rates.stepSeconds : rates.shortStepSeconds;
  prediction.time.seconds += fixed;
  prediction.time.overhead += fixed;
  return prediction;
}

// `times`: of each block.
static void addKernels(const StepWork &step, llvm::ArrayRef<double> times,
                       llvm::StringMap<KernelFigures> &to) {
  for (auto [ops, count] : llvm::zip(step.ops, times))
    for (Operation *op : ops)
      if (auto dispatch = dyn_cast<DispatchOp>(op)) {
        const Price &price = step.prices.at(op);
        KernelFigures &figures = to[dispatch.getKernel()];
        figures.count += count;
        figures.seconds += count * price.seconds;
        figures.terms.add(price.terms, count);
      }
}

ModulePrediction predictModule(ModuleOp module) {
  ModulePrediction most;
  sdy::MeshTable meshes(module);
  cost::Topology topology = topologyOf(module);
  for (auto program : module.getOps<ProgramOp>()) {
    StepWork step = stepWork(program, topology, meshes.main());
    cost::Prediction prediction = predictStep(step, topology);
    const cost::StepTime &time = prediction.time;
    addKernels(step, prediction.times, most.kernels);
    if (time.seconds > most.time.seconds) {
      most.time = time;
      most.work = step.done;
    }
    MemoryFigures memory = memoryFigures(program);
    if (memory.total() > most.memory.total())
      most.memory = memory;
  }
  return most;
}

cost::Prediction predictStep(ProgramOp program, const cost::Topology &topology,
                             const sharding::Mesh *mesh) {
  return predictStep(stepWork(program, topology, mesh), topology);
}

} // namespace tessera
