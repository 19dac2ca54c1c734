#include "passes/propagate/Origins.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tessera {
namespace {

std::string nameOf(const ModuleGraph &module, int32_t number) {
  Value value = module.valueAt(number);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!value)
    stream << "a result of the function";
  else if (auto argument = dyn_cast<BlockArgument>(value))
    stream << "argument " << argument.getArgNumber()
           << (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ? "" : " of a region");
  else
    stream << value.getDefiningOp()->getName() << " at " << value.getLoc();
  return text;
}

std::string axisText(const sharding::Mesh &mesh, const sharding::AxisRef &axis) {
  std::string text = "\"" + mesh.axes[axis.axis].name + "\"";
  if (!isWhole(mesh, axis))
    text += ":(" + std::to_string(axis.preSize) + ")" + std::to_string(axis.size);
  return text;
}

} // namespace

Origins::Origins(const ModuleGraph &module) : module(module) {
  for (auto [i, step] : llvm::enumerate(module.graph.steps))
    steps[step.value].push_back(i);
}

const sharding::PropagationStep *Origins::stepOf(int32_t value,
                                                 const sharding::AxisRef &axis) const {
  auto it = steps.find(value);
  if (it == steps.end())
    return nullptr;
  for (int32_t index : it->second)
    if (const sharding::PropagationStep &step = module.graph.steps[index]; overlap(step.axes, axis))
      return &step;
  return nullptr;
}

SmallVector<std::string> Origins::linesOf(int32_t value) const {
  SmallVector<std::string> lines;
  const sharding::PropagatedValue &entry = module.graph.values[value];
  if (entry.mesh < 0)
    return lines;
  for (const sharding::DimSharding &dim : entry.sharding.dims)
    for (const sharding::AxisRef &axis : dim.axes) {
      int32_t at = value, ops = 0;
      while (const sharding::PropagationStep *step = stepOf(at, axis)) {
        ++ops;
        if (step->source < 0 || ops > static_cast<int32_t>(module.graph.steps.size()))
          break;
        at = step->source;
      }
      std::string text = axisText(*module.meshAt(entry.mesh), axis);
      lines.push_back(ops ? text + " from " + nameOf(module, at) + ", through " +
                                std::to_string(ops) + (ops == 1 ? " op" : " ops")
                          : text + " as annotated");
    }
  return lines;
}

void attachOrigins(ModuleGraph &module) {
  Origins origins(module);
  DenseMap<Operation *, SmallVector<Attribute>> notes;
  for (int32_t v = 0, e = module.graph.values.size(); v < e; ++v) {
    Value value = module.valueAt(v);
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!op)
      continue;
    for (const std::string &line : origins.linesOf(v))
      notes[op].push_back(StringAttr::get(op->getContext(), line));
  }
  for (auto &[op, lines] : notes)
    op->setAttr("tessera.origin", ArrayAttr::get(op->getContext(), lines));
}

} // namespace tessera
