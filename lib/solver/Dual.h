// Lower bounds of a problem, and where good choices lie, from costs that are moved about.
//
// A message moves cost from an edge to the choices of one of its ends; what is left of every vertex
// and edge has a least each, and their sum is a bound. Vertices are visited in order, then in the
// opposite one: each takes what its edges from behind can give, and passes it on to those ahead in
// equal parts (Kolmogorov, A New Look at Reweighted Message Passing, 2015, for edges of two).
// A price for bytes in each step makes the room a cost (Lagrange): with prices of at least 0 the
// bound holds for all that is within the room.
#pragma once

#include "lib/solver/Network.h"

namespace tessera::solver {

class Dual {
public:
  explicit Dual(const Network &network);

  // The bound by the messages and prices after the last pass.
  double bound() const { return lower; }

  // One pass; with the bound before it (of these prices) and a cost that is wanted, marks choices
  // that nothing cheaper can have.
  void pass(bool forward, double wanted = forbidden);
  const std::vector<std::vector<bool>> &excluded() const { return out; }
  int64_t excludedCount() const { return outCount; }

  const std::vector<double> &prices() const { return price; }
  void setPrices(std::vector<double> prices);
  const std::vector<double> &messages() const { return message; }
  // Prices are to be set behind it: what a pass has found of the bound is of the messages before.
  void setMessages(std::vector<double> messages) { message = std::move(messages); }
  // With what is paid for bytes.
  double costWith(int32_t v, int32_t choice) const { return costs[first[v] + choice]; }

  // After a backward pass: choices in order, each by those before it and the messages of those
  // behind. scores gets those of vertex v, given the choices of vertices before it.
  void scoresOf(int32_t v, const Choices &before, std::vector<double> &scores) const;

  int64_t steps() const { return counted; }

private:
  double visit(int32_t v, bool forward, double limit);

  const Network &network;
  std::vector<int64_t> first; // of each vertex's choices
  std::vector<double> costs, message, price;
  std::vector<std::vector<bool>> out;
  int64_t outCount = 0, counted = 0;
  double lower = -forbidden, paid = 0;
  std::vector<double> sum; // of one vertex
};

} // namespace tessera::solver
