#include "lib/cost/Exchange.h"

#include "lib/cost/Topology.h"
#include "lib/steps/SharedExchange.h"

#include <algorithm>

namespace tessera::cost {

// What each device reads and writes, all of it.
static Terms movedTerms(links::Pattern kind, double bytes, double group) {
  Terms terms;
  switch (kind) {
  case links::Pattern::AllReduce: // as many parts of all as there are devices, written to all
    terms[Term::Combined] = 2 * bytes;
    break;
  case links::Pattern::ReduceScatter:
    terms[Term::Combined] = bytes + bytes / group;
    break;
  case links::Pattern::AllGather:
  case links::Pattern::AllToAll:
  case links::Pattern::Permute:
  case links::Pattern::Broadcast:
    terms[Term::Exchanged] = 2 * bytes;
    break;
  }
  return terms;
}

// What is read by all devices comes to each core once.
static double readAgain(links::Pattern kind, double bytes, double group, double cores) {
  bool isReadByAll = kind == links::Pattern::AllGather || kind == links::Pattern::Broadcast;
  return isReadByAll ? bytes * std::max(1 - cores / group, 0.0) : 0;
}

Exchange exchangeOf(links::Pattern kind, double bytes, int64_t group, int64_t devices,
                    int64_t cores) {
  Exchange exchange;
  if (group <= 1)
    return exchange;
  double all = static_cast<double>(std::min(devices, cores)), size = static_cast<double>(group),
         groups = static_cast<double>(std::max<int64_t>(devices / group, 1));
  Terms terms = movedTerms(kind, bytes, size);
  steps::SharedExchange shared{size * (terms[Term::Exchanged] + terms[Term::Combined])};
  terms[Term::Exchanged] -= readAgain(kind, bytes, size, all);
  auto kept = [&](double busy) { return std::max(all / busy, 1.0); };
  exchange.terms.add(terms, kept(groups * shared.workers()));
  exchange.meetings = kept(groups);
  return exchange;
}

Exchange exchangeOf(const Topology &topology, int64_t devices, links::Pattern kind, double bytes,
                    int64_t group) {
  return exchangeOf(kind, bytes, group, devices,
                    topology.computingAtOnce ? topology.computingAtOnce : devices);
}

double exchangeSeconds(const DeviceRates &rates, const Exchange &exchange) {
  return exchange.meetings * rates.meetingSeconds + secondsOf(rates, exchange.terms);
}

} // namespace tessera::cost
