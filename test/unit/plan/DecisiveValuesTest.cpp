// Few annotations, from which propagation makes all shardings that were planned.
#include "lib/plan/DecisiveValues.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

using namespace sharding;

const AxisRef a{0, 1, 2}, b{1, 1, 2};

// Values of one dimension of 8; ops are identities.
struct Chain {
  PropagationGraph graph;
  Assignment planned;
  std::vector<AnnotationPlace> places;

  Chain() { graph.rules.push_back({{{8}}, {{{0}}}, {{{0}}}}); }

  int32_t value(AxisRefs axes,
                std::optional<AnnotationPlace::Kind> kind = AnnotationPlace::Inside) {
    PropagatedValue value;
    value.shape = {8};
    value.sharding.dims.push_back({{}, /*closed=*/false, std::nullopt});
    int32_t number = int32_t(graph.values.size());
    graph.values.push_back(value);
    planned.push_back({{{axes, /*closed=*/true, std::nullopt}}, {}, {}});
    if (kind)
      places.push_back({*kind, {number}});
    return number;
  }

  int32_t op(int32_t operand, AxisRefs axes,
             std::optional<AnnotationPlace::Kind> kind = AnnotationPlace::Inside) {
    int32_t result = value(axes, kind);
    PropagatedOp op;
    op.rule = 0;
    op.opClass = OpClass::PassThrough;
    op.operands = {operand};
    op.results = {result};
    for (int32_t v : {operand, result})
      graph.values[v].ops.push_back(int32_t(graph.ops.size()));
    graph.ops.push_back(op);
    return result;
  }

  // The values that are annotated.
  std::vector<int32_t> decisive(std::vector<int32_t> *others = nullptr) const {
    Way bySize = [](PropagationGraph &graph) { propagate(graph); };
    DecisivePlaces found = decisivePlaces(graph, planned, places, {bySize});
    std::vector<int32_t> values;
    for (int32_t place : found.places)
      values.insert(values.end(), places[place].values.begin(), places[place].values.end());
    if (others)
      *others = found.others;
    return values;
  }
};

TEST(DecisiveValues, AnArgumentDecidesWhatFollowsIt) {
  Chain chain;
  int32_t x = chain.value({a}, AnnotationPlace::Argument);
  chain.op(chain.op(x, {a}), {a});
  EXPECT_EQ(chain.decisive(), std::vector<int32_t>{x});
}

TEST(DecisiveValues, AConstraintWhereTheyPart) {
  Chain chain;
  int32_t x = chain.value({a}, AnnotationPlace::Argument), y = chain.op(x, {a}),
          z = chain.op(y, {b});
  chain.op(chain.op(z, {b}), {b});
  EXPECT_EQ(chain.decisive(), (std::vector<int32_t>{x, z}));
}

// Without its own annotation the argument would follow the one beside it.
TEST(DecisiveValues, WhatIsToBeWholeIsSaidOnlyWhereItWouldNotBe) {
  Chain chain;
  int32_t x = chain.value({}, AnnotationPlace::Argument),
          y = chain.op(x, {a}, AnnotationPlace::Result);
  int32_t other = chain.value({}, AnnotationPlace::Argument);
  chain.graph.values[other].shape = {16}; // nothing like x
  chain.op(other, {});
  EXPECT_EQ(chain.decisive(), (std::vector<int32_t>{x, y}));
}

TEST(DecisiveValues, OfLayersThatAreAlikeAllOrNone) {
  Chain chain;
  std::vector<int32_t> expected;
  int32_t x = chain.value({a}, AnnotationPlace::Argument);
  expected.push_back(x);
  for (int layer = 0; layer < 3; ++layer) {
    x = chain.op(x, {b});
    expected.push_back(x);
    x = chain.op(x, {a});
    expected.push_back(x);
  }
  EXPECT_EQ(chain.decisive(), expected);
}

TEST(DecisiveValues, WhatHasNoPlaceIsNamed) {
  Chain chain;
  int32_t x = chain.value({a}, AnnotationPlace::Argument);
  int32_t hidden = chain.op(x, {b}, std::nullopt), y = chain.op(hidden, {b});
  std::vector<int32_t> others;
  EXPECT_EQ(chain.decisive(&others), (std::vector<int32_t>{x, y}));
  EXPECT_EQ(others, std::vector<int32_t>{hidden});
}

TEST(DecisiveValues, WhatConstantsMakeMayLieAnyhow) {
  Chain chain;
  int32_t x = chain.value({a}, AnnotationPlace::Argument);
  chain.graph.values[chain.op(x, {b})].free = true;
  EXPECT_EQ(chain.decisive(), std::vector<int32_t>{x});
}

// A line that is called twice, once where it is planned otherwise, is no place for either.
TEST(DecisiveValues, APlaceSpeaksOfAllItsValues) {
  Chain chain;
  int32_t x = chain.value({a}, AnnotationPlace::Argument);
  int32_t y = chain.op(x, {b}, std::nullopt), z = chain.op(x, {}, std::nullopt);
  chain.places.push_back({AnnotationPlace::Inside, {y, z}});
  std::vector<int32_t> others;
  EXPECT_EQ(chain.decisive(&others), std::vector<int32_t>{x});
  EXPECT_EQ(others, (std::vector<int32_t>{y, z}));
}

} // namespace
} // namespace tessera::plan
