#include "runtime/device/cuda/SmallFloatTables.h"
#include "runtime/array/ElementType.h"
#include "runtime/pool/NumericMode.h"
#include <bit>

namespace tessera::runtime::device::cuda {

static uint32_t codeOf(program::ElementType type, uint32_t bits) {
  auto value = std::bit_cast<float>(bits);
  uint8_t code = 0;
  fromFloat32(type, &value, &code, 1);
  return code;
}

SmallFloatTables smallFloatTables(program::ElementType type) {
  NumericMode mode; // as the host reduces
  SmallFloatTables tables;
  for (uint32_t i = 0; i < 256; ++i) {
    auto byte = static_cast<uint8_t>(i);
    float value = 0;
    toFloat32(type, &byte, &value, 1);
    tables.decoded[i] = std::bit_cast<uint32_t>(value);
  }
  // Zero, all other numbers, infinity, NaNs: within each the codes come in order.
  constexpr uint32_t kRanges[] = {0, 1, 0x7f800000, 0x7f800001, 0x80000000};
  tables.firsts.fill(UINT32_MAX);
  tables.codes.fill(0);
  for (uint32_t sign : {0, 1}) {
    size_t piece = size_t{sign} * SmallFloatTables::kPieces;
    for (int range = 0; range < 4; ++range)
      for (uint32_t at = kRanges[range]; at < kRanges[range + 1];) {
        uint32_t code = codeOf(type, sign << 31 | at), low = at, high = kRanges[range + 1];
        while (high - low > 1) { // the first with another code
          uint32_t middle = low + (high - low) / 2;
          (codeOf(type, sign << 31 | middle) == code ? low : high) = middle;
        }
        tables.firsts[piece] = at;
        tables.codes[piece++] = code;
        at = high;
      }
  }
  return tables;
}

} // namespace tessera::runtime::device::cuda
