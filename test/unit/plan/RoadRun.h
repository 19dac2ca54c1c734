// What the road makes of shardings that are given for all values, beside what the search's model says.
#pragma once

#include "lib/cost/ScheduleOptions.h"
#include "lib/plan/AssignmentPrices.h"
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

  // What the search would say.
  double modelSeconds(const Assignment &assignment) { return prices->seconds(assignment); }
  double modelPeak(const Assignment &assignment) const;
  // Of what reshards move, before they become collectives.
  std::optional<double> reshardSeconds(const Assignment &assignment) const;
  // Of the device program, where nothing goes on beside a collective.
  struct Step {
    double seconds = 0, compute = 0, communication = 0;
    double peakBytes = 0;
  };
  std::optional<Step> step(const Assignment &assignment) const;
  // The module with these shardings on all values, as propagation leaves it.
  mlir::OwningOpRef<mlir::ModuleOp> sharded(const Assignment &assignment) const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> source;
  PlanProgram program;
  cost::Topology machine;
  std::unique_ptr<AssignmentPrices> prices;
};

} // namespace tessera::plan
