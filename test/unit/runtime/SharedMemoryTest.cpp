// Memory that peers map, here of this process, which finds its own file as a peer's.
#include "runtime/SharedMemory.h"
#include "runtime/device/cpu/BlockPool.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace tessera::runtime;

namespace {

constexpr size_t kBytes = size_t{16} << 20;

class SharedMemoryTest : public testing::Test {
protected:
  void SetUp() override {
    memory_ = SharedMemory::make(kBytes);
    if (!memory_)
      GTEST_SKIP() << "this system has no files in memory";
  }
  std::shared_ptr<SharedMemory> memory_;
};

uint64_t number(const void *data) { return reinterpret_cast<uint64_t>(data); }

} // namespace

TEST_F(SharedMemoryTest, AViewHasTheSameBytesElsewhere) {
  auto *block = static_cast<char *>(memory_->take(100'000));
  ASSERT_NE(block, nullptr);
  auto view = SharedView::map(getpid(), memory_->segment());
  ASSERT_NE(view, nullptr);
  char *seen = view->at(number(block), 100'000);
  ASSERT_NE(seen, nullptr);
  EXPECT_NE(seen, block);
  block[99'999] = 7;
  EXPECT_EQ(seen[99'999], 7);
  seen[0] = 9;
  EXPECT_EQ(block[0], 9);
}

// It stays readable when the peer is gone: a rank that adds up meanwhile learns of it by its messages.
TEST_F(SharedMemoryTest, AViewOutlivesItsMemory) {
  auto *block = static_cast<char *>(memory_->take(100));
  block[5] = 3;
  auto view = SharedView::map(getpid(), memory_->segment());
  ASSERT_NE(view, nullptr);
  memory_.reset();
  EXPECT_EQ(view->at(number(block), 100)[5], 3);
}

TEST_F(SharedMemoryTest, WhatIsNotInASegmentHasNoView) {
  auto view = SharedView::map(getpid(), memory_->segment());
  ASSERT_NE(view, nullptr);
  SharedSegment segment = memory_->segment();
  EXPECT_EQ(view->at(segment.base - 1, 1), nullptr);
  EXPECT_EQ(view->at(segment.base + segment.bytes, 1), nullptr);
  EXPECT_EQ(view->at(segment.base + segment.bytes - 4, 8), nullptr);
  EXPECT_NE(view->at(segment.base + segment.bytes - 8, 8), nullptr);
}

// Another file under its descriptor is not taken for it.
TEST_F(SharedMemoryTest, AnotherFileIsNotMapped) {
  auto other = SharedMemory::make(kBytes);
  SharedSegment segment = memory_->segment();
  segment.file = other->segment().file;
  EXPECT_EQ(SharedView::map(getpid(), segment), nullptr);
  EXPECT_EQ(SharedView::map(1 << 30, memory_->segment()), nullptr); // nobody has this number
}

TEST_F(SharedMemoryTest, BlocksLieApartAndEndWithTheRoom) {
  auto *small = static_cast<char *>(memory_->take(1)),
       *next = static_cast<char *>(memory_->take(0));
  auto *large = static_cast<char *>(memory_->take(size_t{3} << 20));
  EXPECT_EQ(number(small) % 64, 0u);
  EXPECT_GE(next, small + 1);
  EXPECT_EQ(number(large) % (size_t{2} << 20), 0u);
  EXPECT_EQ(memory_->take(kBytes), nullptr);
  EXPECT_EQ(memory_->take(SIZE_MAX), nullptr);
  EXPECT_EQ(number(memory_->take(10)) - number(large), size_t{4} << 20);
}

// Large blocks of a pool are shared while there is room, and are its own from then on.
TEST_F(SharedMemoryTest, APoolUsesIt) {
  device::BlockPool pool(memory_);
  void *small = pool.take(100), *large = pool.take(size_t{1} << 20), *huge = pool.take(2 * kBytes);
  EXPECT_FALSE(memory_->has(small));
  EXPECT_TRUE(memory_->has(large));
  EXPECT_FALSE(memory_->has(huge));
  pool.giveBack(large, size_t{1} << 20);
  EXPECT_EQ(pool.take(size_t{1} << 20), large);
  pool.giveBack(large, size_t{1} << 20);
  pool.giveBack(small, 100);
  pool.giveBack(huge, 2 * kBytes);
}
