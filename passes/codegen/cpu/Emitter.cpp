#include "passes/codegen/cpu/Emitter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cassert>

namespace tessera::codegen {

//===--- Levels ---===//

void Emitter::openBody(llvm::Instruction *insertBefore) {
  levels.clear();
  levels.emplace_back();
  levels[0].insertBefore = insertBefore;
  variables.assign(graph.dims.size(), nullptr);
  resumeInsertion();
}

// A block's level shares its place with the level around it: all of them move.
void Emitter::moveInsertion(llvm::Instruction *from, llvm::Instruction *to) {
  for (Level &level : levels)
    if (level.insertBefore == from)
      level.insertBefore = to;
}

Value Emitter::openLoop(Value low, Value high, int64_t step, bool mayBeEmpty) {
  llvm::Instruction *after = levels.back().insertBefore;
  llvm::BasicBlock *before = after->getParent();
  llvm::BasicBlock *exit = before->splitBasicBlock(after, "after");
  llvm::BasicBlock *body =
      llvm::BasicBlock::Create(b.getContext(), "loop", before->getParent(), exit);
  llvm::Instruction *jump = before->getTerminator();
  b.SetInsertPoint(jump);
  Level level;
  level.entry =
      mayBeEmpty ? b.CreateCondBr(b.CreateICmpSLT(low, high), body, exit) : b.CreateBr(body);
  jump->eraseFromParent();
  b.SetInsertPoint(body);
  auto *variable = b.CreatePHI(b.getInt64Ty(), 2, "i");
  variable->addIncoming(low, before);
  auto *next = llvm::cast<llvm::Instruction>(
      llvm::BinaryOperator::CreateNSWAdd(variable, i64(step), "next", body));
  b.CreateCondBr(b.CreateICmpSLT(next, high), body, exit);
  variable->addIncoming(next, body);
  level.insertBefore = next;
  level.resume = after;
  moveInsertion(after, level.entry);
  levels.push_back(std::move(level));
  resumeInsertion();
  return variable;
}

void Emitter::bindLevel(unsigned dim, DimSet all, Value variable, unsigned lanes, Value laneMask) {
  Level &level = levels.back();
  level.dims |= all;
  level.lanes = lanes;
  level.laneMask = laneMask;
  variables[dim] = variable;
}

void Emitter::bindRows(const ShortRows &rows, DimSet all, Value row, unsigned lanes,
                       Value laneMask) {
  bindLevel(rows.row, all, row, lanes, laneMask);
  variables[rows.column] = nullptr;
  levels.back().shortRows = rows;
}

void Emitter::bindLoop(llvm::ArrayRef<unsigned> dims, Value position) {
  auto groups = collapseLoops(graph, dims, live, {});
  for (const auto &group : llvm::reverse(groups)) {
    bool isOuter = &group == &groups.front();
    Value index = isOuter ? position : b.CreateURem(position, i64(pointsOf(graph, group)));
    if (!isOuter)
      position = b.CreateUDiv(position, i64(pointsOf(graph, group)));
    bindLevel(group.back(), setOf(group), index, 1, nullptr);
  }
}

void Emitter::closeLoop() {
  llvm::Instruction *resume = levels.back().resume, *entry = levels.back().entry;
  levels.pop_back();
  moveInsertion(entry, resume);
  resumeInsertion();
}

void Emitter::openIf(Value condition) {
  llvm::Instruction *after = levels.back().insertBefore;
  Level level;
  level.insertBefore = llvm::SplitBlockAndInsertIfThen(condition, after, /*Unreachable=*/false);
  level.resume = after;
  level.entry = level.insertBefore->getParent()->getSinglePredecessor()->getTerminator();
  moveInsertion(after, level.entry);
  levels.push_back(std::move(level));
  resumeInsertion();
}

void Emitter::openBlock() {
  Level level;
  level.insertBefore = levels.back().insertBefore;
  levels.push_back(std::move(level));
}

void Emitter::closeBlock() {
  levels.pop_back();
  resumeInsertion();
}

unsigned Emitter::levelOf(DimSet deps) const {
  for (unsigned i = levels.size(); i-- > 1;)
    if (levels[i].dims & deps)
      return i;
  return 0;
}

const Emitter::Level *Emitter::vectorLevel() const {
  for (unsigned i = levels.size(); i-- > 0;)
    if (levels[i].lanes > 1)
      return &levels[i];
  return nullptr;
}

unsigned Emitter::lanes() const {
  const Level *level = vectorLevel();
  return level ? level->lanes : 1;
}

bool Emitter::takesReciprocal(const Node *quotient) {
  constexpr int64_t several = 64; // elements
  const Level *level = vectorLevel();
  if (!level || !level->entry || level->laneMask) // no loop
    return false;
  int64_t points = 1;
  for (auto [number, dim] : llvm::enumerate(graph.dims))
    if (level->dims >> number & 1)
      points *= dim.high - dim.low;
  return points >= several && !readsMemory(quotient->operands, level->dims);
}

//===--- Nodes ---===//

[[maybe_unused]] static bool hasLanes(Value value, unsigned lanes) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return !vector || vector->getNumElements() == lanes;
}

