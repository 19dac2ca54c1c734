// Assembly and verifiers of exec.program and its instructions.
#include "dialects/exec/ExecOps.h"

#include "dialects/sdy/SdyAttrs.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::exec {

// exec.program @main mesh @mesh arena 4096 constants 64 inputs [..] outputs [..] {..}
ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  FlatSymbolRefAttr mesh;
  ArrayAttr inputs, outputs;
  int64_t arena = 0, constants = 0;
  Builder &b = parser.getBuilder();
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    if (parser.parseAttribute(mesh))
      return failure();
    result.addAttribute("mesh", mesh);
  }
  if (parser.parseKeyword("arena") || parser.parseInteger(arena) ||
      parser.parseKeyword("constants") || parser.parseInteger(constants) ||
      parser.parseKeyword("inputs") || parser.parseAttribute(inputs) ||
      parser.parseKeyword("outputs") || parser.parseAttribute(outputs))
    return failure();
  result.addAttribute("arena_bytes", b.getI64IntegerAttr(arena));
  result.addAttribute("constant_bytes", b.getI64IntegerAttr(constants));
  result.addAttribute("inputs", inputs);
  result.addAttribute("outputs", outputs);
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  if (result.regions.front()->empty())
    result.regions.front()->emplaceBlock();
  return success();
}

void ProgramOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  if (getMeshAttr())
    p << " mesh " << getMeshAttr();
  p << " arena " << getArenaBytes() << " constants " << getConstantBytes() << " inputs "
    << getInputs() << " outputs " << getOutputs();
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {SymbolTable::getSymbolAttrName(), "mesh", "arena_bytes",
                                      "constant_bytes", "inputs", "outputs"});
  p << ' ';
  p.printRegion(getBody());
}

// A device's arrays hold their parts of the whole, and what the caller passes is a whole value.
static LogicalResult verifyParameter(ProgramOp program, ParameterAttr parameter, StringRef side,
                                     unsigned index) {
  auto error = [&](const Twine &what) {
    return program.emitOpError() << side << ' ' << index << ": " << what;
  };
  RankedTensorType local = parameter.getLocal(), global = parameter.getGlobal();
  if (local.getElementType() != global.getElementType() || local.getRank() != global.getRank())
    return error("a device's array has another type than the whole");
  SmallVector<int64_t> shards(global.getRank(), 1);
  if (Attribute attr = parameter.getSharding()) {
    auto sharding = dyn_cast<sdy::TensorShardingAttr>(attr);
    if (!sharding)
      return error("its sharding must be a #sdy.sharding");
    if (failed(sdy::verifySharding(sharding, global, program, error)))
      return failure();
    if (!sharding.getUnreducedAxes().empty())
      return error("a program takes and returns whole values, none that are unreduced");
    sdy::MeshAttr mesh = sharding.getMesh(program);
    for (auto [count, dim] : llvm::zip(shards, sharding.getDimShardings()))
      for (sdy::AxisRefAttr axis : dim.getAxes())
        count *= axis.getSize(mesh);
  }
  for (int64_t d = 0; d < global.getRank(); ++d)
    if (llvm::divideCeil(global.getDimSize(d), shards[d]) >
        static_cast<uint64_t>(local.getDimSize(d)))
      return error(Twine(shards[d]) + " parts of " + Twine(local.getDimSize(d)) +
                   " do not cover dimension " + Twine(d) + " of size " +
                   Twine(global.getDimSize(d)));
  return success();
}

LogicalResult ProgramOp::verify() {
  for (auto [side, parameters] :
       {std::pair(StringRef("input"), getInputs()), {"output", getOutputs()}})
    for (auto [i, attr] : llvm::enumerate(parameters))
      if (failed(verifyParameter(*this, cast<ParameterAttr>(attr), side, i)))
        return failure();
  int64_t inputs = getInputs().size();
  for (auto [i, attr] : llvm::enumerate(getOutputs())) {
    int64_t alias = cast<ParameterAttr>(attr).getAlias();
    if (alias < -1 || alias >= inputs)
      return emitOpError("output ") << i << " takes the buffer of input " << alias
                                    << ", but there are " << inputs << " inputs";
  }
  return success();
}

ParseResult BufferOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  int64_t index = 0, offset = 0;
  RankedTensorType type;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Space> space = symbolizeSpace(keyword);
  if (!space)
    return parser.emitError(loc, "expected arena, input, output or constant");
  OptionalParseResult hasIndex = parser.parseOptionalInteger(index);
  if (hasIndex.has_value() && failed(*hasIndex))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("at")) && parser.parseInteger(offset))
    return failure();
  if (parser.parseColonType(type) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  Builder &b = parser.getBuilder();
  result.addAttribute("space", SpaceAttr::get(b.getContext(), *space));
  if (index)
    result.addAttribute("index", b.getI64IntegerAttr(index));
  if (offset)
    result.addAttribute("offset", b.getI64IntegerAttr(offset));
  result.addAttribute("type", TypeAttr::get(type));
  result.addTypes(BufferType::get(b.getContext()));
  return success();
}

