#include "passes/codegen/cpu/KeyedSort.h"

#include "passes/codegen/cpu/Accumulators.h"
#include "passes/codegen/cpu/LoopNest.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

constexpr int64_t fewRecords = 64; // are sorted by counting
constexpr int64_t widestVector = 16;

static llvm::Type *like(llvm::Type *shape, llvm::Type *scalar) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return vector ? llvm::FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

static Value integer(llvm::Type *type, const llvm::APInt &value) {
  return llvm::ConstantInt::get(type, value);
}

//===--- What travels ---===//

// Whether a key tells its number, all of its bits.
static bool isInvertible(ElementKind kind, bool isTotal) {
  if (isFloat(kind))
    return isTotal &&
           (kind == ElementKind::F64 || kind == ElementKind::F32 || kind == ElementKind::BF16);
  return bitWidth(kind) >= 8;
}

bool KeyedSort::build() {
  size = shapeOf(op->getOperand(0))[dimension];
  mlir::Block &body = op.getComparator().front();
  llvm::SmallVector<Element> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    operands.push_back(g.builder.at(op->getOperand(i), index));
    if (!operands.back())
      return false;
    g.builder.bindElement(body.getArgument(2 * i), operands.back());
  }
  key = g.builder.at(order.key, {}).re;
  if (!key)
    return false;
  keyBits = order.keyBits();
  takesFirst = order.takesFirst(size, kept);
  if (!buildResults(operands))
    return false;
  recordType = b.getIntNTy(llvm::PowerOf2Ceil(keyBits + payloadBits));
  reserve();
  return true;
}

bool KeyedSort::buildResults(llvm::ArrayRef<Element> operands) {
  Graph &graph = g.graph;
  outDim = graph.addDim(kept);
  llvm::SmallVector<Index, 6> to(index), from(index);
  to[dimension] = graph.dim(outDim);
  // Each result's value at its record's place: what is put there when it is known.
  place = sortedPlaceOf(graph, outDim, kept, size);
  from[dimension] = graph.node(place);
  llvm::SmallVector<int64_t> shape(shapeOf(op->getOperand(0)));
  shape[dimension] = kept;
  outOffset = graph.linearise(to, shape);
  unsigned others = 0;
  for (unsigned i = 0; i < operands.size(); ++i) {
    int output = sortOutputOf(function.kernel, op, i);
    if (output < 0)
      continue;
    Result result{
        static_cast<unsigned>(output), {}, elementType(op->getOperand(i).getType())->kind};
    result.isKey = static_cast<int>(i) == order.operand && isInvertible(result.kind, order.isTotal);
    result.travels = !result.isKey && !operands[i].im && byteSize(result.kind) <= 4;
    others += !result.isKey;
    if (result.travels)
      payload = operands[i].re;
    if (!result.isKey) {
      result.value = g.builder.at(op->getOperand(i), from);
      if (!result.value)
        return false;
    }
    results.push_back(result);
  }
  // One alone travels itself; of several, and where records must differ, their places do.
  bool mustDiffer = size <= fewRecords || takesFirst;
  for (Result &result : results)
    result.travels &= others == 1 && !mustDiffer;
  if (others != 1 || mustDiffer || llvm::none_of(results, [](auto &r) { return r.travels; }))
    payload = nullptr;
  payloadBits = others || mustDiffer ? 32 : 0;
  return true;
}

void KeyedSort::reserve() {
  capacity = takesFirst ? SortOrder::roomForFirst(kept) : size;
  int64_t bytes = recordType->getIntegerBitWidth() / 8;
  for (int64_t &offset : places)
    offset = function.reserveScratch((capacity + 2 * widestVector) * bytes);
  digitBits = capacity >= 2048 && keyBits > 16 ? 11 : 8;
  passes = llvm::divideCeil(keyBits, digitBits);
  isFew = size <= fewRecords && recordType->getIntegerBitWidth() <= 64;
  counters = isFew ? 0 : function.reserveScratch((passes << digitBits) * 4);
}

