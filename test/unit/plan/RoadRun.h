// What the road makes of shardings that are given for all values, beside what the search's model says.
#pragma once

#include "lib/cost/ScheduleOptions.h"
#include "lib/plan/AssignmentPrices.h"
#include "lib/plan/HiddenSearch.h"
#include "lib/plan/StepBill.h"
#include "passes/plan/PlanProgram.h"

#include <optional>

namespace tessera::plan {

class RoadRun {
public:
  // An imported module with a mesh and no annotation. Its topology is the model's.
  explicit RoadRun(mlir::ModuleOp module);

  bool isValid() const { return program.isValid() && program.annotatedMesh(); }
  const Program &data() const { return program.program; }
  const sharding::Mesh &mesh() const { return *program.annotatedMesh(); }
  const cost::Topology &topology() const { return machine; }

  // What the search would say of the device program, with the launches that it counts for every plan alike;
  // without bringing what the step gives where the next one takes it.
  double modelSeconds(const Assignment &assignment);
  double modelComputing(const Assignment &assignment) const; // of that
  double modelLaunches() const;                              // likewise, under every plan
  struct Links {
    std::vector<CollectiveBill>
        collectives;     // by kind; of several sums in one message each counts as one
    double crossing = 0; // seconds of rows that cross shards within ops
    double seconds = 0;  // of all, sums in one message once
    double dividing = 0; // of devices, where what moves divides kernels
  };
  Links modelLinks(const Assignment &assignment);
  double modelPeak(const Assignment &assignment) const;
  // Of what reshards move, before they become collectives.
  std::optional<double> reshardSeconds(const Assignment &assignment) const;
  // Of the device program, where nothing goes on beside a collective, or as much as order finds.
  struct Step {
    double seconds = 0, compute = 0, communication = 0, overhead = 0;
    double peakBytes = 0;
    std::vector<CollectiveBill> collectives; // by kind, alone on their links
  };
  std::optional<Step> step(const Assignment &assignment,
                           cost::Overlap overlap = cost::Overlap::Off) const;

  // What the search counts of one plan, and what it proves of all plans of the mesh; 0: nothing.
  struct Counts {
    double all = 0, hiding = 0, waiting = 0, computing = 0; // with launches but the first
  };
  Counts counts(const Assignment &assignment);
  HiddenTime hiding(const Assignment &assignment) { return hiddenTimeOf(*prices, assignment); }
  Counts bounds(llvm::ArrayRef<NamedAssignment> known);

  // Kernels and copies of a step that compute for the same ops, however either side divides them.
  struct Computing {
    double model = 0, road = 0;        // seconds of all of them, in a step
    double launches = 0, launched = 0; // kernels of a step: of the ops on one device; on the road
    std::vector<int32_t> ops;
    std::vector<std::string> kernels; // of the road, each with how often and how long
  };
  // Those that differ most first. Where nothing goes on beside a collective.
  std::optional<std::vector<Computing>> computing(const Assignment &assignment) const;
  std::string nameOf(int32_t op) const; // "dot_general f32[8,16] step.py:7"
  // The module with these shardings on all values, as propagation leaves it.
  mlir::OwningOpRef<mlir::ModuleOp> sharded(const Assignment &assignment) const;

private:
  std::vector<CollectiveBill> billOfRoad(mlir::ModuleOp compiled) const;
  mlir::OwningOpRef<mlir::ModuleOp> compiled(const Assignment &assignment,
                                             cost::Overlap overlap) const;

  mlir::OwningOpRef<mlir::ModuleOp> source;
  PlanProgram program;
  cost::Topology machine;
  std::unique_ptr<AssignmentPrices> prices;
};

} // namespace tessera::plan
