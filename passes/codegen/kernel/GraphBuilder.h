// Turns StableHLO on static tensors into a Graph: "the element of this value at this index" as a
// node.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "passes/codegen/kernel/ConvolutionTaps.h"
#include "passes/codegen/kernel/Graph.h"
#include "passes/codegen/kernel/KeptRows.h"

#include <map>
#include <tuple>

namespace tessera::codegen {

// One element of a tensor: `im` only of a complex one. `re` null: not expressible, and an error was
// emitted.
struct Element {
  Node *re = nullptr;
  Node *im = nullptr;
  explicit operator bool() const { return re; }
};

// How loops are split so that reshapes stay affine: (operation or null for the root, its loop) to
// inner sizes, descending, each dividing the one before.
using SplitTable = std::map<std::pair<mlir::Operation *, unsigned>, llvm::SmallVector<int64_t, 2>>;

class GraphBuilder {
public:
  GraphBuilder(Graph &graph, const SplitTable &splits) : graph(graph), splits(splits) {}

  using IndexRange = llvm::ArrayRef<Index>;

  // What `value` is made of: an array in memory, or (rank 0) a given element.
  void bindBuffer(mlir::Value value, int buffer) { buffers[value] = buffer; }
  void bindElement(mlir::Value value, Element element) { elements[value] = element; }
  // Rows that stay, those at `index`; their scratch starts at byte `offset`.
  void bindRows(const KeptRows &rows, llvm::ArrayRef<Index> index, int64_t offset);
  // Terms of a convolution that meet the zeros of a dilated operand are left out where the index
  // tells which they are.
  void leaveOutZeros() { leavesOutZeros = true; }
  // Values that are read from a kept row which nothing fills: computed at other indices after all.
  llvm::SmallVector<mlir::Value> unfilledRows() const;

  // The element at an index; loads are only done where `mask` (null: always) holds.
  Element at(mlir::Value value, IndexRange index, Node *mask = nullptr);

  // The loop i of `key`'s own iteration space, as one dimension or several when it is split.
  Index loop(mlir::Operation *key, unsigned i, int64_t size,
             llvm::SmallVectorImpl<unsigned> *dims = nullptr);
  // Which loop a dimension came from, and the product of the sizes of the parts inside it.
  struct Origin {
    mlir::Operation *key;
    unsigned loop;
    int64_t inner;
  };
  const std::vector<Origin> &origins() const { return dimOrigins; }
  // A loop, or a part of one that is split, by what `origins` says of it.
  using LoopPart = std::tuple<mlir::Operation *, unsigned, int64_t>;
  // In the place of `part` runs the loop of `with`, which is made before.
  void shareLoop(LoopPart part, LoopPart with) { shared[part] = with; }
  // Whether each loop that others share was there before them.
  bool hasSharedInOrder() const { return sharesInOrder; }

  // The reducer in `body` (arguments: accumulated then new values) as nodes over External ones.
  bool buildReducer(mlir::Block &body, Reduction &reduction);
  // Clamped to [0, high].
  Index clampedStart(mlir::Value start, IndexRange at, Node *mask, int64_t high);
  Node *scalarInteger(mlir::Value value, IndexRange at, Node *mask); // as i64

  Graph &graph;

private:
  Element compute(mlir::Value value, IndexRange index, Node *mask);
  Element build(mlir::Operation *op, unsigned result, IndexRange index, Node *mask);
  // A value of which a row stays; empty where that is no help at this index.
  Element keptAt(mlir::Value value, IndexRange index, Node *mask);
  bool isThisRow(IndexRange index) const;
  void notePass(mlir::Operation *reduce, IndexRange index, Node *mask);
  // By family.
  Element elementwise(mlir::Operation *op, Op code, IndexRange index, Node *mask);
  Element complexElementwise(mlir::Operation *op, Op code, llvm::ArrayRef<Element> operands);
  Element mixed(mlir::Operation *op, IndexRange index, Node *mask, bool &known);
  Element movement(mlir::Operation *op, IndexRange index, Node *mask, bool &known);
  Element pad(mlir::Operation *op, IndexRange index, Node *mask);
  Element concatenate(mlir::Operation *op, IndexRange index, Node *mask);
  Element gather(mlir::Operation *op, IndexRange index, Node *mask);
  Element dynamicUpdateSlice(mlir::Operation *op, IndexRange index, Node *mask);
  Element bitcast(mlir::Operation *op, IndexRange index, Node *mask);
  Element constant(mlir::Operation *op, IndexRange index);
  Element reduction(mlir::Operation *op, unsigned result, IndexRange index, Node *mask,
                    bool &known);
  // Of a sum that selects from the products of all groups: that of the row's own (SelectedProduct.h);
  // empty where it is another sum.
  Element selectedTerm(mlir::Operation *op, IndexRange index, Node *mask);
  // A dimension that `reduction` runs over.
  Index reducedLoop(mlir::Operation *op, unsigned i, int64_t size, Reduction &reduction);
  bool reduceInputs(mlir::Operation *op, IndexRange index, Node *mask, Reduction &reduction);
  bool windowInputs(mlir::Operation *op, IndexRange index, Node *mask, Reduction &reduction);
  bool dotInputs(mlir::Operation *op, IndexRange index, Node *mask, Reduction &reduction);
  bool convolutionInputs(mlir::Operation *op, IndexRange index, Node *mask, Reduction &reduction);
  struct Window;
  Window windowOf(mlir::Operation *op, IndexRange index, Reduction &reduction);
  Taps tapsAt(Index start, int64_t size, int64_t dilation, int64_t base, int64_t elements);
  Index elementAt(Index position, int64_t size, int64_t base, Node *&inside);
  bool foldInputs(mlir::Operation *op, llvm::ArrayRef<Element> inputs, IndexRange index, Node *mask,
                  Reduction &reduction);
  void productSum(Element a, Element b, ElementKind result, Reduction &reduction);

  struct KeptValue {
    mlir::Operation *filler;
    int buffer;
    bool isFilled = false, isRead = false;
  };
  bool leavesOutZeros = false;
  const KeptRows *rows = nullptr;
  llvm::SmallVector<Index, 6> rowIndex;
  llvm::MapVector<mlir::Value, KeptValue> keptValues;
  // Of the row at rowIndex, what a reduction reads.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Index, 6>> passIndex;

  using Key = std::pair<void *, std::vector<const void *>>;
  const SplitTable &splits;
  llvm::DenseMap<mlir::Value, int> buffers;
  llvm::DenseMap<mlir::Value, Element> elements;
  std::vector<Origin> dimOrigins;
  std::map<LoopPart, unsigned> made;
  std::map<LoopPart, LoopPart> shared;
  bool sharesInOrder = true;
  std::map<Key, Element> memo;
  std::map<Key, Reduction *> reductions;
};

// The Op of an elementwise operation, by its name.
std::optional<Op> elementwiseOp(mlir::Operation *op);

} // namespace tessera::codegen
