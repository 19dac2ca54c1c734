#include "passes/codegen/gpu/RowRegisters.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

static llvm::Type *pieceType(llvm::LLVMContext &context) {
  return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(context), kAccessBytes / 4);
}

// Neighbours have pieces side by side: no bank is asked twice.
Value RowRegisters::placeOf(int64_t piece) {
  Value first = e.b.CreateNSWMul(function.thread, e.i64(kAccessBytes));
  int64_t step = pieceBytes(function.launch.threads);
  return e.b.CreateGEP(e.b.getInt8Ty(), space, e.b.CreateNSWAdd(first, e.i64(piece * step)));
}

void RowRegisters::put() {
  barrier(e.b);
  llvm::SmallVector<Value> pieces;
  for (int64_t piece = 0; piece < bytes / pieceBytes(function.launch.threads); ++piece)
    pieces.push_back(e.b.CreateAlignedLoad(pieceType(e.b.getContext()), placeOf(piece),
                                           llvm::Align(kAccessBytes)));
  others.push_back({here, std::move(pieces)});
  barrier(e.b);
}

void RowRegisters::bring(int64_t number) {
  if (number == here)
    return;
  auto *held = llvm::find_if(others, [&](const auto &other) { return other.first == number; });
  barrier(e.b);
  for (auto [piece, value] : llvm::enumerate(held->second)) {
    Value place = placeOf(static_cast<int64_t>(piece));
    Value before = e.b.CreateAlignedLoad(value->getType(), place, llvm::Align(kAccessBytes));
    e.b.CreateAlignedStore(value, place, llvm::Align(kAccessBytes));
    value = before;
  }
  held->first = std::exchange(here, number);
  barrier(e.b);
}

} // namespace tessera::codegen::gpu
