// A kernel's values as functions of loop indices.
//
// A *dimension* is a loop. An *index* is an affine expression over dimensions, plus integer nodes
// for what only the running program knows (a gather's start, a dynamic slice's offset). A *node* is
// one scalar: a load at an index, a constant, an operation on nodes, or a reduction over dimensions
// of its own. Data movement leaves no node: a transpose or broadcast is another index of the same
// load. Nodes are shared: equal ones are one object.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/codegen/kernel/ElementKind.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <map>
#include <vector>

namespace tessera::codegen {

struct Node;
using DimSet = unsigned __int128; // bit i: depends on dimension i

struct Dim {
  int64_t size;
  int64_t low, high; // the part that is looped over: [low, high)
};

struct IndexExpr {
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> dims; // (dimension, coefficient), ascending
  llvm::SmallVector<std::pair<Node *, int64_t>, 1> nodes;  // (i64 node, coefficient)
  int64_t constant = 0;
  DimSet deps = 0;
  int64_t coefficient(unsigned dim) const;
};
using Index = const IndexExpr *;

enum class Op : uint8_t {
  Load,     // buffer[index], or anything where mask is false; an operand has stored it there
  Constant, // bits
  Iota,     // index as a number of its kind
  External, // given by whoever emits: a reducer's argument
  Keep,     // its operand, also stored in buffer[index]
  Reduced,  // component `aux` of `reduction`
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Max,
  Min,
  And,
  Or,
  Xor,
  Pow,
  Atan2,
  Shl,
  ShrA,
  ShrL,
  Not,
  Neg,
  Abs,
  Sign,
  Ceil,
  Floor,
  RoundAfz,
  RoundEven,
  PopCount,
  Clz,
  IsFinite,
  Exp,
  Expm1,
  Log,
  Log1p,
  Logistic,
  Tanh,
  Sin,
  Cos,
  Tan,
  Sqrt,
  Rsqrt,
  Erf,
  Erfc,
  Cbrt,
  Compare, // aux: Direction, with TotalOrder added
  Select,
  Convert,
  Bitcast,         // equal widths
  ReducePrecision, // aux: exponent bits * 256 + mantissa bits
  FloorDiv,
  FloorRem, // of an i64 by the positive constant `bits`
};

enum Direction : int { EQ, NE, GE, GT, LE, LT, TotalOrder = 8 };

struct Reduction;

struct Node {
  unsigned id;
  Op op;
  ElementKind kind;
  llvm::SmallVector<Node *, 3> operands;
  Index index = nullptr;
  Node *mask = nullptr;
  Reduction *reduction = nullptr;
  int64_t bits = 0; // Constant: its bit pattern; Load, Keep: the buffer
  int aux = 0;
  DimSet deps = 0;
  bool local = false; // External, or computed from one: lives where the reducer is emitted
  int64_t low = INT64_MIN, high = INT64_MAX; // inclusive bounds of an integer node, where known
  int buffer() const { return static_cast<int>(bits); }
};

// results[i] = the reducer folded over every point of `dims`, starting from inits.
struct Reduction {
  llvm::SmallVector<unsigned, 4> dims;
  // The same by dimensions of the operation: each one loop, or the parts that it is split into.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 4> loops;
  llvm::SmallVector<Node *, 2> inputs, inits;
  // The reducer: `results` in terms of the External nodes `lhs` (accumulated) and `rhs` (new).
  llvm::SmallVector<Node *, 2> lhs, rhs, results;
  // One per component when each is a known commutative operation of its own.
  llvm::SmallVector<Op, 2> simple;
  // Of a number and its place: the best number, and the first place of it (FirstBest.h).
  enum Best : uint8_t { NoBest, Largest, Smallest } best = NoBest;
  // In which order, see OrderedSums.cpp; of a reducer that isn't simple one after the other. A
  // chain's only input is a product.
  enum Order : uint8_t { Columns, Rows, Chain } order = Columns;
  static constexpr int64_t chainBlock = 128;
  // A chain of products of bf16: processors with tiles add it in another order.
  bool isOfBf16 = false;
  // A product of matrices of 32-bit integers, which may be added in any order.
  bool isOfIntegers = false;
  // Of a chain that leaves out terms which are zero: how many of the others there are before each
  // block's end (ConvolutionTaps.h), and how many lie together at least. No ends: it has all.
  llvm::SmallVector<int64_t, 0> blockEnds;
  int64_t together = 1;
  // Of Columns: terms of the innermost dimension are sums of its fours, or of their sixteens, already.
  bool isOfParts = false;
  bool isOfOneTileBlock = false; // with those that are left out
  bool isEmpty = false;          // all are left out
  bool isOfWindow = false;       // of a convolution
  static constexpr int64_t tileUnit = 32, tileBlock = 4096;
  DimSet ownDims = 0;
  DimSet deps = 0; // without its own
};

// Functions, each some ten operations and more.
bool isFunction(Op op);
// A constant, so that what is divided by it is multiplied by another.
bool isPowerOfTwo(const Node *node);
// Whether numbers of a type are multiplied or divided by one, and need no rounding: bf16 has the
// exponents of f32, and what is too small for them is zero in both.
bool scalesExactly(Op op, ElementKind kind, const Node *node);

// What a Load reads: an operand of the kernel, a constant array of its module, or a part of the
// scratch.
struct BufferInfo {
  enum Source { Argument, ConstantData, Scratch } source = Argument;
  int64_t position = 0; // argument number, or byte offset
  mlir::DenseElementsAttr data;
  ElementKind kind = ElementKind::F32;
  int64_t elements = 0;
};

class Graph {
public:
  std::vector<Dim> dims;
  std::vector<BufferInfo> buffers;
  int64_t mostScratch = 0; // of the kernel (KernelSource.h)
  // Loops that would let an index stay affine: (dimension, inner size) to split it at.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> wantedSplits;
  // Positions of a dimension at which a concatenation or padding changes what is read.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> wantedCuts;
  // (dimension, step): loops in that step from each remainder on would leave out terms of a
  // convolution that are zero.
  llvm::SmallVector<std::pair<unsigned, int64_t>, 2> wantedPhases;

