#include "passes/fuse/OutlinedOps.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "passes/UnreadOps.h"
#include "passes/fuse/RematCopies.h"
#include "passes/fuse/ScorePlane.h"

#include "mlir/IR/IRMapping.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

static bool readsNothing(Region &region) {
  return llvm::all_of(region.front(), [&](Operation &op) {
    return llvm::all_of(op.getOperands(), [&](Value operand) {
      return region.isAncestor(operand.getParentRegion());
    });
  });
}

bool OutlinedOps::isBetween(Operation *op) {
  switch (fusionKindOf(op)) {
  case NodeKind::Constant:
  case NodeKind::Pointwise:
  case NodeKind::Convert:
  case NodeKind::Broadcast:
  case NodeKind::Reshape:
  case NodeKind::Transpose:
    return true;
  case NodeKind::Slice:
    return isa<SliceOp>(op);
  case NodeKind::Reduce:
    return isa<ReduceOp>(op) && op->getNumResults() == 1 && readsNothing(op->getRegion(0));
  default:
    return false;
  }
}

bool OutlinedOps::isCheap(Operation *op) {
  return fusionKindOf(op) != NodeKind::Reduce && !isExpensive(op);
}

void OutlinedOps::addPrologue(Value value) {
  Operation *op = inBlock(value);
  if (!op || inside.contains(op))
    return;
  switch (fusionKindOf(op)) {
  case NodeKind::Transpose:
  case NodeKind::Reshape:
  case NodeKind::Convert:
  case NodeKind::Broadcast:
  case NodeKind::Constant:
    break;
  case NodeKind::Pointwise: {
    auto isSplat = [](Value operand) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      return constant && isa<SplatElementsAttr>(constant.getValue());
    };
    if (isExpensive(op) || llvm::count_if(op->getOperands(), std::not_fn(isSplat)) > 1)
      return;
    break;
  }
  default:
    return;
  }
  inside.insert(op);
  for (Value operand : op->getOperands())
    addPrologue(operand);
}

// The order of the product's dimensions in which a row of the result lies together; empty where it
// does.
static SmallVector<int64_t> orderOfRows(DotGeneralOp product, unsigned side) {
  if (side == 0)
    return {};
  auto numbers = product.getDotDimensionNumbers();
  auto batch = static_cast<int64_t>(numbers.getLhsBatchingDimensions().size());
  int64_t rank = typeOf(product->getResult(0)).getRank();
  int64_t own = typeOf(product->getOperand(0)).getRank() - batch -
                static_cast<int64_t>(numbers.getLhsContractingDimensions().size());
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim < batch || dim >= batch + own)
      dims.push_back(dim);
  for (int64_t dim = batch; dim < batch + own; ++dim)
    dims.push_back(dim);
  return dims;
}

// The dimension of a product's result along which a row of its operand other than `side` lies; none
// where that has no dimension of its own (a number for each key).
static std::optional<int64_t> dimOfElements(DotGeneralOp product, unsigned side) {
  auto numbers = product.getDotDimensionNumbers();
  auto taken = static_cast<int64_t>(numbers.getLhsBatchingDimensions().size() +
                                    numbers.getLhsContractingDimensions().size());
  if (typeOf(product->getOperand(1 - side)).getRank() == taken)
    return std::nullopt;
  if (side == 0)
    return typeOf(product->getResult(0)).getRank() - 1;
  auto contracted = numbers.getLhsContractingDimensions();
  return typeOf(product->getOperand(0)).getRank() - static_cast<int64_t>(contracted.size()) - 1;
}

// Where a dimension of the op's operand is in its result, as far as that is one dimension.
static std::optional<int64_t> movedTo(Operation *op, int64_t dim) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  if (auto places = movedDims(op)) { // of size 1, it may be gone
    int64_t place = (*places)[dim];
    return place < 0 ? std::nullopt : std::optional(place);
  }
  if (shapeOf(operand) == shapeOf(result))
    return dim;
  bool isInnermost = isa<ReshapeOp>(op) && dim + 1 == typeOf(operand).getRank();
  return isInnermost ? std::optional(typeOf(result).getRank() - 1) : std::nullopt;
}

