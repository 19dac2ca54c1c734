// A dialect that Tessera knows nothing of brings the sharding rule of its op through the interface:
// propagation and reshard read it as they read their own.
#include "dialects/sdy/ShardingRuleOpInterface.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/rules/Rules.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

namespace tessera::other_dialect {

using namespace mlir;

// test.outer(a, b): c[j, i] = f(a[i], b[j]); both dimensions pass through, crossed.
class OuterOp : public Op<OuterOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                          OpTrait::ZeroSuccessors, OpTrait::NOperands<2>::Impl> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.outer"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct OuterRule : sdy::ShardingRuleOpInterface::ExternalModel<OuterRule, OuterOp> {
  sharding::FactorRule getShardingRule(Operation *op) const {
    auto size = [&](unsigned operand) {
      return cast<RankedTensorType>(op->getOperand(operand).getType()).getDimSize(0);
    };
    return {{{size(0)}, {size(1)}}, {{{0}}, {{1}}}, {{{1}, {0}}}};
  }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context)
      : Dialect("test", context, TypeID::get<TestDialect>()) {
    addOperations<OuterOp>();
    OuterOp::attachInterface<OuterRule>(*context);
  }
  static StringRef getDialectNamespace() { return "test"; }
};

constexpr char kProgram[] = R"(
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                  %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<4x8xf32> {
    %0 = "test.outer"(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
    %1 = stablehlo.tanh %0 : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  })";

TEST(OtherDialect, ItsRuleIsRead) {
  DialectRegistry registry;
  registry.insert<TestDialect, func::FuncDialect, stablehlo::StablehloDialect, sdy::SdyDialect>();
  stablehlo::registerStablehloShardingRules(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(kProgram, &context);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  buildPropagatePipeline(passes);
  buildReshardPipeline(passes);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  EXPECT_NE(text.find("\"test.outer\"(%arg0, %arg1) {sdy.sharding = "
                      "#sdy.sharding_per_value<[<@mesh, [{\"y\"}, {\"x\"}]>]>}"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("sdy.reshard"), std::string::npos) << text;
}

} // namespace tessera::other_dialect
