// Programs without most of their equal layers.
#include "lib/plan/FewerLayers.h"

#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

enum Kind : int32_t { Forward = 100, Backward = 200, Square = 300, Sum, Update, Loss, Return };
constexpr int32_t kWeight = 1, kInput = 2, kActivation = 3, kScalar = 4;

// A layer: 24 ops forward, of which the first reads its weight; 30 backward, of which the first is the
// weight's gradient, and the third reads the weight.
struct Steps {
  Line line;
  std::vector<int32_t> weights, kept, gradients;
  int32_t zero = 0;

  int32_t add(int32_t kind, llvm::ArrayRef<int32_t> operands, int32_t type, bool joins = false) {
    int32_t made = int32_t(line.valueKinds.size());
    line.valueKinds.push_back(type);
    LineOp op{kind, {}, {made}, joins};
    op.operands.append(operands.begin(), operands.end());
    line.ops.push_back(std::move(op));
    return made;
  }

  Steps(int layers, bool hasNorm, int other = -1) {
    for (int i = 0; i < layers; ++i)
      weights.push_back(i);
    line.valueKinds.assign(layers, kWeight);
    line.valueKinds.push_back(kInput);
    line.arguments = layers + 1;
    int32_t x = layers;
    zero = add(Loss + 10, {}, kScalar);
    for (int32_t weight : weights) {
      kept.push_back(x);
      x = add(weight == other ? Forward + 50 : Forward, {x, weight}, kActivation);
      for (int i = 1; i < 24; ++i)
        x = add(Forward + i, {x}, kActivation);
    }
    int32_t g = add(Loss, {x}, kActivation);
    gradients.resize(layers);
    for (int layer = layers; layer-- > 0;) {
      gradients[layer] = add(Backward, {g, kept[layer]}, kWeight);
      g = add(Backward + 1, {g}, kActivation);
      g = add(Backward + 2, {g, weights[layer]}, kActivation);
      for (int i = 3; i < 30; ++i)
        g = add(Backward + i, {g}, kActivation);
    }
    int32_t total = zero;
    for (int32_t each : gradients)
      if (hasNorm)
        total = add(Sum, {total, add(Square, {each}, kScalar)}, kScalar, /*joins=*/true);
    LineOp last{Return, {}, {}};
    for (int layer = 0; layer < layers; ++layer)
      last.operands.push_back(add(Update, {weights[layer], gradients[layer], total}, kWeight));
    line.ops.push_back(std::move(last));
  }
};

TEST(FewerLayers, AreLeftAtBothEnds) {
  for (bool hasNorm : {false, true}) {
    Steps all(40, hasNorm);
    std::optional<LayersOf> found = withFewerLayers(all.line, {4, 8});
    ASSERT_TRUE(found);
    size_t opsOfALayer = 24 + 30 + 1 + 2 * hasNorm, unread = 29;
    for (const FewerLayers &fewer : found->fewer) {
      size_t out = found->layers - fewer.left;
      EXPECT_EQ(size_t(llvm::count(fewer.takes, true)), 41 - out);
      EXPECT_EQ(size_t(llvm::count(fewer.keeps, false)), out * opsOfALayer + unread);
      // What is given back is of the weights that are taken.
      for (int layer = 0; layer < 40; ++layer)
        EXPECT_EQ(fewer.instead[all.line.ops.back().operands[layer]] >= 0,
                  bool(fewer.takes[all.weights[layer]]))
            << layer;
      EXPECT_TRUE(fewer.takes[0] && fewer.takes[39] && fewer.takes[40]);
      EXPECT_FALSE(fewer.takes[20]);
      // A weight's gradient is of its own layer's activations.
      for (int layer = 0; layer < 40; ++layer)
        if (fewer.takes[layer]) {
          EXPECT_EQ(fewer.instead[all.gradients[layer]], all.gradients[layer]) << layer;
        }
    }
  }
}

TEST(FewerLayers, OneThatIsNoneOfThemIsKept) {
  Steps all(60, true, /*other=*/3);
  std::optional<LayersOf> found = withFewerLayers(all.line, {4});
  if (found) {
    EXPECT_TRUE(found->fewer[0].takes[3]);
  }
}

TEST(FewerLayers, FewOrNoneAreLeftAlone) {
  EXPECT_FALSE(withFewerLayers(Steps(5, false).line, {4}));
  Line none;
  none.ops.push_back({Return, {}, {}});
  EXPECT_FALSE(withFewerLayers(none, {4}));
  // Something else reads what all layers make, and is not made layer by layer.
  Steps all(40, false);
  LineOp last = all.line.ops.back();
  all.line.ops.pop_back();
  int32_t joined = all.add(Loss + 20, all.gradients, kWeight);
  last.operands.push_back(joined);
  all.line.ops.push_back(last);
  EXPECT_FALSE(withFewerLayers(all.line, {4, 8}));
}

} // namespace
} // namespace tessera::plan
