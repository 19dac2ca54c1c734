// Which links a machine has, and which of them a group of a mesh uses. Needs nothing else: the
// compiler prices by it, and the runtime's simulated links are these.
//
//   levels: host of 8 devices, pod of all          mesh data=4, model=4, row-major
//   model   devices 0 1 2 3: within a host
//   data    devices 0 4 8 12: two of a host, in two hosts: 2 over the host's links, 2 over the pod's
#pragma once

#include "lib/links/LinkTime.h"

#include <map>
#include <numeric>
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

// What no machine has; empty where nothing is wrong.
inline std::string wrongOf(const Network &network) {
  auto isWrong = [](const Link &link) { return link.directions < 1 || link.directions > 2; };
  bool wrong = isWrong(network.link);
  for (const auto &[name, link] : network.axes)
    wrong |= isWrong(link);
  const std::vector<Level> &levels = network.levels;
  for (size_t i = 0; i < levels.size(); ++i) {
    wrong |= isWrong(levels[i].link);
    if (i + 1 < levels.size() && levels[i].devices == 0)
      return "level '" + levels[i].name +
             "' must say how many devices it has: only the last may have all";
    if (i && levels[i].devices % levels[i - 1].devices)
      return "the devices of level '" + levels[i].name + "' must be a multiple of those of '" +
             levels[i - 1].name + "'";
  }
  return wrong ? "'directions' must be 1 or 2" : "";
}

// A mesh axis, or a part of one, that a group lies along.
struct Crossing {
  std::string_view name; // of the axis
  int64_t axis = 0;      // its number in the mesh
  int64_t stride = 1;    // between the numbers of neighbours
  int64_t size = 1;
};

// Of a group: so many devices reach each other over links of one kind; as many such parts over the
// next.
struct Stage {
  Link link;
  int64_t size;
};

// What a device has for collectives, each a bit: a link along each mesh axis, one of each level, and
// of rings another back; one for groups that lie along no axis. Further axes and levels share the
// last.
constexpr int kAxisLinks = 24, kLinkOfTables = 48, kLevelLinks = 49, kLevels = 6, kMostLinks = 61;

// Which of the links of a ring something takes.
enum class Way { Both, Forward, Back };

// Of values that each rank sends to the rank so many after it; all else goes both ways.
inline Way wayOfShift(int64_t offset) {
  return offset == 1 ? Way::Forward : offset == -1 ? Way::Back : Way::Both;
}

struct Route {
  std::vector<Stage> stages;                 // the quickest first, each of another link
  uint64_t links = 0, forward = 0, back = 0; // all, and those of rings

  uint64_t linksFor(Way way) const {
    return links & ~(way == Way::Forward ? back : way == Way::Back ? forward : 0);
  }

  // Devices that already have this link are one stage with more; but rings stay what they are.
  void add(const Link &link, int64_t size, int bit, int bitBack) {
    if (size <= 1)
      return;
    links |= uint64_t{1} << bit;
    if (link.directions > 1 && bit != bitBack) {
      forward |= uint64_t{1} << bit;
      back |= uint64_t{1} << bitBack;
      links |= back;
    }
    for (Stage &stage : stages)
      if (stage.link == link && link.directions < 2) {
        stage.size *= size;
        return;
      }
    constexpr double some = 1e6; // bytes, by which links are compared
    auto seconds = [](const Link &link) { return link.alpha + some / link.beta; };
    auto at = stages.begin();
    while (at != stages.end() && seconds(at->link) <= seconds(link))
      ++at;
    stages.insert(at, {link, size});
  }
};

inline void addLevels(const Network &network, const Crossing &crossing, Route &route) {
  int64_t inside = 1; // of the crossing, in a unit of the level before
  for (size_t i = 0; i < network.levels.size(); ++i) {
    const Level &level = network.levels[i];
    bool isLast = i + 1 == network.levels.size();
    int64_t here = isLast || level.devices == 0 ? crossing.size
                   : level.devices % crossing.stride == 0
                       ? std::gcd(crossing.size, level.devices / crossing.stride)
                       : 1;
    int bit = kLevelLinks + static_cast<int>(std::min<size_t>(i, kLevels - 1));
    route.add(level.link, here / inside, bit, bit + kLevels);
    inside = here;
  }
}

