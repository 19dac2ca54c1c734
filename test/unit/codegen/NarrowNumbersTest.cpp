// Functions as emitters write them, before and after.
#include "passes/codegen/gpu/NarrowNumbers.h"

#include "passes/codegen/gpu/AccessAlignment.h"
#include "passes/codegen/gpu/NumberRanges.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "gtest/gtest.h"

namespace tessera::codegen::gpu {
namespace {

class NarrowNumbersTest : public testing::Test {
protected:
  // A kernel of an array of f32, and of the numbers of its 256 threads and 4,096 blocks.
  llvm::Function &parse(const std::string &body, const std::string &after = "") {
    llvm::SMDiagnostic wrong;
    module = llvm::parseAssemblyString(
        "target datalayout = \"e-i64:64-n16:32:64\"\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
        "declare i64 @llvm.smin.i64(i64, i64)\n"
        "define void @k(ptr align 64 %x, i32 %data) {\n"
        "entry:\n"
        "  %t = call range(i32 0, 256) i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
        "  %thread = zext i32 %t to i64\n"
        "  %c = call range(i32 0, 4096) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
        "  %block = zext i32 %c to i64\n" +
            body + "  ret void\n}\n" + after,
        wrong, context);
    EXPECT_TRUE(module) << wrong.getMessage().str();
    return *module->getFunction("k");
  }

  void run(llvm::Function &function) {
    llvm::PassBuilder builder;
    llvm::FunctionAnalysisManager analyses;
    builder.registerFunctionAnalyses(analyses);
    llvm::FunctionPassManager passes;
    passes.addPass(AccessAlignmentPass());
    passes.addPass(NarrowNumbersPass());
    passes.addPass(llvm::EarlyCSEPass());
    passes.run(function, analyses);
    EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  }

