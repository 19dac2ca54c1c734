// What annotations of one sharding group say together, and which contradict each other.
#include "lib/sharding/CommonSharding.h"

#include <gtest/gtest.h>

namespace tessera::sharding {
namespace {

constexpr AxisRef x{0, 1, 4}, majorOfX{0, 1, 2}, minorOfX{0, 2, 2}, y{1, 1, 2};
constexpr bool kOpen = false, kClosed = true;

TensorSharding of(DimSharding rows, DimSharding columns, AxisRefs replicated = {}) {
  return {{rows, columns}, replicated, {}};
}

void expectCommon(const TensorSharding &a, const TensorSharding &b, const TensorSharding &want) {
  for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)}) {
    std::optional<TensorSharding> common = commonSharding(one, other);
    ASSERT_TRUE(common);
    for (size_t d = 0; d < 2; ++d) {
      EXPECT_EQ(common->dims[d].axes, want.dims[d].axes);
      EXPECT_EQ(common->dims[d].closed, want.dims[d].closed);
      EXPECT_EQ(common->dims[d].priority, want.dims[d].priority);
    }
    EXPECT_EQ(common->replicated, want.replicated);
  }
}

void expectNone(const TensorSharding &a, const TensorSharding &b) {
  EXPECT_FALSE(commonSharding(a, b));
  EXPECT_FALSE(commonSharding(b, a));
}

TEST(CommonSharding, TakesTheLongerOfEachDimension) {
  expectCommon(of({{x}, kOpen, {}}, {{}, kOpen, {}}), of({{}, kOpen, {}}, {{y}, kClosed, {}}),
               of({{x}, kOpen, {}}, {{y}, kClosed, {}}));
  expectCommon(of({{majorOfX}, kOpen, {}}, {{}, kOpen, {}}),
               of({{x, y}, kClosed, {}}, {{}, kClosed, {}}),
               of({{x, y}, kClosed, {}}, {{}, kClosed, {}}));
}

TEST(CommonSharding, KeepsTheHigherPriority) {
  expectCommon(of({{x}, kOpen, 3}, {{y}, kOpen, 1}), of({{x}, kOpen, 2}, {{y}, kOpen, {}}),
               of({{x}, kOpen, 2}, {{y}, kOpen, {}}));
}

TEST(CommonSharding, NeitherMayShardWhatTheOtherReplicates) {
  expectCommon(of({{}, kOpen, {}}, {{}, kOpen, {}}, {y}), of({{x}, kOpen, {}}, {{}, kOpen, {}}),
               of({{x}, kOpen, {}}, {{}, kOpen, {}}, {y}));
  expectNone(of({{}, kOpen, {}}, {{}, kOpen, {}}, {minorOfX}),
             of({{x}, kOpen, {}}, {{}, kOpen, {}}));
}

TEST(CommonSharding, ContradictionsHaveNone) {
  expectNone(of({{x}, kOpen, {}}, {{}, kOpen, {}}), of({{y}, kOpen, {}}, {{}, kOpen, {}}));
  expectNone(of({{x}, kClosed, {}}, {{}, kOpen, {}}), of({{x, y}, kOpen, {}}, {{}, kOpen, {}}));
  expectNone(of({{x}, kOpen, {}}, {{}, kOpen, {}}), of({{}, kOpen, {}}, {{x}, kOpen, {}}));
  TensorSharding partial = of({{x}, kOpen, {}}, {{}, kOpen, {}});
  partial.unreduced = {y};
  expectNone(partial, of({{x}, kOpen, {}}, {{}, kOpen, {}}));
}

// Members that are not annotated say nothing; one that contradicts, or is on another mesh, leaves the others as they are.
TEST(CommonSharding, OfAGroupIsWhatTheFirstAgreeOn) {
  TensorSharding rows = of({{x}, kOpen, {}}, {{}, kOpen, {}});
  TensorSharding columns = of({{}, kOpen, {}}, {{y}, kOpen, {}});
  TensorSharding turned = of({{y}, kOpen, {}}, {{}, kOpen, {}});
  GroupSharding all =
      groupSharding({{-1, nullptr}, {0, &rows}, {0, &turned}, {1, &rows}, {0, &columns}});
  EXPECT_EQ(all.mesh, 0);
  EXPECT_EQ(all.contradict, (llvm::SmallVector<unsigned>{2, 3}));
  EXPECT_EQ(all.sharding.dims[0].axes, (AxisRefs{x}));
  EXPECT_EQ(all.sharding.dims[1].axes, (AxisRefs{y}));
  EXPECT_EQ(groupSharding({{-1, nullptr}}).mesh, -1);
}

} // namespace
} // namespace tessera::sharding
