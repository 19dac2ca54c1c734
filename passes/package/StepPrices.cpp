#include "passes/package/StepPrices.h"

#include "dialects/comm/CommOps.h"
#include "lib/cost/CacheWalk.h"
#include "lib/cost/Exchange.h"
#include "lib/cost/SharedCores.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tessera::exec;

namespace tessera {
namespace {

// Bytes that a buffer has, at places of an address space of their own.
struct Place {
  uint64_t begin = 0, end = 0;
};

// What lies where in steps that alternate: results of the step before are still held, so two sets of
// them are written in turns.
constexpr uint64_t kOtherResults = uint64_t{1} << 55;

double bytesOf(OperandRange buffers) {
  double bytes = 0;
  for (Value buffer : buffers)
    bytes += double(buffer.getDefiningOp<BufferOp>().getBytes());
  return bytes;
}

Place placeOf(Value value) {
  auto buffer = value.getDefiningOp<BufferOp>();
  uint64_t space = static_cast<uint64_t>(buffer.getSpace()) << 56;
  uint64_t begin = space + (static_cast<uint64_t>(buffer.getIndex()) << 40) + buffer.getOffset();
  return {begin, begin + static_cast<uint64_t>(buffer.getBytes())};
}

class Walk {
public:
  Walk(ProgramOp program, const cost::Topology &topology, int64_t devices, bool isShort)
      : topology(topology), devices(devices), isShort(isShort),
        cores(cost::coresOf(topology, devices)), cache(topology.device.cacheBytes),
        shared(std::max(cores, 1.0) * topology.device.sharedBytes),
        othersPerSecond(std::max(cores, 1.0) * topology.device.othersPerSecond),
        exchanged(std::max(shared.capacity(), cache.capacity())) {
    for (auto kernel : program->getParentOfType<ModuleOp>().getOps<KernelOp>()) {
      Kernel &known = kernels[kernel.getSymName()];
      known.op = kernel;
      known.work = workOf(kernel, {});
      usesTiles |= cost::goesByTiles(topology.device, known.work);
    }
    for (auto function : program.getBlock()->getOps<FunctionOp>())
      functions[function.getSymName()] = function;
    for (Attribute output : program.getOutputs())
      isNew.push_back(cast<ParameterAttr>(output).getAlias() < 0);
  }

  void step(Block &block, bool isOdd, bool steady) {
    results = isOdd ? kOtherResults : 0;
    walk(block, steady);
    pass();
    walked.clear();
  }

  llvm::DenseMap<Operation *, Price> prices;

private:
  // `steady`: what is in a loop is priced after what the trip before leaves in the cache.
  void walk(Block &block, bool steady) {
    for (Operation &op : block) {
      cache.begin();
      shared.begin();
      if (auto dispatch = dyn_cast<DispatchOp>(op)) {
        priceKernel(dispatch);
      } else if (auto copy = dyn_cast<CopyOp>(op)) {
        priceCopy(copy);
      } else if (auto start = dyn_cast<StartOp>(op)) {
        priceCollective(start);
      } else if (isa<WaitOp>(op)) {
        pass();
      } else if (auto loop = dyn_cast<LoopOp>(op)) {
        if (steady) // of loops inside, one trip
          walkRegions(loop->getRegions(), false);
        walkRegions(loop->getRegions(), steady);
      } else if (auto branch = dyn_cast<BranchOp>(op)) {
        walkRegions(branch.getBlocks(), steady);
      } else if (auto call = dyn_cast<CallOp>(op)) {
        // Once, however often it is called.
        FunctionOp function = functions.lookup(call.getFunction());
        if (walked.insert(function).second)
          walk(*function.getBlock(), steady);
      }
    }
  }

  // Others of the machine go on meanwhile.
  void took(double seconds) {
    shared.passOthers(othersPerSecond * seconds);
    othersSinceWait += othersPerSecond * seconds;
  }

  // The other devices of the same core go on.
  void pass() {
    if (cores < 1) {
      cache.pass((1 / cores - 1) * sinceWait);
      shared.pass((1 / cores - 1) * missedSinceWait);
      exchanged.pass((1 / cores - 1) * missedSinceWait);
      shared.passOthers((1 / cores - 1) * othersSinceWait);
    }
    sinceWait = missedSinceWait = othersSinceWait = 0;
  }

