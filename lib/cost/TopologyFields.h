// Every member of a topology under its name in files and in IR (docs/topology.md): whoever reads,
// checks or writes one visits these. What a topology gets besides is a member of Topology or
// DeviceRates and a line here.
//
//   struct Visitor {
//     void text(name, std::string &);
//     void number(name, double &, Least);
//     void count(name, int64_t &, Least, int64_t most = 9e15);
//     template <class T, class F> void map(name, std::map<std::string, T> &, const T &base, F each);
//     template <class T, class F> void list(name, std::vector<T> &, const T &base, F each);
//   };
//
// `each` visits the members of one entry, which are as in `base` where an entry leaves them out.
// A map of numbers is `numbers(name, map, Least)`.
#pragma once

#include "lib/cost/Topology.h"
#include <initializer_list>

namespace tessera::cost {

// The least that a number may be: times and sizes 0, rates 1; none is above 1e30.
enum class Least { Zero, One };

template <class T> struct NumberField {
  const char *name;
  double T::*member;
  Least least = Least::Zero;
};

template <class T, class Visitor>
void visitNumbers(T &object, std::initializer_list<NumberField<T>> fields, Visitor &visitor) {
  for (const NumberField<T> &field : fields)
    visitor.number(field.name, object.*field.member, field.least);
}

template <class Visitor> void visitFields(links::Link &link, Visitor &visitor) {
  visitNumbers<Link>(link, {{"alpha", &Link::alpha}, {"beta", &Link::beta, Least::One}}, visitor);
  visitor.count("directions", link.directions, Least::One, /*most=*/2);
}

template <class Visitor> void visitFields(DeviceRates &device, Visitor &visitor) {
  using Rates = DeviceRates;
  visitNumbers<Rates>(device, {{"flops", &Rates::flopsPerSecond, Least::One}}, visitor);
  visitor.numbers("flops_by_type", device.flopsByType, Least::One);
  visitNumbers<Rates>(device, {{"memory", &Rates::bytesPerSecond, Least::One}}, visitor);
  visitor.numbers("kernels", device.kernels, Least::One);
  visitNumbers<Rates>(device,
                      {{"processors", &Rates::processors},
                       {"cache", &Rates::cacheBytes},
                       {"shared_cache", &Rates::sharedBytes},
                       {"others", &Rates::othersPerSecond},
                       {"near", &Rates::nearBytes},
                       {"vector", &Rates::vectorBytes, Least::One},
                       {"tiles", &Rates::tileRows},
                       {"beside_tiles", &Rates::besideTiles, Least::One},
                       {"step", &Rates::stepSeconds},
                       {"short_step", &Rates::shortStepSeconds},
                       {"waking", &Rates::wakingSeconds},
                       {"launch", &Rates::launchSeconds},
                       {"instruction", &Rates::instructionSeconds},
                       {"sharing", &Rates::sharingSeconds},
                       {"together", &Rates::coresTogether},
                       {"meeting", &Rates::meetingSeconds}},
                      visitor);
}

template <class Visitor> void visitFields(links::Level &level, Visitor &visitor) {
  visitor.text("name", level.name);
  visitor.count("devices", level.devices, Least::Zero);
  visitFields(level.link, visitor);
}

template <class Visitor> void visitFields(MemorySpace &space, Visitor &visitor) {
  visitor.count("bytes", space.bytes, Least::Zero);
  visitNumbers<MemorySpace>(
      space, {{"to_device", &MemorySpace::toDevice}, {"from_device", &MemorySpace::fromDevice}},
      visitor);
}

template <class Visitor> void visitFields(Topology &topology, Visitor &visitor) {
  auto members = [](auto &inner, Visitor &visitor) { visitFields(inner, visitor); };
  visitor.text("name", topology.name);
  visitor.text("about", topology.about);
  visitFields(topology.network.link, visitor);
  visitFields(topology.device, visitor);
  visitor.count("computing_at_once", topology.computingAtOnce, Least::Zero);
  const Link &link = topology.network.link;
  visitor.map("axes", topology.network.axes, link, members);
  visitor.list("levels", topology.network.levels, links::Level{"", 0, link}, members);
  visitor.map("spaces", topology.spaces, MemorySpace(), members);
}

} // namespace tessera::cost
