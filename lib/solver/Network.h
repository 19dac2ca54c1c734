// A problem as what walks over it wants it: for each vertex its edges and holds side by side.
#pragma once

#include "lib/solver/Matrices.h"
#include "lib/solver/Problem.h"

namespace tessera::solver {

struct HalfEdge {
  int32_t other = 0;
  const double *fromOther = nullptr;     // rows are the other's choices
  int64_t message = 0, otherMessage = 0; // offsets of the messages to here, and to the other
};

class Network {
public:
  Network(const Problem &problem, const Matrices &matrices) : problem(problem) {
    int32_t count = problem.vertices();
    for (const Link &link : problem.links) {
      degrees.resize(count);
      ++degrees[link.from];
      ++degrees[link.to];
    }
    degrees.resize(count);
    firstEdge.assign(count + 1, 0);
    for (int32_t v = 0; v < count; ++v)
      firstEdge[v + 1] = firstEdge[v] + degrees[v];
    edges.resize(firstEdge[count]);
    std::vector<int32_t> at(firstEdge.begin(), firstEdge.end() - 1);
    std::vector<int64_t> free(count); // messages to a vertex are beside each other
    for (int32_t v = 0; v < count; ++v) {
      free[v] = messages;
      messages += int64_t(degrees[v]) * size(v);
    }
    for (const Link &link : problem.links) {
      int64_t toFrom = free[link.from], toTo = free[link.to];
      free[link.from] += size(link.from);
      free[link.to] += size(link.to);
      edges[at[link.from]++] = {link.to, matrices[link.backward].costs.data(), toFrom, toTo};
      edges[at[link.to]++] = {link.from, matrices[link.forward].costs.data(), toTo, toFrom};
      entries += matrices[link.forward].costs.size();
    }
    holdsOf.resize(count);
    for (size_t h = 0; h < problem.holds.size(); ++h)
      holdsOf[problem.holds[h].vertex].push_back(static_cast<int32_t>(h));
  }

  int32_t vertices() const { return problem.vertices(); }
  int32_t size(int32_t v) const { return static_cast<int32_t>(problem.costs[v].size()); }
  const HalfEdge *begin(int32_t v) const { return edges.data() + firstEdge[v]; }
  const HalfEdge *end(int32_t v) const { return edges.data() + firstEdge[v + 1]; }
  const std::vector<int32_t> &holds(int32_t v) const { return holdsOf[v]; }

  const Problem &problem;
  int64_t messages = 0; // numbers in all messages
  int64_t entries = 0;  // of all matrices

private:
  std::vector<int32_t> degrees, firstEdge;
  std::vector<HalfEdge> edges;
  std::vector<std::vector<int32_t>> holdsOf;
};

} // namespace tessera::solver
