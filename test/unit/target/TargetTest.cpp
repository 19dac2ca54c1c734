// Targets by name, and the processors that their code is made for.
#include "lib/target/Target.h"

#include "include/tessera/cpu_features.h"
#include "lib/target/HostCaches.h"
#include "lib/target/X86Processors.h"
#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

namespace tessera::target {
namespace {

Choice chosen(llvm::StringRef target, llvm::StringRef processors) {
  auto choice = choose(target, processors);
  EXPECT_TRUE(static_cast<bool>(choice)) << llvm::toString(choice.takeError());
  return choice ? *choice : Choice{};
}

std::string errorOf(llvm::StringRef target, llvm::StringRef processors) {
  auto choice = choose(target, processors);
  return choice ? "" : llvm::toString(choice.takeError());
}

TEST(TargetTest, Levels) {
  EXPECT_EQ(chosen("cpu", "x86-64").processors[0].vectorBits, 128u);
  EXPECT_TRUE(chosen("cpu", "x86-64").processors[0].features.empty());
  EXPECT_EQ(chosen("cpu", "x86-64-v2").processors[0].vectorBits, 128u);
  EXPECT_EQ(chosen("cpu", "x86-64-v3").processors[0].vectorBits, 256u);
  EXPECT_EQ(chosen("cpu", "x86-64-v4").processors[0].vectorBits, 512u);
}

TEST(TargetTest, ShadowHasTheCodeOfCpu) {
  Choice shadow = chosen("shadow", "x86-64-v3"), cpu = chosen("cpu", "x86-64-v3");
  EXPECT_EQ(shadow.target, "shadow");
  EXPECT_EQ(shadow.processors[0].features, cpu.processors[0].features);
  EXPECT_EQ(find("shadow")->generator, find("cpu")->generator);
}

// The loader takes the first that its machine can run: more before less.
TEST(TargetTest, BestComesFirst) {
  Choice choice = chosen("cpu", "x86-64-v2, znver4,x86-64-v4 ,x86-64-v3");
  std::vector<std::string> names;
  for (const Processor &processor : choice.processors)
    names.push_back(processor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"znver4", "x86-64-v4", "x86-64-v3", "x86-64-v2"}));
  for (size_t i = 0; i + 1 < choice.processors.size(); ++i)
    for (const std::string &feature : choice.processors[i + 1].features)
      EXPECT_TRUE(llvm::is_contained(choice.processors[i].features, feature)) << feature;
}

TEST(TargetTest, CoresThatShareACache) {
  EXPECT_EQ(countOfList("0"), 1u);
  EXPECT_EQ(countOfList("0-3,8"), 5u);
  EXPECT_EQ(countOfList("3-1"), 0u);
  EXPECT_EQ(countOfList(""), 0u);
  EXPECT_EQ(countOfList("all"), 0u);
}

TEST(TargetTest, ArchitecturesOfGpusComeNewestFirst) {
  Choice choice = chosen("cuda:sm_80,sm_90a , sm_90", "native");
  EXPECT_EQ(choice.target, "cuda");
  std::vector<std::string> names;
  for (const Processor &processor : choice.processors)
    names.push_back(processor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"sm_90a", "sm_90", "sm_80"}));
  EXPECT_EQ(chosen("cuda", "native").processors[0].name, "sm_80");
}

TEST(TargetTest, ThisMachineHasWhatNativeUses) {
  Choice choice = chosen("cpu", "native");
  for (const std::string &name : choice.processors[0].features)
    EXPECT_TRUE(cpu::isHere(*cpu::find(name))) << name;
}

TEST(TargetTest, EveryListedProcessorIsOne) {
  std::string list = x86ProcessorNames();
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  EXPECT_GT(names.size(), 50u);
  for (llvm::StringRef name : names)
    EXPECT_EQ(errorOf("cpu", name), "");
}

TEST(TargetTest, OthersAreRefused) {
  EXPECT_EQ(errorOf("tpu", "native"),
            "--target=tpu: no such target; use --target=cpu or --target=shadow or --target=cuda");
  EXPECT_EQ(errorOf("cpu:sm_80", "native"),
            "--target=cpu:sm_80: what code for CPUs is made for is --target-cpu");
  EXPECT_EQ(errorOf("cuda", "x86-64-v3"),
            "--target-cpu=x86-64-v3: --target=cuda is for GPUs; name them as in "
            "--target=cuda:sm_80,sm_90a");
  EXPECT_EQ(errorOf("cuda:sm_80,sm_80", "native"),
            "--target=cuda:sm_80,sm_80: 'sm_80' is named twice");
  EXPECT_EQ(errorOf("cuda:sm_70", "native"),
            "--target=cuda:sm_70: no architecture that kernels are generated for; known are "
            "sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_120");
  for (const char *name : {"", "pentium4", "apple-m1", "x86-64-v5", "help", "x86-64-v3,"})
    EXPECT_NE(errorOf("cpu", name).find("compile --target-cpu=help"), std::string::npos) << name;
  EXPECT_EQ(errorOf("cpu", "x86-64-v3,x86-64-v3"),
            "--target-cpu=x86-64-v3,x86-64-v3: 'x86-64-v3' and 'x86-64-v3' have the same "
            "instruction sets as far as kernels use them; name one of them");
}

} // namespace
} // namespace tessera::target
