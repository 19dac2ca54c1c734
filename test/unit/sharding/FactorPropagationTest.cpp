// Propagation through one op, on plain data.
#include "lib/sharding/FactorPropagation.h"

#include <gtest/gtest.h>

namespace tessera::sharding {
namespace {

// A mesh a 2, b 2, c 4.
const AxisRef a{0, 1, 2}, b{1, 1, 2}, c{2, 1, 4}, cMajor{2, 1, 2}, cMinor{2, 2, 2};

DimSharding open(AxisRefs axes = {}) { return {axes, false, std::nullopt}; }
DimSharding closed(AxisRefs axes = {}) { return {axes, true, std::nullopt}; }
TensorSharding tensor(std::initializer_list<DimSharding> dims) {
  return {llvm::SmallVector<DimSharding, 4>(dims), {}, {}};
}

// b=lhs [i, k], rhs [k, j] -> [i, j]
FactorRule dot(int64_t i, int64_t j, int64_t k) {
  return {{{i}, {j}, {k, FactorKind::Reduction}}, {{{0}, {2}}, {{2}, {1}}}, {{{0}, {1}}}};
}

FactorRule elementwise(int64_t i, int64_t j) {
  return {{{i}, {j}}, {{{0}, {1}}, {{0}, {1}}}, {{{0}, {1}}}};
}

struct Result {
  std::vector<TensorSharding> tensors;
  llvm::SmallVector<int32_t> changed;
  const AxisRefs &axes(size_t t, size_t d) const { return tensors[t].dims[d].axes; }
};

Result run(const FactorRule &rule, std::vector<int64_t> elements,
           std::vector<TensorSharding> tensors, Flow flow = Flow::Both, bool elementwise = false) {
  Result result{std::move(tensors), {}};
  llvm::SmallVector<TensorSharding *> pointers;
  for (TensorSharding &tensor : result.tensors)
    pointers.push_back(&tensor);
  result.changed = propagateThroughOp({rule, elements, {}, flow, {}, elementwise}, pointers);
  return result;
}

TEST(FactorPropagation, FlowsAlongFactorsBothWays) {
  Result r =
      run(dot(8, 8, 8), {64, 64, 64},
          {tensor({open({a}), open({c})}), tensor({open(), open()}), tensor({open(), open({b})})});
  EXPECT_EQ(r.axes(1, 0), AxisRefs({c}));
  EXPECT_EQ(r.axes(1, 1), AxisRefs({b}));
  EXPECT_EQ(r.axes(2, 0), AxisRefs({a}));
  EXPECT_EQ(r.changed, (llvm::SmallVector<int32_t>{1, 2}));
}

TEST(FactorPropagation, ForwardLeavesOperandsAlone) {
  Result r =
      run(dot(8, 8, 8), {64, 64, 64},
          {tensor({open({a}), open({c})}), tensor({open(), open()}), tensor({open(), open({b})})},
          Flow::Forward);
  EXPECT_EQ(r.changed, (llvm::SmallVector<int32_t>{2}));
}

TEST(FactorPropagation, LargerTensorWinsTheAxis) {
  auto result = [](int64_t i) {
    return run(
        dot(i, 8, 8), {i * 8, 64, i * 8},
        {tensor({open({a}), open()}), tensor({open(), open({a})}), tensor({open(), open()})});
  };
  EXPECT_EQ(result(16).axes(2, 0), AxisRefs({a}));
  EXPECT_EQ(result(8).axes(2, 0), AxisRefs({a})); // as large: the first operand
  EXPECT_EQ(result(4).axes(2, 1), AxisRefs({a}));
  EXPECT_TRUE(result(4).axes(2, 0).empty());
}

// Both operands want a for the result; bringing the first where the second wants it costs less.
TEST(FactorPropagation, TimeDecidesConflictsWhereItIsGiven) {
  auto result = [&](double first, double second) {
    std::vector<TensorSharding> tensors{tensor({open({a}), open()}), tensor({open(), open({a})}),
                                        tensor({open(), open()})};
    llvm::SmallVector<TensorSharding *> pointers;
    for (TensorSharding &each : tensors)
      pointers.push_back(&each);
    FactorRule rule = dot(16, 8, 8);
    std::vector<int64_t> elements{128, 64, 128};
    auto seconds = [&](llvm::ArrayRef<TensorSharding> after) {
      return after[2].dims[0].axes.empty() ? second : first;
    };
    propagateThroughOp({rule, elements, {}, Flow::Both, {}, false, seconds}, pointers);
    return tensors[2];
  };
  EXPECT_EQ(result(1.0, 2.0).dims[0].axes, AxisRefs({a}));
  EXPECT_EQ(result(2.0, 1.0).dims[1].axes, AxisRefs({a}));
  EXPECT_TRUE(result(2.0, 1.0).dims[0].axes.empty());
  EXPECT_EQ(result(1.01, 1.0).dims[0].axes, AxisRefs({a})) << "as good as equal: the larger tensor";
}

TEST(FactorPropagation, ElementwisePrefersFinerShardings) {
  auto result = [](TensorSharding lhs, TensorSharding rhs, TensorSharding out) {
    return run(elementwise(8, 8), {64, 64, 64}, {lhs, rhs, out}, Flow::Both, true);
  };
  TensorSharding none = tensor({open(), open()});
  EXPECT_EQ(result(tensor({open({a}), open()}), tensor({open(), open({a, b})}), none).axes(2, 1),
            AxisRefs({a, b}));
  EXPECT_EQ(result(tensor({open(), open({a, b})}), none, tensor({open({a}), open()})).axes(1, 0),
            AxisRefs({a}));
}

TEST(FactorPropagation, OperandsAgreeOnWhatBothBeginWith) {
  TensorSharding none = tensor({open(), open()});
  Result r = run(elementwise(16, 8), {128, 128, 128},
                 {tensor({open({c, a}), open()}), tensor({open({cMajor, b}), open()}), none});
  EXPECT_EQ(r.axes(2, 0), AxisRefs({cMajor}));
  r = run(elementwise(16, 8), {128, 128, 128},
          {tensor({open({c, a}), open()}), tensor({open({cMinor}), open()}), none});
  EXPECT_TRUE(r.axes(2, 0).empty());
}

TEST(FactorPropagation, ElementwiseOperandsFollowTheResult) {
  TensorSharding none = tensor({open(), open()}), lhs = tensor({open({a, b}), open()});
  auto result = [&](TensorSharding out, bool isElementwise) {
    return run(elementwise(8, 8), {64, 64, 64}, {lhs, none, out}, Flow::Both, isElementwise);
  };
  TensorSharding bounded = tensor({closed({a}), open()}), replicated = none;
  replicated.replicated = {a};
  EXPECT_EQ(result(bounded, true).axes(1, 0), AxisRefs({a}));
  EXPECT_EQ(result(bounded, true).axes(2, 0), AxisRefs({a}));
  EXPECT_EQ(result(bounded, false).axes(1, 0), AxisRefs({a, b}));
  EXPECT_TRUE(result(replicated, true).changed.empty());
  EXPECT_EQ(result(replicated, false).axes(1, 0), AxisRefs({a, b}));
}

TEST(FactorPropagation, ClosedOperandBoundsNobodyElse) {
  Result r =
      run(elementwise(8, 8), {64, 64, 64},
          {tensor({open({a}), open()}), tensor({closed(), closed()}), tensor({open(), open()})},
          Flow::Both, true);
  EXPECT_EQ(r.axes(2, 0), AxisRefs({a}));
  EXPECT_TRUE(r.axes(1, 0).empty());
}

// [ij] -> [i, j] with i 2, j 4.
TEST(FactorPropagation, ReshapeSplitsAxes) {
  FactorRule split{{{2}, {4}}, {{{0, 1}}}, {{{0}, {1}}}};
  Result r = run(split, {8, 8}, {tensor({open({c})}), tensor({open(), open()})});
  EXPECT_EQ(r.axes(1, 0), AxisRefs({cMajor}));
  EXPECT_EQ(r.axes(1, 1), AxisRefs({cMinor}));
  r = run(split, {8, 8}, {tensor({open()}), tensor({open({a}), open({c})})});
  EXPECT_EQ(r.axes(0, 0), AxisRefs({a, c}));
  // The minor factor alone can't be sharded in the merged dimension.
  r = run(split, {8, 8}, {tensor({open()}), tensor({open(), open({c})})});
  EXPECT_TRUE(r.changed.empty());
}

TEST(FactorPropagation, AxesThatDoNotDivideAMajorFactorStayWhereTheyAre) {
  FactorRule split{{{3}, {4}}, {{{0, 1}}}, {{{0}, {1}}}};
  Result r = run(split, {12, 12}, {tensor({open({a})}), tensor({open(), open()})});
  EXPECT_TRUE(r.changed.empty());
}

// A third dimension on {a, d}: d has no place among the factors, but is taken.
TEST(FactorPropagation, AxesThatStayGoNowhereElse) {
  AxisRef d{3, 1, 3};
  FactorRule split{{{3}, {8}, {4}}, {{{0}, {1, 2}}}, {{{0}, {1}, {2}}}};
  Result r =
      run(split, {96, 96}, {tensor({open(), open({a, d})}), tensor({open({d}), open(), open()})});
  EXPECT_TRUE(r.axes(0, 0).empty());
  EXPECT_EQ(r.axes(1, 1), AxisRefs({a}));
}

TEST(PrefixWithout, CutsAnAxisWhereOnlyItsMajorPartIsFree) {
  EXPECT_EQ(prefixWithout({a, b}, {b}), AxisRefs({a}));
  EXPECT_EQ(prefixWithout({c, a}, {cMinor}), AxisRefs({cMajor}));
  EXPECT_TRUE(prefixWithout({c, a}, {cMajor}).empty());
}

} // namespace
} // namespace tessera::sharding
