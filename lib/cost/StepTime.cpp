#include "lib/cost/StepTime.h"

namespace tessera::cost {

double secondsOf(const Topology &topology, const Repeated<Compute> &kernel) {
  return kernel.times * computeSeconds(topology, kernel.work.flops, kernel.work.bytes);
}

double secondsOf(const Topology &topology, const sharding::Mesh &mesh,
                 const Repeated<Transfer> &collective) {
  const Transfer &work = collective.work;
  return collective.times * collectiveSeconds(topology, mesh, work.kind, work.bytes, work.group);
}

StepTime stepTime(const Topology &topology, const sharding::Mesh &mesh,
                  llvm::ArrayRef<Repeated<Compute>> kernels,
                  llvm::ArrayRef<Repeated<Transfer>> collectives) {
  StepTime step;
  for (const Repeated<Compute> &kernel : kernels) {
    step.compute += secondsOf(topology, kernel);
    step.flops += kernel.times * kernel.work.flops;
  }
  for (const Repeated<Transfer> &collective : collectives)
    step.communication += secondsOf(topology, mesh, collective);
  return step;
}

} // namespace tessera::cost