  void walkRegions(MutableArrayRef<Region> regions, bool steady) {
    for (Region &region : regions)
      if (!region.empty())
        walk(region.front(), steady);
  }

  Place addressOf(Value buffer) const {
    Place place = placeOf(buffer);
    auto at = buffer.getDefiningOp<BufferOp>();
    if (at.getSpace() == Space::Output && isNew[at.getIndex()])
      place.begin += results, place.end += results;
    return place;
  }

  // Bytes that come from beyond the caches, or are written past them. `sharers`: cores that divide them.
  cost::Missed touch(Value buffer, const cost::Touched &array, double sharers) {
    if (!array.pastCaches)
      return touch(buffer, array.bytes, sharers);
    Place place = addressOf(buffer);
    cache.forget(place.begin, place.end);
    shared.forget(place.begin, place.end);
    return {array.bytes, topology.device.sharedBytes > 0 ? array.bytes : 0};
  }
  cost::Missed touch(Value buffer, double bytes, double sharers = 1) {
    const cost::DeviceRates &rates = topology.device;
    Place place = addressOf(buffer);
    sinceWait += bytes;
    double all = double(place.end - place.begin);
    cost::Missed missed;
    // A part of an array, each time another one.
    if (bytes < all && all > rates.cacheBytes) {
      cache.pass(bytes / sharers);
      shared.pass(bytes);
      missed = {bytes, all > rates.sharedBytes ? bytes : 0};
    } else {
      uint64_t end = place.begin + static_cast<uint64_t>(std::min(bytes, all));
      missed.core = cache.touch(place.begin, end, double(end - place.begin), sharers);
      missed.all = std::min(missed.core, shared.touch(place.begin, end, missed.core));
    }
    if (rates.sharedBytes <= 0)
      missed.all = 0;
    missedSinceWait += missed.core;
    exchanged.pass(missed.core);
    return missed;
  }

  Price &at(Operation *op) { return prices[op] = Price(); }

  static cost::KernelWork workOf(KernelOp kernel, ArrayRef<unsigned> apart) {
    cost::KernelWork work = codegen::workOf(kernel, apart);
    if (std::optional<int64_t> grid = kernel.getGrid()) // as the code has it
      work.grid = double(*grid);
    return work;
  }

  // What updates an array in another's buffer copies the rest of it.
  const cost::KernelWork &workOf(DispatchOp dispatch) {
    Kernel &kernel = kernels[dispatch.getKernel()];
    SmallVector<unsigned> apart;
    for (unsigned i = 0; i < dispatch.getOutputs().size(); ++i) {
      int64_t input = kernel.op.inplaceOperand(i);
      if (input >= 0 &&
          placeOf(dispatch.getInputs()[input]).begin != placeOf(dispatch.getOutputs()[i]).begin)
        apart.push_back(i);
    }
    if (apart.empty())
      return kernel.work;
    for (const auto &[outputs, work] : kernel.apart)
      if (outputs == apart)
        return work;
    return kernel.apart.emplace_back(apart, workOf(kernel.op, apart)).second;
  }

