// Processors by LLVM's names: what code for them may use.
#include "passes/codegen/cpu/CpuTarget.h"

#include "include/tessera/cpu_features.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>
#include <memory>

namespace tessera::codegen {
namespace {

CpuTarget targetOf(llvm::StringRef name) {
  auto target = CpuTarget::named(name);
  EXPECT_TRUE(static_cast<bool>(target)) << name.str();
  return *target;
}

TEST(CpuTargetTest, Levels) {
  EXPECT_EQ(targetOf("x86-64").vectors().bytes, 16u);
  EXPECT_EQ(targetOf("x86-64-v2").vectors().bytes, 16u);
  VectorFeatures third = targetOf("x86-64-v3").vectors();
  EXPECT_EQ(third.bytes, 32u);
  EXPECT_TRUE(third.f16);
  EXPECT_FALSE(third.bf16);
  VectorFeatures fourth = targetOf("x86-64-v4").vectors();
  EXPECT_EQ(fourth.bytes, 64u);
  EXPECT_FALSE(fourth.bf16);
  EXPECT_TRUE(targetOf("znver4").vectors().bf16);
}

TEST(CpuTargetTest, ThisMachineHasWhatNativeUses) {
  for (const std::string &name : targetOf("native").features)
    EXPECT_TRUE(cpu::isHere(*cpu::find(name))) << name;
}

// LLVM must generate code for the recorded instruction sets and no others, or the runtime would
// not notice that its processor lacks one: of this machine and of those that are listed.
TEST(CpuTargetTest, LlvmUsesWhatIsRecorded) {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *llvmTarget = llvm::TargetRegistry::lookupTarget(triple, error);
  auto enabled = [&](llvm::StringRef cpu, llvm::StringRef switches) {
    std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
        llvmTarget->createMCSubtargetInfo(triple, cpu, switches));
    llvm::StringSet<> names;
    for (const llvm::SubtargetFeatureKV &feature : subtarget->getEnabledProcessorFeatures())
      names.insert(feature.Key);
    return names;
  };
  llvm::StringSet<> everywhere = enabled("x86-64", "");
  std::string list = CpuTarget::names();
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  EXPECT_GT(names.size(), 50u);
  for (llvm::StringRef name : names) {
    CpuTarget target = targetOf(name);
    llvm::StringSet<> used = enabled(target.cpu, target.switches());
    for (const std::string &feature : target.features)
      EXPECT_TRUE(used.contains(feature)) << name.str() << " without " << feature;
    for (const auto &[feature, isHere] : llvm::sys::getHostCPUFeatures())
      if (used.contains(feature) && !everywhere.contains(feature))
        EXPECT_TRUE(llvm::is_contained(target.features, feature))
            << name.str() << " uses " << feature.str();
  }
}

TEST(CpuTargetTest, OthersAreRefused) {
  for (const char *name : {"", "pentium4", "apple-m1", "x86-64-v5", "help"}) {
    auto target = CpuTarget::named(name);
    ASSERT_FALSE(static_cast<bool>(target)) << name;
    EXPECT_NE(llvm::toString(target.takeError()).find("compile --target-cpu=help"),
              std::string::npos);
  }
}

} // namespace
} // namespace tessera::codegen
