// The links between devices, from how long collectives took over them. Plain data.
#pragma once

#include "lib/links/Network.h"
#include "llvm/ADT/ArrayRef.h"

namespace tessera::cost {

// One collective of a group of neighbours.
struct LinkObservation {
  links::Pattern kind;
  int64_t group; // devices, numbered one after the other
  double bytes;  // as collectives count them (LinkTime.h)
  double seconds;
};

// The network that predicts them best: one link for all, unless larger groups show that another,
// slower one begins with them; then levels. The least sum of squares of logarithms of ratios.
links::Network fitLinks(llvm::ArrayRef<LinkObservation> observations);

double predictedSeconds(const links::Network &network, const LinkObservation &observation);

} // namespace tessera::cost
