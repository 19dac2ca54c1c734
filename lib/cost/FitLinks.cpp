#include "lib/cost/FitLinks.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::cost {

using links::Link;
using links::Network;

double predictedSeconds(const Network &network, const LinkObservation &observation) {
  links::Crossing crossing{"", 0, 1, observation.group};
  return links::seconds(observation.kind, observation.bytes,
                        links::routeOf(network, std::vector<links::Crossing>{crossing}));
}

namespace {

double lossOf(const Network &network, llvm::ArrayRef<LinkObservation> observations) {
  double loss = 0;
  for (const LinkObservation &each : observations) {
    double error = std::log(std::max(predictedSeconds(network, each), 1e-12) / each.seconds);
    loss += std::min(error * error, 1.0); // one that was disturbed counts little
  }
  return loss;
}

// Finds the latency and the rate of `link`, which is in the network, by steps along both that get
// smaller (Hooke & Jeeves 1961).
double fit(const Network &network, Link &link, llvm::ArrayRef<LinkObservation> observations) {
  double best = lossOf(network, observations);
  for (double step = 10; step > 1.002;) {
    Link before = link, chosen = link;
    for (double alpha : {1 / step, 1.0, step})
      for (double beta : {1 / step, 1.0, step}) {
        link.alpha = std::clamp(before.alpha * alpha, 1e-9, 1.0);
        link.beta = std::clamp(before.beta * beta, 1e4, 1e13);
        if (double loss = lossOf(network, observations); loss < best)
          best = loss, chosen = link;
      }
    link = chosen;
    if (chosen == before)
      step = std::sqrt(step);
  }
  return best;
}

constexpr double kOther = 1.5; // times as slow: a link of another kind

} // namespace

Network fitLinks(llvm::ArrayRef<LinkObservation> observations) {
  const Link usual{1e-5, 1e9};
  Network network;
  std::set<int64_t> groups;
  for (const LinkObservation &each : observations)
    groups.insert(each.group);
  std::vector<LinkObservation> reached; // of groups up to this size
  int64_t inside = 0;                   // devices of the largest group so far
  for (int64_t group : groups) {
    std::vector<LinkObservation> own;
    for (const LinkObservation &each : observations)
      if (each.group == group)
        own.push_back(each);
    if (network.levels.empty()) {
      network.levels.push_back({"near", 0, usual});
      fit(network, network.levels.back().link, own);
    } else {
      Network further = network;
      further.levels.back().devices = inside;
      further.levels.push_back({"far", 0, further.levels.back().link});
      fit(further, further.levels.back().link, own);
      const Link &near = network.levels.back().link, &far = further.levels.back().link;
      if (inside < group && group % inside == 0 &&
          (far.alpha > kOther * near.alpha || far.beta * kOther < near.beta))
        network = std::move(further), reached.clear();
    }
    reached.insert(reached.end(), own.begin(), own.end());
    fit(network, network.levels.back().link, reached);
    inside = group;
  }
  if (network.levels.size() == 1) {
    network.link = network.levels.front().link;
    network.levels.clear();
  } else if (!network.levels.empty()) {
    network.link = network.levels.back().link;
  }
  return network;
}

} // namespace tessera::cost
