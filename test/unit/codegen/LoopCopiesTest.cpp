#include "passes/codegen/gpu/LoopCopies.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace tessera::codegen::gpu {
namespace {

TEST(LoopCopiesTest, ShortBodiesAreCopied) {
  EXPECT_TRUE(copiesPay({.instructions = 5}));
  EXPECT_TRUE(copiesPay({.instructions = 30, .mostTrips = 100}));
  EXPECT_FALSE(copiesPay({.instructions = 100}));
  EXPECT_FALSE(copiesPay({.instructions = 30, .hasMany = true}));
  EXPECT_FALSE(copiesPay({.instructions = 100, .mostTrips = 100}));
}

// Four copies at once, and one for what is left: with fewer trips only this one would run.
TEST(LoopCopiesTest, CopiesThatNeverRunAreNotMade) {
  EXPECT_FALSE(copiesPay({.instructions = 5, .mostTrips = 3}));
  EXPECT_TRUE(copiesPay({.instructions = 5, .mostTrips = 4}));
}

// Where the number of trips is known there is no loop left.
TEST(LoopCopiesTest, FewTripsAreWrittenOut) {
  EXPECT_TRUE(copiesPay({.instructions = 30, .mostTrips = 3, .isCounted = true}));
  EXPECT_TRUE(copiesPay({.instructions = 60, .mostTrips = 2, .isCounted = true}));
  EXPECT_FALSE(copiesPay({.instructions = 60, .mostTrips = 3, .isCounted = true}));
  EXPECT_TRUE(copiesPay({.instructions = 30, .mostTrips = 4, .isCounted = true}));
  EXPECT_FALSE(copiesPay({.instructions = 35, .mostTrips = 4, .isCounted = true}));
}

// ptxas writes out all trips that it sees, up to some hundred: worth it where loads are under way together.
TEST(LoopCopiesTest, ManyTripsThatReadNothingStayALoop) {
  LoopBody zeros{.instructions = 8, .mostTrips = 48, .isCounted = true, .isSeen = true};
  EXPECT_TRUE(copiesPay(zeros));
  zeros.reads = false;
  EXPECT_FALSE(copiesPay(zeros));
  zeros.mostTrips = 16;
  EXPECT_TRUE(copiesPay(zeros));
  zeros.isSeen = false; // four copies
  zeros.mostTrips = 48;
  EXPECT_TRUE(copiesPay(zeros));
}

// A loop of each of 64 threads from its number on: `step` on, as long as it is below %bound.
std::string loopOf(const std::string &bound, int step, const std::string &body = "") {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  auto module = llvm::parseAssemblyString(
      "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
      "declare i32 @llvm.smin.i32(i32, i32)\n"
      "define void @k(ptr %x, <16 x float> %v, i32 %data) {\n"
      "entry:\n"
      "  %thread = call range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "  %block = call range(i32 0, 5) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n" +
          bound +
          "  %any = icmp ult i32 %thread, %bound\n"
          "  br i1 %any, label %before, label %end\n"
          "before:\n  br label %loop\n"
          "loop:\n"
          "  %i = phi i32 [ %thread, %before ], [ %next, %" +
          (body.find("rest:") == std::string::npos ? "loop" : "rest") +
          " ]\n"
          "  %at = getelementptr <16 x float>, ptr %x, i32 %i\n" +
          body + "  store <16 x float> %v, ptr %at\n  %next = add i32 %i, " + std::to_string(step) +
          "\n"
          "  %again = icmp ult i32 %next, %bound\n"
          "  br i1 %again, label %loop, label %end\n"
          "end:\n  ret void\n}\n",
      wrong, context);
  EXPECT_TRUE(module) << wrong.getMessage().str();
  llvm::PassBuilder builder;
  llvm::FunctionAnalysisManager analyses;
  builder.registerFunctionAnalyses(analyses);
  llvm::Function &function = *module->getFunction("k");
  LoopCopiesPass().run(function, analyses);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, nullptr);
  return text;
}

bool isForbidden(const std::string &text) {
  return text.find("llvm.loop.unroll.disable") != std::string::npos;
}
bool isCounted(const std::string &text) { return text.find("%trip = phi") != std::string::npos; }

// Whether the guard before the loop lets a thread in makes no difference: it has two trips at most.
TEST(LoopCopiesTest, TripsFollowFromRanges) {
  const std::string rows = "  %b = shl nuw nsw i32 %block, 4\n"
                           "  %left = sub nsw i32 68, %b\n"
                           "  %rows = call i32 @llvm.smin.i32(i32 %left, i32 16)\n"
                           "  %bound = mul nuw nsw i32 %rows, 8\n"; // 128 at most
  EXPECT_TRUE(isForbidden(loopOf(rows, 64)));
  EXPECT_TRUE(isForbidden(loopOf(rows, 43))); // three at most
  EXPECT_FALSE(isForbidden(loopOf(rows, 42)));
  EXPECT_FALSE(isForbidden(loopOf("  %bound = add i32 %data, 0\n", 64)));
}