  void priceKernel(DispatchOp dispatch) {
    const cost::KernelWork &work = workOf(dispatch);
    steps::SharedGrid grid =
        cost::sharedGrid(work, bytesOf(dispatch.getInputs()) + bytesOf(dispatch.getOutputs()));
    double sharers = cost::coresOfGrid(grid, cores);
    llvm::SmallVector<cost::Missed, 8> missed;
    unsigned inputs = dispatch.getInputs().size();
    for (auto [i, each] : llvm::enumerate(llvm::zip(dispatch->getOperands(), work.arrays))) {
      auto [buffer, array] = each;
      std::optional<unsigned> read;
      if (i >= inputs && array.inStrips && !array.pastCaches)
        read = inputInPlaceOf(dispatch, i - inputs);
      if (read && work.arrays[*read].inStrips && work.arrays[*read].bytes >= array.bytes)
        missed.push_back(missed[*read]); // what was read a few lines here and there goes back later
      else
        missed.push_back(touch(buffer, array, sharers));
    }
    Price &price = at(dispatch);
    const cost::DeviceRates &rates = topology.device;
    price.terms = cost::termsOf(rates, work, missed);
    if (cores < 1) // devices that take turns do so much each
      price.terms = cost::seenInMean(price.terms, work.inMean);
    for (auto [output, array] :
         llvm::zip(dispatch.getOutputs(), llvm::ArrayRef(work.arrays).drop_front(inputs)))
      price.terms[cost::Term::TakenBack] += takenBack(output, array.bytes);
    if (usesTiles)
      price.terms = cost::besideTiles(rates, price.terms);
    // Code of short vectors divides products into cells of its own.
    double wholeCell = rates.vectorBytes < 64 && !work.products.empty() ? 0 : work.wholeCell;
    price.seconds = cost::isGpu(rates) // whose grids are blocks of threads
                        ? cost::gpuSeconds(rates, work, work.grid)
                        : cost::sharedSeconds(rates, alone(price.terms, work), grid, cores,
                                              /*asleep=*/isShort, wholeCell);
    took(price.seconds);
    price.flops = work.flops;
    price.hasProducts = !work.products.empty();
  }

  // Of bytes that are written, those whose lines another core has; none where each device has a
  // memory of its own.
  double takenBack(Value buffer, double bytes) {
    double all = double(std::min(topology.computingAtOnce, devices));
    if (all <= 1)
      return 0;
    Place place = addressOf(buffer);
    return (1 - 1 / all) * exchanged.take(place.begin, place.end, bytes);
  }

  // The input whose buffer an output is written to, at the same time as that is read.
  std::optional<unsigned> inputInPlaceOf(DispatchOp dispatch, unsigned output) {
    int64_t input = kernels[dispatch.getKernel()].op.inplaceOperand(output);
    bool isThere = input >= 0 && addressOf(dispatch.getInputs()[input]).begin ==
                                     addressOf(dispatch.getOutputs()[output]).begin;
    return isThere ? std::optional<unsigned>(input) : std::nullopt;
  }

  double alone(const cost::Terms &terms, const cost::KernelWork &work) const {
    const cost::DeviceRates &rates = topology.device;
    return cost::goesByKinds(rates) ? cost::secondsOf(rates, terms)
                                    : cost::leastSeconds(rates, work);
  }

  void priceCopy(CopyOp copy) {
    double bytes = double(copy.getTo().getDefiningOp<BufferOp>().getBytes());
    cost::KernelWork work;
    work.moved = 2 * bytes;
    work.arrays.assign(2, {bytes});
    cost::Missed missed[] = {touch(copy.getFrom(), bytes), touch(copy.getTo(), bytes)};
    Price &price = at(copy);
    price.terms = cost::termsOf(topology.device, work, missed);
    price.terms[cost::Term::TakenBack] += takenBack(copy.getTo(), bytes);
    price.seconds = cost::isGpu(topology.device)
                        ? cost::kernelSeconds(topology.device, work, missed)
                        : alone(price.terms, work);
    took(price.seconds);
  }

  // What cores read and write where devices share a memory; nothing on machines with links.
  void priceCollective(StartOp start) {
    sinceWait += bytesOf(start.getFrom()) + bytesOf(start.getTo());
    for (OperandRange buffers : {start.getFrom(), start.getTo()})
      for (Value buffer : buffers) {
        Place place = addressOf(buffer);
        exchanged.touch(place.begin, place.end);
      }
    if (cores >= 1.5 || topology.computingAtOnce > 1) // any core writes the results
      for (Value buffer : start.getTo()) {
        Place place = addressOf(buffer);
        cache.forget(place.begin, place.end);
        shared.touch(place.begin, place.end);
      }
    Started what = startedBy(start);
    Price &price = at(start);
    cost::Exchange exchange =
        cost::exchangeOf(topology, devices, what.kind, what.bytes, what.group);
    price.terms = exchange.terms;
    price.meetings = exchange.meetings;
    price.seconds = cost::exchangeSeconds(topology.device, exchange);
    took(price.seconds);
  }

