// reduce_window and select_and_scatter along sharded dimensions: by halo exchange; running
// reductions by the totals of shards.
//
//   reduce_window max, window 3, padding 1, %x [{"x"}]
//     each shard reduces its rows and the halo its windows reach; rows past the ends are the start
//     value
//   select_and_scatter
//     each shard redoes the selections of all windows that touch its rows, and keeps its rows
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/RunningReduction.h"
#include "passes/localize/Handlers.h"
#include "passes/localize/SelectedRows.h"
#include "passes/localize/ShardScan.h"
#include "passes/localize/WindowRows.h"

using namespace mlir;

namespace tessera::localize {
namespace {

template <typename Op> SmallVector<WindowDim> windowsOf(Op op, ArrayRef<int64_t> sizes) {
  SmallVector<WindowDim> windows;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    WindowDim window{size};
    if (auto strides = op.getWindowStrides())
      window.stride = (*strides)[d];
    if (auto padding = op.getPadding()) {
      window.low = padding->template getValues<int64_t>()[2 * d];
      window.high = padding->template getValues<int64_t>()[2 * d + 1];
    }
    windows.push_back(window);
  }
  return windows;
}

DenseIntElementsAttr paddingAttr(Localizer &l, ArrayRef<WindowDim> windows) {
  SmallVector<int64_t> padding;
  for (const WindowDim &window : windows)
    padding.append({window.low, window.high});
  return DenseIntElementsAttr::get(
      RankedTensorType::get({int64_t(windows.size()), 2}, l.b.getI64Type()), padding);
}

bool isTrivial(const WindowDim &window) {
  return window.size == 1 && window.stride == 1 && window.low == 0 && window.high == 0 &&
         window.baseDilation == 1;
}

// What the selection never takes when it has a choice.
std::optional<ReductionKind> leastSelected(Region &select) {
  for (Operation &op : select.front())
    if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
      using Direction = stablehlo::ComparisonDirection;
      Direction direction = compare.getComparisonDirection();
      bool straight = compare.getLhs() == select.getArgument(0);
      if (direction == Direction::GE || direction == Direction::GT)
        return straight ? ReductionKind::Max : ReductionKind::Min;
      if (direction == Direction::LE || direction == Direction::LT)
        return straight ? ReductionKind::Min : ReductionKind::Max;
    }
  return std::nullopt;
}

} // namespace

LogicalResult localizeReduceWindow(Localizer &l, Operation *op) {
  auto reduce = cast<stablehlo::ReduceWindowOp>(op);
  Value first = reduce.getInputs().front();
  SmallVector<WindowDim> windows = windowsOf(reduce, reduce.getWindowDimensions());
  for (auto [d, window] : llvm::enumerate(windows)) {
    if (auto dilation = reduce.getWindowDilations())
      window.dilation = (*dilation)[d];
    if (auto dilation = reduce.getBaseDilations())
      window.baseDilation = (*dilation)[d];
  }
  LocalLayout want = l.local(first).layout, layout = l.annotated(op->getResult(0));
  keepParts(want, layout);
  SmallVector<int64_t> halos;
  SmallVector<stablehlo::RunningDim> running;
  if (stablehlo::isSplittable(reduce))
    for (stablehlo::RunningDim each : stablehlo::runningDims(reduce))
      if (isSharded(layout.dims[each.dim]))
        running.push_back(each);
  auto isRunning = [&](size_t d) {
    return llvm::any_of(running, [&](auto each) { return each.dim == int64_t(d); });
  };
  for (auto [d, window] : llvm::enumerate(windows)) {
    DimLayout &out = layout.dims[d];
    if (isTrivial(window) || isRunning(d)) {
      if (want.dims[d].axes == out.axes)
        out.tile = want.dims[d].tile;
      want.dims[d] = out;
      continue;
    }
    // A window as long as the dimension reaches every shard: one gather.
    bool reachesAll = window.size >= shapeOf(first)[d];
    if (isSharded(out) && !reachesAll && keepsPhase(window, out.tile * window.stride)) {
      halos.push_back(d);
      if (want.dims[d].axes != out.axes)
        want.dims[d] = wholeDim(shapeOf(first)[d]);
    } else {
      out = wholeDim(shapeOf(op->getResult(0))[d]);
      want.dims[d] = wholeDim(shapeOf(first)[d]);
    }
  }
  SmallVector<Value> operands, starts;
  SmallVector<WindowDim> done = windows;
  for (auto [input, init] : llvm::zip_equal(reduce.getInputs(), reduce.getInitValues())) {
    LocalLayout startWant = l.whole(init);
    startWant.partial = layout.partial; // each window begins with its device's part of the start
    Value start = l.get(init, startWant), value = l.get(input, want);
    done = windows;
    for (auto [d, forward] : running) {
      if (!forward) // rows past the end come first
        value = maskPadding(l, value, d, want.dims[d], shapeOf(input)[d], start);
      done[d].size = want.dims[d].tile;
      (forward ? done[d].low : done[d].high) = done[d].size - 1;
    }
    for (int64_t d : halos) {
      WindowDim &window = done[d];
      const DimLayout &out = layout.dims[d];
      int64_t span = (out.tile - 1) * window.stride + (window.size - 1) * window.dilation + 1;
      value = windowRows(l, value, d, want.dims[d], shapeOf(input)[d], out.axes,
                         out.tile * window.stride, -window.low, span, window, start);
    }
    operands.push_back(value);
    starts.push_back(start);
  }
  llvm::append_range(operands, starts);
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(l.localType(result, layout));
  auto made = cast<stablehlo::ReduceWindowOp>(l.copy(op, operands, types));
  made.setPaddingAttr(paddingAttr(l, done));
  made.setWindowDimensions(
      llvm::map_to_vector(done, [](const WindowDim &window) { return window.size; }));
  SmallVector<Value> results(made->getResults());
  for (auto [d, forward] : running)
    results = acrossShards(l, reduce, results, starts, d, forward, layout.dims[d].axes);
  for (auto [global, local] : llvm::zip_equal(op->getResults(), results))
    l.bind(global, local, layout);
  return success();
}

