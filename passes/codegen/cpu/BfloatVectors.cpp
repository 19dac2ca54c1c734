#include "passes/codegen/cpu/BfloatVectors.h"

#include "passes/codegen/cpu/FloatMath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace tessera::codegen {

using Value = llvm::Value *;

static constexpr unsigned inRegister = 16; // numbers of f32

static unsigned lanesOf(Value value) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? vector->getNumElements() : 1;
}

// A power of two of them that fills so many registers at least.
static bool isByRegisters(unsigned lanes, unsigned registers) {
  return llvm::isPowerOf2_32(lanes) && lanes >= registers * inRegister;
}

static Value slice(llvm::IRBuilder<> &b, Value value, unsigned first, unsigned lanes) {
  if (lanesOf(value) == lanes)
    return value;
  llvm::SmallVector<int> order(lanes);
  std::iota(order.begin(), order.end(), first);
  return b.CreateShuffleVector(value, order);
}

static Value concatenated(llvm::IRBuilder<> &b, llvm::SmallVector<Value> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    llvm::SmallVector<int> order(2 * lanesOf(parts[0]));
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = b.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], order);
  }
  return parts[0];
}

Value narrowToBf16(llvm::IRBuilder<> &b, Value value) {
  unsigned lanes = lanesOf(value);
  llvm::Type *words = likeType(value->getType(), b.getInt16Ty());
  if (!isByRegisters(lanes, 2))
    return b.CreateBitCast(b.CreateFPTrunc(value, likeType(words, b.getBFloatTy())), words);
  llvm::SmallVector<Value> parts;
  for (unsigned first = 0; first < lanes; first += 2 * inRegister) {
    Value low = slice(b, value, first, inRegister);
    Value high = slice(b, value, first + inRegister, inRegister);
    parts.push_back(
        b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {high, low}));
  }
  return b.CreateBitCast(concatenated(b, parts), words);
}

// A constant that LLVM does not know: it makes of a permutation that it does one of two registers, the other
// of which is zero, and of a mask an operation of its own: three instructions where this is one.
static Value loaded(llvm::IRBuilder<> &b, const std::string &name, llvm::Constant *data) {
  llvm::Module *module = b.GetInsertBlock()->getModule();
  llvm::GlobalVariable *place = module->getGlobalVariable(name, /*AllowInternal=*/true);
  if (!place) {
    place = new llvm::GlobalVariable(*module, data->getType(), /*isConstant=*/false,
                                     llvm::GlobalValue::InternalLinkage, data, name);
    place->setAlignment(llvm::Align(64));
  }
  llvm::LoadInst *load = b.CreateAlignedLoad(place->getValueType(), place, llvm::Align(64));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

// Words of a register of 32, from word `first` on, as the upper halves of its numbers of f32.
static Value upperHalves(llvm::IRBuilder<> &b, Value source, unsigned first) {
  llvm::SmallVector<uint16_t> words;
  for (unsigned i = 0; i < inRegister; ++i)
    words.append({0, static_cast<uint16_t>(first + i)});
  Value order = loaded(b, "words_from_" + std::to_string(first),
                       llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef(words)));
  Value isUpper = b.CreateBitCast(loaded(b, "upper_words", b.getInt32(0xaaaaaaaa)),
                                  llvm::FixedVectorType::get(b.getInt1Ty(), 2 * inRegister));
  Value turned = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_hi_512, {}, {source, order});
  Value upper = b.CreateSelect(isUpper, turned, llvm::Constant::getNullValue(turned->getType()));
  return b.CreateBitCast(upper, llvm::FixedVectorType::get(b.getFloatTy(), inRegister));
}

Value widenBf16(llvm::IRBuilder<> &b, Value stored) {
  unsigned lanes = lanesOf(stored);
  if (!isByRegisters(lanes, 1)) {
    llvm::Type *type = stored->getType();
    Value wide = b.CreateShl(b.CreateZExt(stored, likeType(type, b.getInt32Ty())), 16);
    return b.CreateBitCast(wide, likeType(type, b.getFloatTy()));
  }
  llvm::SmallVector<Value> parts;
  for (unsigned first = 0; first < lanes; first += inRegister) {
    unsigned words = std::min(lanes, 2 * inRegister), from = first / words * words;
    Value source = slice(b, stored, from, words);
    if (words == inRegister) {
      llvm::SmallVector<int> order(2 * inRegister);
      std::iota(order.begin(), order.end(), 0);
      source = b.CreateShuffleVector(source, order);
    }
    parts.push_back(upperHalves(b, source, first - from));
  }
  return concatenated(b, parts);
}

} // namespace tessera::codegen
