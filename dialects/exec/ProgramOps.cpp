// Assembly and verifiers of exec.program, its functions and its instructions.
#include "dialects/exec/ExecOps.h"

#include "dialects/sdy/SdyAttrs.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace tessera::exec {

// The end of a program and of a function: attributes {..} and a region of one block.
static ParseResult parseBody(OpAsmParser &parser, OperationState &result) {
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  if (result.regions.front()->empty())
    result.regions.front()->emplaceBlock();
  return success();
}

// exec.program @main mesh @mesh devices [2] arena 4096 host 0 file 0 constants 64 inputs [..]
// outputs [..] {..}
ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  FlatSymbolRefAttr mesh;
  ArrayAttr inputs, outputs;
  int64_t arena = 0, host = 0, file = 0, constants = 0;
  Builder &b = parser.getBuilder();
  auto optional = [&](StringRef keyword, int64_t &bytes) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    return parser.parseInteger(bytes);
  };
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    if (parser.parseAttribute(mesh))
      return failure();
    result.addAttribute("mesh", mesh);
  }
  if (succeeded(parser.parseOptionalKeyword("devices"))) {
    SmallVector<int64_t> devices;
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() -> ParseResult {
          return parser.parseInteger(devices.emplace_back());
        }))
      return failure();
    result.addAttribute("devices", b.getDenseI64ArrayAttr(devices));
  }
  if (parser.parseKeyword("arena") || parser.parseInteger(arena) || optional("host", host) ||
      optional("file", file) || parser.parseKeyword("constants") ||
      parser.parseInteger(constants) || parser.parseKeyword("inputs") ||
      parser.parseAttribute(inputs) || parser.parseKeyword("outputs") ||
      parser.parseAttribute(outputs))
    return failure();
  result.addAttribute("arena_bytes", b.getI64IntegerAttr(arena));
  if (host)
    result.addAttribute("host_bytes", b.getI64IntegerAttr(host));
  if (file)
    result.addAttribute("file_bytes", b.getI64IntegerAttr(file));
  result.addAttribute("constant_bytes", b.getI64IntegerAttr(constants));
  result.addAttribute("inputs", inputs);
  result.addAttribute("outputs", outputs);
  return parseBody(parser, result);
}

void ProgramOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  if (getMeshAttr())
    p << " mesh " << getMeshAttr();
  if (auto devices = getDevices()) {
    p << " devices [";
    llvm::interleaveComma(*devices, p);
    p << ']';
  }
  p << " arena " << getArenaBytes();
  if (getHostBytes())
    p << " host " << getHostBytes();
  if (getFileBytes())
    p << " file " << getFileBytes();
  p << " constants " << getConstantBytes() << " inputs " << getInputs() << " outputs "
    << getOutputs();
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {SymbolTable::getSymbolAttrName(), "mesh", "devices", "arena_bytes",
                            "host_bytes", "file_bytes", "constant_bytes", "inputs", "outputs"});
  p << ' ';
  p.printRegion(getBody());
}