LogicalResult localizeSelectAndScatter(Localizer &l, Operation *op) {
  auto scatter = cast<stablehlo::SelectAndScatterOp>(op);
  Value operand = scatter.getOperand(), source = scatter.getSource(), result = op->getResult(0);
  ArrayRef<int64_t> shape = shapeOf(operand), sourceShape = shapeOf(source);
  SmallVector<int64_t> ones(shape.size(), 1);
  SmallVector<WindowDim> windows =
      windowsOf(scatter, scatter.getWindowDimensions().value_or(ArrayRef<int64_t>(ones)));
  std::optional<ReductionKind> least;
  // An integer may be as low as what would stand for rows beyond the ends, and lose to it.
  if (isa<FloatType>(cast<RankedTensorType>(operand.getType()).getElementType()))
    least = leastSelected(scatter.getSelect());
  std::optional<ReductionKind> combined = stablehlo::combinerOf(scatter.getScatter());
  LocalLayout layout = l.annotatedLike(result, l.local(operand).layout),
              sourceWant = l.local(source).layout;
  layout.partial.clear();
  sourceWant.partial.clear();
  bool byValue = least && combined; // some value is never selected, and some one changes nothing
  bool byNumber = cast<RankedTensorType>(operand.getType()).getNumElements() < (int64_t(1) << 30);
  SmallVector<int64_t> halos;
  for (auto [d, window] : llvm::enumerate(windows)) {
    DimLayout &dim = layout.dims[d];
    if (isTrivial(window)) {
      sourceWant.dims[d] = dim;
    } else if (isSharded(dim) && (byValue || byNumber) && window.size >= window.stride) {
      dim.tile = (dim.tile + window.stride - 1) / window.stride * window.stride;
      if (sourceWant.dims[d].axes != dim.axes)
        sourceWant.dims[d] = wholeDim(sourceShape[d]);
      halos.push_back(d);
    } else {
      dim = wholeDim(shape[d]);
      sourceWant.dims[d] = wholeDim(sourceShape[d]);
    }
  }
  Value image = l.get(operand, layout), part = l.get(source, sourceWant),
        init = l.getWhole(scatter.getInitValue());
  auto floorDivide = [](int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); };
  SmallVector<int64_t> keepFrom(shape.size(), 0), firstSource(keepFrom), sourceStep(keepFrom);
  for (int64_t d : halos) {
    WindowDim &window = windows[d];
    const DimLayout &dim = layout.dims[d];
    // Windows that touch the tile: sources from `from` on, relative to tile / stride times my
    // index.
    int64_t step = dim.tile / window.stride;
    int64_t from = -floorDivide(-(window.low - window.size + 1), window.stride);
    int64_t count = floorDivide(dim.tile - 1 + window.low, window.stride) - from + 1;
    int64_t begin = from * window.stride - window.low,
            span = (count - 1) * window.stride + window.size;
    part =
        wantedRows(l, part, d, sourceWant.dims[d], sourceShape[d], dim.axes, {step, from, count});
    image = wantedRows(l, image, d, dim, shape[d], dim.axes, {dim.tile, begin, span});
    keepFrom[d] = -begin, firstSource[d] = from, sourceStep[d] = step;
    window.low = window.high = 0;
  }
  Value imageThere, sourceThere;
  auto both = [&](Value &all, Value next) { all = all ? binary(l, "and", all, next) : next; };
  for (int64_t d : halos) {
    const DimLayout &dim = layout.dims[d];
    both(imageThere, rowsBetween(l, shapeOf(image), d, myStart(l, dim.axes, dim.tile, -keepFrom[d]),
                                 0, shape[d]));
    both(sourceThere,
         rowsBetween(l, shapeOf(part), d, myStart(l, dim.axes, sourceStep[d], firstSource[d]), 0,
                     sourceShape[d]));
  }
  auto type = cast<RankedTensorType>(image.getType());
  Value rows;
  if (!halos.empty() && !byValue) {
    rows = scatterSelected(l, scatter, image, imageThere, part, sourceThere, init, windows);
  } else {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    if (!halos.empty()) {
      // Not the start value: it would be combined once more for each source that is none.
      part = select(l, sourceThere, part, splat(l, neutral(l, scalar, *combined), shapeOf(part)));
      image = select(l, imageThere, image, splat(l, neutral(l, scalar, *least), shapeOf(image)));
    }
    auto made = cast<stablehlo::SelectAndScatterOp>(l.copy(op, {image, part, init}, type));
    made.setPaddingAttr(paddingAttr(l, windows));
    rows = made->getResult(0);
  }
  for (int64_t d : halos)
    rows = sliceRows(l, rows, d, keepFrom[d], keepFrom[d] + layout.dims[d].tile);
  l.bind(result, rows, layout);
  return success();
}

} // namespace tessera::localize
