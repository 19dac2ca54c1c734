#include "lib/mends/ArgumentNames.h"

#include "gtest/gtest.h"

namespace tessera::mends {
namespace {

std::vector<int32_t> parameters(const std::vector<std::string> &names,
                                const std::vector<std::string> &types) {
  std::vector<ArgumentName> read;
  for (const std::string &name : names)
    read.push_back(readName(name));
  return parametersOf(read, types);
}

TEST(ReadName, NumbersTellLayersApartThatAreAlike) {
  ArgumentName name = readName("params[0]['layers_12']['w_in'].value");
  EXPECT_EQ(name.tree, "params");
  EXPECT_EQ(name.path, (std::vector<std::string>{"layers_#", "w_in", "value"}));
  EXPECT_EQ(readName("x").path, std::vector<std::string>{"x"});
}

TEST(ParametersOf, AnOptimizersStateBelongsToTheParameterOfItsTypeAndPath) {
  EXPECT_EQ(parameters({"params['w']", "params['v']", "state['m']['w']", "state.mu['v']"},
                       {"8x4", "8x4", "8x4", "8x4"}),
            (std::vector<int32_t>{0, 1, 0, 1}));
  // Of another type it belongs to nobody.
  EXPECT_EQ(parameters({"params['w']", "state['m']['w']"}, {"8x4", "8"}),
            (std::vector<int32_t>{0, 1}));
  // Layers are alike, wherever the state stands.
  EXPECT_EQ(parameters({"m[0]['w']", "m[1]['w']", "p[0]['w']", "p[1]['w']"}, {"8", "8", "8", "8"}),
            (std::vector<int32_t>{0, 0, 0, 0}));
}

TEST(NamesText, OfLayersOnce) {
  EXPECT_EQ(namesText({"x"}), "x");
  EXPECT_EQ(namesText({"p[0]['w']", "p[1]['w']", "p[10]['w']"}), "p[*]['w'] (3 arguments)");
  EXPECT_EQ(namesText({"p[0][1]", "p[1][1]"}), "p[*][1] (2 arguments)");
  EXPECT_EQ(namesText({"w1", "b"}), "w1, b (2 arguments)");
  EXPECT_EQ(namesText({"a", "b", "c", "d"}), "a, b, c, .. (4 arguments)");
}

} // namespace
} // namespace tessera::mends
