#include "lib/cost/CellBounds.h"
#include "lib/cost/ProductTile.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

// The last chunk must hold a whole tile, since tiles never reach past a chunk.
int64_t atLeast(int64_t chunk, int64_t size, int64_t least) {
  while (chunk < size && size % chunk != 0 && size % chunk < least)
    chunk += least;
  return std::min(chunk, size);
}

// As many chunks as of `chunk`, of like size: the last would have what is left over, and one core most
// of the work.
static int64_t evenly(int64_t chunk, int64_t size, int64_t unit) {
  int64_t chunks = llvm::divideCeil(size, chunk);
  return std::min<int64_t>(llvm::alignTo(llvm::divideCeil(size, chunks), unit), size);
}

// The same, of about `chunk`: as many as come nearest to it.
static int64_t nearly(int64_t chunk, int64_t size, int64_t unit) {
  int64_t chunks = std::max<int64_t>(std::llround(double(size) / double(chunk)), 1);
  return std::min<int64_t>(llvm::alignTo(llvm::divideCeil(size, chunks), unit), size);
}

// `chunk` or somewhat less, so that chunks have much the same number of tiles: a core that takes one more
// than others takes a whole one.
//   48 tiles: nine chunks of 5 and one of 3 become twelve of 4
static int64_t alike(int64_t chunk, int64_t size, int64_t tile) {
  int64_t tiles = llvm::divideCeil(size, tile), most = chunk / tile, best = most;
  auto missing = [&](int64_t of) { return llvm::divideCeil(tiles, of) * of - tiles; };
  for (int64_t fewer = most; 4 * fewer >= 3 * most && fewer > 0; --fewer)
    if (missing(fewer) < missing(best))
      best = fewer;
  return best * tile;
}

CellBounds CellBounds::ofMatrices(int64_t vectorBytes) {
  return {.block = vectorBytes < 64 ? 128 : 256,
          .largeBlock = 256,
          .someCells = 8,
          .manyCells = 16,
          .sumBytes = 1 << 20,
          .panelBytes = 1 << 20,
          .mostColumns = 512,
          .evenly = true,
          .joinsRows = true};
}

static double leastCell(const Product &product, const CellBounds &bounds) {
  if (bounds.someCells == 0)
    return bounds.leastFlops;
  return std::clamp(product.flops() / bounds.someCells, bounds.leastFlops / 4, bounds.leastFlops);
}

// A block of columns of b that is copied stays in the first-level cache while rows of a go past it,
// those in the second-level cache; sums wait in the scratch for the next block. So cells are nearly
// square, and each operand is copied a few times only, however long k is (Goto & van de Geijn 2008).
static ContractionCells cellsInBlocks(const Product &product, int64_t rows, int64_t columns,
                                      int64_t bytes, const CellBounds &bounds) {
  auto m = static_cast<int64_t>(product.m), n = static_cast<int64_t>(product.n);
  double cellsOfLarge = product.a == Product::None ? 48 : bounds.manyCells;
  double flopsOfCell = std::max(bounds.leastFlops, product.flops() / cellsOfLarge);
  // Of a small result with long sums, as of a filter's gradient, cells are fewer rather than small.
  constexpr double fewCells = 8, leastArea = 64 * 32, enoughArea = 128 * 64;
  double area = std::max(flopsOfCell / (2 * product.k),
                         std::clamp(product.m * product.n / fewCells, leastArea, enoughArea));
  area = std::min(area, double(bounds.sumBytes / bytes));
  bool isLarge = area > enoughArea, isAlike = bounds.evenly && isLarge;
  int64_t block = isLarge ? bounds.largeBlock : bounds.block;
  double side = std::sqrt(area);
  if (product.isTurned && product.m < side) // of few rows each column of b is copied, and read once
    side = std::min(area / product.m, product.n / 4);
  auto wide = static_cast<int64_t>(side / double(columns)) * columns;
  ContractionCells cells;
  cells.kBlock = block;
  wide = std::clamp(wide, columns, bounds.mostColumns);
  if (isAlike)
    wide = nearly(wide, n, columns);
  cells.nChunk = atLeast(wide, n, columns);
  int64_t tall = static_cast<int64_t>(area / double(cells.nChunk)) / rows * rows;
  // Rows that are read as they lie, from memory, are read once by a cell that has all columns; its copy
  // of them should serve many rows.
  constexpr int64_t manyRows = 256, enoughCells = 12;
  if (product.a == Product::None && n <= bounds.mostColumns) {
    cells.nChunk = n;
    tall = std::max(tall, std::min(manyRows, m / enoughCells) / rows * rows);
  }
  if (bounds.joinsRows && product.a == Product::None && tall < m && m < 2 * tall)
    tall = m;
  tall = std::max(tall, 4 * rows);
  if (isAlike && product.a != Product::None)
    tall = nearly(tall, m, rows);
  cells.mChunk = cells.mPanel = atLeast(tall, m, rows);
  if (product.a != Product::None) {
    cells.mPanel =
        atLeast(std::min(bounds.panelBytes / (bytes * block) / rows * rows, cells.mChunk), m, rows);
    cells.mChunk = std::min(m, std::max(cells.mChunk / cells.mPanel, int64_t(1)) * cells.mPanel);
    cells.mChunk = evenly(cells.mChunk, m, cells.mPanel);
  }
  return cells;
}

