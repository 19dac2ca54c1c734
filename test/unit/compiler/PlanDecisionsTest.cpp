// What decisions of a plan are worth, found beside a compilation or behind it: the same, and of that plan only.
#include "compiler/Road.h"
#include "compiler/plan/Decisions.h"
#include "compiler/plan/Reading.h"
#include "compiler/plan/Search.h"

#include <gtest/gtest.h>

#include <deque>

using namespace tessera;
using namespace tessera::planning;

namespace {

constexpr const char *kLayers = R"(
func.func public @main(%x: tensor<256x512xf32>, %v: tensor<512x1024xf32>, %w: tensor<1024x512xf32>, %b: tensor<512xf32>)
    -> (tensor<256x512xf32>, tensor<1024x512xf32>) {
  %h = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %t = stablehlo.tanh %h : tensor<256x1024xf32>
  %y = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x512xf32>) -> tensor<256x512xf32>
  %a = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<512xf32>) -> tensor<256x512xf32>
  %d = stablehlo.add %y, %a : tensor<256x512xf32>
  %g = stablehlo.dot_general %t, %d, contracting_dims = [0] x [0] : (tensor<256x1024xf32>, tensor<256x512xf32>) -> tensor<1024x512xf32>
  return %d, %g : tensor<256x512xf32>, tensor<1024x512xf32>
})";

struct PlanDecisions : testing::Test {
  PlanDecisions() {
    EXPECT_EQ(readSource(road, kLayers, "layers", source, separate), "");
    std::vector<sharding::Mesh> meshes;
    PlanRequest request;
    request.devices = 4;
    EXPECT_EQ(chooseMeshes(source, request, "layers", meshes), "");
    source.findWhatIsBeside(4);
    source.folded = plan::foldedProgram(source.plain());
    for (const sharding::Mesh &mesh : llvm::ArrayRef(meshes).take_front(2))
      onMeshes.emplace_back(source, mesh);
    candidates = searchedOn(source, {&onMeshes.front()}, {}, /*breaksTies=*/true).candidates;
    tryCandidate(source, source.read.get(), candidates.front(), {});
  }

  Decisions decisionsOf(const Candidate &candidate) {
    return Decisions(source, *candidate.onMesh, candidate.folded, candidate.tried.annotations, {},
                     /*lifts=*/false);
  }

  CompileOptions options;
  Road road{options, silentListener()};
  Source source;
  SeparateCalls separate;
  std::deque<OnMesh> onMeshes;
  std::vector<Candidate> candidates;
};

TEST_F(PlanDecisions, AreTheSameOnOneCoreAndOnTwo) {
  Decisions decisions = decisionsOf(candidates.front());
  std::vector<explain::Decision> one = decisions.priced(/*onBothCores=*/false);
  EXPECT_GE(one.size(), 4u);
  EXPECT_EQ(one, decisions.priced(/*onBothCores=*/true));
}

TEST_F(PlanDecisions, AreOfOnePlanAndItsAnnotations) {
  const Candidate &best = candidates.front();
  Decisions decisions = decisionsOf(best);
  std::vector<Annotation> annotations = best.tried.annotations;
  EXPECT_TRUE(decisions.areOf(*best.onMesh, best.folded, annotations));
  ASSERT_GT(onMeshes.size(), 1u);
  EXPECT_FALSE(decisions.areOf(onMeshes.back(), best.folded, annotations));
  ASSERT_GT(candidates.size(), 1u);
  EXPECT_FALSE(decisions.areOf(*best.onMesh, candidates.back().folded, annotations));
  // As many, in another place.
  ASSERT_FALSE(annotations.empty());
  annotations.back().spot.at += 1;
  EXPECT_FALSE(decisions.areOf(*best.onMesh, best.folded, annotations));
  annotations.pop_back();
  EXPECT_FALSE(decisions.areOf(*best.onMesh, best.folded, annotations));
}

} // namespace