// In the order of the numbers.
Value KeyedSort::keyOf(Value value) {
  ElementKind kind = key->kind;
  llvm::Type *type = like(value->getType(), b.getIntNTy(keyBits));
  Value made;
  if (isFloat(kind)) {
    if (!order.isTotal) {
      Value zero = llvm::Constant::getNullValue(value->getType());
      value = b.CreateSelect(b.CreateFCmpOEQ(value, zero), zero, value);
    }
    unsigned width = kind == ElementKind::F64 ? 64 : 32;
    llvm::Type *bits = like(value->getType(), b.getIntNTy(width));
    if (kind == ElementKind::BF16 && key->op != Op::Load)
      value = e.round(kind, value);
    made = orderedBits(b, b.CreateBitCast(value, bits));
    made = b.CreateXor(made, integer(bits, llvm::APInt::getSignMask(width)));
    if (keyBits < width)
      made = b.CreateTrunc(b.CreateLShr(made, width - keyBits), type);
  } else {
    made = isSigned(kind) ? b.CreateSExt(value, type) : b.CreateZExt(value, type);
    if (isSigned(kind))
      made = b.CreateXor(made, integer(type, llvm::APInt::getSignMask(keyBits)));
  }
  return order.isDescending ? b.CreateNot(made) : made;
}

// The number's, as it lies in memory.
Value KeyedSort::bitsOfKey(Value made) {
  llvm::Type *type = made->getType();
  if (order.isDescending)
    made = b.CreateNot(made);
  Value sign = integer(type, llvm::APInt::getSignMask(keyBits));
  if (isFloat(key->kind))
    return orderedBits(b, b.CreateXor(made, sign));
  return isSigned(key->kind) ? b.CreateXor(made, sign) : made;
}

// Of the elements that the innermost loop is at.
Value KeyedSort::record(unsigned lanes) {
  llvm::Type *type = e.typeOf(ElementKind::I64, lanes);
  type = like(type, recordType);
  Value made = b.CreateZExt(e.splat(keyOf(e.emit(key)), lanes), type);
  if (payloadBits == 0)
    return made;
  Value with;
  if (payload) {
    Node *moved = g.graph.movedBits(payload);
    with = moved ? e.emit(moved) : e.toMemory(payload->kind, e.emit(payload));
    with = e.splat(with, lanes);
    with = b.CreateBitCast(with, like(with->getType(), b.getIntNTy(8 * byteSize(payload->kind))));
  } else {
    with = e.splat(e.emit(g.graph.iota(ElementKind::I32, index[dimension])), lanes);
  }
  return b.CreateOr(b.CreateShl(made, payloadBits), b.CreateZExt(with, type));
}

Value KeyedSort::recordAt(Value records, Value number) {
  return b.CreateInBoundsGEP(recordType, records, number);
}

//===--- Sorting ---===//

static llvm::Align alignOf(llvm::Type *record) {
  return llvm::Align(std::min<uint64_t>(record->getIntegerBitWidth() / 8, 8));
}

// All records of the row, one after the other; what fills the last vector is larger.
void KeyedSort::collect(unsigned along) {
  unsigned lanes = recordType->getIntegerBitWidth() > 64 ? 1 : widestVector;
  Value records = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[0]);
  loopOver(e, {{along}}, lanes, [&] {
    Value made = record(e.lanes());
    const Emitter::Level *level = e.vectorLevel();
    if (level && level->laneMask)
      made =
          b.CreateSelect(level->laneMask, made, llvm::Constant::getAllOnesValue(made->getType()));
    b.CreateAlignedStore(made, recordAt(records, e.emitIndex(g.graph.dim(along))),
                         alignOf(recordType));
  });
}

Value KeyedSort::digit(Value record, Value pass) {
  Value shift = b.CreateNUWAdd(b.CreateNUWMul(pass, e.i64(digitBits)), e.i64(payloadBits));
  Value low = b.CreateLShr(record, b.CreateZExtOrTrunc(shift, recordType));
  return b.CreateAnd(b.CreateZExtOrTrunc(low, b.getInt64Ty()), e.i64((1 << digitBits) - 1));
}

