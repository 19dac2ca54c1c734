#include "runtime/array/StridedCopy.h"
#include <cstring>

namespace tessera::runtime {

std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape, int64_t elementBytes) {
  std::vector<int64_t> strides(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = elementBytes;
    elementBytes *= shape[i];
  }
  return strides;
}

namespace {

template <class T>
void copyElements(char *to, int64_t toStride, const char *from, int64_t fromStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * fromStride, sizeof value);
    std::memcpy(to + i * toStride, &value, sizeof value);
  }
}

struct Pair {
  uint64_t a, b;
};

void copyLine(char *to, int64_t toStride, const char *from, int64_t fromStride, int64_t count,
              int64_t bytes) {
  if (toStride == bytes && fromStride == bytes)
    return void(std::memcpy(to, from, static_cast<size_t>(count * bytes)));
  switch (bytes) {
  case 1:
    return copyElements<uint8_t>(to, toStride, from, fromStride, count);
  case 2:
    return copyElements<uint16_t>(to, toStride, from, fromStride, count);
  case 4:
    return copyElements<uint32_t>(to, toStride, from, fromStride, count);
  case 8:
    return copyElements<uint64_t>(to, toStride, from, fromStride, count);
  case 16:
    return copyElements<Pair>(to, toStride, from, fromStride, count);
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * toStride, from + i * fromStride, static_cast<size_t>(bytes));
}

} // namespace

void copyStrided(const Strided &to, const Strided &from, const std::vector<int64_t> &extent,
                 int64_t elementBytes) {
  for (int64_t size : extent)
    if (size == 0)
      return;
  // Dimensions from `inner` on are one line: dense on both sides, but for the innermost.
  size_t rank = extent.size(), inner = rank;
  int64_t count = 1, toStride = elementBytes, fromStride = elementBytes;
  if (rank) {
    --inner;
    count = extent[inner], toStride = to.strides[inner], fromStride = from.strides[inner];
    while (inner > 0 && to.strides[inner - 1] == toStride * count &&
           from.strides[inner - 1] == fromStride * count)
      count *= extent[--inner];
  }
  std::vector<int64_t> index(inner, 0);
  char *target = static_cast<char *>(const_cast<void *>(to.data));
  const char *source = static_cast<const char *>(from.data);
  while (true) {
    copyLine(target, toStride, source, fromStride, count, elementBytes);
    size_t i = inner;
    while (i > 0) {
      --i;
      target += to.strides[i], source += from.strides[i];
      if (++index[i] < extent[i])
        break;
      target -= to.strides[i] * extent[i], source -= from.strides[i] * extent[i];
      index[i] = 0;
      if (i == 0)
        return;
    }
    if (inner == 0)
      return;
  }
}

} // namespace tessera::runtime
