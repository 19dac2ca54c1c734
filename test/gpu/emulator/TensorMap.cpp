#include "test/gpu/emulator/TensorMap.h"

namespace tessera::emulator {

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

uint64_t swizzled(uint64_t address, Swizzle swizzle) {
  uint64_t mask = (uint64_t{1} << static_cast<unsigned>(swizzle)) - 1;
  return address ^ ((address >> 7 & mask) << 4);
}

// By CUtensorMapDataType; 0: no type that is known here.
static uint16_t bytesOfElement(int type) {
  static constexpr uint16_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && type < 10 ? bytes[type] : uint16_t{0};
}

std::string encode(TensorMap &map, int type, uint32_t rank, uint64_t address, const uint64_t *sizes,
                   const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                   int interleave, int swizzle, int promotion, int fill) {
  constexpr uint64_t kMostSize = uint64_t{1} << 32, kMostStride = uint64_t{1} << 40;
  map = TensorMap();
  map.elementBytes = bytesOfElement(type);
  if (!map.elementBytes || interleave != 0 || promotion < 0 || promotion > 3 || fill != 0)
    return "a tensor map of a kind that is not known";
  if (rank < 1 || rank > TensorMap::kMostRank)
    return "a tensor map of " + std::to_string(rank) + " dimensions";
  if (address % 16)
    return "a tensor at an address that is no multiple of 16";
  if (swizzle < 0 || swizzle > 3)
    return "a swizzle that is not known";
  map.swizzle = static_cast<Swizzle>(swizzle);
  map.address = address;
  map.rank = static_cast<uint16_t>(rank);
  for (uint32_t i = 0; i < rank; ++i) {
    map.sizes[i] = sizes[i];
    map.box[i] = box[i];
    map.strides[i] = i ? strides[i - 1] : map.elementBytes;
    if (sizes[i] < 1 || sizes[i] > kMostSize || box[i] < 1 || box[i] > 256 || steps[i] != 1)
      return "a tensor map with a size, box or step that there is not";
    if (i && (map.strides[i] % 16 || map.strides[i] >= kMostStride))
      return "a tensor map whose stride of dimension " + std::to_string(i) +
             " is no multiple of 16 bytes";
  }
  uint64_t line = uint64_t{map.box[0]} * map.elementBytes;
  if (line % 16)
    return "a box whose lines are no multiple of 16 bytes";
  if (swizzle && line > uint64_t{16} << swizzle)
    return "a box whose lines are longer than its swizzle's";
  map.mark = TensorMap::kMark;
  return "";
}

} // namespace tessera::emulator
