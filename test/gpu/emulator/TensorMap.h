// A tensor map as the stand-in for the driver encodes it: what `cp.async.bulk.tensor` reads of a tensor in
// global memory, and how it lies in shared memory ("CUDA Driver API", Tensor Map Object Management).
#pragma once

#include "test/gpu/emulator/Ptx.h"

#include <string>

namespace tessera::emulator {

struct TensorMap {
  static constexpr uint64_t kMark = 0x70616d726f736e65;
  static constexpr unsigned kMostRank = 5;
  uint64_t mark = 0; // kMark: it is one
  uint64_t address = 0;
  uint64_t sizes[kMostRank] = {}, strides[kMostRank] = {}; // innermost first; strides in bytes
  uint32_t box[kMostRank] = {};
  uint16_t rank = 0, elementBytes = 0;
  Swizzle swizzle = Swizzle::None;
  uint64_t boxBytes() const;
};
static_assert(sizeof(TensorMap) <= 128);

// Where a byte lies: the unit of 16 bytes in its line is changed by the number of the line.
uint64_t swizzled(uint64_t address, Swizzle swizzle);

// As the driver's function checks it: "" for nothing wrong. Innermost stride apart, as there.
std::string encode(TensorMap &map, int type, uint32_t rank, uint64_t address, const uint64_t *sizes,
                   const uint64_t *strides, const uint32_t *box, const uint32_t *steps,
                   int interleave, int swizzle, int promotion, int fill);

} // namespace tessera::emulator
