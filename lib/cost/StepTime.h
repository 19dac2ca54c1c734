// How long a step of a device takes: one thing after another, each by its own price. Plain data.
#pragma once

#include "lib/cost/Topology.h"

namespace tessera::cost {

struct Compute {
  double flops, bytes; // that a kernel does and touches
};

struct Transfer {
  CollectiveKind kind;
  double bytes; // as collectiveSeconds has it
  sharding::AxisRefs group;
};

// `times`: how often it happens in a step, trips of loops included.
template <typename Work> struct Repeated {
  Work work;
  double times;
};

struct StepTime {
  double compute = 0, communication = 0; // seconds
  double flops = 0;

  // Nothing at the same time as something else: what overlap hides is not taken off.
  double seconds() const { return compute + communication; }
};

double secondsOf(const Topology &topology, const Repeated<Compute> &kernel);
double secondsOf(const Topology &topology, const sharding::Mesh &mesh,
                 const Repeated<Transfer> &collective);
StepTime stepTime(const Topology &topology, const sharding::Mesh &mesh,
                  llvm::ArrayRef<Repeated<Compute>> kernels,
                  llvm::ArrayRef<Repeated<Transfer>> collectives);

} // namespace tessera::cost
