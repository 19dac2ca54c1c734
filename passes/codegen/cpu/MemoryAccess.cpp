// Loads and stores: contiguous, invariant, strided, or lane by lane.
#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/cpu/Fence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"

namespace tessera::codegen {

static llvm::Type *withLanes(llvm::Type *type, unsigned lanes) {
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
}

static bool isVector(Value value) { return value->getType()->isVectorTy(); }

Value Emitter::bufferPointer(int buffer) {
  const BufferInfo &info = graph.buffers[buffer];
  if (info.source == BufferInfo::Argument)
    return arguments[info.position];
  if (info.source == BufferInfo::Scratch)
    return b.CreateConstGEP1_64(b.getInt8Ty(), scratch, info.position);
  if (constantArrays.size() <= static_cast<size_t>(buffer))
    constantArrays.resize(buffer + 1);
  if (constantArrays[buffer])
    return constantArrays[buffer];
  llvm::Constant *data;
  if (info.kind == ElementKind::I1) {
    llvm::SmallVector<uint8_t> bytes;
    for (bool value : info.data.getValues<bool>())
      bytes.push_back(value);
    data = llvm::ConstantDataArray::get(b.getContext(), bytes);
  } else {
    llvm::ArrayRef<char> raw = info.data.getRawData();
    data = llvm::ConstantDataArray::getRaw({raw.data(), raw.size()}, raw.size(), b.getInt8Ty());
  }
  auto *global = new llvm::GlobalVariable(module, data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, "table");
  global->setAlignment(llvm::Align(64));
  return constantArrays[buffer] = global;
}

Value Emitter::element(Value pointer, ElementKind kind, Value offset) {
  return b.CreateInBoundsGEP(memoryType(kind, b.getContext()), pointer, offset);
}

Value Emitter::emitIndex(Index index) {
  Value sum = nullptr;
  auto add = [&](Value term, int64_t factor) {
    if (factor != 1)
      term = b.CreateNSWMul(term, i64(factor));
    sum = sum ? b.CreateNSWAdd(sum, term) : term;
  };
  for (auto [dim, factor] : index->dims)
    if (variables[dim])
      add(variables[dim], factor);
  for (auto [node, factor] : index->nodes)
    add(emit(node), factor);
  if (!sum)
    return i64(index->constant);
  return index->constant ? b.CreateNSWAdd(sum, i64(index->constant)) : sum;
}

std::optional<unsigned> firstLanes(Value mask, unsigned lanes) {
  if (!mask)
    return lanes;
  auto *known = llvm::dyn_cast<llvm::Constant>(mask);
  unsigned count = 0;
  while (known && count < lanes && known->getAggregateElement(count)->isOneValue())
    ++count;
  for (unsigned lane = count; known && lane < lanes; ++lane)
    if (!known->getAggregateElement(lane)->isNullValue())
      return std::nullopt;
  return known && count ? std::optional(count) : std::nullopt;
}

Value maskOfFirst(llvm::IRBuilder<> &b, int64_t count, unsigned lanes) {
  llvm::SmallVector<llvm::Constant *> exists;
  for (unsigned lane = 0; lane < lanes; ++lane)
    exists.push_back(b.getInt1(lane < count));
  return llvm::ConstantVector::get(exists);
}

// Where the lanes' elements are beside those of the row that the loop is at; null: where it is.
static Value lanePlaces(llvm::IRBuilder<> &b, const ShortRows &rows, Index index, unsigned lanes) {
  if (!index->coefficient(rows.row) && !index->coefficient(rows.column))
    return nullptr;
  llvm::SmallVector<uint64_t> places;
  for (unsigned lane = 0; lane < lanes; ++lane)
    places.push_back(rows.offsetOf(index, lane));
  return llvm::ConstantDataVector::get(b.getContext(), places);
}

void Emitter::split(Index index, Value &base, int64_t &stride, Value &perLane) {
  const Level *vector = vectorLevel();
  stride = 0;
  perLane = nullptr;
  base = nullptr;
  auto scaled = [&](Value term, int64_t factor) {
    if (factor == 1)
      return term;
    return b.CreateNSWMul(term, llvm::ConstantInt::getSigned(term->getType(), factor));
  };
  const ShortRows *rows = vector && vector->shortRows ? &*vector->shortRows : nullptr;
  if (rows && rows->isAlong(index)) {
    stride = index->coefficient(rows->column);
    if (stride * rows->first)
      base = i64(stride * rows->first);
  } else if (rows) {
    perLane = lanePlaces(b, *rows, index, vector->lanes);
  }
  for (auto [dim, factor] : index->dims) {
    if (!variables[dim])
      continue;
    if (vector && !rows && (vector->dims >> dim & 1))
      stride += factor;
    Value term = scaled(variables[dim], factor);
    base = base ? b.CreateNSWAdd(base, term) : term;
  }
  for (auto [node, factor] : index->nodes) {
    Value term = scaled(emit(node), factor);
    Value &into = isVector(term) ? perLane : base;
    into = into ? b.CreateNSWAdd(into, term) : term;
  }
  if (index->constant || !base)
    base = base ? b.CreateNSWAdd(base, i64(index->constant)) : i64(index->constant);
}

static Value laneNumbers(llvm::IRBuilder<> &b, llvm::Type *scalar, unsigned lanes, int64_t stride) {
  llvm::SmallVector<llvm::Constant *> numbers;
  for (unsigned i = 0; i < lanes; ++i)
    numbers.push_back(llvm::ConstantInt::getSigned(scalar, i * stride));
  return llvm::ConstantVector::get(numbers);
}

Value Emitter::iota(Node *node) {
  Value base, perLane;
  int64_t stride;
  split(node->index, base, stride, perLane);
  unsigned width = (stride || perLane) ? lanes() : 1;
  // Integers of 32 bits and less wrap alike whether they are added before or after being narrowed.
  ElementKind via =
      isInteger(node->kind) && bitWidth(node->kind) >= 8 ? node->kind : ElementKind::I64;
  // Where every value fits, 32 bits are cheaper.
  if (via == ElementKind::I64 && node->kind != ElementKind::I64 && node->low > INT32_MIN &&
      node->high < INT32_MAX && !perLane)
    via = ElementKind::I32;
  llvm::Type *scalar = computeType(via, b.getContext());
  Value value = splat(b.CreateTrunc(base, scalar), width);
  if (stride)
    value = b.CreateAdd(value, laneNumbers(b, scalar, width, stride));
  if (perLane)
    value = b.CreateAdd(value, b.CreateTrunc(perLane, value->getType()));
  return convert(value, via, node->kind);
}

// Whether a masked load may look at pages that are not there: the processor then takes a fault and
// drops it, each time, though no lane reads anything.
bool Emitter::reachesFar(Node *node) {
  constexpr int64_t kNear = 65'536; // bytes; around a buffer others lie
  auto [low, high] = graph.range(node->index);
  int64_t elements = graph.buffers[node->buffer()].elements, near = kNear / byteSize(node->kind);
  return low < -near || high > elements + near;
}

// Read everything between, then pick. The parts of complex numbers share their loads this way. Of the lanes
// the first `count` are there.
Value Emitter::loadApart(Node *node, Value base, int64_t stride, unsigned count) {
  llvm::Type *type = memoryType(node->kind, b.getContext());
  unsigned width = vectorLevel()->lanes, part = std::min(width, 32u);
  int64_t phase = (node->index->constant % stride + stride) % stride;
  for (auto [dim, factor] : node->index->dims)
    if (factor % stride)
      phase = 0;
  if (!node->index->nodes.empty())
    phase = 0;
  llvm::SmallVector<Value> parts;
  for (unsigned lane = 0; lane < width; lane += part) {
    part = std::min(part, width - lane);
    unsigned here = std::clamp<int64_t>(int64_t(count) - lane, 0, part);
    if (here == 0) {
      parts.push_back(llvm::Constant::getNullValue(llvm::FixedVectorType::get(type, part)));
      continue;
    }
    int64_t last = phase + (here - 1) * stride, wide = llvm::PowerOf2Ceil(last + 1);
    llvm::SmallVector<int> picks;
    for (unsigned i = 0; i < part; ++i)
      picks.push_back(phase +
                      (i < here ? i * stride : 0)); // all of them numbers: some are divided by
    llvm::Type *wideType = llvm::FixedVectorType::get(type, wide);
    Value place = b.CreateNSWAdd(base, i64(lane * stride - phase));
    Value all = maskedLoad(wideType, element(bufferPointer(node->buffer()), node->kind, place),
                           llvm::Align(byteSize(node->kind)), maskOfFirst(b, last + 1, wide));
    parts.push_back(b.CreateShuffleVector(all, picks));
  }
  return fromMemory(node->kind, llvm::concatenateVectors(b, parts));
}

Value Emitter::load(Node *node) {
  llvm::Type *type = memoryType(node->kind, b.getContext());
  llvm::Align align(byteSize(node->kind));
  for (Node *filler : node->operands)
    emit(filler);
  Value mask = node->mask ? emit(node->mask) : nullptr;
  Value base, perLane;
  int64_t stride;
  split(node->index, base, stride, perLane);
  Value pointer = bufferPointer(node->buffer());

  if (!stride && !perLane && !(mask && isVector(mask))) {
    if (mask) // nothing to read: read the first element instead, it is not used
      base = b.CreateSelect(mask, base, i64(0));
    return fromMemory(node->kind,
                      b.CreateAlignedLoad(type, element(pointer, node->kind, base), align));
  }

  const Level *vector = vectorLevel();
  unsigned width = vector->lanes;
  llvm::Type *vectorType = withLanes(type, width);
  if (mask)
    mask = splat(mask, width);
  if (vector->laneMask)
    mask = mask ? b.CreateAnd(mask, vector->laneMask) : vector->laneMask;
  if (stride == 1 && node->mask && reachesFar(node))
    base = b.CreateSelect(b.CreateOrReduce(mask), base, i64(0));
  Value from = element(pointer, node->kind, base);
  if (stride == 1 && !perLane) {
    Value value = mask ? maskedLoad(vectorType, from, align, mask)
                       : b.CreateAlignedLoad(vectorType, from, align);
    return fromMemory(node->kind, value);
  }
  if (stride == -1 && !perLane && !node->mask) {
    Value first = element(pointer, node->kind, b.CreateNSWSub(base, i64(width - 1)));
    Value value = mask ? maskedLoad(vectorType, first, align, b.CreateVectorReverse(mask))
                       : b.CreateAlignedLoad(vectorType, first, align);
    return fromMemory(node->kind, b.CreateVectorReverse(value));
  }
  std::optional<unsigned> there = firstLanes(mask, width);
  if (stride >= 2 && stride <= 4 && !perLane && there)
    return loadApart(node, base, stride, *there);
  if (stride > 4 && stride <= mostApart(node->kind) && !perLane && !mask)
    return loadFarApart(node, base, stride);
  if (!stride && perLane && !node->mask)
    if (Value near = loadNear(node, base, perLane, mask))
      return near;
  return gather(node, base, stride, perLane, mask);
}

Value Emitter::loadNear(Node *node, Value base, Value perLane, Value mask) {
  auto *places = llvm::dyn_cast<llvm::ConstantDataVector>(perLane);
  auto *exists = llvm::dyn_cast_or_null<llvm::Constant>(mask);
  if (!places || (mask && !exists))
    return nullptr;
  unsigned width = places->getNumElements();
  llvm::SmallVector<std::optional<int64_t>> of(width);
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (unsigned lane = 0; lane < width; ++lane) {
    if (exists && exists->getAggregateElement(lane)->isNullValue())
      continue;
    of[lane] = places->getElementAsAPInt(lane).getSExtValue();
    least = std::min(least, *of[lane]);
    most = std::max(most, *of[lane]);
  }
  int64_t count = most - least + 1;
  if (count > width)
    return nullptr;
  llvm::SmallVector<int> picks;
  for (const auto &place : of)
    picks.push_back(place ? *place - least : llvm::PoisonMaskElem);
  unsigned wide = std::max<int64_t>(llvm::PowerOf2Ceil(count), 2);
  llvm::Type *type = memoryType(node->kind, b.getContext());
  Value from = element(bufferPointer(node->buffer()), node->kind,
                       least ? b.CreateNSWAdd(base, i64(least)) : base);
  Value read = maskedLoad(withLanes(type, wide), from, llvm::Align(byteSize(node->kind)),
                          maskOfFirst(b, count, wide));
  return fromMemory(node->kind, b.CreateShuffleVector(read, picks));
}

Value Emitter::gather(Node *node, Value base, int64_t stride, Value perLane, Value mask) {
  llvm::Type *type = memoryType(node->kind, b.getContext());
  unsigned width = lanes();
  const BufferInfo &buffer = graph.buffers[node->buffer()];
  bool fits32 = buffer.elements > 0 && buffer.elements < INT32_MAX;
  llvm::Type *offsetType = fits32 ? b.getInt32Ty() : b.getInt64Ty();
  Value offsets = laneNumbers(b, offsetType, width, stride);
  if (perLane)
    offsets = b.CreateNSWAdd(offsets, b.CreateTrunc(perLane, offsets->getType()));
  Value pointers =
      b.CreateGEP(type, element(bufferPointer(node->buffer()), node->kind, base), offsets);
  llvm::Type *vectorType = withLanes(type, width);
  if (!mask)
    mask = llvm::Constant::getAllOnesValue(withLanes(b.getInt1Ty(), width));
  return fromMemory(node->kind,
                    b.CreateMaskedGather(vectorType, pointers, llvm::Align(byteSize(node->kind)),
                                         mask, llvm::Constant::getNullValue(vectorType)));
}

void Emitter::storePastCaches(Value value, Value to, int64_t bytes, bool isNarrow) {
  constexpr int64_t line = 64;
  if (isNarrow) // LLVM has no such stores of bf16: it is to see f32
    value = fencedWords(b, value);
  llvm::Metadata *one = llvm::ConstantAsMetadata::get(b.getInt32(1));
  b.CreateAlignedStore(value, to, llvm::Align(std::min(bytes, line)))
      ->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b.getContext(), one));
}

