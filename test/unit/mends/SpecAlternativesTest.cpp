#include "lib/mends/SpecAlternatives.h"
#include "lib/mends/SpecText.h"

#include "gtest/gtest.h"

namespace tessera::mends {
namespace {

const sharding::Mesh kMesh{"mesh", {{"data", 2}, {"model", 4}}, {}};

sharding::TensorSharding lies(std::vector<std::vector<int32_t>> dims) {
  sharding::TensorSharding sharding = sharding::TensorSharding::replicatedOver(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    for (int32_t axis : dims[d])
      sharding.dims[d].axes.push_back(wholeAxis(kMesh, axis));
  return sharding;
}

std::vector<std::string> texts(llvm::ArrayRef<int64_t> shape,
                               std::vector<std::vector<int32_t>> dims) {
  std::vector<std::string> all;
  for (const sharding::TensorSharding &each : alternatives(kMesh, shape, lies(std::move(dims))))
    all.push_back(specText(kMesh, each));
  return all;
}

TEST(SpecAlternatives, TheLikeliestSlipsFirst) {
  EXPECT_EQ(texts({8, 16}, {{1}, {}}),
            (std::vector<std::string>{R"(P(None, "model"))", R"(P(("model", "data"), None))",
                                      R"(P("model", "data"))", R"(P(None, None))"}));
  EXPECT_EQ(texts({8, 16}, {{0}, {1}}).front(), R"(P("model", "data"))");
}

TEST(SpecAlternatives, NoDeviceIsLeftWithoutElements) {
  // 2 rows cannot lie on 4 devices, 3 can, but not evenly: that comes last.
  EXPECT_EQ(texts({2, 1}, {{}, {}}), std::vector<std::string>{R"(P("data", None))"});
  EXPECT_EQ(texts({4, 3}, {{}, {}}),
            (std::vector<std::string>{R"(P("data", None))", R"(P("model", None))",
                                      R"(P(None, "data"))"}));
}

TEST(SpecText, OfScalars) { EXPECT_EQ(specText(kMesh, lies({})), "P()"); }

} // namespace
} // namespace tessera::mends
