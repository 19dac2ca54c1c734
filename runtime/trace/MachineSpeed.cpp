#include "runtime/trace/MachineSpeed.h"
#include "include/tessera/cpu_features.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kCopied = size_t{64} << 20; // bytes of all cores
constexpr int kTurns = 1 << 18;              // of a loop of products: a millisecond or some

// Meets the others at each round, and works.
class Rounds {
public:
  Rounds(uint32_t cores, const std::function<std::function<void()>()> &make)
      : cores_(cores), make_(make) {}

  // Seconds of a round, from the first that begins to the last that ends: the least of all. 0 where a
  // thread, or its memory, is not to be had.
  double least() {
    std::vector<std::thread> others;
    try {
      while (others.size() + 1 < cores_)
        others.emplace_back([this] { work(); });
    } catch (const std::system_error &) {
      failed_ = true;
      cores_ = static_cast<uint32_t>(others.size()) + 1;
    }
    ready_ = true;
    work();
    for (std::thread &other : others)
      other.join();
    double least = 0;
    for (const Round &round : rounds_)
      if (double seconds = static_cast<double>(round.end - round.begin) * 1e-9;
          least == 0 || seconds < least)
        least = seconds;
    return failed_ ? 0 : least;
  }

private:
  struct Round {
    std::atomic<uint32_t> came{0};
    std::atomic<int64_t> begin{INT64_MAX}, end{0}; // nanoseconds
  };

  static int64_t now() { return Clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

  void work() {
    while (!ready_)
      std::this_thread::yield();
    std::function<void()> work;
    try {
      work = make_();
      work(); // pages, frequencies
    } catch (const std::bad_alloc &) {
      failed_ = true;
    }
    for (Round &round : rounds_) {
      ++round.came;
      while (round.came < cores_)
        std::this_thread::yield();
      if (failed_)
        continue;
      int64_t begin = now();
      work();
      int64_t end = now();
      for (int64_t seen = round.begin;
           begin < seen && !round.begin.compare_exchange_weak(seen, begin);)
        ;
      for (int64_t seen = round.end; end > seen && !round.end.compare_exchange_weak(seen, end);)
        ;
    }
  }

  uint32_t cores_;
  const std::function<std::function<void()>()> &make_;
  std::atomic<bool> ready_{false}, failed_{false};
  std::array<Round, 7> rounds_;
};

double leastOfRounds(uint32_t cores, const std::function<std::function<void()>()> &make) {
  return Rounds(cores, make).least();
}

double copiedBytes(uint32_t cores) {
  size_t bytes = kCopied / cores;
  double seconds = leastOfRounds(cores, [&] {
    std::shared_ptr<char[]> from(new char[bytes]), to(new char[bytes]);
    std::memset(from.get(), 1, bytes); // pages of their own
    return [=] { std::memcpy(to.get(), from.get(), bytes); };
  });
  return seconds > 0 ? 2.0 * static_cast<double>(bytes * cores) / seconds : 0;
}

// A loop of products that wait for no other, and how many operations a turn of it has.
struct Products {
  float (*run)(int turns); // what comes out is no matter, but that it is asked for
  double flops;
};

#if defined(__x86_64__)
constexpr int kSums = 12; // more than what is under way at a time

__attribute__((target("avx512f"))) float multiplyAvx512(int turns) {
  __m512 sums[kSums], x = _mm512_set1_ps(0.5F);
  for (int i = 0; i < kSums; ++i) // no two alike, or one would do
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int turn = 0; turn < turns; ++turn)
#pragma GCC unroll 12
    for (auto &sum : sums)
      sum = _mm512_fmadd_ps(sum, x, x);
  for (auto &sum : sums)
    x = _mm512_add_ps(x, sum);
  return _mm512_cvtss_f32(x);
}

__attribute__((target("avx2,fma"))) float multiplyAvx2(int turns) {
  __m256 sums[kSums], x = _mm256_set1_ps(0.5F);
  for (int i = 0; i < kSums; ++i) // no two alike, or one would do
    sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int turn = 0; turn < turns; ++turn)
#pragma GCC unroll 12
    for (auto &sum : sums)
      sum = _mm256_fmadd_ps(sum, x, x);
  for (auto &sum : sums)
    x = _mm256_add_ps(x, sum);
  return _mm256_cvtss_f32(x);
}

__attribute__((target("avx512f,avx512bf16"))) float multiplyBf16(int turns) {
  __m512 sums[kSums], x = _mm512_set1_ps(0.5F);
  __m512bh pairs = _mm512_cvtne2ps_pbh(x, x);
  for (int i = 0; i < kSums; ++i) // no two alike, or one would do
    sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int turn = 0; turn < turns; ++turn)
#pragma GCC unroll 12
    for (auto &sum : sums)
      sum = _mm512_dpbf16_ps(sum, pairs, pairs);
  for (auto &sum : sums)
    x = _mm512_add_ps(x, sum);
  return _mm512_cvtss_f32(x);
}

// Static: the compiler does not know that the instruction reads all of it.
struct TileShapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t columnBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileShapes kTileShapes;

__attribute__((target("amx-tile,amx-bf16"))) float multiplyTiles(int turns) {
  _tile_loadconfig(&kTileShapes);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (int turn = 0; turn < turns; ++turn) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 0;
}

bool has(const char *name) {
  const cpu::Feature *feature = cpu::find(name);
  return feature && cpu::isHere(*feature) && cpu::request(*feature) == 0;
}
#endif

float multiplyBaseline(int turns) {
  float sums[32], x = 0.5F;
  for (int i = 0; i < 32; ++i)
    sums[i] = static_cast<float>(i);
  for (int turn = 0; turn < turns; ++turn)
    for (float &sum : sums)
      sum = sum * x + x;
  for (float sum : sums)
    x += sum;
  return x;
}

Products productsOfF32() {
#if defined(__x86_64__)
  if (has("avx512f"))
    return {multiplyAvx512, 2.0 * 16 * kSums};
  if (has("avx2") && has("fma"))
    return {multiplyAvx2, 2.0 * 8 * kSums};
#endif
  return {multiplyBaseline, 2.0 * 32};
}

Products productsOfBf16() {
#if defined(__x86_64__)
  if (has("amx-tile") && has("amx-bf16"))
    return {multiplyTiles, 4.0 * 2 * 16 * 16 * 32};
  if (has("avx512bf16"))
    return {multiplyBf16, 2.0 * 32 * kSums};
#endif
  return productsOfF32();
}

double flopsOf(uint32_t cores, Products products) {
  double seconds = leastOfRounds(cores, [&] {
    return [=] {
      volatile float result = products.run(kTurns);
      static_cast<void>(result);
    };
  });
  return seconds > 0 ? products.flops * kTurns * cores / seconds : 0;
}

} // namespace

double MachineSpeed::leastSeconds(program::ElementType products, double flops, double bytes) const {
  double rate = flopsOf(products);
  if (rate <= 0 || copiedBytes <= 0)
    return 0;
  return std::max(flops / rate, bytes / copiedBytes);
}

MachineSpeed measureMachine(uint32_t cores) {
  MachineSpeed speed;
  speed.copiedBytes = copiedBytes(cores);
  speed.f32Flops = flopsOf(cores, productsOfF32());
  speed.bf16Flops = std::max(flopsOf(cores, productsOfBf16()), speed.f32Flops);
  return speed;
}

} // namespace tessera::runtime
