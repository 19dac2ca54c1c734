#include "lib/cost/Exchange.h"

#include "lib/cost/Topology.h"
#include "lib/steps/SharedExchange.h"

#include <algorithm>

namespace tessera::cost {

Terms exchangeTerms(links::Pattern kind, double bytes, int64_t group) {
  Terms terms;
  if (group <= 1)
    return terms;
  switch (kind) {
  case links::Pattern::AllReduce: // as many parts of all as there are devices, written to all
    terms[Term::Combined] = 2 * bytes;
    break;
  case links::Pattern::ReduceScatter:
    terms[Term::Combined] = bytes + bytes / static_cast<double>(group);
    break;
  case links::Pattern::AllGather: // each part is read by all
  case links::Pattern::AllToAll:
  case links::Pattern::Permute:
  case links::Pattern::Broadcast:
    terms[Term::Exchanged] = 2 * bytes;
    break;
  }
  return terms;
}

Exchange exchangeOf(links::Pattern kind, double bytes, int64_t group, int64_t devices,
                    int64_t cores) {
  Exchange exchange;
  if (group <= 1)
    return exchange;
  Terms terms = exchangeTerms(kind, bytes, group);
  double all = static_cast<double>(std::min(devices, cores)),
         groups = static_cast<double>(std::max<int64_t>(devices / group, 1));
  steps::SharedExchange shared{static_cast<double>(group) *
                               (terms[Term::Exchanged] + terms[Term::Combined])};
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