// Of a few terms results take longer to be read and written than to be multiplied. Where their rows lie so
// that all fall into the same few places of the first-level cache, a cell goes along them, and not down
// their columns.
static constexpr double fewTerms = 16;
static bool isThin(const Product &product) { return product.k <= fewTerms && !product.isTurned; }
bool goesAlongRows(const Product &product, int64_t bytes) {
  constexpr int64_t samePlace = 2 << 10; // of 4 KiB that each way of the cache has
  return isThin(product) && static_cast<int64_t>(product.n) * bytes % samePlace == 0;
}

ContractionCells contractionCells(const Product &given, int64_t rows, int64_t columns,
                                  int64_t bytes, bool inBlocks, const CellBounds &bounds) {
  // Results that are turned take as long as so many terms.
  constexpr double termsOfTurned = 64;
  Product product = given;
  product.k = std::max(product.k, 1.0); // on the average less where windows lie in the padding
  if (product.isTurned)
    product.k = std::max(product.k, termsOfTurned);
  bool isLow = product.isTurned && product.m < termsOfTurned; // what is copied of b costs most
  constexpr int64_t longK = 4096, shortK = 512;
  // Where rows of a are read as they lie, wide panels of b do for most.
  if (inBlocks && product.k > shortK && (product.a != Product::None || product.k >= longK))
    return cellsInBlocks(product, rows, columns, bytes, bounds);
  // A panel of b should stay in the second-level cache with what streams past it, and rows of a that
  // are copied; memory of the device, too, is bounded so. About 200 us a cell, or a hundredth of a
  // large product: the more rows of a go past a panel of b, the less it costs to copy that.
  double flopsOfCell = std::max(leastCell(product, bounds), product.flops() / 128);
  if (isThin(product)) // a result takes as long as so many terms
    flopsOfCell *= product.k / (product.k + fewTerms);
  bool alongRows = goesAlongRows(product, bytes);
  constexpr int64_t panelBytes = 256 << 10, rowBytes = 128 << 10;
  auto m = static_cast<int64_t>(product.m), n = static_cast<int64_t>(product.n),
       k = static_cast<int64_t>(product.k), outer = static_cast<int64_t>(product.batch);
  ContractionCells cells;
  cells.nChunk = std::max<int64_t>(panelBytes / (bytes * k) / columns * columns, columns);
  int64_t mLeast = rows * 8;
  double area = flopsOfCell / (2 * product.k), wide = area / product.m;
  if (alongRows)
    wide = product.n;
  if (product.a != Product::None) // each operand is copied as often in squares
    wide = std::max(wide, std::sqrt(area));
  int64_t wanted = static_cast<int64_t>(wide) / columns * columns;
  cells.nChunk = std::min(cells.nChunk, std::max(wanted, columns));
  if (cells.nChunk < n)
    cells.nChunk = alike(cells.nChunk, n, columns);
  cells.nChunk = atLeast(cells.nChunk, n, columns);
  double flopsOfRow = 2.0 * cells.nChunk * product.k;
  wanted = static_cast<int64_t>(flopsOfCell / flopsOfRow) / rows * rows;
  cells.mChunk = cells.mPanel = atLeast(std::min(std::max(wanted, mLeast), m), m, rows);
  if (product.a != Product::None) {
    int64_t most = rowBytes / (bytes * k) / rows * rows;
    cells.mPanel = atLeast(std::min(std::max(most, mLeast), cells.mChunk), m, rows);
    cells.mChunk = std::min(m, cells.mChunk / cells.mPanel * cells.mPanel);
    cells.mChunk = evenly(cells.mChunk, m, cells.mPanel);
  }
  if (alongRows) {
    cells.mPanel = std::min(atLeast(rows, m, rows), cells.mChunk);
    cells.mChunk = evenly(cells.mChunk, m, cells.mPanel);
  }
  if (isLow && cells.mPanel == m) {
    constexpr int64_t fewCells = 4;
    cells.nPanel = cells.nChunk;
    int64_t chunk = llvm::alignTo(llvm::divideCeil(n, fewCells), cells.nPanel);
    cells.nChunk = std::max(cells.nChunk, atLeast(chunk, n, columns));
  }
  double flopsOfTile = flopsOfRow * cells.mChunk;
  cells.outerChunk =
      std::clamp<int64_t>(static_cast<int64_t>(flopsOfCell / 8 / flopsOfTile), 1, outer);
  return cells;
}

