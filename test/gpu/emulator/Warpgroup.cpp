// Products of matrices by warpgroups (wgmma): 64 rows, of which each of four warps has 16, by up to 256
// columns, over 16 terms; the factors lie in shared memory, where descriptors say.
#include "test/gpu/emulator/BlockRun.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera::emulator {

namespace {

constexpr uint32_t kTerms = 16, kRowsOfWarp = 16;

// Where the elements of a factor lie. In units of 16 bytes, eight lines of which make a square of 8 x 8
// elements; lines are rows, or terms where it is transposed, and as long as the swizzle says.
struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4), other(bits & 0x000ec000c000c000ull),
        // 1, 2, 3: of 128, 64, 32 bytes
        swizzle(static_cast<Swizzle>(bits >> 62 ? 4 - (bits >> 62) : 0)) {}

  // Of the unit that holds element (row, term), and the element's place in it.
  uint64_t unitOf(uint32_t row, uint32_t term, bool isTransposed) const {
    uint64_t units = uint64_t{1} << static_cast<unsigned>(swizzle), line = units * 16, at = start;
    uint64_t alongLine = (isTransposed ? row : term) / 8, across = isTransposed ? term : row;
    if (swizzle == Swizzle::None && isTransposed)
      at += across % 8 * line + across / 8 * leading + alongLine * stride;
    else if (swizzle == Swizzle::None)
      at += across % 8 * line + across / 8 * stride + alongLine * leading;
    else
      at += across % 8 * line + across / 8 * stride + alongLine % units * 16 +
            alongLine / units * leading;
    return swizzled(at, swizzle);
  }

  uint64_t start, leading, stride, other;
  Swizzle swizzle;
};

// The units of a warp's part of a product; eight make a square, which has a number.
template <class Visit>
void forUnits(const WarpProduct &product, uint32_t warp, const Visit &visit) {
  const Instruction &i = *product.instruction;
  auto ofFactor = [&](const uint64_t &bits, uint32_t first, uint32_t rows, bool isTransposed) {
    Descriptor factor(bits);
    uint32_t alongRows = isTransposed ? 8 : 1, alongTerms = isTransposed ? 1 : 8;
    uint64_t before = &bits == &product.b ? 2 * kRowsOfWarp / 8 : 0;
    for (uint32_t row = 0; row < rows; row += alongRows)
      for (uint32_t term = 0; term < kTerms; term += alongTerms)
        visit(factor.unitOf(first + row, term, isTransposed), before + row / 8 * 2 + term / 8);
  };
  ofFactor(product.a, warp * kRowsOfWarp, kRowsOfWarp, i.transposes);
  ofFactor(product.b, 0, 8u * i.width, i.transposesB);
}

} // namespace

void BlockRun::meetForProducts(const Instruction &i, const Lanes &lanes) {
  uint32_t warp = lanes[0]->number / kWarp;
  auto &groups = warpgroupOf(lanes).groups[warp % kWarpgroup];
  if (groups.empty())
    groups.emplace_back();
  if ((warp / kWarpgroup + 1) * kWarpgroup * kWarp > threads_.size())
    fail(*lanes[0], "a product of a warpgroup that the block has not as a whole");
  switch (i.code) {
  case Code::WgmmaFence:
    for (Thread *thread : lanes)
      thread->fence = thread->writes + 1;
    return;
  case Code::WgmmaCommit:
    groups.emplace_back();
    return;
  case Code::WgmmaWait:
    return finishProducts(lanes, value(*lanes[0], i.a));
  default:
    return beginProduct(i, lanes);
  }
}

void BlockRun::beginProduct(const Instruction &i, const Lanes &lanes) {
  Thread &first = *lanes[0];
  uint32_t warp = first.number / kWarp;
  WarpProduct product{&i, value(first, i.a), value(first, i.b)};
  for (Thread *thread : lanes) {
    if (value(*thread, i.a) != product.a || value(*thread, i.b) != product.b)
      fail(*thread, "a product of a warpgroup with a matrix of the thread's own");
    for (uint32_t k = 0; k < i.to.count; ++k) {
      uint32_t sum = kernel_.vectors[i.to.index + k].index;
      if (thread->written[sum] >= thread->fence || !thread->fence)
        fail(*thread, "adds to what was written, with no wgmma.fence between");
      thread->isAddedTo[sum] = 1;
    }
  }
  Warpgroup &group = warpgroupOf(lanes);
  size_t number = group.done[warp % kWarpgroup]++;
  if (number == group.products.size())
    group.products.push_back(product);
  const WarpProduct &other = group.products[number];
  if (other.instruction != &i || other.a != product.a || other.b != product.b)
    fail(first, "a product of a warpgroup whose other warps have another");
  for (uint64_t bits : {product.a, product.b})
    if (Descriptor(bits).other)
      fail(first, "a descriptor of a matrix that is not known");
  uint64_t key = uint64_t{warp} << 54 | uint64_t{first.place} << 34,
           visit = first.visits[first.place];
  first.visits[first.place] += 4 + 2u * i.width; // squares
  forUnits(product, warp % kWarpgroup, [&](uint64_t address, uint64_t square) {
    if (std::string problem = proxies_->beginRead(warp, address); !problem.empty())
      fail(first, problem);
    if (notesBanks_)
      noteWords(key | (visit + square) << 2, address, 16);
  });
  auto &groups = group.groups[warp % kWarpgroup];
  groups.back().push_back(product);
  ++counts_.warpgroupProducts;
}

