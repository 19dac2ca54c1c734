// A function that is called from several places lies otherwise in each, where a plan says so.
#include "compiler/plan/Calls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using namespace tessera::planning;

namespace {

constexpr const char *kNested = R"(
  func.func @main(%a: i32, %b: i32) -> (i32, i32) {
    %0 = func.call @outer(%a) : (i32) -> i32
    %1 = func.call @outer(%b) : (i32) -> i32
    return %0, %1 : i32, i32
  }
  func.func private @outer(%a: i32) -> i32 {
    %0 = func.call @inner(%a) : (i32) -> i32
    return %0 : i32
  }
  func.func private @inner(%a: i32) -> i32 {
    return %a : i32
  })";

struct PlanCalls : testing::Test {
  PlanCalls() { context.loadDialect<func::FuncDialect>(); }

  OwningOpRef<ModuleOp> parsed(const char *text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
  static size_t functions(ModuleOp module) {
    return size_t(llvm::range_size(module.getOps<func::FuncOp>()));
  }

  MLIRContext context;
};

TEST_F(PlanCalls, EachHasACopyOfAllThatItReaches) {
  OwningOpRef<ModuleOp> module = parsed(kNested);
  SeparateCalls separate = separateCalls(*module);
  EXPECT_EQ(functions(*module), 5u); // main, and two of each
  std::set<std::string> called;
  module->walk([&](func::CallOp call) { called.insert(call.getCallee().str()); });
  EXPECT_EQ(called.size(), 4u);
  joinAlike(*module, separate);
  EXPECT_EQ(functions(*module), 3u);
}

TEST_F(PlanCalls, CopiesThatDifferStay) {
  OwningOpRef<ModuleOp> module = parsed(kNested);
  SeparateCalls separate = separateCalls(*module);
  auto copy = module->lookupSymbol<func::FuncOp>(separate.back().back());
  copy.getBody().front().getTerminator()->setAttr("lies", UnitAttr::get(&context));
  joinAlike(*module, separate);
  EXPECT_EQ(functions(*module), 5u); // who calls it differs, too
}

TEST_F(PlanCalls, NothingElseIsChanged) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    func.func @main(%a: i32) -> i32 {
      %0 = func.call @main2(%a) : (i32) -> i32
      %1 = func.call @main2(%0) : (i32) -> i32
      %2 = func.call @once(%1) : (i32) -> i32
      return %2 : i32
    }
    func.func @main2(%a: i32) -> i32 { return %a : i32 }
    func.func private @once(%a: i32) -> i32 { return %a : i32 })");
  EXPECT_TRUE(separateCalls(*module).empty());
  EXPECT_EQ(functions(*module), 3u);
}

TEST_F(PlanCalls, FunctionsThatCallThemselvesEnd) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    func.func @main(%a: i32) -> i32 {
      %0 = func.call @again(%a) : (i32) -> i32
      return %0 : i32
    }
    func.func private @again(%a: i32) -> i32 {
      %0 = func.call @again(%a) : (i32) -> i32
      return %0 : i32
    })");
  joinAlike(*module, separateCalls(*module));
  EXPECT_TRUE(module->lookupSymbol("again"));
}

} // namespace