  const cost::Topology &topology;
  const int64_t devices;
  const bool isShort;            // is the step
  const double cores;            // that a device has; a part of one where devices take turns
  cost::CacheWalk cache, shared; // of one of its cores, and beyond, of all
  const double othersPerSecond;  // bytes that others bring into the second
  cost::CacheWalk exchanged; // what collectives have read or written, which other cores have, too
  bool usesTiles = false;    // of the processor
  double missedSinceWait = 0;
  double othersSinceWait = 0; // bytes that others have brought
  double sinceWait = 0;       // bytes
  uint64_t results = 0;       // where those of this step are
  std::vector<bool> isNew;    // by output: whether it has memory of its own
  struct Kernel {
    KernelOp op;
    cost::KernelWork work; // in place where it may be
    SmallVector<std::pair<SmallVector<unsigned>, cost::KernelWork>, 0>
        apart; // by outputs that are not
  };
  llvm::StringMap<Kernel> kernels;
  llvm::StringMap<FunctionOp> functions;
  llvm::DenseSet<Operation *> walked; // of those
};

void add(const cost::Observation &one, double times, cost::Observation &into) {
  into.terms.add(one.terms, times);
  into.seconds += times * one.seconds;
  into.steps += times * one.steps;
  into.launches += times * one.launches;
  into.instructions += times * one.instructions;
  into.meetings += times * one.meetings;
}

// Adds up instructions.
class Sum {
public:
  explicit Sum(const llvm::DenseMap<Operation *, Price> &prices) : prices(prices) {}

  cost::Observation of(Block &block) {
    cost::Observation sum;
    for (Operation &op : block) {
      if (auto function = dyn_cast<FunctionOp>(op)) { // before those that call it
        functions[function.getSymName()] = of(*function.getBlock());
        continue;
      }
      if (isa<BufferOp, exec::ConstantOp>(op))
        continue;
      ++sum.instructions;
      if (auto price = prices.find(&op); price != prices.end()) {
        sum.terms.add(price->second.terms);
        sum.seconds += price->second.seconds;
        sum.launches += isa<DispatchOp>(op);
        sum.meetings += price->second.meetings;
      }
      if (auto loop = dyn_cast<LoopOp>(op)) {
        for (Region &region : loop->getRegions())
          if (!region.empty())
            add(of(region.front()), double(loop.getTripCount().value_or(1)), sum);
      } else if (auto branch = dyn_cast<BranchOp>(op)) {
        cost::Observation longest;
        for (Region &region : branch.getBlocks())
          if (cost::Observation one = of(region.front()); one.seconds >= longest.seconds)
            longest = one;
        add(longest, 1, sum);
      } else if (auto call = dyn_cast<CallOp>(op)) {
        add(functions.lookup(call.getFunction()), 1, sum);
      }
    }
    return sum;
  }

private:
  const llvm::DenseMap<Operation *, Price> &prices;
  llvm::StringMap<cost::Observation> functions;
};

} // namespace

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

Started startedBy(StartOp start) {
  int64_t group = 1;
  if (auto axes = dyn_cast<comm::AxesAttr>(start.getAxes()))
    group = axes.getGroupSize();
  else if (ArrayAttr groups = start.getGroupsAttr(); groups && !groups.empty())
    group = cast<DenseI64ArrayAttr>(groups[0]).size();
  bool isScattered = start.getKind() == CollectiveKind::ReduceScatter;
  return {pricedAs(start.getKind()), bytesOf(isScattered ? start.getFrom() : start.getTo()), group};
}

llvm::DenseMap<Operation *, Price> pricesOf(ProgramOp program, const cost::Topology &topology,
                                            int64_t devices, bool isShort) {
  Walk walk(program, topology, devices, isShort);
  // The steps before leave what they can in the cache.
  walk.step(*program.getBlock(), /*isOdd=*/false, /*steady=*/false);
  walk.step(*program.getBlock(), /*isOdd=*/true, /*steady=*/false);
  walk.step(*program.getBlock(), /*isOdd=*/false, /*steady=*/true);
  return std::move(walk.prices);
}

cost::Observation workOfStep(ProgramOp program, const llvm::DenseMap<Operation *, Price> &prices) {
  return Sum(prices).of(*program.getBlock());
}

} // namespace tessera
