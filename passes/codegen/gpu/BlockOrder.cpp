#include "passes/codegen/gpu/BlockOrder.h"

#include "passes/codegen/gpu/TurnedTile.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
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

std::vector<Footprint> footprintsOf(const std::vector<int64_t> &extents,
                                    const std::vector<BlockAccess> &accesses) {
  std::vector<Footprint> footprints;
  std::vector<const BlockAccess *> ordered;
  for (const BlockAccess &access : accesses)
    ordered.push_back(&access);
  llvm::stable_sort(ordered, [](auto *a, auto *b) { return a->offset < b->offset; });
  for (const BlockAccess *access : ordered) {
    std::optional<int64_t> away;
    std::vector<int64_t> steps;
    auto same = llvm::find_if(footprints, [&](const Footprint &other) {
      auto isSame = [](auto &a, auto &b) { return a.count == b.count && a.stride == b.stride; };
      if (other.access.array != access->array || other.access.strides != access->strides ||
          !std::equal(other.access.terms.begin(), other.access.terms.end(), access->terms.begin(),
                      access->terms.end(), isSame))
        return false;
      away = stepsAway(extents, *access, access->offset - other.access.offset, steps);
      return away.has_value();
    });
    if (same == footprints.end()) {
      footprints.push_back({*access, std::vector<int64_t>(access->strides.size())});
      continue;
    }
    for (auto [more, step] : llvm::zip_equal(same->more, steps))
      more = std::max(more, step);
    same->access.bytes = std::max(same->access.bytes, *away + access->bytes);
    // Of other points at the same place, or of points that slide.
    bool isMoved = access->offset != same->access.offset;
    same->access.share = isMoved ? std::max(same->access.share, access->share)
                                 : std::min(same->access.share + access->share, 1.0);
  }
  return footprints;
}

// Of a block that has so many points of each loop.
double sectorsOf(const Footprint &footprint, const std::vector<double> &box) {
  const BlockAccess &access = footprint.access;
  std::vector<Steps> steps;
  for (auto [count, stride] : access.terms)
    steps.push_back({std::abs(stride), static_cast<double>(count)});
  for (size_t loop = 0; loop < box.size(); ++loop)
    steps.push_back(
        {std::abs(access.strides[loop]), box[loop] + static_cast<double>(footprint.more[loop])});
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
  return sectors;
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
  double all = 1, sectors = 0;
  for (int64_t extent : extents)
    all *= static_cast<double>(extent);
  for (const Footprint &footprint : footprints)
    sectors += footprint.access.share * sectorsOf(footprint, box);
  return sectors * std::max(all / static_cast<double>(points), 1.0);
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
BlockOrder blockOrder(const std::vector<int64_t> &extents, const std::vector<BlockAccess> &accesses,
                      int64_t points) {
  constexpr double kWorth = 0.95, kGood = 1.03;
  constexpr int64_t kLineBytes = 128; // that threads side by side have at least
  BlockOrder found = lineByLine(extents);
  if (extents.size() < 2)
    return found;
  std::vector<Footprint> footprints = footprintsOf(extents, accesses);
  double most = kWorth * sectorsOf(extents, found, footprints, points);
  int64_t itemBytes = 1;
  for (const BlockAccess &access : accesses)
    itemBytes = std::max(itemBytes, std::abs(access.strides.back()));
  struct Candidate {
    BlockOrder order;
    double sectors;
    int64_t width;
  };
  std::vector<Candidate> candidates;
  auto consider = [&](unsigned loop, unsigned cut, int64_t part, int64_t width) {
    int64_t lines = linesTogether(extents[loop], points / width);
    BlockOrder order;
    for (const Digit &digit : lineByLine(extents)) {
      if (digit.loop == loop && lines < digit.size)
        order.push_back({loop, digit.size / lines, lines});
      else if (digit.loop == cut)
        order.insert(order.end(),
                     {{cut, digit.size / part, part}, {loop, lines, 1}, {cut, part, 1}});
      else if (digit.loop != loop)
        order.push_back(digit);
    }
    double sectors = sectorsOf(extents, order, footprints, points);
    if (sectors < most)
      candidates.push_back({std::move(order), sectors, width});
  };
  int64_t inside = 1; // points of the loops within the one that is cut
  for (auto cut = static_cast<unsigned>(extents.size() - 1); cut > 0; inside *= extents[cut--])
    for (int64_t part = 1; part < extents[cut] && extents[cut] % part == 0; part *= 2) {
      int64_t width = part * inside;
      if (width >= points)
        break;
      if (width * itemBytes < kLineBytes)
        continue;
      for (unsigned loop = 0; loop < cut; ++loop)
        consider(loop, cut, part, width);
    }
  double least = most;
  for (const Candidate &candidate : candidates)
    least = std::min(least, candidate.sectors);
  // Of good ones that of the longest lines.
  int64_t width = 0;
  for (Candidate &candidate : candidates)
    if (candidate.sectors <= kGood * least && candidate.width > width) {
      width = candidate.width;
      found = std::move(candidate.order);
    }
  return found;
}

} // namespace tessera::codegen::gpu
