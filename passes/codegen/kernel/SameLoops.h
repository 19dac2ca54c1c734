// Whether two nodes are the same function of loops of their own: what a program reads twice, once
// within a reduction and once beside it, is two nodes of a graph.
#pragma once

#include "passes/codegen/kernel/Graph.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

class SameLoops {
public:
  explicit SameLoops(const Graph &graph) : graph(graph) {}

  // Whether `a` over `loops` is what `b` is over `others`, loop by loop.
  bool match(Node *a, llvm::ArrayRef<unsigned> loops, Node *b, llvm::ArrayRef<unsigned> others) {
    return pair(loops, others) && isSame(a, b);
  }

  // The same with loops that are found out: those with which both read alike.
  bool matchFreely(Node *a, Node *b) {
    finds = true;
    return isSame(a, b);
  }
  // Of a's loops those of b.
  const llvm::DenseMap<unsigned, unsigned> &pairs() const { return counterpart; }

private:
  // The loop that `b` has in the place of a's: no other fits.
  bool find(unsigned dim, int64_t factor, Index b) {
    std::optional<unsigned> found;
    for (auto [other, otherFactor] : b->dims) {
      bool isTaken = llvm::any_of(counterpart, [&](auto pair) { return pair.second == other; });
      if (otherFactor != factor || isTaken || graph.dims[other].size != graph.dims[dim].size)
        continue;
      if (found)
        return false;
      found = other;
    }
    if (found)
      counterpart[dim] = *found;
    return found.has_value();
  }

  bool pair(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<unsigned> others) {
    if (loops.size() != others.size())
      return false;
    for (auto [loop, other] : llvm::zip(loops, others)) {
      if (graph.dims[loop].size != graph.dims[other].size)
        return false;
      counterpart[loop] = other;
    }
    return true;
  }

  bool isSame(Index a, Index b) {
    if (a == b && !a)
      return true;
    if (!a || !b || a->constant != b->constant || a->dims.size() != b->dims.size() ||
        a->nodes.size() != b->nodes.size())
      return false;
    for (auto [dim, factor] : a->dims) {
      auto it = counterpart.find(dim);
      if (finds && it == counterpart.end()) {
        if (!find(dim, factor, b))
          return false;
        continue;
      }
      if (b->coefficient(it == counterpart.end() ? dim : it->second) != factor)
        return false;
    }
    return llvm::all_of(llvm::zip(a->nodes, b->nodes), [&](auto both) {
      auto [x, y] = both;
      return x.second == y.second && isSame(x.first, y.first);
    });
  }

  bool isSame(const Reduction &a, const Reduction &b) {
    return a.order == b.order && a.isOfBf16 == b.isOfBf16 && !a.simple.empty() &&
           a.simple == b.simple && pair(a.dims, b.dims) && areSame(a.inputs, b.inputs) &&
           areSame(a.inits, b.inits);
  }

  bool areSame(llvm::ArrayRef<Node *> a, llvm::ArrayRef<Node *> b) {
    return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto both) {
             return isSame(std::get<0>(both), std::get<1>(both));
           });
  }

  bool isSame(Node *a, Node *b) {
    if (!a || !b)
      return a == b;
    auto [it, isNew] = known.try_emplace({a, b}, false);
    if (!isNew)
      return it->second;
    bool same = a->op == b->op && a->kind == b->kind && a->bits == b->bits && a->aux == b->aux &&
                !a->local && !b->local && isSame(a->index, b->index) && isSame(a->mask, b->mask) &&
                areSame(a->operands, b->operands) &&
                (a->reduction == b->reduction ||
                 (a->reduction && b->reduction && isSame(*a->reduction, *b->reduction)));
    return known[{a, b}] = same;
  }

  const Graph &graph;
  bool finds = false;
  llvm::DenseMap<unsigned, unsigned> counterpart;
  llvm::DenseMap<std::pair<Node *, Node *>, bool> known;
};

} // namespace tessera::codegen
