// The algebra of axes, against what it says about devices: random meshes and lists of axes, every
// device's coordinates.
#include "RandomShardings.h"
#include "lib/sharding/FactorPropagation.h"

#include <gtest/gtest.h>
#include <numeric>
#include <set>

namespace tessera::sharding {
namespace {

constexpr int kRounds = 400;

// The rank of each device along `axes`.
std::vector<int64_t> ranks(const Mesh &mesh, llvm::ArrayRef<AxisRef> axes) {
  std::vector<int64_t> of;
  for (int64_t device = 0; device < mesh.numDevices(); ++device)
    of.push_back(indexAlong(mesh, device, axes));
  return of;
}

// Any part of any axis, not only those that a sharding may hold together.
AxisRef randomPart(Random &random, const Mesh &mesh) {
  int32_t axis = random(mesh.axes.size());
  llvm::SmallVector<AxisRef> parts;
  int64_t n = mesh.axes[axis].size;
  for (int64_t pre = 1; pre < n; ++pre)
    for (int64_t size = 2; pre * size <= n; ++size)
      if (n % (pre * size) == 0)
        parts.push_back({axis, pre, size});
  return parts[random(parts.size())];
}

// Disjoint parts in random order.
AxisRefs randomList(Random &random, const Mesh &mesh) {
  AxisRefs list;
  for (int64_t n = random(4); n > 0; --n)
    if (AxisRef part = randomPart(random, mesh); !overlap(list, llvm::ArrayRef(part)))
      list.push_back(part);
  return normalized(list);
}

// All that `axes` may begin with, the last axis cut at any divisor.
std::vector<AxisRefs> beginnings(llvm::ArrayRef<AxisRef> axes) {
  std::vector<AxisRefs> all{{}};
  for (size_t i = 0; i < axes.size(); ++i)
    for (int64_t size = 2; size <= axes[i].size; ++size)
      if (axes[i].size % size == 0) {
        AxisRefs list(axes.take_front(i));
        list.push_back({axes[i].axis, axes[i].preSize, size});
        all.push_back(list);
      }
  return all;
}

TEST(AxisAlgebra, PartsOverlapUnlessDevicesTellThemApart) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    AxisRef a = randomPart(random, mesh), b = randomPart(random, mesh);
    std::set<std::pair<int64_t, int64_t>> pairs;
    std::vector<int64_t> ra = ranks(mesh, a), rb = ranks(mesh, b);
    for (size_t device = 0; device < ra.size(); ++device)
      pairs.insert({ra[device], rb[device]});
    bool independent = int64_t(pairs.size()) == a.size * b.size;
    // Parts cut at places that don't divide one another can't be used together either: x:(1)4 and
    // x:(3)2 of 12.
    std::set<int64_t> cuts{a.preSize, a.preSize * a.size, b.preSize, b.preSize * b.size};
    bool chain = std::adjacent_find(cuts.begin(), cuts.end(), [](int64_t lower, int64_t upper) {
                   return upper % lower != 0;
                 }) == cuts.end();
    if (chain || a.axis != b.axis)
      EXPECT_EQ(overlap(a, b), !independent) << "seed " << seed;
    else
      EXPECT_TRUE(overlap(a, b)) << "seed " << seed;
  }
}

TEST(AxisAlgebra, NormalizingKeepsEveryRank) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    AxisRefs list, cut;
    for (int64_t n = random(4); n > 0; --n)
      if (AxisRef part = randomPart(random, mesh); !overlap(list, llvm::ArrayRef(part)))
        list.push_back(part);
    for (const AxisRef &axis : list) // the same in pieces
      if (axis.size % 2 == 0 && axis.size > 2) {
        cut.push_back({axis.axis, axis.preSize, 2});
        cut.push_back({axis.axis, axis.preSize * 2, axis.size / 2});
      } else {
        cut.push_back(axis);
      }
    EXPECT_EQ(ranks(mesh, normalized(cut)), ranks(mesh, list)) << "seed " << seed;
    EXPECT_EQ(normalized(cut), normalized(list)) << "seed " << seed;
  }
}

