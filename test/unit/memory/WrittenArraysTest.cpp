#include "passes/memory/WrittenArrays.h"

#include <gtest/gtest.h>
#include <random>

namespace tessera::memory {
namespace {

constexpr int64_t kArena = 0;

TEST(WrittenArraysTest, APartThatIsWrittenOverDestroysTheArray) {
  WrittenArrays written;
  written.add({kArena, 0, 64});
  EXPECT_TRUE(written.has({kArena, 0, 64}));
  EXPECT_TRUE(written.hasAround({kArena, 16, 32}));
  written.add({kArena, 32, 96});
  EXPECT_FALSE(written.has({kArena, 0, 64}));
  EXPECT_TRUE(written.has({kArena, 32, 96}));
}

TEST(WrittenArraysTest, SeveralFillARange) {
  WrittenArrays written;
  written.add({kArena, 0, 32});
  written.add({kArena, 32, 96});
  EXPECT_TRUE(written.has({kArena, 0, 96}));
  EXPECT_FALSE(written.has({kArena, 0, 64}));
}

TEST(WrittenArraysTest, AllWaysLeaveWhatNoneDestroys) {
  WrittenArrays written;
  written.add({kArena, 0, 8});
  written.add({kArena, 8, 16});
  size_t before = written.mark();
  written.add({kArena, 16, 24});
  written.add({kArena, 4, 8}); // destroys [0, 8)
  WrittenArrays::Changes one = written.takeBack(before);
  EXPECT_TRUE(written.has({kArena, 0, 8}));
  written.add({kArena, 16, 24});
  written.join({one, written.takeBack(before)});
  EXPECT_FALSE(written.has({kArena, 0, 8}));
  EXPECT_TRUE(written.has({kArena, 8, 16}));
  EXPECT_TRUE(written.has({kArena, 16, 24}));
}

// Against whole copies of the arrays, one a way.
TEST(WrittenArraysTest, JoinsAsCopiesDo) {
  constexpr unsigned seed = 23;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  auto pick = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  auto change = [&](WrittenArrays &written) {
    for (int64_t i = pick(5); i > 0; --i) {
      int64_t begin = pick(12);
      ByteRange range{pick(2), begin, begin + 1 + pick(4)};
      pick(3) ? written.add(range) : written.remove(range);
    }
  };
  for (int round = 0; round < 2000; ++round) {
    WrittenArrays written;
    change(written);
    change(written);
    std::vector<WrittenArrays> copies;
    std::vector<WrittenArrays::Changes> ways;
    size_t before = written.mark();
    for (int64_t way = 1 + pick(3); way > 0; --way) {
      change(written);
      copies.push_back(written);
      ways.push_back(written.takeBack(before));
    }
    written.join(ways);
    for (int64_t space = 0; space < 2; ++space)
      for (int64_t begin = 0; begin < 16; ++begin)
        for (int64_t end = begin + 1; end <= 16; ++end) {
          ByteRange range{space, begin, end};
          bool all = true;
          for (const WrittenArrays &copy : copies)
            all &= copy.has(range);
          // Arrays that only together fill a range may be there in one way and another: those of
          // the first count.
          if (written.has(range))
            EXPECT_TRUE(all) << "round " << round;
          else if (all && ways.size() == 1)
            ADD_FAILURE() << "round " << round;
        }
  }
}

} // namespace
} // namespace tessera::memory
