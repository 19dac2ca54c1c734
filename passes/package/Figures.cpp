#include "passes/package/Figures.h"

#include "dialects/comm/CommOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::exec;

namespace tessera {

std::string locationText(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location))
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  if (auto name = dyn_cast<NameLoc>(location)) {
    std::string inner = locationText(name.getChildLoc());
    return inner.empty() ? name.getName().str() : inner;
  }
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    std::string callee = locationText(call.getCallee());
    return callee.empty() ? locationText(call.getCaller()) : callee;
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string text = locationText(part); !text.empty())
        return text;
  return "";
}

static std::string axesText(comm::AxesAttr axes) {
  std::string text;
  for (comm::AxisAttr axis : axes.getAxes()) {
    if (!text.empty())
      text += ',';
    text += axis.getName();
    if (!axis.getWhole())
      text += (":(" + Twine(axis.getPreSize()) + ")" + Twine(axis.getSize())).str();
  }
  return text;
}

static int64_t bytesOf(ValueRange buffers) {
  int64_t bytes = 0;
  for (Value buffer : buffers)
    bytes += buffer.getDefiningOp<BufferOp>().getBytes();
  return bytes;
}

static CollectiveFigures figuresOf(StartOp start) {
  CollectiveFigures figures;
  figures.kind = stringifyCollectiveKind(start.getKind()).str();
  std::replace(figures.kind.begin(), figures.kind.end(), '_', '-');
  auto axes = dyn_cast<comm::AxesAttr>(start.getAxes());
  int64_t group = axes ? axes.getGroupSize() : 1;
  if (axes)
    figures.axes = axesText(axes);
  figures.count = 1;
  figures.bytes =
      bytesOf(start.getKind() == CollectiveKind::ReduceScatter ? start.getFrom() : start.getTo());
  switch (start.getKind()) {
  case CollectiveKind::AllReduce:
    figures.wireBytes = 2 * figures.bytes * (group - 1) / group;
    break;
  case CollectiveKind::AllGather:
  case CollectiveKind::AllToAll:
  case CollectiveKind::ReduceScatter:
    figures.wireBytes = figures.bytes * (group - 1) / group;
    break;
  case CollectiveKind::Permute:
  case CollectiveKind::Broadcast:
    figures.wireBytes = group > 1 ? figures.bytes : 0;
    break;
  }
  return figures;
}

static int64_t bytesOf(Operation *op, StringRef channel) {
  auto found = op->getParentOfType<ModuleOp>().lookupSymbol<ChannelOp>(channel);
  return found ? byteSize(found.getTensorType()) : 0;
}

// Nothing for what moves nothing between devices.
static std::optional<CollectiveFigures> figuresOf(Operation *op) {
  CollectiveFigures figures;
  figures.count = 1;
  if (auto start = dyn_cast<StartOp>(op)) {
    figures = figuresOf(start);
  } else if (auto send = dyn_cast<SendOp>(op)) {
    figures.kind = "send";
    figures.wireBytes = bytesOf(op, send.getChannel());
  } else if (auto receive = dyn_cast<ReceiveOp>(op)) {
    figures.kind = "receive";
    figures.bytes = bytesOf(op, receive.getChannel());
  } else {
    return std::nullopt;
  }
  figures.location = locationText(op->getLoc());
  figures.op = op;
  return figures;
}

Memory memoryOf(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  auto program = op->getParentOfType<ProgramOp>();
  auto of = [&](ArrayAttr parameters) {
    return cast<ParameterAttr>(parameters[op.getIndex()]).getMemory();
  };
  switch (op.getSpace()) {
  case Space::HostArena:
    return Memory::Host;
  case Space::FileArena:
    return Memory::File;
  case Space::Input:
    return of(program.getInputs());
  case Space::Output:
    return of(program.getOutputs());
  default: // arguments of functions lie on the device
    return Memory::Device;
  }
}

// Nothing for what stays in one memory, and for what goes to a file.
static std::optional<CollectiveFigures> transferOf(Operation *op) {
  Value from, to;
  if (auto copy = dyn_cast<CopyOp>(op))
    from = copy.getFrom(), to = copy.getTo();
  else if (auto start = dyn_cast<CopyStartOp>(op))
    from = start.getFrom(), to = start.getTo();
  else
    return std::nullopt;
  std::pair<Memory, Memory> way(memoryOf(from), memoryOf(to));
  bool toHost = way == std::pair(Memory::Device, Memory::Host);
  if (!toHost && way != std::pair(Memory::Host, Memory::Device))
    return std::nullopt;
  CollectiveFigures figures;
  figures.kind = toHost ? "to-host" : "to-device";
  figures.count = 1;
  figures.bytes = std::min(bytesOf(from), bytesOf(to));
  figures.location = locationText(op->getLoc());
  figures.op = op;
  return figures;
}

// Of loops in loops there may be more than a number holds: then it is the largest.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}
static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max() : sum;
}

