// Of a table that is computed from its rows' numbers, only the rows that are gathered are computed:
// what rotary embeddings look up is a table of all positions that there might be. Passes.td shows an
// example.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "passes/UnreadOps.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/Builders.h"

#include <limits>
#include <optional>

namespace tessera {
#define GEN_PASS_DEF_COMPUTEGATHERED
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// A table's rows along one dimension, as a gather takes them: the dimensions of their numbers first,
// then the table's others.
struct RowsTaken {
  int64_t dim;
  SmallVector<int64_t> numbers; // the shape of the rows' numbers
};

} // namespace

static std::optional<RowsTaken> rowsTaken(GatherOp gather) {
  GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  RankedTensorType table = typeOf(gather.getOperand()), indices = typeOf(gather.getStartIndices());
  if (dims.getStartIndexMap().size() != 1 || !dims.getOperandBatchingDims().empty() ||
      dims.getCollapsedSliceDims() != dims.getStartIndexMap())
    return std::nullopt;
  RowsTaken rows{dims.getStartIndexMap().front(), {}};
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    if (dim != dims.getIndexVectorDim())
      rows.numbers.push_back(indices.getDimSize(dim));
  for (auto [i, dim] : llvm::enumerate(dims.getOffsetDims()))
    if (dim != static_cast<int64_t>(rows.numbers.size() + i))
      return std::nullopt;
  for (int64_t dim = 0; dim < table.getRank(); ++dim)
    if (dim != rows.dim && gather.getSliceSizes()[dim] != table.getDimSize(dim))
      return std::nullopt;
  return rows;
}

// Whether a value is computed, element by element, from numbers of rows along `dim` and from what has
// no such dimension.
static bool isOfNumbers(Value value, int64_t dim, int depth = 0) {
  constexpr int kDeepest = 32;
  Operation *def = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!def || !type || depth > kDeepest)
    return false;
  if (auto constant = dyn_cast<ConstantOp>(def))
    return isa<SplatElementsAttr>(constant.getValue());
  if (auto iota = dyn_cast<IotaOp>(def))
    return static_cast<int64_t>(iota.getIotaDimension()) != dim ||
           countsExactly(type.getElementType(), type.getDimSize(dim));
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(def)) {
    const auto *at = llvm::find(broadcast.getBroadcastDimensions(), dim);
    int64_t from = at - broadcast.getBroadcastDimensions().begin();
    return at == broadcast.getBroadcastDimensions().end() ||
           isOfNumbers(broadcast.getOperand(), from, depth + 1);
  }
  return isElementwise(def) && def->getNumResults() == 1 && def->getNumOperands() > 0 &&
         def->getNumRegions() == 0 && isMemoryEffectFree(def) &&
         llvm::all_of(def->getOperands(), [&](Value operand) {
           return shapeOf(operand) == type.getShape() && isOfNumbers(operand, dim, depth + 1);
         });
}

namespace {

// Computes rows of a table where they are gathered.
class RowsMaker {
public:
  RowsMaker(GatherOp gather, const RowsTaken &rows) : gather(gather), rows(rows), b(gather) {}

  Value run() { return make(gather.getOperand(), rows.dim); }

private:
  RankedTensorType typeWith(RankedTensorType table, int64_t dim) const {
    SmallVector<int64_t> shape(rows.numbers);
    for (int64_t d = 0; d < table.getRank(); ++d)
      if (d != dim)
        shape.push_back(table.getDimSize(d));
    return table.clone(shape);
  }

  // Where the table's dimension `d` is among those of what is made.
  int64_t placeOf(int64_t d, int64_t dim) const {
    return static_cast<int64_t>(rows.numbers.size()) + d - (d > dim);
  }

  // Which row each is: a gather takes the nearest where there is none.
  Value numbers(int64_t count) {
    Location loc = gather.getLoc();
    Value indices = gather.getStartIndices();
    RankedTensorType type = typeOf(indices).clone(rows.numbers);
    if (indices.getType() != type)
      indices = ReshapeOp::create(b, loc, type, indices);
    auto constant = [&](int64_t number) {
      return ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
    };
    return ClampOp::create(b, loc, type, constant(0), indices, constant(count - 1));
  }

  Value make(Value value, int64_t dim) {
    if (Value made = all.lookup({value, dim}))
      return made;
    Value made = makeNew(value, dim);
    all[{value, dim}] = made;
    return made;
  }