// 64 threads have four trips each of 256 points, and four or three of 255.
TEST(LoopCopiesTest, TripsOfAllThreadsAreCounted) {
  std::string text = loopOf("  %bound = add i32 256, 0\n", 64);
  EXPECT_TRUE(isCounted(text));
  EXPECT_NE(text.find("icmp ne i32 %0, 4"), std::string::npos) << text;
  EXPECT_FALSE(isCounted(loopOf("  %bound = add i32 255, 0\n", 64)));
  EXPECT_FALSE(isCounted(loopOf("  %bound = add i32 512, 0\n", 64))); // ptxas would write out eight
}

// Three of four sums each: copied they would be sixteen, and four for what is left. Of one sum each they are.
TEST(LoopCopiesTest, LoopsAroundThoseThatAreWrittenOutAreInnermost) {
  auto around = [](int sums) {
    std::string text = "  br label %within\n"
                       "within:\n  %j = phi i32 [ 0, %loop ], [ %after, %within ]\n"
                       "  %after = add i32 %j, 1\n";
    for (int i = 0; i < sums; ++i)
      text += "  store volatile float 1.0, ptr %x\n";
    return text +
           "  %more = icmp ult i32 %after, 4\n  br i1 %more, label %within, label %rest\nrest:\n";
  };
  const std::string unknown = "  %bound = add i32 %data, 0\n";
  EXPECT_FALSE(isForbidden(loopOf(unknown, 64, around(2))));
  EXPECT_TRUE(isForbidden(loopOf(unknown, 64, around(8))));
}

// What a sorted row's places are found by lies in the thread's own memory: its loads wait for nothing.
TEST(LoopCopiesTest, ReadingOwnMemoryIsNoReason) {
  auto within = [](const std::string &place) {
    std::string text = "  %own = alloca [8 x i64]\n  br label %within\n"
                       "within:\n  %j = phi i32 [ 0, %loop ], [ %after, %within ]\n"
                       "  %at2 = getelementptr i64, ptr " +
                       place + ", i32 %j\n  %n = load volatile i64, ptr %at2\n";
    for (int i = 0; i < 20; ++i)
      text += "  %s" + std::to_string(i) + " = add i64 %n, " + std::to_string(i) + "\n";
    return text + "  %after = add i32 %j, 1\n  %more = icmp ult i32 %after, 8\n"
                  "  br i1 %more, label %within, label %rest\nrest:\n";
  };
  auto isForbiddenWithin = [&](const std::string &place) {
    std::string text = loopOf("  %bound = add i32 %data, 0\n", 64, within(place));
    return text.find("label %rest, !llvm.loop") != std::string::npos;
  };
  EXPECT_TRUE(isForbiddenWithin("%own"));
  EXPECT_FALSE(isForbiddenWithin("%x"));
}

// Zeros of one thread: as many as ptxas would write out, or what is read and written.
TEST(LoopCopiesTest, WhatIsSeenAndReadFollowsFromTheLoop) {
  auto zeros = [](const std::string &trips, const std::string &body) {
    return loopOf("  %bound = add i32 %thread, 0\n", 64,
                  "  br label %within\n"
                  "within:\n  %j = phi i32 [ 0, %loop ], [ %after, %within ]\n" +
                      body + "  %after = add i32 %j, 1\n  %more = icmp ult i32 %after, " + trips +
                      "\n  br i1 %more, label %within, label %rest\nrest:\n");
  };
  const std::string stores = "  store <8 x float> zeroinitializer, ptr %x\n"
                             "  store <16 x float> zeroinitializer, ptr %at\n";
  auto forbidden = [&](const std::string &trips, const std::string &body) {
    std::string text = zeros(trips, body);
    return text.find("label %within, label %rest, !llvm.loop") != std::string::npos;
  };
  EXPECT_TRUE(forbidden("48", stores));
  EXPECT_FALSE(forbidden("8", stores));
  EXPECT_FALSE(forbidden("%data", stores));
  EXPECT_FALSE(forbidden("48", stores + "  %v1 = load volatile float, ptr %at\n"));
}

// Each lane of a vector is an instruction.
TEST(LoopCopiesTest, LanesAreInstructions) {
  auto body = [](int sums) {
    std::string text, before = "%v";
    for (int i = 0; i < sums; ++i) {
      std::string sum = "%s" + std::to_string(i);
      text += "  " + sum + " = fadd <16 x float> " + before + ", %v\n";
      before = sum;
    }
    return text;
  };
  const std::string unknown = "  %bound = add i32 %data, 0\n";
  EXPECT_FALSE(isForbidden(loopOf(unknown, 64, body(1))));
  EXPECT_TRUE(isForbidden(loopOf(unknown, 64, body(3))));
}

} // namespace
} // namespace tessera::codegen::gpu