// Sorts the first `count` records; returns where they are then.
Value KeyedSort::sorted(Value count) {
  Value counts = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, counters);
  b.CreateMemSet(counts, b.getInt8(0), e.i64((passes << digitBits) * 4), llvm::MaybeAlign(64));
  Value fromSlot = e.temporary(b.getPtrTy()), toSlot = e.temporary(b.getPtrTy());
  Value first = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[0]);
  b.CreateStore(first, fromSlot);
  b.CreateStore(b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[1]), toSlot);
  Value i = e.openLoop(e.i64(0), count, 1, /*mayBeEmpty=*/true);
  Value record = b.CreateAlignedLoad(recordType, recordAt(first, i), alignOf(recordType));
  for (int64_t pass = 0; pass < passes; ++pass) {
    Value bucket = b.CreateNUWAdd(digit(record, e.i64(pass)), e.i64(pass << digitBits));
    Value counter = b.CreateInBoundsGEP(b.getInt32Ty(), counts, bucket);
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt32Ty(), counter), b.getInt32(1)), counter);
  }
  e.closeLoop();
  Value pass = e.openLoop(e.i64(0), e.i64(passes), 1, false);
  // Where all have the same digit they are in its order.
  Value from = b.CreateLoad(b.getPtrTy(), fromSlot);
  Value one = b.CreateAlignedLoad(recordType, from, alignOf(recordType));
  Value bucket = b.CreateNUWAdd(digit(one, pass), b.CreateShl(pass, digitBits));
  Value same = b.CreateLoad(b.getInt32Ty(), b.CreateInBoundsGEP(b.getInt32Ty(), counts, bucket));
  e.openIf(b.CreateICmpNE(b.CreateZExt(same, b.getInt64Ty()), count));
  scatterByDigit(pass, count, fromSlot, toSlot);
  e.closeLoop();
  e.closeLoop();
  return b.CreateLoad(b.getPtrTy(), fromSlot);
}

void KeyedSort::scatterByDigit(Value pass, Value count, Value fromSlot, Value toSlot) {
  Value all = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, counters);
  Value counts = b.CreateInBoundsGEP(b.getInt32Ty(), all, b.CreateShl(pass, digitBits));
  Value startSlot = e.temporary(b.getInt32Ty());
  b.CreateStore(b.getInt32(0), startSlot);
  Value bucket = e.openLoop(e.i64(0), e.i64(1 << digitBits), 1, false);
  Value counter = b.CreateInBoundsGEP(b.getInt32Ty(), counts, bucket);
  Value start = b.CreateLoad(b.getInt32Ty(), startSlot);
  Value here = b.CreateLoad(b.getInt32Ty(), counter);
  b.CreateStore(start, counter);
  b.CreateStore(b.CreateAdd(start, here), startSlot);
  e.closeLoop();
  Value from = b.CreateLoad(b.getPtrTy(), fromSlot), to = b.CreateLoad(b.getPtrTy(), toSlot);
  Value i = e.openLoop(e.i64(0), count, 1, false);
  Value record = b.CreateAlignedLoad(recordType, recordAt(from, i), alignOf(recordType));
  Value next = b.CreateInBoundsGEP(b.getInt32Ty(), counts, digit(record, pass));
  Value at = b.CreateLoad(b.getInt32Ty(), next);
  b.CreateStore(b.CreateAdd(at, b.getInt32(1)), next);
  b.CreateAlignedStore(record, recordAt(to, b.CreateZExt(at, b.getInt64Ty())), alignOf(recordType));
  e.closeLoop();
  b.CreateStore(to, fromSlot);
  b.CreateStore(from, toSlot);
}

// Each of a few records goes where as many are less: no two are equal.
Value KeyedSort::counted() {
  constexpr int64_t lanes = 8;
  Value from = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[0]);
  Value to = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[1]);
  auto *type = llvm::FixedVectorType::get(recordType, lanes);
  Value slot = e.temporary(type);
  Value start = e.openLoop(e.i64(0), e.i64(size), lanes, false);
  Value these = b.CreateAlignedLoad(type, recordAt(from, start), alignOf(recordType));
  b.CreateStore(llvm::Constant::getNullValue(type), slot);
  Value i = e.openLoop(e.i64(0), e.i64(size), 1, false);
  Value other = b.CreateAlignedLoad(recordType, recordAt(from, i), alignOf(recordType));
  Value isLess = b.CreateICmpULT(e.splat(other, lanes), these);
  b.CreateStore(b.CreateAdd(b.CreateLoad(type, slot), b.CreateZExt(isLess, type)), slot);
  e.closeLoop();
  Value ranks = b.CreateLoad(type, slot);
  b.CreateMaskedScatter(these, b.CreateInBoundsGEP(recordType, to, ranks), alignOf(recordType));
  e.closeLoop();
  return to;
}

