#include "passes/codegen/kernel/Partition.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::codegen {

// About how long it takes, in a sixteenth of a cycle. The same on every machine.
static double cellCost(const cost::KernelWork &work) {
  using enum cost::ElementClass;
  double cost = work.moved + work.of(Arithmetic) + 3 * work.of(Narrowed) + 4 * work.of(Division) +
                20 * (work.of(Exponential) + work.of(Function) + work.of(OneByOne));
  cost += work.of(cost::Folding::Columns) + work.of(cost::Folding::Rows) +
          8 * work.of(cost::Folding::Stepwise);
  for (double elements : work.accessed)
    cost += 16 * elements;
  for (const cost::Product &product : work.products)
    cost += product.flops();
  return cost;
}

int64_t wholeVectors(int64_t inside, int64_t least) {
  int64_t step = 64 / std::gcd(inside, int64_t(64));
  return llvm::alignTo(llvm::divideCeil(least, inside), step);
}

Partition partitionWork(llvm::ArrayRef<GridLoop> loops, const cost::KernelWork &work) {
  // About 5 us a cell: far above what handing one out costs, far below a step.
  constexpr double costOfCell = 200e3;
  constexpr int64_t mostCells = 1024;
  int64_t wanted =
      std::clamp<int64_t>(static_cast<int64_t>(cellCost(work) / costOfCell), 1, mostCells);
  Partition result;
  int64_t before = 1;
  while (result.prefix + 1 < loops.size() && before * loops[result.prefix].size <= wanted)
    before *= loops[result.prefix++].size;
  if (loops.empty())
    return result;
  const GridLoop &loop = loops[result.prefix];
  int64_t chunk = llvm::divideCeil(loop.size, std::max<int64_t>(wanted / before, 1));
  result.chunk = std::min(loop.size, static_cast<int64_t>(llvm::alignTo(chunk, loop.step)));
  result.chunks = llvm::divideCeil(loop.size, result.chunk);
  result.cells = before * result.chunks;
  return result;
}

// A strip's keys, and its values, are copied once for all queries of a cell, and stay in the
// second-level cache with the queries and their sums.
AttentionCells attentionCells(const fusion::Attention &attention, int64_t rows, int64_t columns) {
  constexpr int64_t stripBytes = 128 << 10, queryBytes = 128 << 10;
  constexpr int64_t mostKeys = 512, leastKeys = 128, mostQueries = 512, leastQueries = 64;
  constexpr int64_t enoughCells = 16;
  int64_t bytes = 4 * std::max(attention.queryElements, attention.valueElements);
  AttentionCells cells;
  int64_t strips =
      llvm::divideCeil(attention.keys, std::clamp(stripBytes / bytes, leastKeys, mostKeys));
  cells.strip = llvm::alignTo(llvm::divideCeil(attention.keys, strips), columns);
  if (cells.strip < attention.keys)
    cells.strip = atLeast(cells.strip, attention.keys, columns);
  int64_t chunks = llvm::divideCeil(attention.queries,
                                    std::clamp(queryBytes / bytes, leastQueries, mostQueries));
  while (attention.heads * chunks < enoughCells &&
         llvm::divideCeil(attention.queries, chunks + 1) >= leastQueries)
    ++chunks;
  cells.queries = llvm::alignTo(llvm::divideCeil(attention.queries, chunks), rows);
  return cells;
}

// A strip's keys and values lie in panels of three kinds, with the sums of its keys; a block's scores
// and what follows of them beside.
GradientCells gradientCells(const fusion::Attention &attention, int64_t rows, int64_t columns,
                            int64_t blockQueries, bool yieldsQueries, bool yieldsKeys) {
  constexpr int64_t stripBytes = 64 << 10, mostKeys = 256, leastKeys = 128;
  constexpr int64_t cellQueries = 512, enoughCells = 16;
  int64_t bytes = 4 * std::max(attention.queryElements, attention.valueElements);
  GradientCells cells;
  cells.block = llvm::alignTo(std::min(blockQueries, attention.queries), rows);
  int64_t strips =
      llvm::divideCeil(attention.keys, std::clamp(stripBytes / bytes, leastKeys, mostKeys));
  cells.strip = llvm::alignTo(llvm::divideCeil(attention.keys, strips), columns);
  if (cells.strip < attention.keys)
    cells.strip = atLeast(cells.strip, attention.keys, columns);
  cells.rowChunk = attention.queries;
  cells.columnChunk = attention.keys;
  // As many chunks as there are to be cells, of whole parts.
  auto chunkOf = [&](int64_t size, int64_t part, int64_t most) {
    int64_t parts = llvm::divideCeil(size, part);
    int64_t least = llvm::divideCeil(enoughCells, std::max<int64_t>(attention.heads, 1));
    int64_t chunks = std::max<int64_t>(llvm::divideCeil(size, most), least);
    int64_t each = llvm::divideCeil(parts, std::min(chunks, parts));
    return std::min(each * part, size);
  };
  if (!yieldsKeys)
    cells.rowChunk = chunkOf(attention.queries, cells.block, cellQueries);
  else if (!yieldsQueries)
    cells.columnChunk = chunkOf(attention.keys, cells.strip, attention.keys);
  return cells;
}

} // namespace tessera::codegen
