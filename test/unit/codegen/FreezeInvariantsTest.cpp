// What an innermost loop adds to is one value, and what is a constant away from it stays so.
#include "passes/codegen/cpu/FreezeInvariants.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

namespace tessera::codegen {
namespace {

const char *twoLoops = R"(
define void @f(ptr %from, i64 %rows) {
entry:
  br label %outer
outer:
  %row = phi i64 [ 0, %entry ], [ %row.next, %after ]
  %start = mul i64 %row, 9
  %end = add i64 %start, 8
  %place = getelementptr i8, ptr %from, i64 %end
  %second = getelementptr i8, ptr %place, i64 32
  br label %inner
inner:
  %i = phi i64 [ %start, %outer ], [ %next, %inner ]
  %a = getelementptr i8, ptr %place, i64 %i
  %b = getelementptr i8, ptr %second, i64 %i
  %far = sub i64 %i, %start
  store i8 1, ptr %a
  store i8 2, ptr %b
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %inner, label %after
after:
  %row.next = add i64 %row, 1
  %rest = icmp slt i64 %row.next, %rows
  br i1 %rest, label %outer, label %done
done:
  ret void
}
)";

class FreezeInvariantsTest : public testing::Test {
protected:
  void SetUp() override {
    llvm::SMDiagnostic wrong;
    module = llvm::parseAssemblyString(twoLoops, wrong, context);
    ASSERT_TRUE(module) << wrong.getMessage().str();
    llvm::FunctionAnalysisManager analyses;
    llvm::PassBuilder().registerFunctionAnalyses(analyses);
    FreezeInvariantsPass().run(*module->getFunction("f"), analyses);
    ASSERT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  }

  llvm::Instruction *named(llvm::StringRef name) {
    for (llvm::Instruction &instruction : llvm::instructions(*module->getFunction("f")))
      if (instruction.getName() == name)
        return &instruction;
    return nullptr;
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

TEST_F(FreezeInvariantsTest, OnePlaceServesWhatIsAConstantAway) {
  auto *place = llvm::dyn_cast<llvm::FreezeInst>(named("a")->getOperand(0));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->getOperand(0), named("place"));
  auto *second = llvm::dyn_cast<llvm::GetElementPtrInst>(named("b")->getOperand(0));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->getPointerOperand(), place);
  EXPECT_EQ(second->getParent(), named("second")->getParent());
}

TEST_F(FreezeInvariantsTest, CountersAndLoopsAroundStay) {
  auto *counter = llvm::cast<llvm::PHINode>(named("i"));
  EXPECT_EQ(counter->getIncomingValueForBlock(named("start")->getParent()), named("start"));
  EXPECT_EQ(named("more")->getOperand(1), named("end"));
  EXPECT_EQ(named("far")->getOperand(1), named("start"));
  EXPECT_EQ(named("place")->getOperand(1), named("end"));
}

} // namespace
} // namespace tessera::codegen