// All but the last `left` groups that were committed.
void BlockRun::finishProducts(const Lanes &lanes, uint64_t left) {
  auto &groups = warpgroupOf(lanes).groups[lanes[0]->number / kWarp % kWarpgroup];
  size_t committed = groups.size() - 1, done = committed - std::min<uint64_t>(left, committed);
  std::vector<std::vector<WarpProduct>> finished(
      std::make_move_iterator(groups.begin()),
      std::make_move_iterator(groups.begin() + static_cast<int64_t>(done)));
  groups.erase(groups.begin(), groups.begin() + static_cast<int64_t>(done));
  for (const auto &list : finished)
    for (const WarpProduct &product : list)
      finishProduct(product, lanes);
  for (const auto &list : groups) // that still adds to the same
    for (const WarpProduct &product : list)
      for (Thread *thread : lanes)
        for (uint32_t k = 0; k < product.instruction->to.count; ++k)
          thread->isAddedTo[kernel_.vectors[product.instruction->to.index + k].index] = 1;
}

// In which order, and how exactly, the products are added is the processor's own: here as if at once.
void BlockRun::finishProduct(const WarpProduct &product, const Lanes &lanes) {
  const Instruction &i = *product.instruction;
  uint32_t warp = lanes[0]->number / kWarp, columns = 8u * i.width;
  auto matrix = [&](uint64_t bits, uint32_t first, uint32_t rows, bool isTransposed) {
    Descriptor factor(bits);
    std::vector<double> elements(rows * kTerms);
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t term = 0; term < kTerms; ++term) {
        uint64_t unit = factor.unitOf(first + row, term, isTransposed);
        uint16_t element;
        std::memcpy(&element, shared_.data() + unit + 2 * ((isTransposed ? first + row : term) % 8),
                    2);
        elements[row * kTerms + term] = narrowFloat(i.from, element);
      }
    return elements;
  };
  std::vector<double> a =
      matrix(product.a, warp % kWarpgroup * kRowsOfWarp, kRowsOfWarp, i.transposes);
  std::vector<double> b = matrix(product.b, 0, columns, i.transposesB);
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t k = 0; k < i.to.count; ++k) {
      uint32_t row = lane / 4 + k % 4 / 2 * 8, column = k / 4 * 8 + lane % 4 * 2 + k % 2;
      double sum = 0;
      for (uint32_t term = 0; term < kTerms; ++term)
        sum += a[row * kTerms + term] * b[column * kTerms + term];
      uint32_t number = kernel_.vectors[i.to.index + k].index;
      uint64_t &bits = lanes[lane]->registers[number];
      lanes[lane]->isAddedTo[number] = 0;
      auto before = std::bit_cast<float>(static_cast<uint32_t>(bits));
      bits = std::bit_cast<uint32_t>(static_cast<float>(sum + before));
    }
  forUnits(product, warp % kWarpgroup,
           [&](uint64_t address, uint64_t) { proxies_->endRead(warp, address); });
}

void BlockRun::checkProductsAtEnd() {
  for (const Warpgroup &group : warpgroups_) {
    for (const auto &groups : group.groups)
      for (const auto &list : groups)
        if (!list.empty())
          throw Wrong("block " + std::to_string(block_) +
                      " ends while a product of a warpgroup is under way");
    for (size_t done : group.done)
      if (done != group.products.size())
        throw Wrong("block " + std::to_string(block_) +
                    ": a product of a warpgroup to which not all of its warps come");
  }
  if (!tensorCopies_.empty())
    throw Wrong("block " + std::to_string(block_) + " ends while a copy is under way");
}

} // namespace tessera::emulator
