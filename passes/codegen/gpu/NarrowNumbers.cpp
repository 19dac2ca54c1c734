#include "passes/codegen/gpu/NarrowNumbers.h"

#include "passes/codegen/gpu/NumberRanges.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <optional>

namespace tessera::codegen::gpu {

namespace {

using llvm::ConstantRange;
using llvm::Instruction;

constexpr unsigned kWide = 64, kNarrow = 32;

// A number of 32 bits, and what it can be.
struct Number {
  llvm::Value *value = nullptr;
  ConstantRange range = ConstantRange(llvm::APInt(kWide, 0));

  bool isNotNegative() const { return range.getSignedMin().isNonNegative(); }
};

// A number as a sum.
struct Sum {
  std::optional<Number> rest; // none: zero
  int64_t constant = 0;
};

bool fits(const ConstantRange &range) { return range.getMinSignedBits() <= kNarrow; }

class Narrowing {
public:
  explicit Narrowing(llvm::Function &function)
      : function(function), type(llvm::Type::getInt32Ty(function.getContext())), ranges(function) {}

  bool run() {
    llvm::SmallVector<Instruction *> numbers, compared;
    llvm::SmallVector<llvm::GetElementPtrInst *> places;
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
      for (Instruction &i : *block) {
        if (isNarrow(i))
          numbers.push_back(&i);
        else if (llvm::isa<llvm::ICmpInst>(i) && fits(i.getOperand(0)) && fits(i.getOperand(1)))
          compared.push_back(&i);
        else if (auto *place = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
                 place && place->getNumIndices() == 1)
          places.push_back(place);
      }
    for (Instruction *i : numbers)
      narrow(*i);
    for (Instruction *i : numbers)
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(i))
        for (auto [value, block] : llvm::zip(phi->incoming_values(), phi->blocks()))
          llvm::cast<llvm::PHINode>(made[i])->addIncoming(low(value, *block->getTerminator()),
                                                          block);
    for (Instruction *i : compared)
      compareNarrow(llvm::cast<llvm::ICmpInst>(*i));
    for (llvm::GetElementPtrInst *place : places)
      setApart(*place);
    for (Instruction *i : numbers)
      widen(*i);
    for (Instruction *i : llvm::concat<Instruction *>(compared, numbers)) {
      i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
      i->eraseFromParent();
    }
    return !numbers.empty() || !compared.empty();
  }

private:
  llvm::Function &function;
  llvm::Type *type;
  NumberRanges ranges;
  llvm::DenseMap<llvm::Value *, llvm::Value *> made;
  llvm::DenseMap<llvm::Value *, Sum> sums;

  bool fits(const llvm::Value *value) const {
    return value->getType()->isIntegerTy(kWide) && gpu::fits(ranges.of(value));
  }
  bool isNotNegative(const llvm::Value *value) const {
    return ranges.of(value).getSignedMin().isNonNegative();
  }

  // Whether its 32 bits are all that there is to know, and follow from the operands'.
  bool isNarrow(Instruction &i) const {
    if (!fits(&i))
      return false;
    auto operandsFit = [&] {
      return llvm::all_of(i.operand_values(), [&](llvm::Value *operand) {
        return !operand->getType()->isIntegerTy(kWide) || fits(operand);
      });
    };
    switch (i.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
      return i.getOperand(0)->getType()->getIntegerBitWidth() <= kNarrow;
    case Instruction::Call:
      return llvm::isa<llvm::MinMaxIntrinsic>(i) && operandsFit();
    case Instruction::LShr:
    case Instruction::Shl:
    case Instruction::AShr:
      return operandsFit() && ranges.of(i.getOperand(1)).getUnsignedMax().ult(kNarrow) &&
             (i.getOpcode() != Instruction::LShr || isNotNegative(i.getOperand(0)));
    case Instruction::UDiv:
    case Instruction::URem:
      return operandsFit() && isNotNegative(i.getOperand(0)) && isNotNegative(i.getOperand(1));
    case Instruction::SRem: // of the least number by -1 is 0, and nothing in 32 bits
      return operandsFit() && !ranges.of(i.getOperand(1)).contains(llvm::APInt::getAllOnes(kWide));
    default:
      return llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::BinaryOperator>(i) && operandsFit();
    }
  }

  llvm::Value *low(llvm::Value *value, Instruction &before) {
    if (llvm::Value *known = made.lookup(value))
      return known;
    return llvm::IRBuilder<>(&before).CreateTrunc(value, type);
  }

  void narrow(Instruction &i) {
    llvm::IRBuilder<> b(&i);
    Sum sum = sumOf(i);
    if (!sum.constant) {
      made[&i] = sum.rest ? sum.rest->value : b.getInt32(0);
    } else {
      Number constant = numberOf(sum.constant);
      made[&i] = sum.rest ? compute(b, Instruction::Add, *sum.rest, constant, ranges.of(&i)).value
                          : constant.value;
    }
    sums[&i] = sum;
  }

  Number numberOf(int64_t constant) const {
    return {llvm::ConstantInt::getSigned(type, constant),
            ConstantRange(llvm::APInt(kWide, constant, /*isSigned=*/true))};
  }

  Sum sumAt(llvm::Value *value, Instruction &before) {
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(value))
      return {std::nullopt, number->getSExtValue()};
    if (auto known = sums.find(value); known != sums.end())
      return known->second;
    return {Number{low(value, before), ranges.of(value)}, 0};
  }

