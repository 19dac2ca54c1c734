// sort of long rows: a block has one, and sorts the numbers of its elements in place.
//
//   places[i] = i                                         in shared memory, or where a result's row will be
//   runs of 2, 4, 8, ..: the block's threads compare pairs, and let them change places (Batcher 1968,
//                        Sorting networks and their applications)
//   out[i] = in[places[i]]
//
// A pair is in order if the comparator says so, or else by its numbers: so the order is total, and equal
// elements keep theirs. The first pairs of each run are those that mirror each other: no run goes downwards,
// and what a row lacks to a power of two is never touched.
#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/kernel/KernelGraph.h"
#include "passes/codegen/kernel/SortOrder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen::gpu {

using namespace tessera::stablehlo;

namespace {

// Shorter ones are a thread's work, but for elements of 8 bytes: counters of their digits find no room in a
// thread's own memory.
constexpr int64_t kLeastOfBlock = 65, kWideBytes = 8;

class SortedRows {
public:
  SortedRows(EntryFunction &function, SortOp op)
      : function(function), op(op), shape(shapeOf(op->getOperand(0))),
        dimension(sortedDimensionOf(op)), size(shape[dimension]),
        kept(sortedRowsOf(function.kernel, op)), kernel(function.kernel, none), graph(kernel.graph),
        e(function.emitter(graph)), b(e.b) {}

  // Whether blocks sort the rows: where there is room for the numbers, and no result overwrites what others
  // still read.
  bool suits() {
    bool isOfThread = size < kLeastOfBlock && !hasWideElements();
    if (isOfThread || size < 2 || llvm::is_contained(shape, 0) || function.kernel.sharesBuffers())
      return false;
    numberBytes = size <= 1 << 16 ? 2 : 4;
    return size * numberBytes <= roomForNumbers() || findRowOfNumbers();
  }
  bool emit();

private:
  struct Result {
    unsigned output;
    Element value; // at the place that is written
    ElementKind kind;
  };

  int64_t roomForNumbers() const {
    return std::max(function.sharedLeft(), function.sharedOfLaunchLeft());
  }
  bool hasWideElements() const {
    return llvm::any_of(op->getOperands(), [](mlir::Value operand) {
      std::optional<ElementType> type = elementType(operand.getType());
      return type && byteSize(type->kind) >= kWideBytes;
    });
  }
  bool findRowOfNumbers();
  bool build();
  Element operandAt(unsigned operand, Node *place);
  void emitRow(Value row);
  Value beginOfNumbers();
  Value placeOf(Value position) {
    return b.CreateGEP(b.getInt8Ty(), numbers, b.CreateNSWMul(position, e.i64(numberStep)));
  }
  llvm::Type *numberType() { return b.getIntNTy(numberBytes * 8); }
  Value numberAt(Value position) {
    Value number = b.CreateAlignedLoad(numberType(), placeOf(position), llvm::Align(numberBytes));
    return b.CreateZExt(number, b.getInt64Ty());
  }
  void setNumber(Value position, Value number) {
    b.CreateAlignedStore(b.CreateTrunc(number, numberType()), placeOf(position),
                         llvm::Align(numberBytes));
  }
  void overRow(int64_t count, llvm::function_ref<void(Value position)> body) {
    body(e.openLoop(function.thread, e.i64(count), function.launch.threads, /*mayBeEmpty=*/true));
    e.closeLoop();
  }
  void sort();
  void comparePair(Value first, Value second);
  void writeResults();

  EntryFunction &function;
  SortOp op;
  llvm::ArrayRef<int64_t> shape;
  int64_t dimension, size, kept;
  SplitTable none;
  KernelGraph kernel;
  Graph &graph;
  Emitter e;
  llvm::IRBuilder<> &b;
  llvm::SmallVector<Index, 6> index;
  llvm::SmallVector<unsigned> outer; // loops over rows
  Node *left = nullptr, *right = nullptr, *comparator = nullptr;
  Node *place = nullptr; // of the element that is written
  unsigned outDim = 0;
  Index outOffset = nullptr;
  llvm::SmallVector<Result> results;
  // Of numbers: in shared memory, or in an output of which elements lie so far from each other.
  int64_t numberBytes = 2, numberStep = 2;
  std::optional<unsigned> outputOfNumbers;
  Value numbers = nullptr;
};

} // namespace