// The same where ops inside the kernel compute `result` of the product's.
std::optional<int64_t> OutlinedOps::elementsOf(DotGeneralOp product, unsigned side,
                                               Value result) const {
  std::optional<int64_t> dim = dimOfElements(product, side);
  for (Value value = product->getResult(0); dim && value != result;) {
    auto users = llvm::make_filter_range(value.getUsers(),
                                         [&](Operation *user) { return inside.contains(user); });
    if (users.empty())
      return std::nullopt;
    dim = movedTo(*users.begin(), *dim);
    value = (*users.begin())->getResult(0);
  }
  return dim;
}

// All but this one, then it.
static SmallVector<int64_t> orderWithLast(int64_t rank, int64_t last) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != last)
      dims.push_back(dim);
  dims.push_back(last);
  return dims;
}

void OutlinedOps::addResult(DotGeneralOp product, unsigned side, Value result) {
  SmallVector<Operation *> pending;
  bool isMoved = result != product->getResult(0); // the program has an order of its own
  std::optional<int64_t> elements = elementsOf(product, side, result), next = elements;
  for (Value value = result; next && value.hasOneUse();) {
    Operation *user = *value.getUsers().begin();
    NodeKind kind = fusionKindOf(user);
    bool moves = kind == NodeKind::Transpose || kind == NodeKind::Convert;
    if (user->getBlock() != &block || !(moves || kind == NodeKind::Reshape))
      break;
    next = movedTo(user, *next);
    value = user->getResult(0);
    pending.push_back(user);
    if (!moves || !next)
      continue; // at the end it is a view of the result
    inside.insert(pending.begin(), pending.end());
    pending.clear();
    isMoved = true;
    result = value;
    elements = next;
  }
  int64_t rank = typeOf(result).getRank();
  SmallVector<int64_t> order;
  if (!isMoved)
    order = orderOfRows(product, side);
  else if (elements && *elements + 1 != rank)
    order = orderWithLast(rank, *elements); // the program's own is made outside
  results.push_back({result, order});
}

static RankedTensorType turned(RankedTensorType type, ArrayRef<int64_t> order) {
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return order.empty() ? type : type.clone(shape);
}

static Value turn(OpBuilder &b, Value value, ArrayRef<int64_t> order) {
  if (order.empty())
    return value;
  return TransposeOp::create(b, value.getLoc(), turned(typeOf(value), order), value, order);
}

SmallVector<Operation *> OutlinedOps::sorted() const {
  SmallVector<Operation *> ops(inside.begin(), inside.end());
  llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  return ops;
}

exec::FusedOp OutlinedOps::outline(OpBuilder &b, Location loc) const {
  SmallVector<Operation *> ops = sorted();
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!isInside(operand))
        inputs.insert(operand);
  SmallVector<Type> types;
  for (const Result &result : results)
    types.push_back(turned(typeOf(result.value), result.order));
  OpBuilder::InsertionGuard guard(b);
  auto fused =
      exec::FusedOp::create(b, loc, TypeRange(types), inputs.getArrayRef(), nullptr, nullptr);
  Block *body = b.createBlock(&fused.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : ops)
    b.clone(*op, mapping);
  SmallVector<Value> yields;
  for (const Result &result : results)
    yields.push_back(turn(b, mapping.lookup(result.value), result.order));
  exec::YieldOp::create(b, loc, yields);
  return fused;
}

void OutlinedOps::replaceWith(OpBuilder &b, ValueRange yielded) {
  for (auto [result, value] : llvm::zip(results, yielded)) {
    SmallVector<int64_t> back(result.order.size());
    for (auto [to, from] : llvm::enumerate(result.order))
      back[from] = static_cast<int64_t>(to);
    result.value.replaceAllUsesWith(turn(b, value, back));
  }
  eraseUnread(inside.getArrayRef());
}

bool OutlinedOps::isCircular() const {
  Operation *last = inside.front();
  for (Operation *op : inside)
    last = last->isBeforeInBlock(op) ? op : last;
  DenseSet<Operation *> after;
  SmallVector<Operation *> work;
  auto addReaders = [&](Value value, bool countsInside) {
    for (Operation *user : value.getUsers()) {
      Operation *op = block.findAncestorOpInBlock(*user);
      // What stands behind all of the kernel leads to none of it.
      if (op && (countsInside || !inside.contains(op)) && !last->isBeforeInBlock(op) &&
          after.insert(op).second)
        work.push_back(op);
    }
  };
  for (const Result &result : results)
    addReaders(result.value, /*countsInside=*/false);
  for (Operation *op : ofResults)
    addReaders(op->getResult(0), /*countsInside=*/false);
  while (!work.empty())
    for (Value result : work.pop_back_val()->getResults())
      addReaders(result, /*countsInside=*/true);
  return llvm::any_of(inside, [&](Operation *op) { return after.contains(op); });
}