  // Instructions of arithmetic whose result has 64 bits.
  static int64_t wide(llvm::Function &function) {
    return llvm::count_if(llvm::instructions(function), [](const llvm::Instruction &i) {
      return i.getType()->isIntegerTy(64) &&
             llvm::isa<llvm::BinaryOperator, llvm::PHINode, llvm::SelectInst, llvm::CallInst>(i);
    });
  }
  static int64_t extensions(llvm::Function &function) {
    return llvm::count_if(llvm::instructions(function), [](const llvm::Instruction &i) {
      return llvm::isa<llvm::ZExtInst, llvm::SExtInst>(i);
    });
  }
  static const llvm::Instruction &named(llvm::Function &function, llvm::StringRef name) {
    for (llvm::Instruction &i : llvm::instructions(function))
      if (i.getName() == name)
        return i;
    llvm_unreachable("no such instruction");
  }
  static std::pair<int64_t, int64_t> rangeOf(llvm::Function &function, llvm::StringRef name) {
    llvm::ConstantRange range = NumberRanges(function).of(&named(function, name));
    return {range.getSignedMin().getSExtValue(), range.getSignedMax().getSExtValue()};
  }

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
};

using Range = std::pair<int64_t, int64_t>;

TEST_F(NarrowNumbersTest, WhatFollowsFromTheLaunch) {
  llvm::Function &f = parse("  %row = mul nsw i64 %block, 256\n"
                            "  %at = add nsw i64 %row, %thread\n"
                            "  %before = sub nsw i64 %thread, 300\n"
                            "  %down = and i64 %before, -16\n"
                            "  %far = mul nsw i64 %at, %at\n");
  EXPECT_EQ(rangeOf(f, "at"), Range(0, 1048575));
  EXPECT_EQ(rangeOf(f, "before"), Range(-300, -45));
  EXPECT_EQ(rangeOf(f, "down"), Range(-304, -45));
  EXPECT_EQ(rangeOf(f, "far").first, 0);
}

TEST_F(NarrowNumbersTest, WhatIsChosenIsOneOfTwo) {
  llvm::Function &f = parse("  %isFirst = icmp eq i64 %block, 0\n"
                            "  %chosen = select i1 %isFirst, i64 %thread, i64 -7\n"
                            "  %least = call i64 @llvm.smin.i64(i64 %chosen, i64 90)\n");
  EXPECT_EQ(rangeOf(f, "chosen"), Range(-7, 255));
  EXPECT_EQ(rangeOf(f, "least"), Range(-7, 90));
}

TEST_F(NarrowNumbersTest, WhatAnEmitterTells) {
  llvm::Function &f = parse("  %slot = alloca i32\n"
                            "  %told = load i32, ptr %slot, !range !0\n"
                            "  %stage = zext i32 %told to i64\n",
                            "!0 = !{i32 0, i32 4097}\n");
  EXPECT_EQ(rangeOf(f, "stage"), Range(0, 4096));
}

TEST_F(NarrowNumbersTest, LoopsAreBoundedByTheirCondition) {
  llvm::Function &f = parse("  br label %loop\n"
                            "loop:\n"
                            "  %i = phi i64 [ %thread, %entry ], [ %next, %loop ]\n"
                            "  %next = add nsw i64 %i, 16\n"
                            "  %more = icmp slt i64 %next, 5000\n"
                            "  br i1 %more, label %loop, label %end\n"
                            "end:\n");
  EXPECT_EQ(rangeOf(f, "i"), Range(0, 4999));
  EXPECT_EQ(rangeOf(f, "next"), Range(16, 5015));
}

// It may go round any number of times.
TEST_F(NarrowNumbersTest, LoopsThatDataEndsAreNotBounded) {
  llvm::Function &f = parse("  %end = sext i32 %data to i64\n"
                            "  br label %loop\n"
                            "loop:\n"
                            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
                            "  %next = add nsw i64 %i, 16\n"
                            "  %more = icmp ne i64 %next, %end\n"
                            "  br i1 %more, label %loop, label %out\n"
                            "out:\n");
  EXPECT_EQ(rangeOf(f, "i"), Range(0, INT64_MAX));
  run(f);
  EXPECT_EQ(wide(f), 2);
}

// A step back may go below where the loop began.
TEST_F(NarrowNumbersTest, StepsBackAreNotBounded) {
  llvm::Function &f = parse("  br label %loop\n"
                            "loop:\n"
                            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
                            "  %next = add nsw i64 %i, -16\n"
                            "  %more = icmp slt i64 %next, 5000\n"
                            "  br i1 %more, label %loop, label %out\n"
                            "out:\n");
  EXPECT_EQ(rangeOf(f, "i"), Range(INT64_MIN, 4999));
  EXPECT_EQ(rangeOf(f, "next").second, 4983);
}

TEST_F(NarrowNumbersTest, NumbersThatFitAreNarrow) {
  llvm::Function &f = parse("  %row = mul nsw i64 %block, 256\n"
                            "  %at = add nsw i64 %row, %thread\n"
                            "  %digit = urem i64 %at, 100\n"
                            "  %least = call i64 @llvm.smin.i64(i64 %digit, i64 90)\n"
                            "  %p = getelementptr float, ptr %x, i64 %least\n"
                            "  store float 1.0, ptr %p\n");
  run(f);
  EXPECT_EQ(wide(f), 0);
  EXPECT_EQ(extensions(f), 1);
}

// 4,095 x 2^20 is more than 2^31.
TEST_F(NarrowNumbersTest, LargeNumbersStayWide) {
  llvm::Function &f = parse("  %row = mul nsw i64 %block, 1048576\n"
                            "  %at = add nsw i64 %row, %thread\n"
                            "  %p = getelementptr float, ptr %x, i64 %at\n"
                            "  store float 1.0, ptr %p\n");
  run(f);
  EXPECT_EQ(wide(f), 2);
}

// Without nsw a sum may wrap; a shift right of what may be negative is another number in 32 bits.
TEST_F(NarrowNumbersTest, WhatWrapsOtherwiseStaysWide) {
  llvm::Function &f = parse("  %any = sext i32 %data to i64\n"
                            "  %twice = add i64 %any, %any\n"
                            "  %high = lshr i64 %any, 3\n"
                            "  %p = getelementptr float, ptr %x, i64 %twice\n"
                            "  store float 1.0, ptr %p\n"
                            "  %q = getelementptr float, ptr %x, i64 %high\n"
                            "  store float 1.0, ptr %q\n");
  run(f);
  EXPECT_EQ(wide(f), 2);
}

// The least number of 32 bits divides by -1 in 64 bits only.
TEST_F(NarrowNumbersTest, RemaindersByWhatMayBeMinusOneStayWide) {
  llvm::Function &f = parse("  %any = sext i32 %data to i64\n"
                            "  %other = sub i64 %thread, 1\n"
                            "  %rest = srem i64 %any, %other\n"
                            "  %few = srem i64 %any, 7\n"
                            "  %sum = add i64 %rest, 0\n"
                            "  %p = getelementptr float, ptr %x, i64 %sum\n"
                            "  store float 1.0, ptr %p\n"
                            "  %q = getelementptr float, ptr %x, i64 %few\n"
                            "  store float 1.0, ptr %q\n");
  run(f);
  EXPECT_EQ(llvm::count_if(llvm::instructions(f),
                           [](const llvm::Instruction &i) {
                             return i.getOpcode() == llvm::Instruction::SRem &&
                                    i.getType()->isIntegerTy(64);
                           }),
            1);
}

// One address, and constants that the accesses add.
TEST_F(NarrowNumbersTest, ConstantsAreApart) {
  llvm::Function &f = parse("  %two = mul nsw i64 %thread, 2\n"
                            "  %a = add nsw i64 %two, 1\n"
                            "  %row = mul nsw i64 %a, 48\n"
                            "  %p = getelementptr float, ptr %x, i64 %row\n"
                            "  store float 1.0, ptr %p\n"
                            "  %b = sub nsw i64 %two, 1\n"
                            "  %row2 = mul nsw i64 %b, 48\n"
                            "  %q = getelementptr float, ptr %x, i64 %row2\n"
                            "  store float 2.0, ptr %q\n");
  run(f);
  llvm::SmallVector<int64_t> constants;
  const llvm::Value *near = nullptr;
  for (llvm::Instruction &i : llvm::instructions(f))
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      auto *place = llvm::cast<llvm::GetElementPtrInst>(store->getPointerOperand());
      constants.push_back(llvm::cast<llvm::ConstantInt>(place->getOperand(1))->getSExtValue());
      EXPECT_TRUE(!near || near == place->getPointerOperand());
      near = place->getPointerOperand();
    }
  EXPECT_EQ(constants, (llvm::SmallVector<int64_t>{48, -48}));
}

TEST_F(NarrowNumbersTest, AlignmentFollowsFromAllTerms) {
  llvm::Function &f = parse("  br label %loop\n"
                            "loop:\n"
                            "  %i = phi i64 [ 32, %entry ], [ %next, %loop ]\n"
                            "  %row = mul nsw i64 %block, 48\n"
                            "  %at = add nsw i64 %row, %i\n"
                            "  %p = getelementptr float, ptr %x, i64 %at\n"
                            "  store float 1.0, ptr %p, align 4\n"
                            "  %odd = add nsw i64 %at, 6\n"
                            "  %q = getelementptr float, ptr %x, i64 %odd\n"
                            "  store float 2.0, ptr %q, align 4\n"
                            "  %next = add nsw i64 %i, 8\n"
                            "  %more = icmp slt i64 %next, 96\n"
                            "  br i1 %more, label %loop, label %end\n"
                            "end:\n");
  run(f);
  llvm::SmallVector<uint64_t> bytes;
  for (llvm::Instruction &i : llvm::instructions(f))
    if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
      bytes.push_back(store->getAlign().value());
  EXPECT_EQ(bytes, (llvm::SmallVector<uint64_t>{32, 8}));
}

} // namespace
} // namespace tessera::codegen::gpu
