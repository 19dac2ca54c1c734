#include "runtime/comm/Reduce.h"
#include "runtime/VectorSet.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/ReduceVariants.h"
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <utility>

namespace tessera::runtime {

namespace {

using program::Collective;

ReduceFunction pick(char kind, int size, int op) {
#if defined(__x86_64__)
  if (vectorSet() == VectorSet::Avx512)
    return avx512::pick(kind, size, op);
  if (vectorSet() == VectorSet::Avx2)
    return avx2::pick(kind, size, op);
#endif
  return baseline::pick(kind, size, op);
}

void widen(program::ElementType type, const char *from, float *to, int64_t count) {
  toFloat32(type, from, to, count);
}
void narrow(program::ElementType type, const float *from, char *to, int64_t count) {
  fromFloat32(type, from, to, count);
}

// Of f8E8M0FNU.
void widen(program::ElementType, const char *from, double *to, int64_t count) {
  std::transform(from, from + count, to, decodeE8M0);
}
void narrow(program::ElementType, const double *from, char *to, int64_t count) {
  std::transform(from, from + count, to, encodeE8M0);
}

// f16 and the floats of 8 bits and less, by way of float32, or where it has not all of their numbers as
// normal ones, of float64.
template <program::ElementType type, int op>
void reduceSmallFloats(const char *const *sources, uint32_t sourceCount, char *const *targets,
                       uint32_t targetCount, int64_t count) {
  using Wide = std::conditional_t<type == program::F8E8M0FNU, double, float>;
  constexpr int64_t block = 256;
  std::array<Wide, block> sum, next;
  char *sumBytes = reinterpret_cast<char *>(sum.data());
  const char *pair[2] = {sumBytes, reinterpret_cast<const char *>(next.data())};
  std::array<char, 2 * block> rounded;
  ReduceFunction add = pick('f', sizeof(Wide), op);
  int64_t size = byteSize(type);
  for (int64_t at = 0; at < count; at += block) {
    int64_t n = std::min(block, count - at);
    widen(type, sources[0] + at * size, sum.data(), n);
    for (uint32_t q = 1; q < sourceCount; ++q) {
      widen(type, sources[q] + at * size, next.data(), n);
      add(pair, 2, &sumBytes, 1, n);
    }
    narrow(type, sum.data(), rounded.data(), n);
    for (uint32_t t = 0; t < targetCount; ++t)
      std::memcpy(targets[t] + at * size, rounded.data(), n * size);
  }
}

template <program::ElementType type> ReduceFunction pickSmallFloat(int op) {
  switch (op) {
  case Collective::SUM:
    return reduceSmallFloats<type, 0>;
  case Collective::PRODUCT:
    return reduceSmallFloats<type, 1>;
  case Collective::MAX:
    return reduceSmallFloats<type, 2>;
  default:
    return reduceSmallFloats<type, 3>;
  }
}

// Integers of 2 and 4 bits wrap at their own width.
template <program::ElementType type, int op>
void reduceSubByte(const char *const *sources, uint32_t sourceCount, char *const *targets,
                   uint32_t targetCount, int64_t count) {
  constexpr bool isSigned = type == program::I2 || type == program::I4;
  constexpr int unused = type == program::I2 || type == program::U2 ? 6 : 4;
  pick(isSigned ? 'i' : 'u', 1, op)(sources, sourceCount, targets, targetCount, count);
  for (uint32_t t = 0; t < targetCount; ++t)
    for (int64_t i = 0; i < count; ++i) {
      auto top = static_cast<unsigned char>(targets[t][i] << unused);
      targets[t][i] = isSigned ? static_cast<char>(static_cast<signed char>(top) >> unused)
                               : static_cast<char>(top >> unused);
    }
}

template <program::ElementType type> ReduceFunction pickSubByte(int op) {
  switch (op) {
  case Collective::SUM:
    return reduceSubByte<type, 0>;
  case Collective::PRODUCT:
    return reduceSubByte<type, 1>;
  default: // the others keep to the width
    return pick(type == program::I2 || type == program::I4 ? 'i' : 'u', 1, op);
  }
}

template <class T>
void multiplyComplex(const char *const *sources, uint32_t sourceCount, char *const *targets,
                     uint32_t targetCount, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    T product[2], factor[2];
    std::memcpy(product, sources[0] + i * sizeof product, sizeof product);
    for (uint32_t q = 1; q < sourceCount; ++q) {
      std::memcpy(factor, sources[q] + i * sizeof factor, sizeof factor);
      T real = product[0] * factor[0] - product[1] * factor[1];
      product[1] = product[0] * factor[1] + product[1] * factor[0];
      product[0] = real;
    }
    for (uint32_t t = 0; t < targetCount; ++t)
      std::memcpy(targets[t] + i * sizeof product, product, sizeof product);
  }
}

// A complex sum is a sum of twice as many reals.
template <char size>
void addComplex(const char *const *sources, uint32_t sourceCount, char *const *targets,
                uint32_t targetCount, int64_t count) {
  pick('f', size, Collective::SUM)(sources, sourceCount, targets, targetCount, 2 * count);
}

} // namespace

ReduceFunction reduceFunction(program::ElementType type, Collective::Reduction reduction) {
  using namespace program;
  int size = static_cast<int>(byteSize(type));
  switch (type) {
  case I1: // sum and maximum of truth values are `or`, product and minimum `and`
    return pick('u', 1,
                reduction == Collective::SUM || reduction == Collective::MAX ||
                        reduction == Collective::OR
                    ? Collective::OR
                    : Collective::AND);
  case BF16:
    return pick('h', 2, reduction);
  case F32:
  case F64:
    return pick('f', size, reduction);
  case C64:
    return reduction == Collective::SUM ? addComplex<4> : multiplyComplex<float>;
  case C128:
    return reduction == Collective::SUM ? addComplex<8> : multiplyComplex<double>;
  case F16:
    return pickSmallFloat<F16>(reduction);
  case F8E4M3FN:
    return pickSmallFloat<F8E4M3FN>(reduction);
  case F8E5M2:
    return pickSmallFloat<F8E5M2>(reduction);
  case F8E4M3B11FNUZ:
    return pickSmallFloat<F8E4M3B11FNUZ>(reduction);
  case F8E4M3FNUZ:
    return pickSmallFloat<F8E4M3FNUZ>(reduction);
  case F8E5M2FNUZ:
    return pickSmallFloat<F8E5M2FNUZ>(reduction);
  case F8E4M3:
    return pickSmallFloat<F8E4M3>(reduction);
  case F8E3M4:
    return pickSmallFloat<F8E3M4>(reduction);
  case F8E8M0FNU:
    return pickSmallFloat<F8E8M0FNU>(reduction);
  case F4E2M1FN:
    return pickSmallFloat<F4E2M1FN>(reduction);
  case F6E2M3FN:
    return pickSmallFloat<F6E2M3FN>(reduction);
  case F6E3M2FN:
    return pickSmallFloat<F6E3M2FN>(reduction);
  case I2:
    return pickSubByte<I2>(reduction);
  case I4:
    return pickSubByte<I4>(reduction);
  case U2:
    return pickSubByte<U2>(reduction);
  case U4:
    return pickSubByte<U4>(reduction);
  case U8:
  case U16:
  case U32:
  case U64:
    return pick('u', size, reduction);
  default:
    return pick('i', size, reduction);
  }
}

} // namespace tessera::runtime
