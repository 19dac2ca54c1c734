// What lies in the host's memory is reached by copies only: parts of it are copied from and to where
// they lie, and everything else happens on the device. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "passes/OpsWithin.h"
#include "passes/fuse/Passes.h"
#include "passes/placement/MemorySpaces.h"

#include "mlir/IR/Builders.h"
#include <numeric>

namespace tessera {
#define GEN_PASS_DEF_FORMTRANSFERS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using comm::Space;
using comm::TransferOp;

// --- Parts of arrays, on plain data ---

namespace {

// A part that lies in one piece, in an array of dense rows.
struct Rows {
  int64_t dim;   // along which it is a part
  int64_t all;   // rows of the array
  int64_t count; // rows of the part
  SmallVector<int64_t> row;
};

} // namespace

// [8, 4, 16] of [8, 4, 16]-arrays is everything; [1, 2, 16] lies in one piece, as all before the
// dimension that is cut is one index, and all behind it whole: 2 of 32 rows of 16. [2, 2, 16] does not.
static std::optional<Rows> rowsOf(ArrayRef<int64_t> whole, ArrayRef<int64_t> part) {
  int64_t rank = whole.size(), cut = 0;
  for (int64_t d = 0; d < rank; ++d)
    if (whole[d] != part[d])
      cut = d;
  if (rank == 0)
    return std::nullopt;
  Rows rows{cut, 1, part[cut], SmallVector<int64_t>(whole.drop_front(cut + 1))};
  for (int64_t d = 0; d <= cut; ++d)
    rows.all *= whole[d];
  for (int64_t d = 0; d < cut; ++d)
    if (part[d] != 1)
      return std::nullopt;
  if (rows.all > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return rows;
}

// So many equal rows take a multiple of the bytes that buffers are aligned to, or all rows.
static int64_t repeatedRows(int64_t rows, int64_t rowBytes) {
  constexpr int64_t alignment = 64;
  return std::min(rows, alignment / std::gcd(alignment, std::max<int64_t>(rowBytes, 1)));
}

// --- The rewrites ---

namespace {

class Former {
public:
  explicit Former(func::FuncOp function) : spaces(function), function(function), b(function) {}

  void run() {
    for (Operation *op : opsWithin<Operation *>(function)) {
      b.setInsertionPoint(op);
      loc = op->getLoc();
      if (auto transfer = dyn_cast<TransferOp>(op)) {
        repeatSplat(transfer);
      } else if (op->getNumOperands() && spaces.isInHost(op->getOperand(0)) &&
                 isa<BroadcastInDimOp>(op)) {
        replaceOnHost(op, view(op->getOperand(0), typeOf(op->getResult(0)).getShape()));
      } else if (isa<SliceOp, DynamicSliceOp>(op) && spaces.isInHost(op->getOperand(0))) {
        takePart(op);
      } else if (auto update = dyn_cast<DynamicUpdateSliceOp>(op)) {
        if (spaces.isInHost(update.getOperand()))
          replacePart(update);
      }
    }
  }

private:
  Value view(Value value, ArrayRef<int64_t> shape) {
    RankedTensorType to = typeOf(value).clone(shape);
    return to == value.getType() ? value : ReshapeOp::create(b, loc, to, value).getResult();
  }

  static SmallVector<int64_t> withRows(int64_t count, const Rows &rows) {
    SmallVector<int64_t> shape{count};
    llvm::append_range(shape, rows.row);
    return shape;
  }

  void replaceOnHost(Operation *op, Value value) {
    spaces.addInHost(value);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  Value constant(RankedTensorType type, int64_t value) {
    return ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), value)));
  }

  // The part's first row: as an i32, the runtime keeps it within the array.
  Value firstRow(ValueRange starts, const Rows &rows, ArrayRef<int64_t> whole,
                 ArrayRef<int64_t> part) {
    auto i32 = RankedTensorType::get({}, b.getI32Type());
    Value first;
    int64_t stride = 1;
    for (int64_t d = rows.dim; d >= 0; stride *= whole[d--]) {
      if (whole[d] == part[d])
        continue; // at 0
      Value start = starts[d];
      RankedTensorType type = typeOf(start);
      if (type != i32 || stride != 1) {
        start = ClampOp::create(b, loc, type, constant(type, 0), start,
                                constant(type, whole[d] - part[d]));
        if (type != i32)
          start = ConvertOp::create(b, loc, i32, start);
      }
      if (stride != 1)
        start = MulOp::create(b, loc, start, constant(i32, stride));
      first = first ? AddOp::create(b, loc, first, start).getResult() : start;
    }
    return first ? first : constant(i32, 0);
  }

  Value startOf(Operation *slice, const Rows &rows, ArrayRef<int64_t> whole,
                ArrayRef<int64_t> part) {
    if (auto dynamic = dyn_cast<DynamicSliceOp>(slice))
      return firstRow(dynamic.getStartIndices(), rows, whole, part);
    int64_t first = 0;
    for (int64_t d = 0; d <= rows.dim; ++d)
      first = first * whole[d] + cast<SliceOp>(slice).getStartIndices()[d];
    return constant(RankedTensorType::get({}, b.getI32Type()), first);
  }

