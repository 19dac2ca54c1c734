// Which kernels make the parts of sums over columns.
#include "lib/fusion/SumParts.h"

#include <gtest/gtest.h>

using namespace tessera::fusion;

namespace {

constexpr uint32_t kElements = 1, kOfRows = 2, kColumns = 3, kRows = 4, kWindow = 5;

// A program's nodes with what the table says of them. Arrays of 64 elements, rows along the second
// dimension, columns summed over the first.
struct Program {
  std::vector<Node> nodes;
  SumPartsTable table;

  int add(NodeKind kind, std::vector<Edge> reads, uint32_t space = kElements,
          int64_t elements = 64) {
    Node node;
    node.kind = kind;
    node.space = space;
    node.elements = elements;
    node.operands.append(reads.begin(), reads.end());
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  }
  // Element by element, of arrays from outside of the block, too.
  int pointwise(std::vector<int> reads, std::vector<int> arrays = {}) {
    std::vector<Edge> edges;
    for (int n : reads)
      edges.push_back({n, Use::Once});
    int made = add(NodeKind::Pointwise, edges);
    table.arrays[made].append(arrays.begin(), arrays.end());
    return made;
  }
  int parts(int of, int outer = 1) {
    int made = add(NodeKind::Alone, {{of, Use::Reduced}});
    table.parts[made] = {kWindow, outer};
    return made;
  }
  int sum(int parts) { return add(NodeKind::Reduce, {{parts, Use::Reduced}}, kColumns, 8); }
  // What is folded along rows and given back to them.
  int ofRows(int n) {
    int folded = add(NodeKind::Reduce, {{n, Use::Reduced}}, kOfRows, 8);
    int spread = add(NodeKind::Broadcast, {{folded, Use::Reread}});
    nodes[folded].reduced = nodes[spread].reduced = kRows;
    table.rowsFrom[kRows] = 1;
    return spread;
  }
  void done(std::vector<int> read) {
    Node end;
    for (int n : read)
      end.operands.push_back({n, Use::Whole});
    nodes.push_back(end);
  }
  Plan plan() const { return planKernels(nodes, table); }
};

} // namespace

// The gradient of a norm: dx, and sums of dy and of dy times x.
static Program norm(int outer) {
  Program p;
  int times = p.pointwise({}, {0, 1});
  int plain = p.pointwise({}, {1});
  int dx = p.pointwise({times, p.ofRows(times)}, {0});
  p.done({p.sum(p.parts(times, outer)), p.sum(p.parts(plain, outer)), dx});
  return p;
}

TEST(SumParts, AreMadeWhereTheRowsAreReadAnyway) {
  Plan plan = norm(1).plan();
  size_t most = 0;
  for (const Kernel &kernel : plan.kernels)
    most = std::max(most, kernel.outputs.size());
  EXPECT_EQ(plan.kernels.size(), 3u) << "the rows, and two sums of parts";
  EXPECT_EQ(most, 3u);
}

TEST(SumParts, AreOfNoKernelThatKeepsRowsOfTheirOwnRows) {
  for (const Kernel &kernel : norm(2).plan().kernels) // columns begin within the row
    EXPECT_LE(kernel.outputs.size(), 2u);
}

TEST(SumParts, AreNotMadeByWhatReadsTheirSum) {
  Program p;
  int x = p.pointwise({}, {0});
  int sum = p.sum(p.parts(x));
  int spread = p.add(NodeKind::Broadcast, {{sum, Use::Reread}});
  p.done({p.pointwise({spread}, {0})});
  for (const Kernel &kernel : p.plan().kernels)
    EXPECT_EQ(kernel.outputs.size(), 1u);
}

TEST(SumParts, OfOtherWindowsGoApart) {
  Program p;
  int one = p.parts(p.pointwise({}, {0})), other = p.parts(p.pointwise({}, {0}));
  p.table.parts[other].window = kWindow + 1;
  p.done({p.sum(one), p.sum(other)});
  EXPECT_EQ(p.plan().kernels.size(), 4u);
  p.table.parts[other].window = kWindow;
  EXPECT_EQ(p.plan().kernels.size(), 3u);
}
