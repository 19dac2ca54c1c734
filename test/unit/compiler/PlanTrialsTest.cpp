// Plans that are compiled beside each other are those that are compiled one after the other.
#include "compiler/plan/Reading.h"
#include "compiler/plan/Search.h"
#include "compiler/plan/Trials.h"

#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::planning;

namespace {

constexpr const char *kLayer = R"(
func.func private @layer(%h: tensor<256x512xf32>, %w: tensor<512x512xf32>) -> tensor<256x512xf32> {
  %y = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  %t = stablehlo.tanh %y : tensor<256x512xf32>
  return %t : tensor<256x512xf32>
}
func.func public @main(%x: tensor<256x512xf32>, %v: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<256x512xf32> {
  %a = call @layer(%x, %v) : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  %b = call @layer(%a, %w) : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  return %b : tensor<256x512xf32>
})";

// GSPMD's, which import reads: what is annotated then is what import leaves.
constexpr const char *kGspmd = R"(
module attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<256x512xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"}, %w: tensor<512x512xf32>) -> tensor<256x512xf32> {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    %t = stablehlo.tanh %y : tensor<256x512xf32>
    return %t : tensor<256x512xf32>
  }
})";

struct Tries {
  explicit Tries(const char *text) : text(text) {
    EXPECT_EQ(readSource(road, text, "layer", source, separate), "");
    std::vector<sharding::Mesh> meshes;
    PlanRequest request;
    request.devices = 4;
    EXPECT_EQ(chooseMeshes(source, request, "layer", meshes), "");
    source.findWhatIsBeside(4);
    source.folded = plan::foldedProgram(source.plain());
    onMesh = std::make_unique<OnMesh>(source, meshes.back());
    candidates = searchedOn(source, {onMesh.get()}, {}, /*breaksTies=*/true).candidates;
  }

  // Each candidate's program and prediction, as text.
  std::vector<std::string> tried() const {
    std::vector<std::string> all;
    for (const Candidate &each : candidates) {
      llvm::raw_string_ostream out(all.emplace_back());
      const Tried &tried = each.tried;
      out << tried.error << llvm::format("%a", tried.time.seconds) << " " << tried.peakBytes << " "
          << tried.others << " " << tried.lies << "\n";
      if (tried.annotated)
        tried.annotated.get().print(out, mlir::OpPrintingFlags().enableDebugInfo());
    }
    return all;
  }

  std::vector<Candidate *> all() {
    std::vector<Candidate *> those;
    for (Candidate &each : candidates)
      those.push_back(&each);
    return those;
  }

  const char *text;
  CompileOptions options;
  Road road{options, silentListener()};
  Source source;
  SeparateCalls separate;
  std::unique_ptr<OnMesh> onMesh;
  Trials trials{source, text, options};
  std::vector<Candidate> candidates;
};

struct PlanTrials : testing::TestWithParam<const char *> {};

TEST_P(PlanTrials, AreTheSameOnOneCoreAndOnTwo) {
  Tries tries(GetParam());
  ASSERT_GT(tries.candidates.size(), 1u);
  for (Candidate &each : tries.candidates)
    tryCandidate(tries.source, tries.source.read.get(), each, {});
  std::vector<std::string> one = tries.tried();
  for (int again = 0; again < 3; ++again) {
    tries.trials.run(tries.all(), {});
    EXPECT_EQ(one, tries.tried());
  }
}

// All of them in the second context, as chance may have it.
TEST_P(PlanTrials, TheProgramIsReadAgainAsItIs) {
  Tries tries(GetParam());
  Road road(tries.options, silentListener());
  mlir::OwningOpRef<mlir::ModuleOp> again = readAgain(road, tries.text, tries.source);
  ASSERT_TRUE(again);
  Candidate &first = tries.candidates.front();
  tryCandidate(tries.source, again.get(), first, {});
  std::vector<std::string> second = tries.tried();
  tryCandidate(tries.source, tries.source.read.get(), first, {});
  EXPECT_EQ(second, tries.tried());
  EXPECT_EQ(first.tried.error, "");
}

INSTANTIATE_TEST_SUITE_P(Programs, PlanTrials, testing::Values(kLayer, kGspmd));

} // namespace
