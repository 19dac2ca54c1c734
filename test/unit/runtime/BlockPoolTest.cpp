// Where blocks of the host's memory lie.
#include "runtime/device/cpu/BlockPool.h"
#include "runtime/HostMemory.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace tessera::runtime;

namespace {

uint64_t number(const void *data) { return reinterpret_cast<uint64_t>(data); }

// Each is written whole, and none of them lies in another.
TEST(BlockPool, BlocksAreAlignedAndApart) {
  device::BlockPool pool;
  std::vector<std::pair<unsigned char *, size_t>> blocks;
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{4096}, size_t{65536},
                       kHugePage - 1, kHugePage, 3 * kHugePage + 5})
    for (int i = 0; i < 12; ++i) {
      auto *data = static_cast<unsigned char *>(pool.take(bytes));
      ASSERT_NE(data, nullptr);
      EXPECT_EQ(number(data) % kCacheLine, 0u);
      std::memset(data, int(blocks.size()), bytes);
      blocks.emplace_back(data, bytes);
    }
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto [data, bytes] = blocks[i];
    EXPECT_TRUE(std::all_of(data, data + bytes, [&](unsigned char c) { return c == i % 256; }))
        << i;
    pool.giveBack(data, bytes);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
// 100 arrays of 64 KB are on five huge pages at most, and do not all begin in the same set of a cache.
TEST(BlockPool, SmallBlocksShareHugePages) {
  device::BlockPool pool;
  std::set<uint64_t> pages, sets;
  for (int i = 0; i < 100; ++i) {
    uint64_t at = number(pool.take(size_t{64} << 10));
    pages.insert(at / kHugePage);
    pages.insert((at + (64 << 10) - 1) / kHugePage);
    sets.insert(at / kCacheLine % 64);
  }
  EXPECT_LE(pages.size(), 5u);
  EXPECT_GE(sets.size(), 32u);
}
#endif

TEST(BlockPool, WhatComesBackIsTakenAgain) {
  device::BlockPool pool;
  void *data = pool.take(1000);
  pool.giveBack(data, 1000);
  EXPECT_NE(pool.take(2000), data);
  EXPECT_EQ(pool.take(1000), data);
  pool.giveBack(data, 1000);
}

} // namespace
