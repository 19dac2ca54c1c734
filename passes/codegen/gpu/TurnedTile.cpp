#include "passes/codegen/gpu/TurnedTile.h"

#include "passes/codegen/gpu/Division.h"

#include <algorithm>
#include <numeric>

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kWord = 4, kBanks = 32;

int64_t roundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// A line that begins within a sector takes one more, at an end that it shares with the tile beside it: of 11
// sectors and more that is a tenth. Of elements of one byte there is no room for so many.
int64_t sideOf(int64_t bytes) {
  if (bytes == 1)
    return 8 * kSectorBytes;
  return (bytes == 2 ? 11 : 12) * kSectorBytes / bytes;
}

int64_t wordOf(int64_t bytes) { return std::max<int64_t>(kWord / bytes, 1); }

} // namespace

// Words of a flat tile's lines are odd, or one is left out now and then, where elements have some; of narrower ones the lines that a
// warp is at have no more words than there are banks.
int64_t TurnedTile::pitch(int64_t bytes) const {
  int64_t word = wordOf(bytes);
  if (flat == None)
    return along + word;
  int64_t minor = flat == Along ? along : across;
  return word == 1 ? minor : (roundUp(minor, word) / word | 1) * word;
}

int64_t TurnedTile::elements(int64_t bytes) const {
  int64_t lines = flat == Across ? along : across;
  return lines * pitch(bytes) + gaps(bytes).before(lines);
}

TurnedTile::Gaps TurnedTile::gaps(int64_t bytes) const {
  if (flat == None || bytes < kWord)
    return {};
  int64_t all = kBanks * kWord / bytes, together = all / std::gcd(pitch(bytes), all);
  return together < all ? Gaps{together, all} : Gaps{};
}

TurnedTile turnedTile(const TurnedPlane &plane) {
  TurnedTile tile{kWarp, kWarp};
  if (!plane.beginSectors) {
    tile.along = std::min(sideOf(plane.alongBytes), roundUp(plane.along, kWarp));
    tile.across = std::min(sideOf(plane.acrossBytes), roundUp(plane.across, kWarp));
  }
  // As many lines as make a tile of the usual size.
  auto lines = [](int64_t elements) { return kWarp * kWarp / elements / kWarp * kWarp; };
  if (plane.along < kWarp)
    return {plane.along, std::max(tile.across, lines(plane.along)), TurnedTile::Along};
  if (plane.across < kWarp)
    return {std::max(tile.along, lines(plane.across)), plane.across, TurnedTile::Across};
  return tile;
}

} // namespace tessera::codegen::gpu