Value Emitter::emit(Node *node) {
  if (node->op == Op::Constant)
    return constantOf(node->kind, node->bits);
  if (node->local) {
    if (auto it = locals.find(node); it != locals.end())
      return it->second;
    Value value = compute(node);
    return locals[node] = value;
  }
  unsigned depth = levelOf(node->deps);
  if (auto it = levels[depth].values.find(node); it != levels[depth].values.end())
    return it->second;
  // Deeper levels are out of sight while it is computed.
  std::vector<Level> hidden(std::make_move_iterator(levels.begin() + depth + 1),
                            std::make_move_iterator(levels.end()));
  levels.resize(depth + 1);
  resumeInsertion();
  Value value = compute(node);
  assert(hasLanes(value, lanes()) &&
         "as many lanes as the loop: more would be stored over what is next");
  levels[depth].values[node] = value;
  levels.insert(levels.end(), std::make_move_iterator(hidden.begin()),
                std::make_move_iterator(hidden.end()));
  resumeInsertion();
  return value;
}

Value Emitter::compute(Node *node) {
  switch (node->op) {
  case Op::Load:
    return load(node);
  case Op::Iota:
    return iota(node);
  case Op::Keep: {
    Value value = emit(node->operands[0]);
    store(bufferPointer(node->buffer()), node->kind, node->index, value);
    return value;
  }
  case Op::Reduced:
    return reduced(node);
  case Op::External:
    llvm_unreachable("an external node was not given");
  default:
    break;
  }
  llvm::SmallVector<Value, 3> operands;
  unsigned width = 1;
  for (Node *operand : node->operands) {
    operands.push_back(emit(operand));
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(operands.back()->getType()))
      width = vector->getNumElements();
  }
  for (Value &operand : operands)
    operand = splat(operand, width);
  switch (node->op) {
  case Op::Compare:
    return compare(node, operands[0], operands[1]);
  case Op::Select:
    return b.CreateSelect(operands[0], operands[1], operands[2]);
  case Op::Convert:
    return convert(operands[0], node->operands[0]->kind, node->kind);
  case Op::Bitcast:
    return fromMemory(node->kind,
                      b.CreateBitCast(toMemory(node->operands[0]->kind, operands[0]),
                                      width == 1
                                          ? memoryType(node->kind, b.getContext())
                                          : llvm::FixedVectorType::get(
                                                memoryType(node->kind, b.getContext()), width)));
  default: {
    Value value = arithmetic(node->op, node->kind, operands, node);
    return isTinyFloat(node->kind) ? round(node->kind, value) : value;
  }
  }
}

llvm::SmallVector<Value> Emitter::combine(const Reduction &reduction,
                                          llvm::ArrayRef<Value> accumulated,
                                          llvm::ArrayRef<Value> fresh) {
  llvm::SmallVector<Value> results;
  if (!reduction.simple.empty()) {
    for (auto [i, op] : llvm::enumerate(reduction.simple)) {
      ElementKind kind = reduction.inputs[i]->kind;
      results.push_back(arithmetic(op, kind, {accumulated[i], fresh[i]}));
    }
    return results;
  }
  if (reduction.best != Reduction::NoBest)
    return betterOf(reduction, accumulated, fresh);
  llvm::SmallVector<std::pair<Node *, Value>> given;
  for (auto [node, value] : llvm::zip(reduction.lhs, accumulated))
    given.push_back({node, value});
  for (auto [node, value] : llvm::zip(reduction.rhs, fresh))
    given.push_back({node, value});
  return evaluate(reduction.results, given);
}

llvm::SmallVector<Value> Emitter::evaluate(llvm::ArrayRef<Node *> nodes,
                                           llvm::ArrayRef<std::pair<Node *, Value>> given) {
  auto outer = std::move(locals);
  locals.clear();
  for (auto [node, value] : given)
    locals[node] = value;
  llvm::SmallVector<Value> results;
  for (Node *node : nodes)
    results.push_back(emit(node));
  locals = std::move(outer);
  return results;
}

//===--- Values ---===//

Value Emitter::splat(Value value, unsigned lanes) {
  if (lanes == 1 || value->getType()->isVectorTy())
    return value;
  return b.CreateVectorSplat(lanes, value);
}

llvm::Type *Emitter::typeOf(ElementKind kind, unsigned lanes) {
  llvm::Type *type = computeType(kind, b.getContext());
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
}

Value Emitter::constantOf(ElementKind kind, int64_t bits) {
  llvm::Type *type = computeType(kind, b.getContext());
  if (!isFloat(kind))
    return llvm::ConstantInt::get(type, llvm::APInt(64, bits).trunc(bitWidth(kind)));
  llvm::APFloat value(semanticsOf(kind), llvm::APInt(64, bits).trunc(bitWidth(kind)));
  if (isNarrowFloat(kind)) {
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  }
  return llvm::ConstantFP::get(type, value);
}

Value Emitter::temporary(llvm::Type *type, const llvm::Twine &name) {
  llvm::BasicBlock &entry = levels[0].insertBefore->getFunction()->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  return atEntry.CreateAlloca(type, nullptr, name);
}

} // namespace tessera::codegen