  // Neither the operands nor the result leave the 32 bits.
  static Number compute(llvm::IRBuilder<> &b, Instruction::BinaryOps op, const Number &x,
                        const Number &y, const ConstantRange &range) {
    Number result{b.CreateBinOp(op, x.value, y.value), range};
    if (auto *made = llvm::dyn_cast<llvm::BinaryOperator>(result.value);
        made && llvm::isa<llvm::OverflowingBinaryOperator>(made)) {
      made->setHasNoSignedWrap(true);
      made->setHasNoUnsignedWrap(x.isNotNegative() && y.isNotNegative() && result.isNotNegative() &&
                                 op != Instruction::Sub);
    }
    return result;
  }

  Sum sumOf(Instruction &i) {
    Sum whole{Number{nullptr, ranges.of(&i)}, 0};
    if (std::optional<Sum> apart = constantApart(i))
      return *apart;
    whole.rest->value = narrowed(i);
    return whole;
  }

  // Of sums, and multiples of sums, that have a constant.
  std::optional<Sum> constantApart(Instruction &i) {
    unsigned op = i.getOpcode();
    bool isMultiple = op == Instruction::Mul || op == Instruction::Shl;
    if (!isMultiple && op != Instruction::Add && op != Instruction::Sub)
      return std::nullopt;
    Sum x = sumAt(i.getOperand(0), i), y = sumAt(i.getOperand(1), i);
    if (isMultiple ? y.rest || !x.constant : !x.constant && !y.constant)
      return std::nullopt;
    int64_t factor = op == Instruction::Shl ? int64_t{1} << y.constant : y.constant;
    int64_t constant = isMultiple               ? x.constant * factor
                       : op == Instruction::Sub ? x.constant - y.constant
                                                : x.constant + y.constant;
    ConstantRange range =
        ranges.of(&i).sub(ConstantRange(llvm::APInt(kWide, constant, /*isSigned=*/true)));
    if (!llvm::isInt<kNarrow>(constant) || !gpu::fits(range))
      return std::nullopt;
    llvm::IRBuilder<> b(&i);
    auto binary = static_cast<Instruction::BinaryOps>(op);
    if (!y.rest && !isMultiple)
      return Sum{x.rest, constant};
    if (!x.rest)
      return op == Instruction::Add ? std::optional(Sum{y.rest, constant}) : std::nullopt;
    Number second = isMultiple ? numberOf(y.constant) : *y.rest;
    return Sum{compute(b, binary, *x.rest, second, range), constant};
  }

  llvm::Value *narrowed(Instruction &i) {
    llvm::IRBuilder<> b(&i);
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i))
      return b.CreatePHI(type, phi->getNumIncomingValues());
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
      return b.CreateSelect(select->getCondition(), low(select->getTrueValue(), i),
                            low(select->getFalseValue(), i));
    if (llvm::isa<llvm::CastInst>(i))
      return b.CreateIntCast(i.getOperand(0), type, llvm::isa<llvm::SExtInst>(i));
    Number x{low(i.getOperand(0), i), ranges.of(i.getOperand(0))},
        y{low(i.getOperand(1), i), ranges.of(i.getOperand(1))};
    if (auto *extremum = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i))
      return b.CreateBinaryIntrinsic(extremum->getIntrinsicID(), x.value, y.value);
    return compute(b, llvm::cast<llvm::BinaryOperator>(i).getOpcode(), x, y, ranges.of(&i)).value;
  }

  // Numbers that are extended compare as they do.
  void compareNarrow(llvm::ICmpInst &compare) {
    llvm::Value *x = low(compare.getOperand(0), compare), *y = low(compare.getOperand(1), compare);
    compare.replaceAllUsesWith(
        llvm::IRBuilder<>(&compare).CreateICmp(compare.getPredicate(), x, y));
  }

  void setApart(llvm::GetElementPtrInst &place) {
    auto found = sums.find(place.getOperand(1));
    if (found == sums.end() || !found->second.constant || !found->second.rest)
      return;
    llvm::IRBuilder<> b(&place);
    llvm::Type *element = place.getSourceElementType();
    llvm::Value *near =
        b.CreateGEP(element, place.getPointerOperand(), wide(b, *found->second.rest));
    place.replaceAllUsesWith(b.CreateConstGEP1_64(element, near, found->second.constant));
    place.eraseFromParent();
  }

  static llvm::Value *wide(llvm::IRBuilder<> &b, const Number &number) {
    return number.isNotNegative()
               ? b.CreateZExt(number.value, b.getInt64Ty(), "", /*IsNonNeg=*/true)
               : b.CreateSExt(number.value, b.getInt64Ty());
  }

  // For those who take 64 bits.
  void widen(Instruction &i) {
    auto takesAll = [&](llvm::Use &use) { return !made.contains(use.getUser()); };
    if (llvm::none_of(i.uses(), takesAll))
      return;
    llvm::IRBuilder<> b(function.getContext());
    if (llvm::isa<llvm::PHINode>(i))
      b.SetInsertPoint(i.getParent(), i.getParent()->getFirstInsertionPt());
    else
      b.SetInsertPoint(&i);
    i.replaceUsesWithIf(wide(b, {made[&i], ranges.of(&i)}), takesAll);
  }
};

} // namespace

llvm::PreservedAnalyses NarrowNumbersPass::run(llvm::Function &function,
                                               llvm::FunctionAnalysisManager &) {
  return Narrowing(function).run() ? llvm::PreservedAnalyses::none()
                                   : llvm::PreservedAnalyses::all();
}

} // namespace tessera::codegen::gpu
