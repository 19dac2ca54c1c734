// A bound of all assignments on one mesh, and what readers should pay for copies, found together.
//
// Messages move costs from edges to the choices of their ends, in order and back (Kolmogorov, A New Look
// at Reweighted Message Passing, 2015). What is left of an edge then says how much less its reader could
// pay for a copy without loss. That goes to readers who have nothing left there, so that the next
// messages are larger (as in the dual ascent of facility location: Erlenkotter, A Dual-Based Procedure for
// Uncapacitated Facility Location, 1978):
//
//   w in parts, gathered for 4 ms     forward pays 2 ms, and nothing is left: it pays 3 ms
//                                     update pays 2 ms, has another way for 1 ms: it pays 1 ms
//
// The bound never falls, and a round takes a look or two at each entry of the matrices, where a solution of
// the graph takes hundreds. On the way choices are found that nothing better than what is known can have.
#pragma once

#include "lib/plan/Formulation.h"

namespace tessera::plan {

class CopyAscent {
public:
  // Both are kept by reference. Begins with what readers pay in the graph as it is.
  CopyAscent(const Formulation &problem, SharedCopies &copies);

  // Goes on for so many rounds, until they gain little, or until the bound is within `gap` of `wanted`: the
  // seconds of the best assignment that is known.
  void run(int64_t rounds, double wanted, double gap);

  // What readers pay was changed in between.
  void begin();

  double bound() const { return best; }
  void givePaid() { copies.setPaid(bestShares); } // what readers pay for that bound
  // Of each vertex, choices that nothing has that takes less than was wanted.
  const std::vector<std::vector<bool>> &excluded() const { return out; }

private:
  struct Edge {
    int32_t from, to; // rows are from's choices
    double factor;
    const double *seconds; // null: what a reader pays
    Formulation::Sharer sharer;
    size_t columns;
    int64_t toFrom, toTo; // offsets of messages
  };

  // A reader's part of a copy of one value, by whose candidates the rows of matrices are.
  struct Payer {
    double *paid; // in the first row
    size_t columns;
    const double *took;          // by candidates, through the reader's edge; null: it has none
    double factor = 1, gave = 0; // of that edge; by the reader's choices that need the copy
  };

  const double *rowsOf(const Edge &edge) const {
    return edge.seconds ? edge.seconds
                        : shares[edge.sharer.value].paid[edge.sharer.reader].at.data();
  }
  void sendTo(const Edge &edge);
  void sendFrom(const Edge &edge);
  void greatestByColumn(const Edge &edge, std::vector<double> &into) const;
  double visit(int32_t vertex, bool forward, double limit);
  void pass(bool forward, double wanted);
  void shiftPaid(size_t value);

  const Formulation &problem;
  SharedCopies &copies;
  std::vector<int32_t> order, placeOf; // of visits; of each vertex, when
  std::vector<int64_t> first;          // of each vertex's choices
  std::vector<double> costs, message;
  std::vector<std::vector<bool>> out;
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<int32_t, 4>> edgesOf;
  std::vector<SharedCopies::Shares> shares, bestShares;
  std::vector<std::vector<int32_t>> edgeOf; // by value and reader; -1: none
  double most = 0;                          // stands for what is impossible
  double lower = 0, best = 0;
  bool isBound = false;                  // lower is one of the shares as they are
  std::vector<double> sum, given;        // of one vertex, of one edge
  std::vector<Payer> payers;             // of one value, a copy after the other
  std::vector<std::vector<double>> gave; // by its readers: by column
};

} // namespace tessera::plan
