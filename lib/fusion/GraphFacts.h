// What is known of a graph's nodes before there are kernels: who reads them, which of them hold a row's
// value or lie in a contraction's epilogue, and the arrays that they go over.
#pragma once

#include "lib/fusion/SumParts.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::fusion {

// At which index a node is computed, seen from its kernel's result.
struct Place {
  enum Where : uint8_t {
    Result,    // at the result's, for that element only
    RowOf,     // once for each row of the result
    ElementOf, // for each element of a row; the result has an element for the row
    Elsewhere,
  } where = Elsewhere;
  uint32_t rows = 0; // RowOf, ElementOf: which rows, Node::reduced
  bool operator==(const Place &) const = default;
};

inline bool isPointwise(NodeKind kind) {
  return kind == NodeKind::Pointwise || kind == NodeKind::Convert;
}

// What the operand of a contraction may be read through.
inline bool readsThrough(NodeKind kind) {
  return kind == NodeKind::Transpose || kind == NodeKind::Reshape || kind == NodeKind::Convert ||
         kind == NodeKind::Slice || kind == NodeKind::Broadcast;
}

inline bool mayBeCopied(const Node &node) {
  return node.kind != NodeKind::Reduce && node.kind != NodeKind::Contraction && !node.expensive;
}

// Keeps references to what it is made of.
class GraphFacts {
public:
  GraphFacts(llvm::ArrayRef<Node> nodes, const SumPartsTable &table);

  const Node &operator[](int n) const { return nodes[n]; }
  int size() const { return static_cast<int>(nodes.size()); }

  // The nodes that read node n, ascending, with how they do.
  llvm::ArrayRef<Edge> usersOf(int n) const { return users[n]; }

  // Whether n is a contraction's result, or its epilogue's.
  bool isOfProduct(int n) const { return ofProduct[n]; }

  // A few of the arrays that n is computed of element by element: nodes, and below 0 those from outside
  // of the block.
  llvm::ArrayRef<int> arraysOf(int n) const { return arrays[n]; }

  // Whether n reads an array from outside of the block element by element.
  bool readsOutside(int n) const { return table.arrays.contains(n); }

  // The rows (Node::reduced) with whose values each element of n is computed; 0: none.
  uint32_t rowsBeside(int n) const { return withRows[n]; }

  // The parts of a sum that n makes, or nullopt.
  std::optional<SumParts> partsOf(int n) const;

  // Whether rows, if there are some, lie within columns that begin with dimension `outer`: otherwise a
  // row would be summed over.
  bool fitsRows(uint32_t rows, int outer) const;

  // What n is computed of, where that is reductions along the rows of one array: one of these; else -1.
  int reductionOf(int n) const { return ofRows[n]; }

  // Whether n takes an element of each row, where it is computed once a row.
  bool takesOfRow(int n, const Place &place) const {
    return nodes[n].kind == NodeKind::Movement && nodes[n].reduced &&
           place == Place{Place::RowOf, nodes[n].reduced};
  }

  // Whether these are rows that stay: some broadcast gives each of their elements the row's.
  bool isSpread(uint32_t rows) const { return spread.contains(rows); }

  // Whether n narrows what nobody needs in memory as wide as it is: then n is what is stored.
  bool isStored(int n) const;

  // Whether n's elements are complex numbers.
  bool isPaired(int n) const { return table.paired.contains(n); }

  // Whether n reads an array of which `update` changes a small part: in one kernel with it, the array
  // would be copied as a whole.
  bool readsUpdated(int n, int update) const;

  // Where node n is computed when `user` reads it and is itself computed at `reader`.
  Place placeOf(int n, Use use, int user, const Place &reader) const;

private:
  void findArrays(int n);
  int arrayBehind(int n) const;
  bool narrowsType(int n) const;

  llvm::ArrayRef<Node> nodes;
  const SumPartsTable &table;
  std::vector<llvm::SmallVector<Edge, 2>> users;
  std::vector<llvm::SmallVector<int, 2>> arrays;
  std::vector<uint32_t> withRows;
  std::vector<int> ofRows; // what is computed of reductions along rows: one of them
  std::vector<bool> ofProduct;
  llvm::DenseSet<uint32_t> spread;
};

} // namespace tessera::fusion