  // Whether nothing but transfers to the device read views of the value.
  static bool goesToDeviceOnly(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      auto transfer = dyn_cast<TransferOp>(user);
      bool isView = isa<ReshapeOp, BroadcastInDimOp>(user);
      return isView ? goesToDeviceOnly(user->getResult(0))
                    : transfer && transfer.getSpace() == Space::Device && !transfer.getIndex();
    });
  }

  // A part goes to the device from where it lies, or else becomes an array on the host.
  void takePart(Operation *slice) {
    Value array = slice->getOperand(0), result = slice->getResult(0);
    ArrayRef<int64_t> whole = typeOf(array).getShape(), part = typeOf(result).getShape();
    std::optional<Rows> rows = rowsOf(whole, part);
    auto fixed = dyn_cast<SliceOp>(slice);
    if (fixed && llvm::any_of(fixed.getStrides(), [](int64_t stride) { return stride != 1; }))
      rows = std::nullopt;
    if (!rows)
      return throughDevice(slice);
    bool toDevice = goesToDeviceOnly(result);
    auto type = typeOf(result).clone(withRows(rows->count, *rows));
    auto transfer = TransferOp::create(b, loc, type, view(array, withRows(rows->all, *rows)),
                                       Value(), startOf(slice, *rows, whole, part),
                                       toDevice ? Space::Device : Space::Host);
    Value made = view(transfer.getOutput(), part);
    if (!toDevice)
      spaces.addInHost(made);
    result.replaceAllUsesWith(made);
    slice->erase();
  }

  // What a value that goes to the host is on the device, as far as it is only seen as an array of
  // another shape on the way.
  Value source(Value value) {
    Value at = value;
    while (Operation *def = at.getDefiningOp()) {
      if (auto transfer = dyn_cast<TransferOp>(def);
          transfer && transfer.getSpace() == Space::Host && !transfer.getIndex() &&
          transfer.getInput().getType() == transfer.getOutput().getType())
        return transfer.getInput();
      if (!isa<ReshapeOp>(def))
        break;
      at = def->getOperand(0);
    }
    return value;
  }

  void replacePart(DynamicUpdateSliceOp update) {
    Value array = update.getOperand();
    ArrayRef<int64_t> whole = typeOf(array).getShape(),
                      part = typeOf(update.getUpdate()).getShape();
    std::optional<Rows> rows = rowsOf(whole, part);
    if (!rows)
      return throughDevice(update);
    Value input = view(source(update.getUpdate()), withRows(rows->count, *rows));
    Value into = view(array, withRows(rows->all, *rows));
    Value first = firstRow(update.getStartIndices(), *rows, whole, part);
    auto transfer = TransferOp::create(b, loc, into.getType(), input, into, first, Space::Host);
    replaceOnHost(update, view(transfer.getOutput(), whole));
  }

  // The op works on a copy of the whole array.
  void throughDevice(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!spaces.isInHost(operand.get()))
        continue;
      if (operand.getOperandNumber() == 0)
        op->emitWarning()
            << "a part of an array in the host's memory that does not lie in one piece: "
               "all "
            << byteSize(typeOf(operand.get()))
            << " bytes are copied to the device; make what is indexed the first "
               "dimensions";
      operand.set(TransferOp::create(b, loc, operand.get(), Space::Device));
    }
    if (goesToDeviceOnly(op->getResult(0)))
      return;
    b.setInsertionPointAfter(op);
    auto back = TransferOp::create(b, loc, op->getResult(0), Space::Host);
    spaces.addInHost(back.getOutput());
    op->getResult(0).replaceAllUsesExcept(back.getOutput(), back);
  }

  // One number all over is made of a few rows on the device.
  void repeatSplat(TransferOp transfer) {
    if (transfer.getSpace() != Space::Host || transfer.getIndex())
      return;
    RankedTensorType type = typeOf(transfer.getOutput());
    Operation *def = transfer.getInput().getDefiningOp();
    while (def && isa<ReshapeOp>(def))
      def = def->getOperand(0).getDefiningOp();
    auto constant = dyn_cast_or_null<ConstantOp>(def);
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(def);
    bool isScalar = broadcast && typeOf(broadcast.getOperand()).getNumElements() == 1;
    if (type.getRank() == 0 || type.getNumElements() == 0 || !(splat || isScalar))
      return;
    int64_t all = type.getDimSize(0);
    SmallVector<int64_t> few(type.getShape());
    few[0] = repeatedRows(all, byteSize(type) / all);
    RankedTensorType rows = type.clone(few);
    Value made;
    if (splat)
      made = ConstantOp::create(b, loc, splat.resizeSplat(rows));
    else
      made = BroadcastInDimOp::create(b, loc, rows, view(broadcast.getOperand(), {}),
                                      ArrayRef<int64_t>{});
    transfer.getInputMutable().assign(made);
  }

  placement::MemorySpaces spaces;
  func::FuncOp function;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
};

struct FormTransfers : impl::FormTransfersBase<FormTransfers> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      std::vector<std::optional<Space>> results;
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        results.push_back(getMemory(function.getResultAttrDict(i)));
      placement::makeTransfersExplicit(function, results, /*keepsHolds=*/false);
      Former(function).run();
      // Parts that go to the device now lie there.
      placement::makeTransfersExplicit(function, results, /*keepsHolds=*/false);
      auto ops = opsWithin<Operation *>(function);
      for (Operation *op : llvm::reverse(ops))
        if (isa<TransferOp, ReshapeOp, BroadcastInDimOp, ConstantOp>(op) && op->use_empty())
          op->erase();
    }
  }
};

} // namespace
} // namespace tessera