// A whole row of elements of four bytes and more; a number is read before its result is written over it.
bool SortedRows::findRowOfNumbers() {
  constexpr int64_t bytes = 4;
  if (kept != size || size > INT32_MAX)
    return false;
  for (auto [output, value] : llvm::enumerate(function.kernel.outputs())) {
    std::optional<ElementType> type = elementType(value.getType());
    if (!type || type->bytes() < bytes)
      continue;
    int64_t stride = type->bytes();
    for (int64_t inside : shape.drop_front(dimension + 1))
      stride *= inside;
    outputOfNumbers = output, numberBytes = bytes, numberStep = stride;
    return true;
  }
  return false;
}

Element SortedRows::operandAt(unsigned operand, Node *place) {
  llvm::SmallVector<Index, 6> at(index);
  at[dimension] = graph.node(place);
  return kernel.builder.at(op->getOperand(operand), at);
}

bool SortedRows::build() {
  llvm::SmallVector<unsigned> dims;
  for (auto [d, extent] : llvm::enumerate(shape))
    index.push_back(kernel.builder.loop(nullptr, d, extent, &dims));
  for (auto [d, dim] : llvm::enumerate(dims))
    if (static_cast<int64_t>(d) != dimension && shape[d] > 1)
      outer.push_back(dim);
  mlir::Block &body = op.getComparator().front();
  for (Node **side : {&left, &right}) {
    *side = graph.external(ElementKind::I64);
    (*side)->low = 0, (*side)->high = size - 1;
  }
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (auto [side, number] : {std::pair(left, 0), std::pair(right, 1)}) {
      Element value = operandAt(i, side);
      if (!value)
        return false;
      kernel.builder.bindElement(body.getArgument(2 * i + number), value);
    }
  comparator = kernel.builder.at(body.getTerminator()->getOperand(0), {}).re;
  if (!comparator)
    return false;
  outDim = graph.addDim(kept);
  llvm::SmallVector<Index, 6> to(index);
  to[dimension] = graph.dim(outDim);
  llvm::SmallVector<int64_t> outShape(shape);
  outShape[dimension] = kept;
  outOffset = graph.linearise(to, outShape);
  place = sortedPlaceOf(graph, outDim, kept, size);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    int output = sortOutputOf(function.kernel, op, i);
    if (output < 0)
      continue;
    Element value = operandAt(i, place);
    if (!value)
      return false;
    results.push_back(
        {static_cast<unsigned>(output), value, elementType(op->getOperand(i).getType())->kind});
  }
  e.variables.resize(graph.dims.size());
  return true;
}

bool SortedRows::emit() {
  if (!build())
    return false;
  llvm::SmallVector<Node *> roots = {comparator};
  for (const Result &result : results)
    for (Node *node : {result.value.re, result.value.im})
      if (node)
        roots.push_back(node);
  e.live = Graph::reachable(roots);
  if (!outputOfNumbers) {
    numberStep = numberBytes;
    int64_t bytes = llvm::alignTo(size * numberBytes, kAccessBytes);
    numbers = bytes <= function.sharedLeft()
                  ? function.takeShared(llvm::ArrayType::get(b.getInt8Ty(), bytes), "_places")
                  : function.takeSharedOfLaunch(bytes);
  }
  int64_t pairs = static_cast<int64_t>(llvm::PowerOf2Ceil(size)) / 2;
  function.launch.threads = std::clamp(pairs, kWarp, function.launch.threads);
  int64_t rows = 1;
  for (unsigned dim : outer)
    rows *= graph.dims[dim].size;
  function.addBlocks(rows, [&](Value row, llvm::Instruction *before) {
    e.openBody(before);
    emitRow(row);
  });
  return true;
}

