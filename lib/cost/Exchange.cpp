#include "lib/cost/Exchange.h"

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

double exchangeSeconds(const DeviceRates &rates, links::Pattern kind, double bytes, int64_t group) {
  if (group <= 1)
    return 0;
  return rates.meetingSeconds + secondsOf(rates, exchangeTerms(kind, bytes, group));
}

} // namespace tessera::cost
