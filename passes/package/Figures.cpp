#include "passes/package/Figures.h"

#include "dialects/comm/CommOps.h"
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
  figures.location = locationText(start.getLoc());
  figures.start = start;
  return figures;
}

// Of loops in loops there may be more than a number holds: then it is the largest.
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max() : product;
}

static std::vector<CollectiveFigures> figuresOf(Block &block, std::optional<int64_t> trips,
                                                int64_t known) {
  std::vector<CollectiveFigures> rows;
  auto append = [&](std::vector<CollectiveFigures> more) {
    rows.insert(rows.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  };
  for (Operation &op : block) {
    if (auto start = dyn_cast<StartOp>(op)) {
      CollectiveFigures figures = figuresOf(start);
      figures.trips = trips;
      for (int64_t *figure : {&figures.count, &figures.bytes, &figures.wireBytes})
        *figure = times(*figure, known);
      rows.push_back(std::move(figures));
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      std::optional<int64_t> inside;
      int64_t factor = loop.getTripCount().value_or(1);
      if (trips && loop.getTripCount())
        inside = times(*trips, factor);
      if (!loop.getCondition().empty())
        append(figuresOf(loop.getCondition().front(), std::nullopt, known));
      append(figuresOf(loop.getBody().front(), inside, times(known, factor)));
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      std::vector<CollectiveFigures> mostExpensive;
      std::pair<double, double> most{-1, -1};
      for (Region &region : branch.getBlocks()) {
        std::vector<CollectiveFigures> here = figuresOf(region.front(), trips, known);
        std::pair<double, double> sum{0, 0};
        for (const CollectiveFigures &row : here)
          sum = {sum.first + double(row.wireBytes), sum.second + double(row.bytes)};
        if (sum > most) {
          most = sum;
          mostExpensive = std::move(here);
        }
      }
      append(std::move(mostExpensive));
    }
  }
  return rows;
}

std::vector<CollectiveFigures> collectiveFigures(ProgramOp program) {
  return figuresOf(*program.getBlock(), 1, 1);
}

MemoryFigures memoryFigures(ProgramOp program) {
  MemoryFigures figures;
  for (Attribute attr : program.getInputs())
    figures.arguments += byteSize(cast<ParameterAttr>(attr).getLocal());
  for (Attribute attr : program.getOutputs())
    if (cast<ParameterAttr>(attr).getAlias() < 0)
      figures.outputs += byteSize(cast<ParameterAttr>(attr).getLocal());
  int64_t scratch = 0;
  for (auto kernel : program->getParentOfType<ModuleOp>().getOps<KernelOp>())
    scratch = std::max<int64_t>(scratch, kernel.getScratchBytes().value_or(0));
  figures.arena = program.getArenaBytes() + scratch;
  return figures;
}

} // namespace tessera