void BufferOp::print(OpAsmPrinter &p) {
  p << ' ' << stringifySpace(getSpace());
  if (getSpace() == Space::Input || getSpace() == Space::Output)
    p << ' ' << getIndex();
  if (getOffset() || getSpace() == Space::Arena || getSpace() == Space::Constant)
    p << " at " << getOffset();
  p << " : " << getType();
  p.printOptionalAttrDict((*this)->getAttrs(), {"space", "index", "offset", "type"});
}

int64_t BufferOp::getBytes() { return byteSize(getTensorType()); }

LogicalResult BufferOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return emitOpError("must be inside exec.program");
  int64_t index = getIndex(), begin = getOffset(), end = begin + getBytes(), size = 0;
  ArrayAttr parameters = getSpace() == Space::Input ? program.getInputs() : program.getOutputs();
  switch (getSpace()) {
  case Space::Arena:
    size = program.getArenaBytes();
    break;
  case Space::Constant:
    size = program.getConstantBytes();
    break;
  case Space::Input:
  case Space::Output:
    if (index < 0 || index >= static_cast<int64_t>(parameters.size()))
      return emitOpError("names ")
             << stringifySpace(getSpace()) << ' ' << index << " of " << parameters.size();
    size = byteSize(cast<ParameterAttr>(parameters[index]).getLocal());
    break;
  }
  if (begin < 0 || end > size)
    return emitOpError("covers bytes [")
           << begin << ", " << end << ") of a " << stringifySpace(getSpace()) << " of " << size
           << " bytes";
  return success();
}

static RankedTensorType typeOf(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  return op ? op.getTensorType() : RankedTensorType();
}

LogicalResult StartOp::verify() {
  if (getFrom().empty() || getFrom().size() != getTo().size())
    return emitOpError("needs as many results as operands, and at least one");
  bool reduces =
      getKind() == CollectiveKind::AllReduce || getKind() == CollectiveKind::ReduceScatter;
  if (reduces != getReduction().has_value())
    return emitOpError(reduces ? "needs a reduction (sum, max, ..)"
                               : "reduces nothing: no reduction");
  for (auto [operand, result] : llvm::zip(getFrom(), getTo())) {
    RankedTensorType from = typeOf(operand), to = typeOf(result);
    if (!from || !to)
      continue;
    if (from.getElementType() != to.getElementType())
      return emitOpError("turns ") << from.getElementType() << " into " << to.getElementType();
    int64_t a = from.getNumElements(), b = to.getNumElements();
    bool fits = getKind() == CollectiveKind::AllGather       ? (a == 0 ? b == 0 : b % a == 0)
                : getKind() == CollectiveKind::ReduceScatter ? (b == 0 ? a == 0 : a % b == 0)
                                                             : a == b;
    if (!fits)
      return emitOpError("operand ") << from << " and result " << to << " do not fit "
                                     << stringifyCollectiveKind(getKind());
  }
  return success();
}

LogicalResult CopyOp::verify() {
  RankedTensorType from = typeOf(getFrom()), to = typeOf(getTo());
  if (from && to && byteSize(from) != byteSize(to))
    return emitOpError("copies ") << byteSize(from) << " bytes to " << byteSize(to);
  return success();
}

// exec.loop 12 {..}  |  exec.loop while %p {..} do {..}
ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Region *condition = result.addRegion(), *body = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("while"))) {
    OpAsmParser::UnresolvedOperand predicate;
    if (parser.parseOperand(predicate) ||
        parser.resolveOperand(predicate, BufferType::get(parser.getContext()), result.operands) ||
        parser.parseRegion(*condition) || parser.parseKeyword("do"))
      return failure();
    if (condition->empty())
      condition->emplaceBlock();
  } else {
    int64_t trips;
    if (parser.parseInteger(trips))
      return failure();
    result.addAttribute("trip_count", parser.getBuilder().getI64IntegerAttr(trips));
  }
  if (parser.parseRegion(*body) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void LoopOp::print(OpAsmPrinter &p) {
  p << ' ';
  if (getTripCount()) {
    p << *getTripCount() << ' ';
  } else {
    p << "while " << getPredicate() << ' ';
    p.printRegion(getCondition());
    p << " do ";
  }
  p.printRegion(getBody());
  p.printOptionalAttrDict((*this)->getAttrs(), {"trip_count"});
}

LogicalResult LoopOp::verify() {
  if (getTripCount().has_value() == static_cast<bool>(getPredicate()))
    return emitOpError("needs either a trip count or a predicate");
  if (getTripCount() && !getCondition().empty())
    return emitOpError("with a trip count takes no condition");
  if (getPredicate() && getCondition().empty())
    return emitOpError("needs a condition that writes the predicate");
  return success();
}

// exec.branch %i {..}, {..}
ParseResult BranchOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand index;
  if (parser.parseOperand(index) ||
      parser.resolveOperand(index, BufferType::get(parser.getContext()), result.operands))
    return failure();
  do {
    Region *block = result.addRegion();
    if (parser.parseRegion(*block))
      return failure();
    if (block->empty())
      block->emplaceBlock();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseOptionalAttrDict(result.attributes);
}

void BranchOp::print(OpAsmPrinter &p) {
  p << ' ' << getIndex() << ' ';
  llvm::interleaveComma(getBlocks(), p, [&](Region &block) { p.printRegion(block); });
  p.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult BranchOp::verify() {
  return getBlocks().empty() ? emitOpError("needs at least one block") : success();
}

} // namespace tessera::exec