// A device's arrays hold their parts of the whole, and what the caller passes is a whole value.
static LogicalResult verifyParameter(ProgramOp program, ParameterAttr parameter, StringRef side,
                                     unsigned index) {
  auto error = [&](const Twine &what) {
    return program.emitOpError() << side << ' ' << index << ": " << what;
  };
  if (parameter.getMemory() == Memory::File)
    return error("a caller's arrays lie in memory, not in a file");
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

// Distinct names for functions: calls name them.
static LogicalResult verifyFunctions(ProgramOp program) {
  llvm::StringSet<> names;
  for (auto function : program.getBlock()->getOps<FunctionOp>())
    if (!names.insert(function.getSymName()).second)
      return function.emitOpError("has the name of another function of its program");
  return success();
}

LogicalResult ProgramOp::verify() {
  if (static_cast<int64_t>(getArenaBytes()) < 0 || static_cast<int64_t>(getConstantBytes()) < 0 ||
      static_cast<int64_t>(getHostBytes()) < 0 || static_cast<int64_t>(getFileBytes()) < 0)
    return emitOpError("has a space of less than no bytes");
  if (getDevices() && getDevices()->empty())
    return emitOpError("names no devices");
  if (failed(verifyFunctions(*this)))
    return failure();
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
    return parser.emitError(loc, "expected arena, input, output, constant, host, file or argument");
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

static bool isNumbered(Space space) {
  return space == Space::Input || space == Space::Output || space == Space::Argument;
}

void BufferOp::print(OpAsmPrinter &p) {
  p << ' ' << stringifySpace(getSpace());
  if (isNumbered(getSpace()))
    p << ' ' << getIndex();
  if (getOffset() || !isNumbered(getSpace()))
    p << " at " << getOffset();
  p << " : " << getType();
  p.printOptionalAttrDict((*this)->getAttrs(), {"space", "index", "offset", "type"});
}

LogicalResult DispatchOp::verify() {
  if (getScratchAt() && static_cast<int64_t>(*getScratchAt()) < 0)
    return emitOpError("has scratch before the arena begins");
  if (!getScratchIn())
    return success();
  auto program = (*this)->getParentOfType<ProgramOp>();
  bool isParameter = *getScratchIn() == Space::Input || *getScratchIn() == Space::Output;
  if (!isParameter || !getScratchAt() || !program)
    return emitOpError("has scratch in what is no input or output");
  ArrayAttr parameters =
      *getScratchIn() == Space::Input ? program.getInputs() : program.getOutputs();
  if (getScratchIndex() >= parameters.size())
    return emitOpError("has scratch in ") << stringifySpace(*getScratchIn()) << ' '
                                          << getScratchIndex() << " of " << parameters.size();
  return success();
}

int64_t BufferOp::getBytes() { return byteSize(getTensorType()); }

LogicalResult BufferOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return emitOpError("must be inside exec.program");
  int64_t index = getIndex(), begin = getOffset(), end = begin + getBytes(), size = 0;
  if (std::optional<ArrayRef<int64_t>> array = getArray()) {
    bool isWhole = array->size() >= 2 && array->size() % 2 == 0 && (*array)[0] <= begin &&
                   end <= (*array)[0] + (*array)[1] && llvm::is_sorted(array->drop_front(2));
    bool isPlaced =
        getSpace() == Space::Arena || getSpace() == Space::Input || getSpace() == Space::Output;
    if (!isPlaced || !isWhole)
      return emitOpError("is no part of its array");
  }
  ArrayAttr parameters = getSpace() == Space::Input ? program.getInputs() : program.getOutputs();
  switch (getSpace()) {
  case Space::Arena:
    size = program.getArenaBytes();
    break;
  case Space::Constant:
    size = program.getConstantBytes();
    break;
  case Space::HostArena:
    size = program.getHostBytes();
    break;
  case Space::FileArena:
    size = program.getFileBytes();
    break;
  case Space::Argument: {
    auto function = (*this)->getParentOfType<FunctionOp>();
    if (!function)
      return emitOpError("names an argument outside of exec.function");
    if (index < 0 || index >= function.getNumArguments())
      return emitOpError("names argument ") << index << " of " << function.getNumArguments();
    size = byteSize(function.getArgumentType(index));
    break;
  }
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

static bool isInFile(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOp>();
  return op && op.getSpace() == Space::FileArena;
}

template <typename Copy> static LogicalResult verifySizes(Copy op) {
  RankedTensorType from = typeOf(op.getFrom()), to = typeOf(op.getTo());
  if (from && to && byteSize(from) != byteSize(to))
    return op.emitOpError("copies ") << byteSize(from) << " bytes to " << byteSize(to);
  return success();
}

// A copy of a part, at a place that data decides.
static LogicalResult verifyPart(CopyStartOp op) {
  if (!op.getIndex() || op.getStep().value_or(0) <= 0)
    return op.emitOpError("needs an index and a step of at least one byte, or none of both");
  RankedTensorType index = typeOf(op.getIndex()), from = typeOf(op.getFrom()),
                   to = typeOf(op.getTo());
  if (!index || !from || !to)
    return success();
  if (index.getRank() || !index.getElementType().isInteger(32))
    return op.emitOpError("takes an i32 as index, not ") << index;
  if ((byteSize(from) - byteSize(to)) % static_cast<int64_t>(*op.getStep()))
    return op.emitOpError("goes in steps of ")
           << *op.getStep() << " bytes through " << byteSize(from) << " and " << byteSize(to)
           << ", which do not end together";
  return success();
}

LogicalResult CopyOp::verify() {
  if (isInFile(getFrom()) || isInFile(getTo()))
    return emitOpError("waits for a file; begin with exec.copy_start, and end with exec.wait");
  return verifySizes(*this);
}

LogicalResult CopyStartOp::verify() {
  if (isInFile(getFrom()) && isInFile(getTo()))
    return emitOpError("copies from file to file; go through memory");
  if (getIndex() || getStep())
    return verifyPart(*this);
  return verifySizes(*this);
}

LogicalResult ChannelOp::verify() {
  auto pairs = getSourceTarget();
  if (pairs && pairs->size() % 2)
    return emitOpError("has a position without another in `source_target`");
  return success();
}

RankedTensorType FunctionOp::getArgumentType(int64_t i) {
  auto reads = static_cast<int64_t>(getReads().size());
  Attribute type = i < reads ? getReads()[i] : getWrites()[i - reads];
  return dyn_cast<RankedTensorType>(cast<TypeAttr>(type).getValue());
}

// exec.function @layer reads [tensor<8xf32>] writes [tensor<8xf32>] {..}
ParseResult FunctionOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  ArrayAttr reads, writes;
  if (parser.parseSymbolName(name, SymbolTable::getSymbolAttrName(), result.attributes) ||
      parser.parseKeyword("reads") || parser.parseAttribute(reads) ||
      parser.parseKeyword("writes") || parser.parseAttribute(writes))
    return failure();
  result.addAttribute("reads", reads);
  result.addAttribute("writes", writes);
  return parseBody(parser, result);
}

void FunctionOp::print(OpAsmPrinter &p) {
  p << ' ';
  p.printSymbolName(getSymName());
  p << " reads " << getReads() << " writes " << getWrites();
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {SymbolTable::getSymbolAttrName(), "reads", "writes"});
  p << ' ';
  p.printRegion(getBody());
}

LogicalResult FunctionOp::verify() {
  for (int64_t i = 0; i < getNumArguments(); ++i)
    if (!getArgumentType(i))
      return emitOpError("takes buffers of tensors only");
  return success();
}

LogicalResult CallOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return emitOpError("must be inside exec.program");
  for (auto function : program.getBlock()->getOps<FunctionOp>()) {
    if (function.getSymName() != getFunction())
      continue;
    if (getReads().size() != function.getReads().size() ||
        getWrites().size() != function.getWrites().size())
      return emitOpError("gives @")
             << getFunction() << ' ' << getReads().size() << " buffers and " << getWrites().size()
             << " to write, it takes " << function.getReads().size() << " and "
             << function.getWrites().size();
    for (auto [i, operand] : llvm::enumerate(getOperands())) {
      RankedTensorType given = typeOf(operand), expected = function.getArgumentType(i);
      if (given && expected && byteSize(given) < byteSize(expected))
        return emitOpError("gives @")
               << getFunction() << ' ' << given << " where it takes " << expected;
    }
    return success();
  }
  return emitOpError("names no exec.function of its program: @") << getFunction();
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
