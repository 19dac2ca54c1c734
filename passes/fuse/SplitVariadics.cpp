// Reductions, windows, scatters and sorts of more arrays than one kernel should read become
// several: LLVM takes time with the square of what a function loads from. Arrays that the
// computation does not combine go apart; a sort is made anew, with what it compares, for each part
// of what only follows. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/IntEqClasses.h"

namespace tessera {
#define GEN_PASS_DEF_SPLITVARIADICS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

using Arrays = SmallVector<unsigned>; // numbers, ascending

// An op on arrays side by side, each of which has a result, with a computation on an element (or
// two) of each.
class Variadic {
public:
  Variadic(Operation *op, size_t most)
      : op(op), count(op->getNumResults()), most(most), from(op->getRegion(0).front()) {}

  void split() {
    findReaders();
    std::vector<Arrays> parts = isa<SortOp>(op) ? sortParts() : independentParts();
    if (parts.size() < 2)
      return;
    for (Arrays &part : parts)
      llvm::sort(part);
    OpBuilder b(op);
    SmallVector<Value> results(count);
    for (const Arrays &part : parts)
      for (auto [i, result] : llvm::zip_equal(part, make(b, part)->getResults()))
        if (!results[i])
          results[i] = result;
    op->replaceAllUsesWith(results);
    op->erase();
  }

private:
  unsigned arrayOf(BlockArgument argument) const {
    return isa<SortOp>(op) ? argument.getArgNumber() / 2 : argument.getArgNumber() % count;
  }

  // An array that the value is computed from, if there is one.
  std::optional<unsigned> sourceOf(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == &from ? std::optional(arrayOf(argument)) : std::nullopt;
    auto it = sources.find(from.findAncestorOpInBlock(*value.getDefiningOp()));
    return it == sources.end() ? std::nullopt : std::optional(it->second);
  }

  // Joins the arrays that meet in an op of the computation.
  void findReaders() {
    classes.grow(count);
    for (Operation &inner : from.without_terminator()) {
      std::optional<unsigned> source;
      inner.walk([&](Operation *reader) {
        for (Value operand : reader->getOperands())
          if (std::optional<unsigned> other = sourceOf(operand)) {
            if (source)
              classes.join(*source, *other);
            source = other;
          }
      });
      if (source)
        sources[&inner] = *source;
    }
    if (!isa<SortOp>(op))
      for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands()))
        if (std::optional<unsigned> source = sourceOf(value))
          classes.join(i, *source);
  }

  std::vector<Arrays> independentParts() {
    classes.compress();
    std::vector<Arrays> members(classes.getNumClasses()), parts;
    for (unsigned i = 0; i < count; ++i)
      members[classes[i]].push_back(i);
    for (const Arrays &together : members) {
      if (parts.empty() || parts.back().size() + together.size() > most)
        parts.emplace_back();
      llvm::append_range(parts.back(), together);
    }
    return parts;
  }

  // What is compared is in each of them.
  std::vector<Arrays> sortParts() {
    std::vector<char> isCompared(count);
    for (BlockArgument argument : from.getArguments())
      isCompared[arrayOf(argument)] |= !argument.use_empty();
    Arrays compared, others;
    for (unsigned i = 0; i < count; ++i)
      (isCompared[i] ? compared : others).push_back(i);
    if (compared.size() >= most)
      return {};
    std::vector<Arrays> parts;
    size_t each = most - compared.size();
    for (size_t i = 0; i < others.size(); i += each) {
      parts.push_back(compared);
      llvm::append_range(parts.back(),
                         ArrayRef(others).slice(i, std::min(each, others.size() - i)));
    }
    return parts;
  }

  // The op on a part of the arrays.
  Operation *make(OpBuilder &b, const Arrays &part) {
    SmallVector<Value> operands;
    SmallVector<Type> types;
    auto addOperands = [&](unsigned first) {
      for (unsigned i : part)
        operands.push_back(op->getOperand(first + i));
    };
    addOperands(0);
    if (isa<ScatterOp>(op)) {
      operands.push_back(op->getOperand(count)); // the indices
      addOperands(count + 1);
    } else if (!isa<SortOp>(op)) {
      addOperands(count); // what a reduction starts from
    }
    for (unsigned i : part)
      types.push_back(op->getResult(i).getType());
    Operation *made = Operation::create(op->getLoc(), op->getName(), types, operands,
                                        op->getDiscardableAttrDictionary(),
                                        op->getPropertiesStorage(), BlockRange(), 1);
    b.insert(made);
    fill(made->getRegion(0).emplaceBlock(), part);
    return made;
  }

  void fill(Block &to, const Arrays &part) {
    IRMapping mapping;
    std::vector<char> isHere(count);
    for (unsigned i : part)
      isHere[i] = true;
    for (BlockArgument argument : from.getArguments())
      if (isHere[arrayOf(argument)])
        mapping.map(argument, to.addArgument(argument.getType(), argument.getLoc()));
    auto b = OpBuilder::atBlockEnd(&to);
    for (Operation &inner : from.without_terminator()) {
      auto source = sources.find(&inner);
      if (source == sources.end() || isHere[source->second])
        b.clone(inner, mapping);
    }
    SmallVector<Value> returned;
    for (auto [i, value] : llvm::enumerate(from.getTerminator()->getOperands()))
      if (isa<SortOp>(op) || isHere[i])
        returned.push_back(mapping.lookupOrDefault(value));
    ReturnOp::create(b, from.getTerminator()->getLoc(), returned);
  }

  Operation *op;
  unsigned count;
  size_t most;
  Block &from;
  DenseMap<Operation *, unsigned> sources; // of ops that depend on arrays
  llvm::IntEqClasses classes;              // of arrays that meet
};

struct SplitVariadics : impl::SplitVariadicsBase<SplitVariadics> {
  using SplitVariadicsBase::SplitVariadicsBase;
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (isa<ReduceOp, ReduceWindowOp, ScatterOp, SortOp>(op) && op->getNumResults() > most)
        Variadic(op, most).split();
    });
  }
};

} // namespace
} // namespace tessera