// The way of a group along these crossings.
template <class Crossings> Route routeOf(const Network &network, const Crossings &crossings) {
  Route route;
  for (const Crossing &crossing : crossings) {
    auto named = network.axes.find(std::string(crossing.name));
    bool isNamed = named != network.axes.end();
    int bit = static_cast<int>(std::min<int64_t>(crossing.axis, kAxisLinks - 1));
    if (!isNamed && !network.levels.empty())
      addLevels(network, crossing, route);
    else
      route.add(isNamed ? named->second : network.link, crossing.size, bit, bit + kAxisLinks);
  }
  return route;
}

// The way of a group that a table lists: nobody says which links it has, so it takes the slowest.
inline Route routeOfTable(const Network &network, int64_t size) {
  Route route;
  route.add(network.levels.empty() ? network.link : network.levels.back().link, size, kLinkOfTables,
            kLinkOfTables);
  return route;
}

// Over all stages at once, as if all links were the slowest.
inline double flatSeconds(Pattern pattern, double bytes, const std::vector<Stage> &stages,
                          size_t first) {
  Link slowest = stages[first].link;
  int64_t size = 1;
  for (size_t i = first; i < stages.size(); ++i) {
    slowest = slower(slowest, stages[i].link);
    size *= stages[i].size;
  }
  return seconds(pattern, bytes, size, slowest);
}

// Parts that stay near go over quick links while the others are under way.
inline double exchangeSeconds(double bytes, const std::vector<Stage> &stages) {
  double group = 1, reached = 1, latency = 0, most = 0;
  for (const Stage &stage : stages)
    group *= static_cast<double>(stage.size);
  for (const Stage &stage : stages) {
    double further = reached * static_cast<double>(stage.size);
    latency = std::max(latency, doublingSteps(static_cast<int64_t>(group)) * stage.link.alpha);
    double sent = stage.link.directions < 2 ? (further - reached) / group * bytes
                                            : bytes * static_cast<double>(stage.size) / 8;
    most = std::max(most, sent / stage.link.beta);
    reached = further;
  }
  return latency + most;
}

// The best of all stages at once and one stage after the other: near devices reduce and scatter,
// those of the next stage do the same with the parts, near ones gather.
inline double stagedSeconds(Pattern pattern, double bytes, const std::vector<Stage> &stages,
                            size_t first) {
  double flat = flatSeconds(pattern, bytes, stages, first);
  if (first + 1 == stages.size() || pattern == Pattern::Permute)
    return flat;
  const Stage &near = stages[first];
  double part = bytes / static_cast<double>(near.size);
  auto here = [&](Pattern step) { return seconds(step, bytes, near.size, near.link); };
  auto rest = [&](double of) { return stagedSeconds(pattern, of, stages, first + 1); };
  switch (pattern) {
  case Pattern::AllReduce: // of few bytes, all of them at every stage
    return std::min({flat, here(Pattern::AllReduce) + rest(bytes),
                     here(Pattern::ReduceScatter) + rest(part) + here(Pattern::AllGather)});
  case Pattern::AllGather:
  case Pattern::ReduceScatter:
    return std::min(flat, here(pattern) + rest(part));
  default: // a broadcast
    return std::min(flat, here(pattern) + rest(bytes));
  }
}

// On a torus as many parts of the bytes as it has axes go round at once, each along another axis.
inline double torusSeconds(Pattern pattern, double bytes, std::vector<Stage> stages) {
  double longest = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    longest = std::max(
        longest, stagedSeconds(pattern, bytes / static_cast<double>(stages.size()), stages, 0));
    std::rotate(stages.begin(), stages.begin() + 1, stages.end());
  }
  return longest;
}

inline double seconds(Pattern pattern, double bytes, const Route &route) {
  const std::vector<Stage> &stages = route.stages;
  if (stages.empty())
    return 0;
  if (pattern == Pattern::AllToAll && stages.size() > 1)
    return exchangeSeconds(bytes, stages);
  double staged = stagedSeconds(pattern, bytes, stages, 0);
  bool isTorus = stages.size() > 1 && pattern != Pattern::Permute &&
                 std::all_of(stages.begin(), stages.end(),
                             [](const Stage &stage) { return stage.link.directions > 1; });
  return isTorus ? std::min(staged, torusSeconds(pattern, bytes, stages)) : staged;
}

// The slowest of the links.
inline Link slowestOf(const Network &network, const Route &route) {
  Link slowest = route.stages.empty() ? network.link : route.stages.front().link;
  for (const Stage &stage : route.stages)
    slowest = slower(slowest, stage.link);
  return slowest;
}

} // namespace tessera::links
