// LAPACK's functions, called by several threads at a time: a batch's problems have the numbers that each has
// alone. Some builds of OpenBLAS mix the arrays of callers up.
#include "runtime/library/Library.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>

using namespace tessera::runtime;

TEST(Lapack, ThreadsDoNotMeet) {
  constexpr int64_t kBatch = 4000, kOrder = 6, kSize = kOrder * kOrder;
  tessera::library::Call call{"lapack.trsm",
                              {0, kBatch, kOrder, kOrder, kOrder, 'L', 'L', 'N', 'U'}};
  auto kernel = findLibraryKernel(call);
  if (!kernel.ok())
    GTEST_SKIP() << kernel.status().message();
  std::mt19937_64 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> a(kBatch * kSize), b(kBatch * kSize);
  for (auto *array : {&a, &b})
    for (float &x : *array)
      x = normal(random);
  auto solve = [&](unsigned threads) {
    std::vector<float> x = b;
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
      running.emplace_back([&, thread] {
        void *buffers[] = {a.data(), x.data(), x.data()}; // in place
        TesseraKernelArgs args{buffers, nullptr, (*kernel).plan.get()};
        uint32_t grid = (*kernel).grid, each = (grid + threads - 1) / threads;
        uint32_t first = std::min(grid, thread * each), last = std::min(grid, first + each);
        if (first < last)
          EXPECT_EQ((*kernel).function(&args, first, last), 0);
      });
    for (std::thread &thread : running)
      thread.join();
    return x;
  };
  EXPECT_TRUE(solve(1) == solve(4));
}
