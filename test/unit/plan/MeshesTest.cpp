// Which meshes are tried.
#include "lib/plan/Meshes.h"

#include <gtest/gtest.h>

namespace tessera::plan {
namespace {

std::vector<std::string> textsOf(int64_t devices, const links::Network &network) {
  std::vector<std::string> texts;
  for (const sharding::Mesh &mesh : meshesOf(devices, network))
    texts.push_back(meshText(mesh));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Meshes, OfLinksThatAreAlikeEachProductOnce) {
  EXPECT_EQ(textsOf(8, {}), (Texts{"x=8", "x=2,y=4", "x=2,y=2,z=2"}));
  EXPECT_EQ(textsOf(7, {}), (Texts{"x=7"}));
  EXPECT_EQ(textsOf(12, {}), (Texts{"x=12", "x=2,y=6", "x=3,y=4", "x=2,y=2,z=3"}));
  EXPECT_EQ(textsOf(1, {}), (Texts{"x=1"}));
}

// Two hosts: an axis never ends within one where others could end at its border.
TEST(Meshes, AxesEndWhereUnitsDo) {
  links::Network hosts;
  hosts.levels = {{"host", 4, {}}, {"pod", 0, {}}};
  EXPECT_EQ(textsOf(16, hosts), (Texts{"x=16", "x=4,y=4", "x=2,y=2,z=4", "x=4,y=2,z=2"}));
  EXPECT_EQ(textsOf(8, hosts), (Texts{"x=8", "x=2,y=4", "x=2,y=2,z=2"}));
  EXPECT_EQ(textsOf(4, hosts), (Texts{"x=4", "x=2,y=2"}));
}

TEST(Meshes, NamesOfTheMachineAreTried) {
  links::Network named;
  named.axes = {{"data", {}}, {"model", {}}};
  EXPECT_EQ(textsOf(8, named), (Texts{"data=8", "model=8", "data=2,model=4", "data=4,model=2"}));
}

TEST(Meshes, AreReadAsWritten) {
  std::string wrong;
  EXPECT_EQ(meshText(*readMesh("data=2,model=4", wrong)), "data=2,model=4");
  for (const char *text : {"", "data", "data=", "data=0", "data=-2", "data=2,data=4", "=4", "2=4",
                           "data=2,", "data=2;model=4", "a=1000000,b=1000000", "a=2 b=4"}) {
    wrong.clear();
    EXPECT_FALSE(readMesh(text, wrong)) << text;
    EXPECT_FALSE(wrong.empty()) << text;
  }
}

} // namespace
} // namespace tessera::plan