namespace {

using Rows = std::vector<CollectiveFigures>;

class Counter {
public:
  explicit Counter(std::optional<CollectiveFigures> (*figuresOf)(Operation *))
      : figuresOf(figuresOf) {}

  Rows count(ProgramOp program) {
    for (auto function : program.getBlock()->getOps<FunctionOp>())
      functions[function.getSymName()] = merged(count(*function.getBlock()));
    return count(*program.getBlock());
  }

private:
  // Of one execution of the block.
  Rows count(Block &block) {
    Rows rows;
    for (Operation &op : block) {
      if (auto figures = figuresOf(&op)) {
        figures->trips = 1;
        rows.push_back(std::move(*figures));
      } else if (auto loop = dyn_cast<LoopOp>(op)) {
        std::optional<int64_t> trips;
        if (loop.getTripCount())
          trips = *loop.getTripCount();
        if (!loop.getCondition().empty())
          append(rows, count(loop.getCondition().front()), std::nullopt);
        append(rows, count(loop.getBody().front()), trips);
      } else if (auto branch = dyn_cast<BranchOp>(op)) {
        append(rows, mostOf(branch), 1);
      } else if (auto call = dyn_cast<CallOp>(op)) {
        append(rows, functions.lookup(call.getFunction()), 1);
      }
    }
    return rows;
  }

  // What happens `trips` times; as often as data decides: then figures stay those of one trip.
  static void append(Rows &rows, Rows more, std::optional<int64_t> trips) {
    for (CollectiveFigures &row : more) {
      for (int64_t *figure : {&row.count, &row.bytes, &row.wireBytes})
        *figure = times(*figure, trips.value_or(1));
      row.trips = row.trips && trips ? std::optional(times(*row.trips, *trips)) : std::nullopt;
      rows.push_back(std::move(row));
    }
  }

  Rows mostOf(BranchOp branch) {
    Rows mostExpensive;
    std::pair<double, double> most{-1, -1};
    for (Region &region : branch.getBlocks()) {
      Rows here = count(region.front());
      std::pair<double, double> sum{0, 0};
      for (const CollectiveFigures &row : here)
        sum = {sum.first + double(row.wireBytes), sum.second + double(row.bytes)};
      if (sum > most) {
        most = sum;
        mostExpensive = std::move(here);
      }
    }
    return mostExpensive;
  }

  // One row an instruction: functions that call others twice don't double their rows.
  static Rows merged(Rows rows) {
    Rows result;
    llvm::DenseMap<Operation *, size_t> at;
    for (CollectiveFigures &row : rows) {
      auto [known, isNew] = at.try_emplace(row.op, result.size());
      if (isNew) {
        result.push_back(std::move(row));
        continue;
      }
      CollectiveFigures &sum = result[known->second];
      sum.trips = sum.trips && row.trips ? plus(*sum.trips, *row.trips) : sum.trips;
      sum.count = plus(sum.count, row.count);
      sum.bytes = plus(sum.bytes, row.bytes);
      sum.wireBytes = plus(sum.wireBytes, row.wireBytes);
    }
    return result;
  }

  std::optional<CollectiveFigures> (*figuresOf)(Operation *);
  llvm::StringMap<Rows> functions; // of one execution, by name
};

} // namespace

std::vector<CollectiveFigures> collectiveFigures(ProgramOp program) {
  return Counter(figuresOf).count(program);
}

std::vector<CollectiveFigures> transferFigures(ProgramOp program) {
  return Counter(transferOf).count(program);
}

MemoryFigures memoryFigures(ProgramOp program, Memory memory) {
  MemoryFigures figures;
  for (Attribute attr : program.getInputs())
    if (auto input = cast<ParameterAttr>(attr); input.getMemory() == memory)
      figures.arguments += byteSize(input.getLocal());
  for (Attribute attr : program.getOutputs())
    if (auto output = cast<ParameterAttr>(attr);
        output.getMemory() == memory && output.getAlias() < 0)
      figures.outputs += byteSize(output.getLocal());
  if (memory == Memory::Host) {
    figures.arena = program.getHostBytes();
    return figures;
  }
  int64_t elsewhere = 0, arrays = 0; // the largest scratch that is not in the arena
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  program.walk([&](Operation *op) {
    if (auto buffer = dyn_cast<BufferOp>(op); buffer && buffer.getSpace() == Space::Arena)
      arrays = std::max(arrays, static_cast<int64_t>(buffer.getOffset()) + buffer.getBytes());
    auto dispatch = dyn_cast<DispatchOp>(op);
    if (auto kernel = dispatch && !dispatch.getScratchAt()
                          ? symbols.lookup<KernelOp>(dispatch.getKernel())
                          : KernelOp())
      elsewhere = std::max<int64_t>(elsewhere, kernel.getScratchBytes().value_or(0));
  });
  figures.arena = program.getArenaBytes() + elsewhere;
  constexpr int64_t alignment = 64; // of whatever lies in an arena
  figures.scratch =
      figures.arena - std::min<int64_t>(figures.arena, llvm::alignTo(arrays, alignment));
  return figures;
}

} // namespace tessera
