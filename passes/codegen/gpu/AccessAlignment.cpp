#include "passes/codegen/gpu/AccessAlignment.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace tessera::codegen::gpu {

namespace {

// Of integers and pointers of a function, how many of the lowest bits are zero.
class LowZeros {
public:
  explicit LowZeros(llvm::Function &function) : layout(function.getDataLayout()) {
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
      for (llvm::Instruction &i : *block)
        if (i.getType()->isIntOrPtrTy())
          known[&i] = ofInstruction(i);
  }

  unsigned of(const llvm::Value *value) const {
    if (auto *number = llvm::dyn_cast<llvm::ConstantInt>(value))
      return std::min<unsigned>(number->getValue().countr_zero(), kMost);
    if (auto *pointer = llvm::dyn_cast<llvm::GEPOperator>(value); pointer && !known.contains(value))
      return ofPointer(*pointer);
    if (llvm::isa<llvm::Argument, llvm::GlobalVariable, llvm::AllocaInst>(value) &&
        value->getType()->isPointerTy())
      return llvm::Log2(value->getPointerAlignment(layout));
    return known.lookup(value);
  }

private:
  static constexpr unsigned kMost = 30;
  const llvm::DataLayout &layout;
  llvm::DenseMap<const llvm::Value *, unsigned> known;

  unsigned least(llvm::User &user) const {
    unsigned all = kMost;
    for (llvm::Value *operand : user.operand_values())
      all = std::min(all, of(operand));
    return all;
  }

  unsigned ofInstruction(llvm::Instruction &i) const {
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&i))
      return ofPhi(*phi);
    if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
      return std::min(of(select->getTrueValue()), of(select->getFalseValue()));
    if (auto *extremum = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&i))
      return std::min(of(extremum->getLHS()), of(extremum->getRHS()));
    if (auto *pointer = llvm::dyn_cast<llvm::GEPOperator>(&i))
      return ofPointer(*pointer);
    switch (i.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::AddrSpaceCast:
      return least(i);
    case llvm::Instruction::And:
      return std::max(of(i.getOperand(0)), of(i.getOperand(1)));
    case llvm::Instruction::Mul:
      return std::min<unsigned>(of(i.getOperand(0)) + of(i.getOperand(1)), kMost);
    case llvm::Instruction::Shl:
    case llvm::Instruction::LShr:
    case llvm::Instruction::AShr:
      return ofShift(i);
    default:
      return 0;
    }
  }

  unsigned ofShift(llvm::Instruction &i) const {
    auto *by = llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(1));
    unsigned zeros = of(i.getOperand(0)), bits = by ? by->getLimitedValue(kMost) : 0;
    if (i.getOpcode() == llvm::Instruction::Shl)
      return std::min<unsigned>(zeros + bits, kMost);
    return by && zeros > bits ? zeros - bits : 0;
  }

  // What comes round in a loop is the phi and a step.
  unsigned ofPhi(llvm::PHINode &phi) const {
    unsigned all = kMost;
    for (llvm::Value *value : phi.incoming_values()) {
      auto *next = llvm::dyn_cast<llvm::BinaryOperator>(value);
      bool isStep =
          next && next->getOpcode() == llvm::Instruction::Add && next->getOperand(0) == &phi;
      all = std::min(all, of(isStep ? next->getOperand(1) : value));
    }
    return all;
  }

  unsigned ofPointer(const llvm::GEPOperator &pointer) const {
    unsigned all = of(pointer.getPointerOperand());
    for (auto step = llvm::gep_type_begin(pointer), end = llvm::gep_type_end(pointer); step != end;
         ++step) {
      if (step.getStructTypeOrNull())
        return 0;
      uint64_t bytes = step.getSequentialElementStride(layout);
      all = std::min<unsigned>(all, of(step.getOperand()) + llvm::countr_zero(bytes));
    }
    return all;
  }
};

} // namespace

llvm::PreservedAnalyses AccessAlignmentPass::run(llvm::Function &function,
                                                 llvm::FunctionAnalysisManager &) {
  LowZeros zeros(function);
  bool changed = false;
  auto raise = [&](llvm::Align old, llvm::Value *pointer, auto set) {
    llvm::Align found(uint64_t{1} << zeros.of(pointer));
    if (found > old) {
      set(found);
      changed = true;
    }
  };
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &i : block) {
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
        raise(load->getAlign(), load->getPointerOperand(),
              [&](llvm::Align align) { load->setAlignment(align); });
      else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
        raise(store->getAlign(), store->getPointerOperand(),
              [&](llvm::Align align) { store->setAlignment(align); });
      else if (auto *masked = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
               masked && masked->getIntrinsicID() == llvm::Intrinsic::masked_load)
        raise(masked->getParamAlign(0).valueOrOne(), masked->getArgOperand(0),
              [&](llvm::Align align) {
                masked->removeParamAttr(0, llvm::Attribute::Alignment);
                masked->addParamAttr(
                    0, llvm::Attribute::getWithAlignment(function.getContext(), align));
              });
    }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace tessera::codegen::gpu