// The first records of a long row. Each part of the row adds a quarter of what there is room for at
// most; when that much may be lacking they are sorted, and the first ones stay.
void KeyedSort::collectFirst(unsigned along) {
  int64_t part = capacity / 4;
  Value records = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[0]);
  Value countSlot = e.temporary(b.getInt64Ty()), limitSlot = e.temporary(recordType);
  b.CreateStore(e.i64(0), countSlot);
  b.CreateStore(llvm::Constant::getAllOnesValue(recordType), limitSlot);
  Value low = e.openLoop(e.i64(0), e.i64(size), part, false);
  Value high =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(low, e.i64(part)), e.i64(size));
  Value limit = b.CreateLoad(recordType, limitSlot);
  loopOver(e, {{along, low, high}}, widestVector, [&] {
    Value made = record(widestVector);
    Value isLess = b.CreateICmpULT(made, e.splat(limit, widestVector));
    if (Value mask = e.vectorLevel()->laneMask)
      isLess = b.CreateAnd(isLess, mask);
    Value bits = b.CreateBitCast(isLess, b.getIntNTy(widestVector));
    e.openIf(b.CreateICmpNE(bits, b.getIntN(widestVector, 0)));
    Value count = b.CreateLoad(b.getInt64Ty(), countSlot);
    b.CreateMaskedCompressStore(made, recordAt(records, count), llvm::Align(8), isLess);
    Value more = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
    b.CreateStore(b.CreateNSWAdd(count, b.CreateZExt(more, b.getInt64Ty())), countSlot);
    e.closeLoop();
  });
  Value count = b.CreateLoad(b.getInt64Ty(), countSlot);
  Value isFull = b.CreateICmpSGT(count, e.i64(capacity - part));
  e.openIf(b.CreateOr(isFull, b.CreateICmpEQ(high, e.i64(size))));
  Value first = sorted(count);
  b.CreateMemMove(records, llvm::MaybeAlign(8), first, llvm::MaybeAlign(8),
                  e.i64(kept * static_cast<int64_t>(recordType->getIntegerBitWidth()) / 8));
  b.CreateStore(e.i64(kept), countSlot);
  Value last = b.CreateConstInBoundsGEP1_64(recordType, records, kept - 1);
  b.CreateStore(b.CreateAlignedLoad(recordType, last, alignOf(recordType)), limitSlot);
  e.closeLoop();
  e.closeLoop();
}

//===--- Results ---===//

void KeyedSort::writeResults(Value records) {
  // One row is no loop of the results.
  bool isOne = kept == 1 || recordType->getIntegerBitWidth() > 64;
  unsigned lanes = isOne ? 1 : widestVector;
  loopOver(e, {{outDim}}, lanes, [&] {
    unsigned width = e.lanes();
    llvm::Type *type = like(e.typeOf(ElementKind::I64, width), recordType);
    Value made = b.CreateAlignedLoad(type, recordAt(records, e.emitIndex(g.graph.dim(outDim))),
                                     alignOf(recordType));
    auto part = [&](Value from, unsigned bits) {
      return b.CreateZExtOrTrunc(from, like(type, b.getIntNTy(bits)));
    };
    if (payloadBits && !payload) {
      auto isAtRow = [&](const Emitter::Level &level) { return level.dims >> outDim & 1; };
      llvm::find_if(llvm::reverse(e.levels), isAtRow)->values[place] =
          b.CreateZExt(part(made, payloadBits), like(type, b.getInt64Ty()));
    }
    for (const Result &result : results) {
      Value output = function.outputBuffer(result.output);
      if (result.isKey) {
        Value bits = bitsOfKey(part(b.CreateLShr(made, payloadBits), keyBits));
        e.store(output, bitsKind(keyBits), outOffset, bits);
      } else if (result.travels) {
        unsigned bits = 8 * byteSize(result.kind);
        e.store(output, bitsKind(bits), outOffset, part(made, bits));
      } else if (result.value.im) {
        Value re = e.emit(result.value.re);
        e.store(output, result.kind, g.graph.multiply(outOffset, 2), re, e.emit(result.value.im));
      } else if (Node *moved = g.graph.movedBits(result.value.re)) {
        e.store(output, moved->kind, outOffset, e.emit(moved));
      } else {
        e.store(output, result.kind, outOffset, e.emit(result.value.re));
      }
    }
  });
}

void KeyedSort::emitRow(unsigned along) {
  Value records = b.CreateConstGEP1_64(b.getInt8Ty(), e.scratch, places[0]);
  if (takesFirst) {
    collectFirst(along);
    return writeResults(records);
  }
  collect(along);
  writeResults(isFew ? counted() : sorted(e.i64(size)));
}

} // namespace tessera::codegen