ContractionCells contractionCells(const Product &product, int64_t rows, int64_t columns,
                                  int64_t bytes, bool inBlocks) {
  return contractionCells(product, rows, columns, bytes, inBlocks, CellBounds());
}

// About `wanted` of so many tiles in a chunk, or so many panels, so that chunks are alike: what the last one
// misses counts more than a chunk of another size.
//   2.8 of 16: eight chunks of 2, not five of 3 and one of 1
static int64_t inChunk(double wanted, int64_t tiles) {
  constexpr double missedTwice = 2, otherSize = 0.1;
  auto costOf = [&](int64_t of) {
    double missing = double(llvm::divideCeil(tiles, of) * of - tiles) / double(tiles);
    return missedTwice * missing + otherSize * std::abs(std::log2(double(of) / wanted));
  };
  wanted = std::clamp(wanted, 1.0, double(tiles));
  int64_t best = 1;
  for (auto of = static_cast<int64_t>(wanted / 2) + 1; double(of) <= 2 * wanted && of <= tiles;
       ++of)
    if (costOf(of) < costOf(best))
      best = of;
  return best;
}

// Both operands are copied, so cells are squares, and as large as leaves enough of them. Where k is one panel and
// rows of a lie as they are copied, those of one tile are, just before they are multiplied: they are in the
// first-level cache, and the processor copies while it finishes the tiles before. A block's panel of b stays in
// that cache, and many rows of a go past it.
ContractionCells pairCells(const Product &product, int64_t rows, int64_t columns, bool inBlocks,
                           bool copiesFewRows) {
  constexpr int64_t block = 256; // whole blocks of sums (Reduction::chainBlock)
  constexpr double leastCell = 8e6, enoughCell = 32e6, someCells = 16; // 35 to 150 us
  constexpr double manyCells = 128, manyInBlocks = 48;
  constexpr double mostSums = 64 << 10, fewCells = 8, leastArea = 64 * 32, enoughArea = 128 * 64;
  constexpr int64_t panelBytes = 512 << 10, blockBytes = 128 << 10, rowBytes = 64 << 10;
  auto m = static_cast<int64_t>(product.m), n = static_cast<int64_t>(product.n),
       outer = static_cast<int64_t>(product.batch);
  double k = std::max(product.k, 1.0);
  inBlocks &= k > 2 * block;
  double flops = std::max(std::clamp(product.flops() / someCells, leastCell, enoughCell),
                          product.flops() / (inBlocks ? manyInBlocks : manyCells));
  double area = flops / (2 * k);
  ContractionCells cells;
  if (inBlocks) { // of a small result with long sums cells are fewer rather than small
    cells.kBlock = block;
    area = std::max(area, std::clamp(double(m) * double(n) / fewCells, leastArea, enoughArea));
    area = std::min(area, mostSums); // they wait in the second-level cache
  }
  int64_t bytesOfPanel = 2 * (inBlocks ? block : static_cast<int64_t>(k));
  double widest = double(inBlocks ? blockBytes : panelBytes) / double(bytesOfPanel);
  double wide = std::sqrt(area);
  // Of few rows, or where b comes from memory, which is read once then.
  constexpr double farBytes = 16 << 20, enoughColumns = 128;
  double besideAll = area / double(m);
  if (!inBlocks &&
      (besideAll > wide || (2 * k * double(n) >= farBytes && besideAll >= enoughColumns)))
    wide = besideAll;
  wide = std::min(wide, widest);
  int64_t tiles = llvm::divideCeil(n, columns);
  cells.nChunk = atLeast(std::min(inChunk(wide / double(columns), tiles) * columns, n), n, columns);
  double tall = area / double(cells.nChunk);
  int64_t strip = inChunk(tall / double(rows), llvm::divideCeil(m, rows)) * rows;
  int64_t most = copiesFewRows && !inBlocks
                     ? rows
                     : std::max(rowBytes / bytesOfPanel / rows, int64_t(8)) * rows;
  int64_t panel = llvm::alignTo(llvm::divideCeil(strip, llvm::divideCeil(strip, most)), rows);
  cells.mPanel = atLeast(std::min(panel, m), m, rows);
  cells.mChunk =
      strip >= m ? m : std::min(std::max(strip / cells.mPanel, int64_t(1)) * cells.mPanel, m);
  double ofTile = 2 * k * double(cells.nChunk) * double(cells.mChunk);
  cells.outerChunk = inChunk(flops / 4 / ofTile, outer);
  return cells;
}

