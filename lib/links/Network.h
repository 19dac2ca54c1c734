// Which links a machine has, and which of them a group of a mesh uses. Needs nothing else: the
// compiler prices by it, and the runtime's simulated links are these.
//
//   levels: host of 8 devices, pod of all          mesh data=4, model=4, row-major
//   model   devices 0 1 2 3: within a host
//   data    devices 0 4 8 12: 0 and 4 in one host, 4 and 8 in two: over the pod's links
#pragma once

#include "lib/links/LinkTime.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::links {

// Devices that have links of their own kind between them: those of a host, of a rack, of a pod.
struct Level {
  std::string name;
  int64_t devices = 0; // in one such unit, numbered in a row; 0: all
  Link link;
};

struct Network {
  Link link;                        // where nothing else is said
  std::map<std::string, Link> axes; // of single mesh axes, by name
  std::vector<Level> levels;        // the smallest first; the last one has all devices
};

// A mesh axis, or a part of one, that a group lies along.
struct Crossing {
  std::string_view axis;
  int64_t stride = 1; // between the numbers of neighbours
  int64_t size = 1;
};

// The slowest of the links that the devices along a crossing use.
inline Link linkAlong(const Network &network, const Crossing &crossing) {
  if (auto named = network.axes.find(std::string(crossing.axis)); named != network.axes.end())
    return named->second;
  if (network.levels.empty())
    return network.link;
  for (const Level &level : network.levels)
    if (level.devices > 0 && level.devices % (crossing.stride * crossing.size) == 0)
      return level.link;
  return network.levels.back().link;
}

} // namespace tessera::links
