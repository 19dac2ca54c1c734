// What the threads of a warp do together.
#include "test/gpu/emulator/BlockRun.h"

#include <bit>
#include <cstring>

namespace tessera::emulator {

void BlockRun::meet(Thread &last, std::vector<uint32_t> &ready) {
  const Instruction &i = kernel_.instructions[last.place];
  auto mask = i.code == Code::Shfl ? static_cast<uint32_t>(value(last, i.d)) : UINT32_MAX;
  uint32_t warp = last.number / kWarp * kWarp;
  if (!(mask >> (last.number % kWarp) & 1))
    fail(last, "a shuffle of a lane that is not in its mask");
  Lanes lanes{};
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    if (mask >> lane & 1) {
      if (warp + lane >= threads_.size())
        fail(last, "an instruction of a warp with lanes that the block has not");
      Thread &other = threads_[warp + lane];
      if (other.state != Thread::AtWarp || other.place != last.place)
        return;
      lanes[lane] = &other;
    }
  if (i.code == Code::Shfl)
    exchange(i, lanes);
  else if (i.code == Code::LdMatrix)
    loadMatrices(i, lanes);
  else if (i.code == Code::Mma)
    multiplyMatrices(i, lanes);
  else
    meetForProducts(i, lanes);
  for (Thread *thread : lanes)
    if (thread) {
      thread->state = Thread::Ready;
      ++thread->place;
      ready.push_back(thread->number);
    }
}

void BlockRun::loadMatrices(const Instruction &i, const Lanes &lanes) {
  std::array<std::array<uint16_t, 8>, kWarp> rows;
  for (uint32_t row = 0; row < 8u * i.width; ++row)
    std::memcpy(rows[row].data(),
                place(*lanes[row], i, value(*lanes[row], i.a), 16, /*isWrite=*/false), 16);
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t matrix = 0; matrix < i.width; ++matrix) {
      uint32_t bits = 0;
      for (uint32_t half = 0; half < 2; ++half) {
        uint32_t row = lane / 4, column = lane % 4 * 2 + half;
        if (i.transposes)
          std::swap(row, column);
        bits |= static_cast<uint32_t>(rows[8 * matrix + row][column]) << 16 * half;
      }
      setPart(*lanes[lane], i.to, matrix, bits);
    }
}

// m16n8k32: a thread has four terms side by side of rows lane / 4 and eight further on, and of its column.
void BlockRun::multiplyBytes(const Instruction &i, const Lanes &lanes) {
  std::array<std::array<int32_t, 32>, 16> a;
  std::array<std::array<int32_t, 32>, 8> b;
  auto byteOf = [](Type type, uint64_t bits, uint32_t number) -> int32_t {
    auto byte = static_cast<uint8_t>(bits >> 8 * number);
    return type == Type::S8 ? static_cast<int8_t>(byte) : byte;
  };
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t byte = 0; byte < 4; ++byte) {
      uint32_t row = lane / 4, k = lane % 4 * 4 + byte;
      for (uint32_t number = 0; number < 4; ++number)
        a[row + number % 2 * 8][k + number / 2 * 16] =
            byteOf(i.from, part(*lanes[lane], i.a, number), byte);
      for (uint32_t number = 0; number < 2; ++number)
        b[row][k + number * 16] = byteOf(i.fromB, part(*lanes[lane], i.b, number), byte);
    }
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t number = 0; number < 4; ++number) {
      uint32_t row = lane / 4 + number / 2 * 8, column = lane % 4 * 2 + number % 2;
      auto sum = static_cast<uint32_t>(part(*lanes[lane], i.c, number));
      for (uint32_t k = 0; k < 32; ++k)
        sum += static_cast<uint32_t>(a[row][k] * b[column][k]);
      results_[lane][number] = sum;
    }
}

void BlockRun::multiplyFloats(const Instruction &i, const Lanes &lanes) {
  std::array<std::array<double, 16>, 16> a;
  std::array<std::array<double, 8>, 16> b;
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t half = 0; half < 2; ++half) {
      uint32_t row = lane / 4, k = lane % 4 * 2 + half;
      for (uint32_t number = 0; number < 4; ++number)
        a[row + number % 2 * 8][k + number / 2 * 8] =
            narrowFloat(i.from, part(*lanes[lane], i.a, number) >> 16 * half);
      for (uint32_t number = 0; number < 2; ++number)
        b[k + number * 8][row] = narrowFloat(i.from, part(*lanes[lane], i.b, number) >> 16 * half);
    }
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t number = 0; number < 4; ++number) {
      uint32_t row = lane / 4 + number / 2 * 8, column = lane % 4 * 2 + number % 2;
      double sum = 0;
      for (uint32_t k = 0; k < 16; ++k)
        sum += a[row][k] * b[k][column];
      auto c = std::bit_cast<float>(static_cast<uint32_t>(part(*lanes[lane], i.c, number)));
      results_[lane][number] = std::bit_cast<uint32_t>(static_cast<float>(sum + c));
    }
}

void BlockRun::multiplyMatrices(const Instruction &i, const Lanes &lanes) {
  if (i.to.count != 4 || i.a.count != 4 || i.b.count != 2 || i.c.count != 4)
    fail(*lanes[0], "a product of matrices with other operands than it has");
  i.isOfIntegers ? multiplyBytes(i, lanes) : multiplyFloats(i, lanes);
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    for (uint32_t number = 0; number < 4; ++number)
      setPart(*lanes[lane], i.to, number, results_[lane][number]);
}

void BlockRun::exchange(const Instruction &i, const Lanes &lanes) {
  std::vector<uint64_t> sent(kWarp), results(kWarp);
  std::vector<bool> inside(kWarp);
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    if (lanes[lane])
      sent[lane] = value(*lanes[lane], i.a);
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    if (!lanes[lane])
      continue;
    auto by = static_cast<int32_t>(value(*lanes[lane], i.b) & 31);
    auto control = static_cast<uint32_t>(value(*lanes[lane], i.c));
    int32_t clamp = control & 31, segment = control >> 8 & 31,
            most = (lane & segment) | (clamp & ~segment), from = 0;
    int32_t least = lane & segment;
    auto own = static_cast<int32_t>(lane);
    switch (i.shuffle) {
    case Shuffle::Up:
      from = own - by;
      inside[lane] = from >= most;
      break;
    case Shuffle::Down:
      from = own + by;
      inside[lane] = from <= most;
      break;
    case Shuffle::Bfly:
      from = own ^ by;
      inside[lane] = from <= most;
      break;
    case Shuffle::Idx:
      from = least | (by & ~segment);
      inside[lane] = from <= most;
      break;
    }
    if (!inside[lane])
      from = own;
    if (!lanes[from])
      fail(*lanes[lane],
           "a shuffle from lane " + std::to_string(from) + ", which is not in its mask");
    results[lane] = sent[from];
  }
  for (uint32_t lane = 0; lane < kWarp; ++lane)
    if (lanes[lane]) {
      set(*lanes[lane], i.to, results[lane], Type::B32);
      set(*lanes[lane], i.also, inside[lane], Type::Pred);
    }
}

} // namespace tessera::emulator
