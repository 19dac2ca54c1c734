#include "passes/propagate/Origins.h"

#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/tessera/Marks.h"
#include "lib/sharding/PropagationConflicts.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

#include <map>

namespace tessera {
namespace {

// "file:line:column", innermost; "" where the location has none.
std::string placeOf(Location location) {
  std::string text;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}

std::string opText(Operation *op) {
  std::string place = placeOf(op->getLoc());
  return op->getName().stripDialect().str() + (place.empty() ? "" : " at " + place);
}

std::string axesText(const sharding::Mesh &mesh, ArrayRef<sharding::AxisRef> axes) {
  std::string text;
  for (const sharding::AxisRef &axis : axes) {
    text += (text.empty() ? "\"" : ", \"") + mesh.axes[axis.axis].name + "\"";
    if (!isWhole(mesh, axis))
      text += ":(" + std::to_string(axis.preSize) + ")" + std::to_string(axis.size);
  }
  return text;
}

StringRef describe(sharding::Refusal refusal) {
  switch (refusal) {
  case sharding::Refusal::None:
    return " has it";
  case sharding::Refusal::Closed:
    return " is closed there";
  case sharding::Refusal::OtherDim:
    return " uses it in another dimension";
  case sharding::Refusal::OtherAxes:
    return " is sharded otherwise there";
  case sharding::Refusal::Replicated:
    return " must be replicated along it";
  case sharding::Refusal::Uneven:
    return " has it in a dimension of several that it would cut";
  case sharding::Refusal::NotReached:
    return " was not reached";
  }
  return "";
}

} // namespace

Origins::Origins(const ModuleGraph &module) : module(module) {
  for (auto [i, step] : llvm::enumerate(module.graph.steps))
    steps[step.value].push_back(i);
}

std::string Origins::nameOf(int32_t number) const {
  Value value = module.valueAt(number);
  if (!value)
    return "a result of the function";
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    std::string text = "argument " + std::to_string(argument.getArgNumber());
    if (!isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return text + " of a region";
    if (auto name = argument.getLoc()->findInstanceOf<NameLoc>())
      text += " (" + name.getName().str() + ")";
    return text;
  }
  return opText(value.getDefiningOp());
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

SmallVector<std::string> Origins::linesOf(int32_t value, int32_t hops) const {
  SmallVector<std::string> lines;
  const sharding::PropagatedValue &entry = module.graph.values[value];
  if (entry.mesh < 0)
    return lines;
  for (const sharding::DimSharding &dim : entry.sharding.dims)
    for (const sharding::AxisRef &axis : dim.axes) {
      int32_t at = value, ops = 0;
      std::string way;
      while (const sharding::PropagationStep *step = stepOf(at, axis)) {
        ++ops;
        if (ops <= hops)
          way += (ops == 1 ? ": " : ", ") +
                 (step->op < 0 ? "a sharding group" : opText(module.opAt(step->op)));
        else if (ops == hops + 1 && hops)
          way += ", ..";
        if (step->source < 0 || ops > static_cast<int32_t>(module.graph.steps.size()))
          break;
        at = step->source;
      }
      std::string text = axesText(*module.meshAt(entry.mesh), axis);
      lines.push_back(ops ? text + " from " + nameOf(at) + ", through " + std::to_string(ops) +
                                (ops == 1 ? " op" : " ops") + way
                          : text + " as annotated");
    }
  return lines;
}

SmallVector<std::string> Origins::conflictLinesOf(int32_t index) const {
  SmallVector<std::string> lines;
  const sharding::PropagatedOp &op = module.graph.ops[index];
  int32_t mesh = -1;
  for (int32_t v : op.operands)
    mesh = std::max(mesh, module.graph.values[v].mesh);
  for (int32_t v : op.results)
    mesh = std::max(mesh, module.graph.values[v].mesh);
  if (mesh < 0)
    return lines;
  const sharding::FactorRule &rule = module.graph.rules[op.rule];
  for (const sharding::Conflict &conflict : conflictsOf(module.graph, index)) {
    std::string text = axesText(*module.meshAt(mesh), conflict.axes) + " along a factor of " +
                       std::to_string(rule.factors[conflict.factor].size) + ":";
    StringRef separator = " ";
    for (const sharding::Proposal &proposal : conflict.proposals) {
      int32_t operands = op.operands.size(), t = proposal.tensor;
      text +=
          (separator + (t < operands ? "operand " + Twine(t) : "result " + Twine(t - operands)) +
           describe(proposal.refusal))
              .str();
      separator = "; ";
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

static ArrayAttr linesAttr(MLIRContext *context, ArrayRef<std::string> lines) {
  SmallVector<Attribute> attrs;
  for (const std::string &line : lines)
    attrs.push_back(StringAttr::get(context, line));
  return ArrayAttr::get(context, attrs);
}

void attachOrigins(ModuleGraph &module, int32_t hops) {
  Origins origins(module);
  DenseMap<Operation *, SmallVector<ArrayAttr>> notes; // for each result
  std::map<Operation *, sdy::SignatureAttributes> signatures;
  for (int32_t v = 0, e = module.graph.values.size(); v < e; ++v) {
    Value value = module.valueAt(v);
    SmallVector<std::string> lines = value ? origins.linesOf(v, hops) : SmallVector<std::string>();
    if (lines.empty())
      continue;
    MLIRContext *context = value.getContext();
    ArrayAttr said = linesAttr(context, lines);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
        setOrigin(signatures.try_emplace(function, function).first->second, argument.getArgNumber(),
                  OriginAttr::get(context, said));
    } else if (!module.graph.values[v]
                    .free) { // copies of constants that end alike are merged again
      Operation *op = value.getDefiningOp();
      auto [it, fresh] = notes.try_emplace(op, op->getNumResults(), ArrayAttr::get(context, {}));
      it->second[cast<OpResult>(value).getResultNumber()] = said;
    }
  }
  for (auto &[op, lines] : notes)
    setOrigin(op, OriginAttr::get(op->getContext(), lines));
  for (int32_t i = 0, e = module.graph.ops.size(); i < e; ++i) {
    SmallVector<std::string> found = origins.conflictLinesOf(i);
    if (found.empty())
      continue;
    Operation *op = module.opAt(i);
    SmallVector<Attribute> lines(linesAttr(op->getContext(), found).getValue());
    if (ConflictAttr others = getConflict(op)) // several edges of one op
      lines.append(others.getLines().begin(), others.getLines().end());
    setConflict(op, ConflictAttr::get(op->getContext(), ArrayAttr::get(op->getContext(), lines)));
  }
}

} // namespace tessera