ContractionCells commonCells(const Product &product, bool inBlocks) {
  return contractionCells(product, product.isTurned ? 16 : 8, product.isTurned ? 16 : 32,
                          product.type == ProductType::F64 ? 8 : 4, inBlocks);
}

ContractionCells shortCells(const Product &product, bool inBlocks, bool isMatrix) {
  constexpr int64_t vectorBytes = 32;
  bool isDouble = product.type == ProductType::F64;
  Tile tile = tileOf(product, vectorBytes / 4);
  return contractionCells(product, std::max<int64_t>(static_cast<int64_t>(tile.rows), 1),
                          static_cast<int64_t>(tile.columns), isDouble ? 8 : 4, inBlocks,
                          isMatrix ? CellBounds::ofMatrices(vectorBytes) : CellBounds());
}

// Rows of a window's positions are much the same elements: of a block of k they are read from memory
// once, where a cell has several positions. A panel of few rows stays in the first-level cache with one of b,
// and serves all columns of the cell. Panels are of whole vectors and whole tiles (of 8 rows, narrow ones of 6,
// too); where positions have no whole vectors, they end with those.
//   576 x 64, positions of 64: six cells of 96 x 64, panels of 32 rows
void makeTall(ContractionCells &cells, const Product &product, int64_t inner, int64_t columns) {
  constexpr int64_t lanes = 16, enoughCells = 6, block = 128; // of sums (Reduction::chainBlock)
  constexpr int64_t wide = 64, mostRows = 512;
  auto m = static_cast<int64_t>(product.m), n = static_cast<int64_t>(product.n);
  if (!cells.kBlock || inner < lanes || inner > mostRows)
    return;
  bool isWhole = inner % lanes == 0;
  int64_t unit = !isWhole ? inner : columns > lanes ? 32 : 48;
  cells.kBlock = block;
  cells.nChunk = atLeast(llvm::alignTo(wide, columns), n, columns);
  int64_t parts = llvm::divideCeil(enoughCells, llvm::divideCeil(n, cells.nChunk));
  int64_t tall = llvm::alignTo(llvm::divideCeil(m, parts), unit);
  cells.mChunk = std::min({tall, mostRows / unit * unit, m});
  cells.mPanel = isWhole ? std::min(unit, cells.mChunk) : cells.mChunk;
}

int64_t columnsPast(int64_t columns) {
  constexpr int64_t enoughCells = 16, least = 256, most = 512;
  return std::clamp(columns / enoughCells, least, most);
}

void passRows(ContractionCells &cells, const Product &product, int64_t columns) {
  constexpr int64_t block = 128; // of sums (Reduction::chainBlock)
  auto n = static_cast<int64_t>(product.n), k = static_cast<int64_t>(product.k);
  if (k <= 2 * block)
    return;
  cells.kBlock = block;
  cells.nChunk = atLeast(llvm::alignTo(columnsPast(n), columns), n, columns);
  cells.outerChunk = 1;
}