  Value makeNew(Value value, int64_t dim) {
    Operation *def = value.getDefiningOp();
    Location loc = def->getLoc();
    RankedTensorType from = typeOf(value), to = typeWith(from, dim);
    if (auto constant = dyn_cast<ConstantOp>(def))
      return ConstantOp::create(b, loc,
                                cast<SplatElementsAttr>(constant.getValue()).resizeSplat(to));
    if (auto iota = dyn_cast<IotaOp>(def)) {
      auto along = static_cast<int64_t>(iota.getIotaDimension());
      if (along != dim)
        return IotaOp::create(b, loc, to, placeOf(along, dim));
      Value number = numbers(from.getDimSize(dim));
      RankedTensorType type = typeOf(number).clone(to.getElementType());
      if (number.getType() != type)
        number = ConvertOp::create(b, loc, type, number);
      auto first = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
      return type == to ? number : Value(BroadcastInDimOp::create(b, loc, to, number, first));
    }
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(def)) {
      Value operand = broadcast.getOperand();
      SmallVector<int64_t> places;
      ArrayRef<int64_t> dims = broadcast.getBroadcastDimensions();
      const auto *at = llvm::find(dims, dim);
      if (at != dims.end()) {
        operand = make(operand, at - dims.begin());
        llvm::append_range(places, llvm::seq<int64_t>(0, rows.numbers.size()));
      }
      for (int64_t d : dims)
        if (d != dim)
          places.push_back(placeOf(d, dim));
      return BroadcastInDimOp::create(b, loc, to, operand, places);
    }
    SmallVector<Value> operands;
    for (Value operand : def->getOperands())
      operands.push_back(make(operand, dim));
    return fuse::remade(b, loc, def, operands, to);
  }

  GatherOp gather;
  const RowsTaken &rows;
  OpBuilder b;
  DenseMap<std::pair<Value, int64_t>, Value> all;
};

} // namespace

// Rows that are taken each time the table is computed; more than there can be where loops around the
// gather don't say how often they run.
static double rowsOften(GatherOp gather, const RowsTaken &rows) {
  double count = 1;
  for (int64_t size : rows.numbers)
    count *= static_cast<double>(size);
  Block *home = gather.getOperand().getDefiningOp()->getBlock();
  for (Operation *op = gather; op->getBlock() != home; op = op->getParentOp())
    if (auto loop = dyn_cast<WhileOp>(op->getParentOp()))
      count *= getTripCount(loop) ? static_cast<double>(*getTripCount(loop))
                                  : std::numeric_limits<double>::infinity();
  return count;
}

// Where all who read a table gather of it, and fewer rows than it has.
static bool computeGathered(Value table, MutableArrayRef<GatherOp> gathers) {
  double taken = 0;
  std::optional<int64_t> dim;
  SmallVector<RowsTaken> rows;
  for (GatherOp gather : gathers) {
    std::optional<RowsTaken> of = rowsTaken(gather);
    RankedTensorType indices = typeOf(gather.getStartIndices());
    if (!of || (dim && *dim != of->dim) || gather.getStartIndices() == table ||
        !countsExactly(indices.getElementType(), typeOf(table).getDimSize(of->dim)))
      return false;
    dim = of->dim;
    taken += rowsOften(gather, *of);
    rows.push_back(std::move(*of));
  }
  if (taken >= static_cast<double>(typeOf(table).getDimSize(*dim)) || !isOfNumbers(table, *dim))
    return false;
  for (auto [gather, of] : llvm::zip(gathers, rows)) {
    gather.getResult().replaceAllUsesWith(RowsMaker(gather, of).run());
    gather->erase();
  }
  eraseUnread(table.getDefiningOp());
  return true;
}

namespace {
struct ComputeGathered : impl::ComputeGatheredBase<ComputeGathered> {
  void runOnOperation() override {
    SmallVector<GatherOp> all;
    getOperation().walk([&](GatherOp gather) { all.push_back(gather); });
    DenseSet<Operation *> erased;
    for (GatherOp gather : all) {
      if (erased.contains(gather))
        continue;
      Value table = gather.getOperand();
      SmallVector<GatherOp> gathers;
      bool readsAll = table.getDefiningOp() && llvm::all_of(table.getUsers(), [&](Operation *user) {
                        gathers.push_back(dyn_cast<GatherOp>(user));
                        return gathers.back() != nullptr;
                      });
      if (readsAll && computeGathered(table, gathers))
        erased.insert(gathers.begin(), gathers.end());
    }
  }
};
} // namespace
} // namespace tessera