void SortedRows::emitRow(Value row) {
  openItem(e, collapseLoops(graph, outer, e.live, {outOffset}), row, 1);
  if (outputOfNumbers)
    numbers = beginOfNumbers();
  overRow(size, [&](Value position) { setNumber(position, position); });
  barrier(b);
  sort();
  writeResults();
  closeItem(e);
}

Value SortedRows::beginOfNumbers() {
  e.openBlock();
  e.bindLevel(outDim, DimSet(1) << outDim, e.i64(0), 1, nullptr);
  Value first = e.emitIndex(outOffset);
  e.closeBlock();
  int64_t bytes = elementType(function.kernel.outputs()[*outputOfNumbers].getType())->bytes();
  return b.CreateGEP(b.getInt8Ty(), function.outputBuffer(*outputOfNumbers),
                     b.CreateNSWMul(first, e.i64(bytes)));
}

void SortedRows::sort() {
  int64_t stages = llvm::Log2_64_Ceil(size), pairs = int64_t{1} << (stages - 1);
  Value stage = e.openLoop(e.i64(1), e.i64(stages + 1), 1, /*mayBeEmpty=*/false);
  Value step = e.openLoop(e.i64(0), stage, 1, /*mayBeEmpty=*/false);
  Value width = b.CreateNSWSub(stage, step); // logarithm of what the pairs lie in
  Value half = b.CreateNSWSub(width, e.i64(1));
  Value isFirst = b.CreateICmpEQ(step, e.i64(0));
  Value inHalf = b.CreateNSWSub(b.CreateShl(e.i64(1), half), e.i64(1));
  Value inWidth = b.CreateNSWSub(b.CreateShl(e.i64(1), width), e.i64(1));
  Value between = b.CreateSelect(isFirst, inWidth, b.CreateNSWAdd(inHalf, e.i64(1)));
  overRow(pairs, [&](Value pair) {
    Value first =
        b.CreateOr(b.CreateShl(b.CreateLShr(pair, half), width), b.CreateAnd(pair, inHalf));
    Value second = b.CreateXor(first, between);
    e.openIf(b.CreateICmpSLT(second, e.i64(size)));
    comparePair(first, second);
    e.closeLoop();
  });
  barrier(b);
  e.closeLoop();
  e.closeLoop();
}

void SortedRows::comparePair(Value first, Value second) {
  Value x = numberAt(first), y = numberAt(second);
  Value early = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y);
  Value late = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
  // Is the later one less? Equal ones keep their order.
  Value isLess = e.evaluate({comparator}, {{left, late}, {right, early}})[0];
  setNumber(first, b.CreateSelect(isLess, late, early));
  setNumber(second, b.CreateSelect(isLess, early, late));
}

void SortedRows::writeResults() {
  overRow(kept, [&](Value position) {
    e.bindLevel(outDim, DimSet(1) << outDim, position, 1, nullptr);
    e.levels.back().values[place] = numberAt(position);
    llvm::SmallVector<std::pair<Value, Value>> values;
    for (const Result &result : results)
      values.push_back(
          {e.emit(result.value.re), result.value.im ? e.emit(result.value.im) : nullptr});
    for (auto [result, value] : llvm::zip(results, values))
      e.store(function.outputBuffer(result.output), result.kind,
              value.second ? graph.multiply(outOffset, 2) : outOffset, value.first, value.second);
  });
}

bool emitSort(EntryFunction &function, bool &known) {
  auto sorts = function.kernel.body->getOps<SortOp>();
  if (!llvm::hasSingleElement(sorts))
    return true;
  SortedRows rows(function, *sorts.begin());
  known = rows.suits();
  return !known || rows.emit();
}

} // namespace tessera::codegen::gpu