  // Loops that would leave out terms of a convolution which meet padding where they are cut at these
  // places: then `share` of them are left.
  struct Borders {
    unsigned dim;
    llvm::SmallVector<int64_t, 4> cuts;
    double share;
  };
  llvm::SmallVector<Borders, 2> wantedBorders;

  unsigned addDim(int64_t size) {
    dims.push_back({size, 0, size});
    return dims.size() - 1;
  }

  // Indices.
  Index constant(int64_t value);
  Index dim(unsigned dim);
  Index node(Node *node);
  Index add(Index a, Index b);
  Index addConstant(Index a, int64_t value) { return add(a, constant(value)); }
  Index multiply(Index a, int64_t factor);
  // Row-major offset.
  Index linearise(llvm::ArrayRef<Index> index, llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<Index, 6> delinearise(Index offset, llvm::ArrayRef<int64_t> shape);
  // Quotient and remainder by a positive number; notes a wanted split when no affine form is found.
  std::pair<Index, Index> divide(Index a, int64_t by);
  // Inclusive bounds over the dimensions' looped parts.
  std::pair<int64_t, int64_t> range(Index index) const;

  // Nodes.
  Node *load(ElementKind kind, int buffer, Index offset, Node *mask);
  // buffer[offset] = value, where the loops of `filler`, a Reduced, come to it; and what reads it
  // once they are done.
  Node *keep(Node *value, int buffer, Index offset);
  Node *loadKept(ElementKind kind, int buffer, Index offset, Node *filler);
  Node *constant(ElementKind kind, int64_t bits);
  Node *floatConstant(ElementKind kind, double value);
  Node *boolean(bool value) { return constant(ElementKind::I1, value); }
  Node *iota(ElementKind kind, Index index);
  Node *make(Op op, ElementKind kind, llvm::ArrayRef<Node *> operands, int aux = 0,
             int64_t bits = 0);
  Node *external(ElementKind kind);
  Node *reduced(Reduction *reduction, unsigned component, ElementKind kind);
  Node *compare(Direction direction, Node *a, Node *b);
  Node *select(Node *predicate, Node *a, Node *b);
  Node *logicalAnd(Node *a, Node *b); // either may be null: true
  Node *convert(Node *a, ElementKind to);
  // The bits of a narrow float that is only moved, never computed with, as an unsigned integer;
  // null for others.
  Node *movedBits(Node *a);
  // low <= index < high as a node; null when it always holds. `always` false and the result a
  // constant when never.
  Node *inRange(Index index, int64_t low, int64_t high);
  Reduction *addReduction() { return &reductions.emplace_back(); }

  // Every node that `roots` are computed from, operands first.
  static std::vector<Node *> reachable(llvm::ArrayRef<Node *> roots);

private:
  Index intern(IndexExpr expr);
  Node *intern(Node node);
  Node *bitsOfMoved(Node *a);

  std::deque<Node> nodes;
  std::deque<IndexExpr> indices;
  std::deque<Reduction> reductions;
  std::map<std::vector<int64_t>, Index> indexTable;
  std::map<std::vector<int64_t>, Node *> nodeTable;
  llvm::DenseMap<Node *, Node *> moved; // what movedBits has found; null for none
};

} // namespace tessera::codegen