// Puts ops that are in no block before another one, in order, each with a number halfway between
// those of its neighbours, which have theirs: the one in the middle first.
static void insertNumbered(ArrayRef<Operation *> inOrder, Operation *other) {
  if (inOrder.empty())
    return;
  size_t middle = inOrder.size() / 2;
  Operation *op = inOrder[middle];
  other->getBlock()->getOperations().insert(other->getIterator(), op);
  (void)op->isBeforeInBlock(other);
  insertNumbered(inOrder.take_front(middle), op);
  insertNumbered(inOrder.drop_front(middle + 1), other);
}

// As Operation::moveBefore of each, which has the whole block numbered again when somebody asks for
// the order of ops. Between two of them a block leaves four numbers free: those before, of which there
// are more than are moved, share theirs.
static void moveBefore(ArrayRef<Operation *> inOrder, Operation *other) {
  constexpr size_t kMore = 16;
  for (Operation *op : inOrder)
    op->remove();
  SmallVector<Operation *> all;
  for (Operation *op = other->getPrevNode(); op && all.size() < inOrder.size() + kMore;
       op = op->getPrevNode())
    all.push_back(op);
  for (Operation *op : all)
    op->remove();
  std::reverse(all.begin(), all.end());
  llvm::append_range(all, inOrder);
  insertNumbered(all, other);
}

Operation *markBefore(Operation &op) {
  OpBuilder builder(&op);
  auto type = RankedTensorType::get({}, builder.getI1Type());
  Operation *mark = ConstantOp::create(builder, op.getLoc(), DenseElementsAttr::get(type, false));
  return mark;
}

AtEnd::AtEnd(Block &block) : builder(OpBuilder::atBlockTerminator(&block)) {
  mark = markBefore(*block.getTerminator());
}

namespace {

// Puts ops that have no place yet before what reads them, with what they read.
class Placing {
public:
  Placing(Block &block, ArrayRef<Operation *> ops)
      : block(block), waiting(ops.begin(), ops.end()) {}

  void run(ArrayRef<Operation *> ops) {
    llvm::SetVector<Operation *> readers;
    for (Operation *op : ops)
      for (Operation *user : op->getUsers())
        if (Operation *reader = block.findAncestorOpInBlock(*user); !waiting.contains(reader))
          readers.insert(reader);
    SmallVector<Operation *> inOrder = readers.takeVector();
    llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *reader : inOrder)
      putBefore(reader);
  }

private:
  // Never asks where an op stands that was moved: the whole block would be numbered again.
  bool isBehind(Operation *op, Operation *reader) const {
    return op->getBlock() == &block && op != reader && !placed.contains(op) &&
           (waiting.contains(op) || reader->isBeforeInBlock(op));
  }

  void putBefore(Operation *reader) {
    if (placed.contains(reader))
      return;
    SmallVector<Operation *> work{reader}, moved;
    while (!work.empty()) {
      Operation *op = work.back();
      size_t before = work.size();
      if (!placed.contains(op))
        op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (Operation *def = operand.getDefiningOp(); def && isBehind(def, reader))
              work.push_back(def);
        });
      if (work.size() > before)
        continue;
      work.pop_back();
      if (op != reader && placed.insert(op).second)
        moved.push_back(op);
    }
    if (!moved.empty())
      moveBefore(moved, reader);
  }

  Block &block;
  DenseSet<Operation *> waiting, placed;
};

} // namespace

AtEnd::~AtEnd() {
  Block &block = *mark->getBlock();
  auto made = [&] {
    SmallVector<Operation *> ops;
    for (Operation *op = mark->getNextNode(); op != block.getTerminator(); op = op->getNextNode())
      ops.push_back(op);
    return ops;
  };
  eraseUnread(made());
  SmallVector<Operation *> ops = made();
  mark->erase();
  Placing(block, ops).run(ops);
}

} // namespace tessera::fuse
