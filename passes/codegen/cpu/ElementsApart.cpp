// Elements a few apart, as the columns of short rows are: read and written by whole registers.
#include "passes/codegen/cpu/SumSlots.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"

#include <numeric>

namespace tessera::codegen {

// Elements so far apart at most come by whole registers: a processor's gather takes longer than these and the
// permutations of two registers that pick from them.
int64_t Emitter::mostApart(ElementKind kind) const {
  bool isPermuted = byteSize(kind) >= 4 || (byteSize(kind) == 2 && features.bf16Words);
  return features.masks && isPermuted ? 8 : 4;
}

// As many registers as elements are apart, each with its few; two of them become one with those of both, and
// so on.
Value Emitter::loadFarApart(Node *node, Value base, int64_t stride) {
  llvm::Type *type = memoryType(node->kind, b.getContext());
  llvm::Align align(byteSize(node->kind));
  unsigned width = vectorLevel()->lanes,
           inRegister = std::gcd(width, features.bytes / byteSize(node->kind));
  llvm::Type *vector = llvm::FixedVectorType::get(type, inRegister);
  llvm::SmallVector<Value> registers;
  for (unsigned first = 0; first < width; first += inRegister) {
    struct Part {
      Value values;
      llvm::SmallVector<int> places; // of its lanes' elements, in their order
    };
    std::vector<Part> parts;
    for (int64_t part = 0; part < stride; ++part) {
      llvm::SmallVector<int> places;
      int64_t start = part * inRegister, end = start + inRegister;
      for (int64_t at = llvm::alignTo(start, stride); at < end; at += stride)
        places.push_back(at - start);
      if (places.empty())
        continue;
      Value from = element(bufferPointer(node->buffer()), node->kind,
                           b.CreateNSWAdd(base, i64(static_cast<int64_t>(first) * stride + start)));
      // Nothing behind the last one is read.
      unsigned count = places.back() + 1;
      bool isWhole = end <= (inRegister - 1) * stride + 1;
      parts.push_back({isWhole ? b.CreateAlignedLoad(vector, from, align)
                               : maskedLoad(vector, from, align, maskOfFirst(b, count, inRegister)),
                       std::move(places)});
    }
    while (parts.size() > 1) {
      std::vector<Part> next;
      for (size_t i = 0; i + 1 < parts.size(); i += 2) {
        llvm::SmallVector<int> picks(parts[i].places), places;
        for (int place : parts[i + 1].places)
          picks.push_back(inRegister + place);
        for (size_t place = 0; place < picks.size(); ++place)
          places.push_back(place);
        picks.resize(inRegister, llvm::PoisonMaskElem);
        next.push_back(
            {b.CreateShuffleVector(parts[i].values, parts[i + 1].values, picks), places});
      }
      if (parts.size() % 2)
        next.push_back(std::move(parts.back()));
      parts = std::move(next);
    }
    registers.push_back(parts[0].values);
  }
  return fromMemory(node->kind, llvm::concatenateVectors(b, registers));
}

// Register `number` of those in which a row of `columns` lies after the other, each with an element of all.
static Value sideBySide(llvm::IRBuilder<> &b, llvm::ArrayRef<Value> columns, int64_t number) {
  auto *type = llvm::cast<llvm::FixedVectorType>(columns[0]->getType());
  int64_t count = columns.size(), lanes = type->getNumElements();
  Value all = columns[0];
  for (int64_t column = 1; column < count; ++column) {
    llvm::SmallVector<int> picks;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t row = (number * lanes + lane) / count, of = (number * lanes + lane) % count;
      int before = column > 1 ? lane : row; // where what is picked already lies
      picks.push_back(of == column ? lanes + row : of < column ? before : llvm::PoisonMaskElem);
    }
    all = b.CreateShuffleVector(all, columns[column], picks);
  }
  return all;
}

void Emitter::storeColumns(Value pointer, llvm::ArrayRef<Column> columns) {
  const Level *vector = vectorLevel();
  ElementKind kind = columns[0].kind;
  int64_t count = columns.size();
  Value base = nullptr, perLane = nullptr;
  int64_t stride = 0;
  if (vector)
    split(columns[0].offset, base, stride, perLane);
  std::optional<unsigned> there =
      vector ? firstLanes(vector->laneMask, vector->lanes) : std::nullopt;
  if (stride != count || perLane || !there) {
    for (const Column &column : columns)
      store(pointer, column.kind, column.offset, column.value);
    return;
  }
  unsigned width = vector->lanes,
           inRegister = std::min<unsigned>(width, features.bytes / byteSize(kind));
  llvm::Type *type = llvm::FixedVectorType::get(b.getIntNTy(8 * byteSize(kind)), width);
  std::vector<llvm::SmallVector<Value>> registers; // of each column
  for (const Column &column : columns) {
    Value stored = toMemory(column.kind, splat(column.value, width));
    registers.push_back(registersOf(b, b.CreateBitCast(stored, type), inRegister));
  }
  for (unsigned part = 0; part < width / inRegister; ++part) {
    llvm::SmallVector<Value> ofPart;
    for (const auto &column : registers)
      ofPart.push_back(column[part]);
    for (int64_t number = 0; number < count; ++number) {
      int64_t first = (part * count + number) * inRegister, left = *there * count - first;
      if (left <= 0)
        continue;
      Value to = element(pointer, kind, first ? b.CreateNSWAdd(base, i64(first)) : base);
      Value all = sideBySide(b, ofPart, number);
      if (left < inRegister)
        b.CreateMaskedStore(all, to, llvm::Align(byteSize(kind)), maskOfFirst(b, left, inRegister));
      else if (streams && inRegister * byteSize(kind) >= 16)
        storePastCaches(all, to, inRegister * byteSize(kind), /*isNarrow=*/false);
      else
        b.CreateAlignedStore(all, to, llvm::Align(byteSize(kind)));
    }
  }
}

} // namespace tessera::codegen
