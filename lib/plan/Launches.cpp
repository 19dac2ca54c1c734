#include "lib/plan/Launches.h"

namespace tessera::plan {

static double secondsOfOne(const cost::Topology &topology, int64_t devices) {
  const cost::DeviceRates &rates = topology.device;
  return cost::turnsOf(topology, devices) * (rates.launchSeconds + rates.instructionSeconds);
}

double launchSeconds(const OpFacts &op, const cost::Topology &topology, int64_t devices) {
  return op.launches * secondsOfOne(topology, devices);
}

double launchSeconds(const Program &program, const cost::Topology &topology, int64_t devices) {
  double seconds = program.launches * secondsOfOne(topology, devices);
  for (const OpFacts &op : program.ops)
    seconds += op.times * launchSeconds(op, topology, devices);
  return seconds;
}

} // namespace tessera::plan
