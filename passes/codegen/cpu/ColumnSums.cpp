// Sums of f32 along columns: every lane adds rows, in the order in which XLA:CPU adds (found by
// probing it; see docs/rationale/tolerances.md):
//
//   rows are added in fours, the sums of fours in fours again, those sums of sixteen one after the
//   other up to 256, and those one after the other to a block: as many rows as 32,768 elements
//   make; over several dimensions, whole inner ones and a part of the next. Blocks are added in
//   fours and sixteens again.
//
// So the error grows far slower than the number of rows.
#include "passes/codegen/cpu/Emitter.h"

namespace tessera::codegen {

using Slots = llvm::SmallVector<Value>;

// Rows to be added up to one sum before these sums are added: of each level, outermost first.
// `sizes` are those of the reduced dimensions, `columns` how many sums there are.
static llvm::SmallVector<int64_t> rowsOfLevels(llvm::ArrayRef<int64_t> sizes, int64_t columns) {
  int64_t total = 1;
  for (int64_t size : sizes)
    total *= size;
  if (total * columns < 4'096) // XLA adds those one by one
    return {};
  int64_t most = std::max<int64_t>(32'768 / std::max<int64_t>(columns, 1), 16), block = 1,
          whole = 1;
  for (int64_t size : llvm::reverse(sizes)) {
    int64_t part = std::clamp<int64_t>(most / block, 1, size);
    block *= part;
    whole *= size;
    if (part < size)
      break;
  }
  if (whole < total && whole % block) // blocks end where the dimension ends
    return {whole, block, 256, 16, 4};
  return {16 * block, 4 * block, block, 256, 16, 4};
}

Slots Emitter::sumColumns(Reduction &reduction,
                          llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> groups, unsigned lanes) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  llvm::Type *type = typeOf(ElementKind::F32, lanes);
  auto zeros = [&](llvm::ArrayRef<Value> slots) {
    for (Value slot : slots)
      b.CreateStore(llvm::Constant::getNullValue(type), slot);
  };
  auto make = [&] {
    Slots slots;
    for (size_t i = 0; i < reduction.inputs.size(); ++i)
      slots.push_back(temporary(type, "sum"));
    return slots;
  };
  auto add = [&](llvm::ArrayRef<Value> terms, llvm::ArrayRef<Value> into) {
    b.setFastMathFlags({});
    for (auto [term, slot] : llvm::zip(terms, into))
      b.CreateStore(b.CreateFAdd(b.CreateLoad(type, slot), term), slot);
  };
  auto bind = [&](llvm::ArrayRef<unsigned> group, Value variable) {
    DimSet all = 0;
    for (unsigned dim : group)
      all |= DimSet(1) << dim;
    bindLevel(group.back(), all, variable, 1, nullptr);
  };
  const auto &inner = groups.back();
  // Adds rows [low, high), `extent` of them or, where that is `ragged`, fewer.
  auto addRows = [&](auto &self, Value low, Value high, int64_t extent, bool ragged,
                     llvm::ArrayRef<int64_t> levels, llvm::ArrayRef<Value> into) -> void {
    if (levels.empty()) {
      bind(inner, openLoop(low, high, 1, false));
      llvm::FastMathFlags usual = b.getFastMathFlags();
      Slots terms;
      for (Node *input : reduction.inputs)
        terms.push_back(splat(emit(input), lanes));
      add(terms, into);
      b.setFastMathFlags(usual);
      closeLoop();
      return;
    }
    int64_t rows = levels.front();
    if (rows >= extent)
      return self(self, low, high, extent, ragged, levels.drop_front(), into);
    Slots part = make();
    Value start = openLoop(low, high, rows, false);
    zeros(part);
    ragged |= extent % rows != 0;
    Value end = b.CreateNSWAdd(start, i64(rows));
    if (ragged)
      end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, high);
    self(self, start, end, rows, ragged, levels.drop_front(), part);
    Slots terms;
    for (Value slot : part)
      terms.push_back(b.CreateLoad(type, slot));
    llvm::FastMathFlags usual = b.getFastMathFlags();
    add(terms, into);
    b.setFastMathFlags(usual);
    closeLoop();
  };

  int64_t columns = 1;
  for (unsigned dim = 0; dim < graph.dims.size(); ++dim)
    if (reduction.deps >> dim & 1)
      columns *= graph.dims[dim].size;
  llvm::SmallVector<int64_t> sizes;
  for (unsigned dim : inner)
    sizes.push_back(graph.dims[dim].size);
  Slots total = make();
  zeros(total);
  for (const auto &group : groups.drop_back())
    bind(group, openLoop(i64(0), i64(bounds(group).second), 1, false));
  int64_t size = bounds(inner).second;
  addRows(addRows, i64(0), i64(size), size, false, rowsOfLevels(sizes, columns), total);
  for (size_t i = 0; i + 1 < groups.size(); ++i)
    closeLoop();
  resumeInsertion();
  Slots results;
  for (Value slot : total)
    results.push_back(b.CreateLoad(type, slot));
  return results;
}

} // namespace tessera::codegen
