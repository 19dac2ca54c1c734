#include "passes/codegen/gpu/KnownLanes.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace tessera::codegen::gpu {
namespace {

// The types that are read of `type` at `align` where `mask` says which lanes are on, in order.
std::string piecesOf(const std::string &type, int align, const std::string &mask) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::string lanes = type.substr(1, type.find(' ') - 1);
  auto module = llvm::parseAssemblyString(
      "define " + type + " @k(ptr align " + std::to_string(align) + " %x) {\n  %v = call " + type +
          " @llvm.masked.load(ptr align " + std::to_string(align) + " %x, <" + lanes + " x i1> " +
          mask + ", " + type + " zeroinitializer)\n  ret " + type + " %v\n}\ndeclare " + type +
          " @llvm.masked.load(ptr, <" + lanes + " x i1>, " + type + ")\n",
      wrong, context);
  if (!module)
    return wrong.getMessage().str();
  llvm::Function &function = *module->getFunction("k");
  llvm::FunctionAnalysisManager analyses;
  KnownLanesPass::run(function, analyses);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  std::string pieces;
  llvm::raw_string_ostream stream(pieces);
  for (llvm::Instruction &i : llvm::instructions(function)) {
    EXPECT_FALSE(llvm::isa<llvm::CallInst>(i)); // nothing is masked
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
      stream << *load->getType() << "@" << load->getAlign().value() << " ";
  }
  return pieces;
}

std::string firstOf(int on, int lanes) {
  std::string mask = "<";
  for (int lane = 0; lane < lanes; ++lane)
    mask += (lane ? ", i1 " : "i1 ") + std::to_string(lane < on);
  return mask + ">";
}

// Two pieces of one size below an access's would be made one access, with what lies behind.
TEST(KnownLanesTest, PiecesBelowAnAccessDiffer) {
  EXPECT_EQ(piecesOf("<16 x float>", 16, firstOf(11, 16)),
            "<4 x float>@16 <4 x float>@16 i64@16 float@8 ");
  EXPECT_EQ(piecesOf("<16 x i8>", 16, firstOf(15, 16)), "i64@16 i32@8 i16@4 i8@2 ");
  EXPECT_EQ(piecesOf("<4 x double>", 32, firstOf(3, 4)), "<2 x double>@32 double@16 ");
  EXPECT_EQ(piecesOf("<8 x i16>", 16, firstOf(8, 8)), "<8 x i16>@16 ");
}

TEST(KnownLanesTest, PiecesLieWhereTheyMay) {
  EXPECT_EQ(piecesOf("<4 x float>", 4, firstOf(3, 4)), "float@4 float@4 float@4 ");
  EXPECT_EQ(piecesOf("<8 x i16>", 4, firstOf(5, 8)), "i32@4 i32@4 i16@4 ");
}

TEST(KnownLanesTest, LanesThatAreOffAreNotRead) {
  EXPECT_EQ(piecesOf("<4 x float>", 16, "<i1 false, i1 true, i1 true, i1 true>"), "float@4 i64@8 ");
  EXPECT_EQ(piecesOf("<4 x float>", 16, "zeroinitializer"), "");
}

} // namespace
} // namespace tessera::codegen::gpu
