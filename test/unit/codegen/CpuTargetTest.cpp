// What code for a processor may use.
#include "passes/codegen/cpu/CpuTarget.h"

#include "lib/target/X86Processors.h"
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
  return llvm::cantFail(CpuTarget::of(llvm::cantFail(target::x86Processor(name))));
}

std::string errorOf(target::Processor processor) {
  auto target = CpuTarget::of(std::move(processor));
  return target ? "" : llvm::toString(target.takeError());
}

TEST(CpuTargetTest, Levels) {
  EXPECT_EQ(targetOf("x86-64").vectors.bytes, 16u);
  EXPECT_EQ(targetOf("x86-64-v2").vectors.bytes, 16u);
  VectorFeatures third = targetOf("x86-64-v3").vectors;
  EXPECT_EQ(third.bytes, 32u);
  EXPECT_TRUE(third.f16);
  EXPECT_FALSE(third.bf16);
  EXPECT_FALSE(third.masks);
  VectorFeatures fourth = targetOf("x86-64-v4").vectors;
  EXPECT_EQ(fourth.bytes, 64u);
  EXPECT_FALSE(fourth.bf16);
  EXPECT_TRUE(fourth.masks);
  EXPECT_TRUE(targetOf("znver4").vectors.bf16);
  EXPECT_TRUE(targetOf("znver4").vectors.bf16Words);
  EXPECT_FALSE(targetOf("znver4").vectors.bf16Tiles);
  EXPECT_TRUE(targetOf("sapphirerapids").vectors.bf16Tiles);
}

// What a module says of its target is a person's word, too.
TEST(CpuTargetTest, VectorsAreThoseOfTheInstructionSets) {
  target::Processor fourth = targetOf("x86-64-v4").processor;
  fourth.vectorBits = 256; // narrower ones may be asked for
  EXPECT_EQ(llvm::cantFail(CpuTarget::of(fourth)).vectors.bytes, 32u);
  target::Processor zen = targetOf("znver4").processor;
  zen.vectorBits = 256;
  EXPECT_TRUE(llvm::cantFail(CpuTarget::of(zen)).vectors.bf16);
  EXPECT_FALSE(llvm::cantFail(CpuTarget::of(zen)).vectors.bf16Words);
  for (unsigned bits : {0u, 64u, 384u, 1024u}) {
    fourth.vectorBits = bits;
    EXPECT_EQ(errorOf(fourth), "processor 'x86-64-v4' with vectors of " + std::to_string(bits) +
                                   " bits: with its instruction sets they have 128, 256, 512");
  }
  EXPECT_EQ(errorOf({"old", 256, {"sse3"}}),
            "processor 'old' with vectors of 256 bits: with its instruction sets they have 128");
  EXPECT_EQ(errorOf({"odd", 128, {"neon"}}),
            "processor 'odd': the instruction set 'neon' is none that kernels know");
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
  std::string list = target::x86ProcessorNames();
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  EXPECT_GT(names.size(), 50u);
  for (llvm::StringRef name : names) {
    CpuTarget target = targetOf(name);
    const std::vector<std::string> &features = target.processor.features;
    llvm::StringSet<> used = enabled(target.processor.name, target.switches());
    for (const std::string &feature : features)
      EXPECT_TRUE(used.contains(feature)) << name.str() << " without " << feature;
    for (const auto &[feature, isHere] : llvm::sys::getHostCPUFeatures())
      if (used.contains(feature) && !everywhere.contains(feature))
        EXPECT_TRUE(llvm::is_contained(features, feature))
            << name.str() << " uses " << feature.str();
  }
}

} // namespace
} // namespace tessera::codegen