void narrowCells(ContractionCells &cells, const Product &product, int64_t columns) {
  constexpr int64_t wide = 64, block = 512;
  auto n = static_cast<int64_t>(product.n), k = static_cast<int64_t>(product.k);
  cells.kBlock = k > block ? block : 0;
  cells.mChunk = cells.mPanel = static_cast<int64_t>(product.m);
  cells.nChunk = atLeast(llvm::alignTo(wide, columns), n, columns);
  cells.nPanel = columns;
  cells.outerChunk = 1;
}

// Of about half as many, in whole units; the same where that is not less.
static int64_t halved(int64_t chunk, int64_t size, int64_t unit) {
  int64_t half = atLeast(std::max(chunk / 2 / unit * unit, unit), size, unit);
  return std::min(half, chunk);
}

// Whole panels, or all there is.
static int64_t wholePanels(int64_t chunk, int64_t size, int64_t panel) {
  return chunk < size ? std::max(chunk / panel, int64_t(1)) * panel : chunk;
}

namespace {
// One step of fitInto; each is false where nothing is less by it.
struct CellFitting {
  ContractionCells &cells;
  int64_t m, n, rows, columns;
  const CellBytes &bytes;

  bool lowerA() {
    int64_t panel = halved(cells.mPanel, m, rows);
    bool isLess = panel < cells.mPanel;
    cells.mPanel = panel;
    cells.mChunk = wholePanels(cells.mChunk, m, panel);
    return isLess;
  }
  bool lowerB() {
    bool inPanels = bytes.hasPanelsOfB && cells.mPanel >= cells.mChunk;
    if (!inPanels && cells.nPanel >= cells.nChunk)
      return lowerChunk();
    int64_t panel = halved(std::min(cells.nPanel, cells.nChunk), n, columns);
    bool isLess = panel < std::min(cells.nPanel, cells.nChunk);
    cells.nChunk = wholePanels(cells.nChunk, n, panel);
    cells.nPanel = panel < cells.nChunk ? panel : INT64_MAX;
    return isLess;
  }
  bool lowerChunk() {
    int64_t chunk = halved(cells.nChunk, n, columns);
    bool isLess = chunk < cells.nChunk;
    cells.nChunk = chunk;
    return isLess;
  }
  bool lowerSums() {
    if (cells.nChunk > cells.mChunk && cells.nPanel >= cells.nChunk && lowerChunk())
      return true;
    int64_t chunk = halved(cells.mChunk, m, rows);
    bool isLess = chunk < cells.mChunk;
    cells.mChunk = chunk;
    cells.mPanel = std::min(cells.mPanel, chunk);
    cells.mChunk = wholePanels(chunk, m, cells.mPanel);
    return isLess;
  }
  bool lower() {
    int64_t ofA = bytes.rowOfA * cells.mPanel,
            ofB = bytes.columnOfB * std::min(cells.nPanel, cells.nChunk),
            ofSums = bytes.sum * cells.mChunk * cells.nChunk;
    if (ofSums > std::max(ofA, ofB))
      return lowerSums() || (ofA > ofB ? lowerA() || lowerB() : lowerB() || lowerA());
    return ofA > ofB ? lowerA() || lowerB() || lowerSums() : lowerB() || lowerA() || lowerSums();
  }
};
} // namespace

void fitInto(ContractionCells &cells, const Product &product, int64_t rows, int64_t columns,
             const CellBytes &bytes, int64_t most) {
  CellFitting fitting{
      cells, static_cast<int64_t>(product.m), static_cast<int64_t>(product.n), rows, columns,
      bytes};
  // Each panel, and the sums, begin at a line of the cache.
  auto linesOf = [&](const ContractionCells &cells) {
    constexpr int64_t line = 64;
    return llvm::alignTo(bytes.rowOfA * cells.mPanel, line) +
           llvm::alignTo(bytes.columnOfB * std::min(cells.nPanel, cells.nChunk), line) +
           llvm::alignTo(bytes.sum * cells.mChunk * cells.nChunk, line);
  };
  while (static_cast<int64_t>(linesOf(cells)) > most) {
    ContractionCells before = cells;
    if (!fitting.lower() || linesOf(cells) >= linesOf(before)) {
      cells = before;
      return;
    }
  }
}

