// Functions of f64 as functions of a module: `f64.exp.x8` takes eight numbers.
#include "passes/codegen/cpu/DoubleMath.h"
#include "passes/codegen/cpu/LlvmTypes.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using Value = llvm::Value *;

static constexpr llvm::StringRef kPrefix = "f64.";
static constexpr std::pair<Op, llvm::StringRef> kFunctions[] = {
    {Op::Exp, "exp"},   {Op::Expm1, "expm1"},       {Op::Log, "log"},   {Op::Log1p, "log1p"},
    {Op::Tanh, "tanh"}, {Op::Logistic, "logistic"}, {Op::Sin, "sin"},   {Op::Cos, "cos"},
    {Op::Tan, "tan"},   {Op::Erf, "erf"},           {Op::Erfc, "erfc"}, {Op::Cbrt, "cbrt"},
    {Op::Pow, "pow"},   {Op::Atan2, "atan2"}};

Value callDouble(llvm::IRBuilder<> &b, Op op, llvm::ArrayRef<Value> operands) {
  const auto *known = llvm::find_if(kFunctions, [&](auto &entry) { return entry.first == op; });
  assert(known != std::end(kFunctions) && "a function of f64");
  llvm::Type *type = operands[0]->getType();
  std::string name = (kPrefix + known->second).str();
  if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += ".x" + std::to_string(vector->getNumElements());
  llvm::SmallVector<llvm::Type *> parameters(operands.size(), type);
  llvm::Module *module = b.GetInsertBlock()->getModule();
  auto callee = module->getOrInsertFunction(
      name, llvm::FunctionType::get(type, parameters, /*isVarArg=*/false));
  auto *function = llvm::cast<llvm::Function>(callee.getCallee());
  // Equal calls are one, and leave loops whose trips they don't depend on.
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  return b.CreateCall(callee, operands);
}

bool isDoubleFunction(const llvm::Function &function) {
  return function.getName().starts_with(kPrefix);
}

static Value body(llvm::IRBuilder<> &b, llvm::Function &function) {
  llvm::SmallVector<Value> operands(llvm::make_pointer_range(function.args()));
  llvm::StringRef name = function.getName();
  if (const auto *part = llvm::find(kPartsOfAngles, name); part != kPartsOfAngles.end())
    return DoubleMath(b).partOfAngle(part - kPartsOfAngles.begin(), operands[0]);
  name = name.drop_front(kPrefix.size()).split('.').first;
  const auto *known = llvm::find_if(kFunctions, [&](auto &entry) { return entry.second == name; });
  return DoubleMath(b).apply(known->first, operands);
}

void defineDoubles(llvm::Module &module) {
  for (llvm::Function &function : module) { // also those that these call
    if (!function.isDeclaration() || !isDoubleFunction(function))
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    flushSubnormals(function);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "entry", &function));
    llvm::Instruction *end = b.CreateUnreachable();
    b.SetInsertPoint(end);
    Value result = body(b, function);
    b.CreateRet(result);
    end->eraseFromParent();
  }
}

} // namespace tessera::codegen