TEST(AxisAlgebra, APrefixHoldsTheMajorPartOfEveryRank) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    AxisRefs longer = randomList(random, mesh), shorter = randomList(random, mesh);
    if (std::vector<AxisRefs> all = beginnings(longer); random(2))
      shorter = all[random(all.size())];
    int64_t ls = shardCount(longer), ss = shardCount(shorter);
    bool expected = ls % ss == 0;
    std::vector<int64_t> l = ranks(mesh, longer), s = ranks(mesh, shorter);
    for (size_t device = 0; expected && device < l.size(); ++device)
      expected = l[device] / (ls / ss) == s[device];
    EXPECT_EQ(isPrefix(shorter, longer), expected) << "seed " << seed;
  }
}

TEST(AxisAlgebra, PrefixWithoutIsTheLongestThatIsFree) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    AxisRefs axes = randomList(random, mesh), taken = randomList(random, mesh), longest;
    for (const AxisRefs &begin : beginnings(axes))
      if (!overlap(begin, taken) && shardCount(begin) > shardCount(longest))
        longest = begin;
    EXPECT_EQ(prefixWithout(axes, taken), longest) << "seed " << seed;
  }
}

// What several operands agree on: the longest list that each is the beginning of, or begins with.
TEST(AxisAlgebra, OperandsAgreeOnTheLongestCommonList) {
  FactorRule rule{{{720720}}, {{{0}}, {{0}}}, {{{0}}}};
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    AxisRefs lists[2] = {randomList(random, mesh), randomList(random, mesh)};
    if (std::vector<AxisRefs> all = beginnings(lists[0]); random(2))
      lists[1] = all[random(all.size())];
    AxisRefs expected;
    for (const AxisRefs &list : lists)
      for (const AxisRefs &begin : beginnings(list))
        if (shardCount(begin) > shardCount(expected) &&
            llvm::all_of(lists, [&](const AxisRefs &other) {
              return isPrefix(begin, other) || isPrefix(other, begin);
            }))
          expected = begin;
    std::vector<TensorSharding> tensors(3, TensorSharding::replicatedOver(1));
    llvm::SmallVector<TensorSharding *> pointers;
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      tensor.dims[0] = {i < 2 ? lists[i] : AxisRefs{}, false, std::nullopt};
      pointers.push_back(&tensor);
    }
    int64_t elements[] = {8, 8, 8};
    propagateThroughOp({rule, elements, {}, Flow::Forward, {}}, pointers);
    EXPECT_EQ(tensors[2].dims[0].axes, expected) << "seed " << seed;
  }
}

// A dimension of several factors: where its axes divide evenly, a device's first row is where the
// factors' axes put it.
TEST(AxisAlgebra, FactorsHoldTheRowsOfTheirDimension) {
  for (int seed = 0; seed < kRounds; ++seed) {
    Random random{std::mt19937(seed)};
    Mesh mesh = random.mesh();
    AxisRefs axes = randomList(random, mesh);
    const int64_t sizes[] = {2, 3, 4, 6, 8, 12};
    FactorRule rule{
        {{sizes[random(6)]}, {sizes[random(6)]}, {sizes[random(6)]}}, {{{0, 1, 2}}}, {}};
    int64_t n = 1;
    for (const Factor &factor : rule.factors)
      n *= factor.size;
    TensorSharding tensor = TensorSharding::replicatedOver(1);
    tensor.dims[0].axes = axes;
    auto byFactor = axesByFactor(tensor, rule.operands[0], rule);
    int64_t shards = 1;
    bool even = n % shardCount(axes) == 0;
    for (auto [factor, of] : llvm::zip_equal(rule.factors, byFactor)) {
      shards *= shardCount(*of);
      even = even && factor.size % shardCount(*of) == 0;
    }
    if (!even || shards != shardCount(axes))
      continue;
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      int64_t row = 0;
      for (auto [factor, of] : llvm::zip_equal(rule.factors, byFactor))
        row = row * factor.size + indexAlong(mesh, device, *of) * (factor.size / shardCount(*of));
      EXPECT_EQ(row, indexAlong(mesh, device, axes) * (n / shards)) << "seed " << seed;
    }
  }
}

} // namespace
} // namespace tessera::sharding
