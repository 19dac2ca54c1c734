// Which of a window's positions meet elements of a dilated operand, and where blocks of terms end when
// the others are left out.
#include "passes/codegen/kernel/ConvolutionTaps.h"

#include <gtest/gtest.h>
#include <vector>

namespace tessera::test {
namespace {

using codegen::blockEnds;
using codegen::Taps;
using codegen::tapsOf;

TEST(ConvolutionTaps, EveryOtherPosition) {
  Taps even = tapsOf(3, 1, 2, -2), odd = tapsOf(3, 1, 2, -1);
  EXPECT_EQ(even.first, 0);
  EXPECT_EQ(even.count(), 2);
  EXPECT_EQ(odd.first, 1);
  EXPECT_EQ(odd.count(), 1);
}

TEST(ConvolutionTaps, WindowsThatAreDilatedToo) {
  // Positions 1, 3, 5, 7 of an operand with elements at 0, 3, 6, ..: the second is one.
  Taps taps = tapsOf(4, 2, 3, 1);
  EXPECT_EQ(taps.first, 1);
  EXPECT_EQ(taps.count(), 1);
  EXPECT_EQ(tapsOf(1, 1, 2, 1).count(), 0); // a window of one position, over a zero
}

std::vector<int64_t> ends(llvm::ArrayRef<Taps> loops, int64_t block) {
  auto found = blockEnds(loops, block);
  return {found.begin(), found.end()};
}

TEST(ConvolutionTaps, BlocksCountWhatIsLeftOut) {
  // Three positions of four features, the one in the middle left out: blocks of eight terms.
  EXPECT_EQ(ends({Taps{3, 0, 2}, Taps{4}}, 8), (std::vector<int64_t>{4, 8}));
  // Features first: of each the positions 0 and 2; blocks of five end in mid-window.
  EXPECT_EQ(ends({Taps{4}, Taps{3, 0, 2}}, 5), (std::vector<int64_t>{3, 7, 8}));
  // Nothing left of a block: it is none.
  EXPECT_EQ(ends({Taps{3, 0, 2}, Taps{4}}, 4), (std::vector<int64_t>{4, 8}));
}

} // namespace
} // namespace tessera::test
