#include "runtime/tool/RandomInputs.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include <algorithm>
#include <cstring>
#include <random>

namespace tessera::runtime {

// Values repeat after so many, a prime, so that the rows of an array differ: gigabytes are copied,
// which takes a tenth of the time of drawing them.
static constexpr int64_t period = 999983;

HostArray randomInput(const program::Parameter &parameter, uint64_t seed) {
  using namespace program;
  std::mt19937_64 random(seed);
  HostArray array{parameter.type(), globalShape(parameter), {}};
  int64_t count = elementCount(array.shape), size = byteSize(array.type);
  array.bytes.resize(count * size);
  char *to = array.bytes.data();
  auto real = [&] { return 1e-3 + 0.05 * static_cast<double>(random() >> 11) * 0x1p-53; };
  for (int64_t i = 0; i < std::min(count, period); ++i, to += size) {
    if (isSmallFloat(array.type)) {
      auto value = static_cast<float>(real());
      fromFloat32(array.type, &value, to, 1);
    } else if (array.type == F32 || array.type == C64) {
      float values[2] = {static_cast<float>(real()), 0};
      if (array.type == C64)
        values[1] = static_cast<float>(real());
      std::memcpy(to, values, size);
    } else if (array.type == F64 || array.type == C128) {
      double values[2] = {real(), array.type == C128 ? real() : 0};
      std::memcpy(to, values, size);
    } else {
      uint64_t value =
          random() % (array.type == I1 || array.type == I2 || array.type == U2 ? 2 : 7);
      std::memcpy(to, &value, size); // little-endian
    }
  }
  int64_t total = count * size;
  for (int64_t filled = period * size; filled < total; filled *= 2)
    std::memcpy(array.bytes.data() + filled, array.bytes.data(), std::min(filled, total - filled));
  return array;
}

} // namespace tessera::runtime