void Emitter::store(Value pointer, ElementKind kind, Index offset, Value re, Value im) {
  llvm::Type *type = memoryType(kind, b.getContext());
  llvm::Align align(byteSize(kind));
  Value base, perLane;
  int64_t stride;
  split(offset, base, stride, perLane);
  const Level *vector = vectorLevel();
  unsigned width = vector && (stride || perLane) ? vector->lanes : 1;
  re = toMemory(kind, splat(re, width));
  if (im)
    im = toMemory(kind, splat(im, width));
  Value to = element(pointer, kind, base);
  if (width == 1) {
    b.CreateAlignedStore(re, to, align);
    if (im)
      b.CreateAlignedStore(im, b.CreateConstGEP1_64(type, to, 1), align);
    return;
  }
  Value mask = vector->laneMask;
  if (im && stride == 2 && !perLane) { // re and im in turn
    llvm::SmallVector<int> order, twice;
    for (unsigned i = 0; i < width; ++i) {
      order.append({static_cast<int>(i), static_cast<int>(i + width)});
      twice.append(2, i);
    }
    Value pairs = b.CreateShuffleVector(re, im, order);
    if (mask)
      b.CreateMaskedStore(pairs, to, align, b.CreateShuffleVector(mask, twice));
    else
      b.CreateAlignedStore(pairs, to, align);
    return;
  }
  if (!im && stride == 1 && !perLane) {
    if (mask)
      b.CreateMaskedStore(re, to, align, mask);
    else if (streams && width * byteSize(kind) >= 16)
      storePastCaches(re, to, width * byteSize(kind), isNarrowFloat(kind));
    else
      b.CreateAlignedStore(re, to, align);
    return;
  }
  Value offsets = laneNumbers(b, b.getInt64Ty(), width, stride);
  if (perLane)
    offsets = b.CreateAdd(offsets, perLane);
  b.CreateMaskedScatter(re, b.CreateGEP(type, to, offsets), align, mask);
  if (im)
    b.CreateMaskedScatter(im, b.CreateGEP(type, b.CreateConstGEP1_64(type, to, 1), offsets), align,
                          mask);
}

} // namespace tessera::codegen
