#include "runtime/comm/local/LocalChannels.h"
#include <cstring>

namespace tessera::runtime {

using device::Outcome;

double LocalChannels::bytesFor(const LoadedProgram &file) {
  double bytes = 0;
  for (const DeviceProgram &program : file.programs())
    bytes += static_cast<double>(program.mesh().size()) * program.decoded().transferSites *
             sizeof(Flight);
  for (const Route &route : file.channels())
    bytes += static_cast<double>(file.programs()[route.to()].mesh().size()) *
             (sizeof(Way) + 1200); // of two empty queues
  return bytes;
}

LocalChannels::LocalChannels(const LoadedProgram &file, Run &run) : file_(file), run_(run) {
  for (const DeviceProgram &program : file.programs()) {
    const Decoded &decoded = program.decoded();
    auto flights = static_cast<uint64_t>(program.mesh().size()) * decoded.transferSites;
    programs_.push_back(
        {decoded.sites, decoded.transferSites, std::make_unique<Flight[]>(flights)});
  }
  for (const Route &route : file.channels())
    ways_.push_back(std::make_unique<Way[]>(file.programs()[route.to()].mesh().size()));
}

Status LocalChannels::start(const DeviceProgram &program, uint32_t position,
                            const CollectivePlan &plan, const device::Address *buffers) {
  const Route &route = *plan.route;
  uint32_t targets = 0;
  if (plan.sends)
    route.forEachTarget(position, [&](uint32_t) { ++targets; });
  Flight &flight = flightOf(program, position, plan.site);
  {
    std::lock_guard lock(flight.mutex);
    if (flight.plan)
      return {Code::Internal, "device " + std::to_string(program.mesh().deviceAt(position)) +
                                  " starts " + nameOf(plan) + " on channel '" + route.name() +
                                  "' at " + program.location(plan.location) +
                                  " again before it has waited for it"};
    flight.plan = &plan;
    flight.left = plan.sends ? targets : 1;
  }
  Way *ways = ways_[&route - file_.channels().data()].get();
  End end{&flight, buffers[0].bits(), {&program, position, plan.site}};
  if (!plan.sends)
    return meet(ways[position], end, false, route.bytes());
  Status status;
  route.forEachTarget(position, [&](uint32_t target) {
    if (status.ok())
      status = meet(ways[target], end, true, route.bytes());
  });
  return status;
}

Status LocalChannels::carry(const Place &, const Place &, const void *source, void *target,
                            uint64_t bytes) {
  std::memmove(target, source, bytes);
  return {};
}

Status LocalChannels::meet(Way &way, End end, bool sends, uint64_t bytes) {
  End other;
  {
    std::lock_guard lock(way.mutex);
    auto &theirs = sends ? way.receives : way.sends;
    if (theirs.empty()) {
      (sends ? way.sends : way.receives).push_back(end);
      return {};
    }
    other = theirs.front();
    theirs.pop_front();
  }
  const End &from = sends ? end : other, &to = sends ? other : end;
  if (Status s = carry(from.place, to.place, from.buffer, to.buffer, bytes); !s.ok())
    return s;
  oneIsDone(*from.flight);
  oneIsDone(*to.flight);
  return {};
}

void LocalChannels::oneIsDone(Flight &flight) {
  Task *waiter = nullptr;
  {
    std::lock_guard lock(flight.mutex);
    if (--flight.left == 0)
      waiter = std::exchange(flight.waiter, nullptr);
  }
  if (waiter) {
    waiter->next = nullptr;
    run_.wake(waiter);
  }
}

Outcome LocalChannels::wait(const DeviceProgram &program, Task &task, uint32_t position,
                            uint32_t site) {
  Flight &flight = flightOf(program, position, site);
  std::lock_guard lock(flight.mutex);
  if (flight.left == 0) {
    flight.plan = nullptr;
    return Outcome::Done;
  }
  if (run_.failed())
    return Outcome::Failed;
  flight.waiter = &task;
  return Outcome::Parked;
}

void LocalChannels::wakeAll() {
  for (const DeviceProgram &program : file_.programs()) {
    const OfProgram &of = programs_[program.index()];
    uint64_t count = static_cast<uint64_t>(program.mesh().size()) * of.sites;
    for (uint64_t i = 0; i < count; ++i) {
      std::lock_guard lock(of.flights[i].mutex);
      if (Task *waiter = std::exchange(of.flights[i].waiter, nullptr)) {
        waiter->next = nullptr;
        run_.wake(waiter);
      }
    }
  }
}

void LocalChannels::reset() {
  for (const DeviceProgram &program : file_.programs()) {
    const OfProgram &of = programs_[program.index()];
    uint64_t count = static_cast<uint64_t>(program.mesh().size()) * of.sites;
    for (uint64_t i = 0; i < count; ++i) {
      of.flights[i].plan = nullptr;
      of.flights[i].left = 0;
      of.flights[i].waiter = nullptr;
    }
  }
  for (const Route &route : file_.channels())
    for (int64_t p = 0; p < file_.programs()[route.to()].mesh().size(); ++p) {
      Way &way = ways_[&route - file_.channels().data()][p];
      way.sends.clear();
      way.receives.clear();
    }
}

std::string LocalChannels::describeWait(const DeviceProgram &program, uint32_t position,
                                        uint32_t site) const {
  const CollectivePlan *plan = flightOf(program, position, site).plan;
  if (!plan)
    return "a channel";
  const Route &route = *plan->route;
  std::string peers;
  auto add = [&](uint32_t of, uint32_t peer) {
    peers +=
        (peers.empty() ? " " : ", ") + std::to_string(file_.programs()[of].mesh().deviceAt(peer));
  };
  if (plan->sends)
    route.forEachTarget(position, [&](uint32_t target) { add(route.to(), target); });
  else
    add(route.from(), route.sourceOf(position));
  return std::string(nameOf(*plan)) + " on channel '" + route.name() + "' at " +
         program.location(plan->location) + ", whose other end is device" + peers;
}

} // namespace tessera::runtime
