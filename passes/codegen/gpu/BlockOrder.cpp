#include "passes/codegen/gpu/BlockOrder.h"

#include "passes/codegen/gpu/TurnedTile.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

namespace tessera::codegen::gpu {

namespace {

// Steps of equal length, as many as there are, on the average of all blocks.
struct Steps {
  int64_t stride;
  double count;
};

// Accesses of one array by the same loops, as one: of windows that slide they overlap.
struct Footprint {
  BlockAccess access;
  std::vector<int64_t> more; // steps of each loop that the others are away at most
};

// How many steps of each loop an access is away from another, outer strides first, and what is left of the way. None: there
// are no points of both at one place.
std::optional<int64_t> stepsAway(const std::vector<int64_t> &extents, const BlockAccess &access,
                                 int64_t away, std::vector<int64_t> &steps) {
  std::vector<size_t> loops(extents.size());
  std::iota(loops.begin(), loops.end(), 0);
  auto strideOf = [&](size_t loop) { return std::abs(access.strides[loop]); };
  llvm::stable_sort(loops, [&](size_t a, size_t b) { return strideOf(a) > strideOf(b); });
  steps.assign(extents.size(), 0);
  for (size_t loop : loops) {
    if (!strideOf(loop))
      continue;
    steps[loop] = away / strideOf(loop);
    away %= strideOf(loop);
    if (steps[loop] > 0 && steps[loop] >= extents[loop])
      return std::nullopt;
  }
  return away;
}

bool isAtOnePoint(const BlockAccess &access, size_t loop) {
  return !access.within.empty() && access.within[loop].second - access.within[loop].first == 1;
}

// Of a loop that it is at one point of an access may have any stride: those that are asked for.
BlockAccess withStrides(BlockAccess access, const std::vector<int64_t> &strides) {
  for (auto [loop, stride] : llvm::enumerate(strides))
    if (isAtOnePoint(access, loop)) {
      access.offset += access.within[loop].first * (access.strides[loop] - stride);
      access.strides[loop] = stride;
    }
  return access;
}

bool haveSameLoops(const BlockAccess &a, const BlockAccess &b) {
  return a.array == b.array && a.strides == b.strides &&
         llvm::equal(a.terms, b.terms,
                     [](auto &x, auto &y) { return x.count == y.count && x.stride == y.stride; });
}

std::vector<Footprint> footprintsOf(const std::vector<int64_t> &extents,
                                    const std::vector<BlockAccess> &accesses) {
  std::vector<Footprint> footprints;
  std::vector<BlockAccess> ordered;
  for (const BlockAccess &access : accesses)
    ordered.push_back(withStrides(access, std::vector<int64_t>(extents.size())));
  // Those at one point of a loop come last: with the strides of others, where they read the same.
  llvm::stable_sort(ordered, [&](const BlockAccess &a, const BlockAccess &b) {
    auto pointsOf = [&](const BlockAccess &access) {
      return llvm::count_if(llvm::seq<size_t>(extents.size()),
                            [&](size_t loop) { return isAtOnePoint(access, loop); });
    };
    return std::pair(pointsOf(a), a.offset) < std::pair(pointsOf(b), b.offset);
  });
  for (const BlockAccess &access : ordered) {
    std::optional<int64_t> away;
    std::vector<int64_t> steps;
    auto same = llvm::find_if(footprints, [&](const Footprint &other) {
      BlockAccess like = withStrides(access, other.access.strides);
      if (!haveSameLoops(like, other.access))
        return false;
      away = stepsAway(extents, like, std::abs(like.offset - other.access.offset), steps);
      return away.has_value();
    });
    if (same == footprints.end()) {
      footprints.push_back({access, std::vector<int64_t>(access.strides.size())});
      continue;
    }
    for (auto [more, step] : llvm::zip_equal(same->more, steps))
      more = std::max(more, step);
    same->access.bytes = std::max(same->access.bytes, *away + access.bytes);
    for (auto [all, own] : llvm::zip(same->access.within, access.within))
      all = {std::min(all.first, own.first), std::max(all.second, own.second)};
    if (access.within.empty())
      same->access.within.clear();
  }
  return footprints;
}

// Of points that only a part of a loop has, those of one block that has some of them, `count` of the loop; and how many
// of the blocks do.
struct Part {
  double count, blocks;
};

Part partOf(const BlockAccess &access, size_t loop, int64_t extent, double count) {
  if (access.within.empty())
    return {count, 1};
  auto points = static_cast<double>(access.within[loop].second - access.within[loop].first);
  if (points == static_cast<double>(extent))
    return {count, 1};
  double blocks = std::ceil(points / count);
  return {points / blocks, std::min(blocks * count / static_cast<double>(extent), 1.0)};
}

// Of a block that has so many points of each loop.
double sectorsOf(const Footprint &footprint, const std::vector<int64_t> &extents,
                 const std::vector<double> &box) {
  const BlockAccess &access = footprint.access;
  std::vector<Steps> steps;
  for (auto [count, stride] : access.terms)
    steps.push_back({std::abs(stride), static_cast<double>(count)});
  double blocks = 1;
  for (size_t loop = 0; loop < box.size(); ++loop) {
    Part part = partOf(access, loop, extents[loop], box[loop]);
    steps.push_back(
        {std::abs(access.strides[loop]), part.count + static_cast<double>(footprint.more[loop])});
    blocks *= part.blocks;
  }
  llvm::stable_sort(steps, [](auto &a, auto &b) { return a.stride < b.stride; });
  auto run = static_cast<double>(access.bytes);
  std::vector<Steps> lines; // of runs
  int64_t begins = std::gcd(kSectorBytes, std::abs(access.offset));
  for (auto [stride, count] : steps) {
    if (!stride || count <= 1)
      continue;
    auto step = static_cast<double>(stride);
    if (lines.empty() && step <= std::max<double>(run, kSectorBytes)) {
      run = std::max(run, step * (count - 1) + run);
      continue;
    }
    begins = std::gcd(begins, stride);
    if (lines.empty() || stride % lines.back().stride ||
        step > static_cast<double>(lines.back().stride) * lines.back().count)
      lines.push_back({stride, count});
    else
      lines.back().count += (count - 1) * static_cast<double>(stride / lines.back().stride);
  }
  begins = std::gcd(begins, static_cast<int64_t>(run));
  double sectors = (run + static_cast<double>(kSectorBytes - begins)) / kSectorBytes;
  for (const Steps &each : lines)
    sectors *= each.count;
  return sectors * blocks;
}

int64_t pointsOf(const std::vector<int64_t> &extents) {
  int64_t points = 1;
  for (int64_t extent : extents)
    points *= extent;
  return points;
}

double sectorsOf(const std::vector<int64_t> &extents, const BlockOrder &order,
                 const std::vector<Footprint> &footprints, int64_t points) {
  std::vector<double> box(extents.size(), 1);
  auto left = static_cast<double>(points);
  for (auto digit = order.rbegin(); digit != order.rend(); ++digit) {
    double count = std::min(static_cast<double>(digit->size), left);
    box[digit->loop] *= count;
    left /= count;
  }
  double sectors = 0;
  for (const Footprint &footprint : footprints)
    sectors += sectorsOf(footprint, extents, box);
  return sectors *
         std::max(static_cast<double>(pointsOf(extents)) / static_cast<double>(points), 1.0);
}

} // namespace

BlockOrder lineByLine(const std::vector<int64_t> &extents) {
  BlockOrder order;
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    order.push_back({loop, extents[loop], 1});
  return order;
}

double sectorsOf(const std::vector<int64_t> &extents, const BlockOrder &order,
                 const std::vector<BlockAccess> &accesses, int64_t points) {
  return sectorsOf(extents, order, footprintsOf(extents, accesses), points);
}

// Of a block that has all points.
static double leastSectors(const std::vector<int64_t> &extents,
                           const std::vector<Footprint> &footprints) {
  return sectorsOf(extents, lineByLine(extents), footprints, pointsOf(extents));
}

// Lines of so many points as a block has, or few blocks have; else of a part of them, so that blocks side by side have
// whole lines of memory.
static int64_t linesTogether(int64_t lines, int64_t ofBlock) {
  constexpr int64_t kFewBlocks = 4;
  if (lines <= kFewBlocks * ofBlock)
    return lines;
  while (lines % ofBlock)
    --ofBlock;
  return ofBlock;
}

// A loop is cut into parts, of which some points of a loop around it come together.
static BlockOrder blockOrder(const std::vector<int64_t> &extents,
                             const std::vector<Footprint> &footprints, int64_t itemBytes,
                             int64_t points) {
  constexpr double kWorth = 0.97, kGood = 1.03, kEnough = 1.05;
  constexpr int64_t kLineBytes = 96; // that threads side by side have at least
  BlockOrder found = lineByLine(extents);
  if (extents.size() < 2)
    return found;
  double most = kWorth * sectorsOf(extents, found, footprints, points);
  double ofOne = leastSectors(extents, footprints);
  if (most <= ofOne)
    return found; // as any order would be
  struct Candidate {
    BlockOrder order;
    double sectors;
    int64_t width;
  };
  std::vector<Candidate> candidates;
  // Of one loop lines come together, or of two: of the inner one all.
  auto consider = [&](unsigned loop, std::optional<unsigned> whole, unsigned cut, int64_t part,
                      int64_t width) {
    int64_t ofWhole = whole ? extents[*whole] : 1;
    int64_t lines = linesTogether(extents[loop], points / (width * ofWhole));
    BlockOrder inside{{loop, lines, 1}, {cut, part, 1}}, order;
    if (whole)
      inside.insert(inside.begin() + 1, {*whole, ofWhole, 1});
    for (const Digit &digit : lineByLine(extents)) {
      if (digit.loop == loop && lines < digit.size)
        order.push_back({loop, digit.size / lines, lines});
      else if (digit.loop == cut && part < digit.size)
        order.push_back({cut, digit.size / part, part});
      else if (digit.loop != loop && digit.loop != whole && digit.loop != cut)
        order.push_back(digit);
      if (digit.loop == cut)
        llvm::append_range(order, inside);
    }
    double sectors = sectorsOf(extents, order, footprints, points);
    if (sectors < most)
      candidates.push_back({std::move(order), sectors, width});
  };
  auto considerAll = [&](bool areTwo) {
    int64_t inside = 1; // points of the loops within the one that is cut
    for (auto cut = static_cast<unsigned>(extents.size() - 1); cut > 0; inside *= extents[cut--])
      for (int64_t part = 1; part < extents[cut] && extents[cut] % part == 0; part *= 2) {
        int64_t width = part * inside;
        if (width >= points)
          break;
        if (width * itemBytes < kLineBytes)
          continue;
        for (unsigned loop = 0; loop < cut; ++loop) {
          if (!areTwo)
            consider(loop, std::nullopt, cut, part, width);
          for (unsigned whole = 0; areTwo && whole < cut; ++whole)
            if (whole != loop && width * extents[whole] < points)
              consider(loop, whole, cut, part, width);
        }
      }
  };
  auto leastOf = [&] {
    double least = most;
    for (const Candidate &candidate : candidates)
      least = std::min(least, candidate.sectors);
    return least;
  };
  considerAll(/*areTwo=*/false);
  if (leastOf() > kEnough * ofOne)
    considerAll(/*areTwo=*/true);
  double least = leastOf();
  // Of good ones that of the longest lines.
  int64_t width = 0;
  for (Candidate &candidate : candidates)
    if (candidate.sectors <= kGood * least && candidate.width > width) {
      width = candidate.width;
      found = std::move(candidate.order);
    }
  return found;
}

// Of two points side by side.
static int64_t bytesOfItem(const std::vector<BlockAccess> &accesses) {
  int64_t bytes = 1;
  for (const BlockAccess &access : accesses)
    if (!access.strides.empty())
      bytes = std::max(bytes, std::abs(access.strides.back()));
  return bytes;
}

BlockOrder blockOrder(const std::vector<int64_t> &extents, const std::vector<BlockAccess> &accesses,
                      int64_t points) {
  return blockOrder(extents, footprintsOf(extents, accesses), bytesOfItem(accesses), points);
}

static BlockShape blockShape(const std::vector<int64_t> &extents,
                             const std::vector<Footprint> &footprints, int64_t itemBytes,
                             int64_t threads, int64_t most) {
  constexpr double kWorth = 0.95, kEnough = 1.05;
  BlockShape found{threads, blockOrder(extents, footprints, itemBytes, threads)};
  if (2 * threads > most || threads >= pointsOf(extents))
    return found;
  double sectors = sectorsOf(extents, found.order, footprints, threads);
  if (sectors <= kEnough * leastSectors(extents, footprints))
    return found;
  BlockShape larger = blockShape(extents, footprints, itemBytes, 2 * threads, most);
  double ofLarger = sectorsOf(extents, larger.order, footprints, larger.threads);
  return ofLarger <= kWorth * sectors ? larger : found;
}

BlockShape blockShape(const std::vector<int64_t> &extents, const std::vector<BlockAccess> &accesses,
                      int64_t threads, int64_t most) {
  return blockShape(extents, footprintsOf(extents, accesses), bytesOfItem(accesses), threads, most);
}

} // namespace tessera::codegen::gpu
