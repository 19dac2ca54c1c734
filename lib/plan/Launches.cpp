#include "lib/plan/Launches.h"

namespace tessera::plan {

double launchSeconds(const OpFacts &op, const cost::Topology &topology, int64_t devices) {
  const cost::DeviceRates &rates = topology.device;
  return op.launches * cost::turnsOf(topology, devices) *
         (rates.launchSeconds + rates.instructionSeconds);
}

double launchSeconds(const Program &program, const cost::Topology &topology, int64_t devices) {
  double seconds = 0;
  for (const OpFacts &op : program.ops)
    seconds += op.times * launchSeconds(op, topology, devices);
  return seconds;
}

} // namespace tessera::plan
