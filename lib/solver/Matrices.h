// Matrices of edges, each distinct one once, and what is computed of them, each once: where layers
// of a model are alike, so are their edges, and the work of one layer does for all.
#pragma once

#include "lib/solver/Graph.h"

#include <cstring>
#include <deque>
#include <unordered_map>

namespace tessera::solver {

class Matrices {
public:
  // What depends on one end only, taken out: matrix = rest + row costs + column costs; each row and
  // column of the rest has a zero. A row that is forbidden has a forbidden cost, and zeros.
  struct Parts {
    int32_t rest;
    bool zero; // the rest is
    std::vector<double> rows, columns;
  };

  int32_t add(Matrix matrix);
  const Matrix &operator[](int32_t id) const { return stored[id]; }

  int32_t transposed(int32_t id);
  int32_t scaled(int32_t id, double factor);
  int32_t sum(int32_t a, int32_t b);
  const Parts &parts(int32_t id);
  // The matrix of these rows, in this order; a row may be there twice.
  int32_t pickedRows(int32_t id, const std::vector<int32_t> &rows);
  // min over k of a[i][k] + costs[k] + b[k][j].
  int32_t product(int32_t a, const std::vector<double> &costs, int32_t b);
  // For each row the one column that is not forbidden; empty if there is another row.
  const std::vector<int32_t> &functionOf(int32_t id);

  // Additions and comparisons so far.
  int64_t steps() const { return counted; }

private:
  struct Key {
    int32_t what, a, b;
    std::vector<uint64_t> rest;
    bool operator==(const Key &other) const {
      return what == other.what && a == other.a && b == other.b && rest == other.rest;
    }
  };
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  int32_t known(const Key &key, int32_t orElse);

  std::deque<Matrix> stored;
  std::unordered_multimap<uint64_t, int32_t> byContent;
  std::unordered_map<Key, int32_t, Hash> made;
  std::unordered_map<int32_t, int32_t> turned;
  std::unordered_map<int32_t, Parts> split;
  std::unordered_map<int32_t, std::vector<int32_t>> functions;
  int64_t counted = 0;
};

} // namespace tessera::solver