// A cell copies its columns of b once, and reads (or copies) its rows of a as often as there are
// chunks of columns: the sides of a cell are as the costs of the two.
// Of blocks of k a panel of b is one block's, so that cells may be squares of many sums, however long k is.
ContractionCells tileCells(const Product &product, int64_t rows, int64_t columns, int64_t kBlock) {
  constexpr double leastCell = 12e6, mostCell = 200e6; // 6 to 100 us
  constexpr double fewCells = 6, manyCells = 48;
  constexpr double panelBytes = 1 << 20; // that stay in the second-level cache
  auto m = static_cast<int64_t>(product.m), n = static_cast<int64_t>(product.n),
       outer = static_cast<int64_t>(product.batch);
  double flopsOfCell = std::max(std::clamp(product.flops() / fewCells, leastCell, mostCell),
                                product.flops() / manyCells);
  double area = flopsOfCell / (2 * product.k);
  if (kBlock) {
    constexpr double someCells = 4, enoughArea = 256 * 128;
    area = std::max(area, std::min(product.m * product.n / someCells, enoughArea));
  }
  double widest = std::max(panelBytes / (2 * (kBlock ? double(kBlock) : product.k)), 64.0);
  if (product.a != Product::None)
    widest *= 2; // reading b from further away is cheaper than copying a again
  // About `chunk` of `size`, in steps, all but the last of one size.
  auto even = [](double chunk, int64_t size, int64_t step) {
    auto parts = std::max<int64_t>(std::llround(double(size) / std::max(chunk, 1.0)), 1);
    int64_t part = llvm::alignTo(llvm::divideCeil(size, parts), step);
    return atLeast(std::min(part, size), size, step);
  };
  double sides = product.a == Product::None ? 2.5 : 1; // m : n
  double wide = std::max(std::sqrt(area / sides), area / product.m);
  ContractionCells cells;
  cells.nChunk = even(std::min(wide, widest), n, columns);
  cells.mChunk = even(area / double(cells.nChunk), m, rows);
  double flopsOfTile = 2 * product.k * double(cells.nChunk) * double(cells.mChunk);
  cells.outerChunk =
      std::clamp<int64_t>(static_cast<int64_t>(flopsOfCell / 4 / flopsOfTile), 1, outer);
  cells.kBlock = kBlock;
  return cells;
}

static double chunksOf(double size, int64_t chunk) { return std::ceil(size / double(chunk)); }

// The same where vectors are short: what is copied goes with the whole, how often with cells of the shard.
static void setShortCopies(Product &shard, const Product &whole) {
  if (!whole.byShortVectors)
    return;
  Product::Copies &copies = shard.byShortVectors.emplace(*whole.byShortVectors);
  for (bool inBlocks : {true, false}) {
    Product copied = whole;
    copied.a = copies.a, copied.b = copies.b;
    ContractionCells cells = shortCells(copied, inBlocks, /*isMatrix=*/true);
    if (chunksOf(whole.n, cells.nChunk) != copies.timesA ||
        chunksOf(whole.m, cells.mChunk) != copies.timesB)
      continue;
    copied = shard;
    copied.a = copies.a, copied.b = copies.b;
    cells = shortCells(copied, inBlocks, /*isMatrix=*/true);
    copies.timesA = chunksOf(shard.n, cells.nChunk);
    copies.timesB = chunksOf(shard.m, cells.mChunk);
    return;
  }
}

double setCopies(Product &shard, const Product &whole) {
  if (std::min({shard.batch, shard.m, shard.n, shard.k}) < 1) // less than a row of it
    return 0;
  setShortCopies(shard, whole);
  for (bool inBlocks : {true, false}) {
    ContractionCells cells = commonCells(whole, inBlocks);
    if (chunksOf(whole.n, cells.nChunk) != whole.timesA ||
        chunksOf(whole.m, cells.mChunk) != whole.timesB)
      continue;
    cells = commonCells(shard, inBlocks);
    shard.timesA = chunksOf(shard.n, cells.nChunk);
    shard.timesB = chunksOf(shard.m, cells.mChunk);
    return shard.timesA * shard.timesB * chunksOf(shard.batch, cells.outerChunk);
  }
  return 0;
}

} // namespace tessera::cost
