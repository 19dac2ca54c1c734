// Code for GPUs is looked at before the driver gets it.
#include "runtime/program/PtxSection.h"
#include "test/unit/runtime/ProgramBuilder.h"

namespace tessera::runtime {
namespace {

const std::string kText = ".version 8.0\n.target sm_80\n.address_size 64\n";

TEST(PtxSectionTest, WhatIsNoPtxIsRefused) {
  EXPECT_TRUE(checkPtx(kText).ok());
  EXPECT_EQ(checkPtx(kText + '\0').message(), "altered: the code for GPUs is no text");
  EXPECT_EQ(checkPtx(kText + "\xc3").message(), "altered: the code for GPUs is no text");
  EXPECT_EQ(checkPtx(".version 8.0\n.address_size 64\n").message(),
            "altered: the code for GPUs has no .target sm_");
  EXPECT_EQ(checkPtx(kText + ".extern .func f;").message(),
            "altered: the code for GPUs wants that of others");
  EXPECT_TRUE(checkPtx(kText + ".extern .shared .align 1024 .b8 s[];").ok());
}

TEST(PtxSectionTest, WhoseCodeAKernelsIs) {
  EXPECT_TRUE(aliasesOf(kText).empty());
  auto aliases = aliasesOf(kText + "// .alias b, a;\n// .alias of, c;\n// .alias none;\n");
  EXPECT_EQ(aliases, (std::map<std::string, std::string>{{"b", "a"}, {"of", "c"}}));
}

} // namespace
} // namespace tessera::runtime
