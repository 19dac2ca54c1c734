// Plans on one mesh, and annotates the imported program. Passes.td shows an example.
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Meshes.h"
#include "lib/plan/Search.h"
#include "passes/plan/Annotations.h"
#include "passes/plan/Passes.h"
#include "passes/plan/PlanProgram.h"
#include "passes/plan/PropagationWays.h"

#include "mlir/Pass/PassRegistry.h"

namespace tessera {
#define GEN_PASS_DEF_PLANSHARDINGS
#define GEN_PASS_REGISTRATION
#include "passes/plan/Passes.h.inc"

using namespace mlir;

namespace {

// All values of the program that an annotation can stand on.
std::vector<plan::AnnotationPlace> placesIn(const PlanProgram &program) {
  std::vector<plan::AnnotationPlace> places;
  for (auto [number, facts] : llvm::enumerate(program.program.values)) {
    const sharding::PropagatedValue &value = program.program.graph.values[number];
    using Kind = plan::AnnotationPlace::Kind;
    Kind kind = facts.argument >= 0 ? Kind::Argument
                : facts.result >= 0 ? Kind::Result
                                    : Kind::Inside;
    bool isResult = isa_and_present<OpResult>(program.valueAt(int32_t(number)));
    if (kind != Kind::Inside || (isResult && !value.free && !value.shape.empty()))
      places.push_back({kind, {int32_t(number)}});
  }
  return places;
}

struct PlanShardings : impl::PlanShardingsBase<PlanShardings> {
  using PlanShardingsBase::PlanShardingsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    PlanProgram program(module);
    std::optional<sharding::Mesh> chosen = program.isValid() ? meshFor(program) : std::nullopt;
    if (!chosen)
      return signalPassFailure();
    cost::Topology topology = topologyOf(module);
    plan::Options options;
    options.memory = scheduleOf(module).memory.value_or(0);
    options.effort = effort;
    plan::Plan found = plan::planOnMesh(program.program, *chosen, topology, options);
    annotate(program, *chosen, found.values, topology);
  }

  std::optional<sharding::Mesh> meshFor(const PlanProgram &program) {
    if (program.countMeshes() > 1) {
      getOperation().emitError("it has values on several meshes; plans are for programs on one");
      return std::nullopt;
    }
    if (const sharding::Mesh *annotated = program.annotatedMesh()) {
      if (!mesh.empty() && plan::meshText(*annotated) != mesh) {
        getOperation().emitError() << "its annotations are on the mesh "
                                   << plan::meshText(*annotated) << ", not on mesh=" << mesh;
        return std::nullopt;
      }
      return *annotated;
    }
    std::string wrong;
    std::optional<sharding::Mesh> asked = plan::readMesh(mesh, wrong);
    if (!asked)
      getOperation().emitError() << "mesh=" << mesh << ": " << wrong;
    else
      addMesh(getOperation(), *asked);
    return asked;
  }

  void annotate(const PlanProgram &program, const sharding::Mesh &mesh,
                const plan::Assignment &planned, const cost::Topology &topology) {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    std::vector<plan::AnnotationPlace> places = placesIn(program);
    PropagationWays ways(program.program, main, mesh, topology);
    plan::DecisivePlaces decisive =
        plan::decisivePlaces(program.program.graph, planned, places, ways.all());
    sdy::SignatureAttributes signature(main);
    for (int32_t place : decisive.places) {
      int32_t value = places[place].values.front();
      const plan::ValueFacts &facts = program.program.values[value];
      sdy::TensorShardingAttr attr = sdy::toAttr(&getContext(), mesh, plan::closed(planned[value]));
      if (facts.argument >= 0)
        signature.setArgument(facts.argument, sdy::kShardingAttr, attr);
      else if (facts.result >= 0)
        signature.setResult(facts.result, sdy::kShardingAttr, attr);
      else
        annotateValue(program.valueAt(value), attr);
    }
  }
};

} // namespace

void registerPlanPasses() { registerPlanPhasePasses(); }

} // namespace tessera
