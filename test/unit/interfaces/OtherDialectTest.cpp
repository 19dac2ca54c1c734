// A dialect that Tessera knows nothing of brings ops of its own by the op interfaces alone: they go
// through propagate, reshard, localize, communicate, fuse and the choice of kernels as ours do.
#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/ShardingRuleOpInterface.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/rules/Rules.h"
#include "passes/codegen/kernel/LibraryCall.h"
#include "passes/communicate/Passes.h"
#include "passes/fuse/Passes.h"
#include "passes/localize/Passes.h"
#include "passes/propagate/Passes.h"
#include "passes/reshard/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gtest/gtest.h>

namespace tessera::other_dialect {

using namespace mlir;

// What registering an op in C++ alone takes: no properties, no attributes of its own.
template <typename Concrete, template <typename> class... Traits>
struct TestOp : Op<Concrete, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                   MemoryEffectOpInterface::Trait, Traits...> {
  using Base = Op<Concrete, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                  MemoryEffectOpInterface::Trait, Traits...>;
  using Base::Base;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
};

// An elementwise op, of which nothing else is said.
struct SoftsignOp
    : TestOp<SoftsignOp, OpTrait::OneOperand, ElementwiseOpInterface::Trait,
             ElementwiseAs<ElementwiseKind::Compute, ElementWeight::Expensive>::Impl> {
  using TestOp::TestOp;
  static StringRef getOperationName() { return "test.softsign"; }
};

// An elementwise op that is linear.
struct HalveOp
    : TestOp<HalveOp, OpTrait::OneOperand, ElementwiseOpInterface::Trait,
             ElementwiseAs<ElementwiseKind::Compute, ElementWeight::Cheap>::Impl,
             PartialValueOpInterface::Trait, PartialAs<sharding::PartialLaw::Linear>::Impl> {
  using TestOp::TestOp;
  static StringRef getOperationName() { return "test.halve"; }
};

// c[j, i] = f(a[i], b[j]): a rule of its own, and a kernel from a library.
struct OuterOp : TestOp<OuterOp, OpTrait::NOperands<2>::Impl, sdy::ShardingRuleOpInterface::Trait,
                        LocalizationOpInterface::Trait, LocalizeAs<Localization::ByRule>::Impl,
                        LibraryCallOpInterface::Trait, CostOpInterface::Trait> {
  using TestOp::TestOp;
  static StringRef getOperationName() { return "test.outer"; }
  int64_t sizeOf(unsigned operand) {
    return cast<RankedTensorType>((*this)->getOperand(operand).getType()).getDimSize(0);
  }
  sharding::FactorRule getShardingRule() {
    return {{{sizeOf(0)}, {sizeOf(1)}}, {{{0}}, {{1}}}, {{{1}, {0}}}};
  }
  double getFlops() { return 7.0 * static_cast<double>(sizeOf(0) * sizeOf(1)); }
  FailureOr<LibraryCall> getLibraryCall() {
    LibraryCall call;
    call.name = "test.outer";
    call.numbers = {sizeOf(0), sizeOf(1)};
    call.flops = getFlops();
    return call;
  }
};

// Says nothing of itself.
struct SilentOp : TestOp<SilentOp, OpTrait::OneOperand> {
  using TestOp::TestOp;
  static StringRef getOperationName() { return "test.silent"; }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context)
      : Dialect("test", context, TypeID::get<TestDialect>()) {
    addOperations<SoftsignOp, HalveOp, OuterOp, SilentOp>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

class OtherDialect : public testing::Test {
protected:
  OtherDialect() {
    DialectRegistry registry;
    registry.insert<TestDialect, func::FuncDialect, stablehlo::StablehloDialect, sdy::SdyDialect,
                    comm::CommDialect, exec::ExecDialect>();
    stablehlo::registerStablehloShardingRules(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  // The text after these phases; "" where one fails.
  std::string run(StringRef function, ArrayRef<void (*)(OpPassManager &)> phases) {
    std::string source = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n" + function.str();
    module = parseSourceString<ModuleOp>(source, &context);
    if (!module)
      return "";
    PassManager passes(&context);
    for (auto build : phases)
      build(passes);
    if (failed(passes.run(*module)))
      return "";
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

void expectIn(const std::string &text, StringRef part) {
  EXPECT_NE(text.find(part), std::string::npos) << part.str() << " is not in\n" << text;
}
void expectNotIn(const std::string &text, StringRef part) {
  EXPECT_EQ(text.find(part), std::string::npos) << part.str() << " is in\n" << text;
}

constexpr char kOuter[] = R"(
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                  %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<4x8xf32> {
    %0 = "test.outer"(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
    %1 = "test.softsign"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.add %1, %1 : tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  })";

TEST_F(OtherDialect, RulesAreRead) {
  std::string text = run(kOuter, {buildPropagatePipeline, buildReshardPipeline});
  expectIn(text, "\"test.outer\"(%arg0, %arg1) {sdy.sharding = "
                 "#sdy.sharding_per_value<[<@mesh, [{\"y\"}, {\"x\"}]>]>}");
  // What is elementwise needs no rule of its own.
  expectIn(text, "\"test.softsign\"(%0) {sdy.sharding = "
                 "#sdy.sharding_per_value<[<@mesh, [{\"y\"}, {\"x\"}]>]>}");
  expectNotIn(text, "sdy.reshard");
}

TEST_F(OtherDialect, OpsAreLocalizedAndFused) {
  std::string text =
      run(kOuter, {buildPropagatePipeline, buildReshardPipeline, buildLocalizePipeline,
                   buildCommunicatePipeline, buildFusePipeline});
  expectIn(text, "(tensor<4xf32>, tensor<2xf32>) -> tensor<2x4xf32>");
  expectNotIn(text, "comm.");
  // The library's op is alone in its kernel; the elementwise one is with its user.
  SmallVector<exec::FusedOp> kernels;
  module->walk([&](exec::FusedOp fused) { kernels.push_back(fused); });
  ASSERT_EQ(kernels.size(), 2u) << text;
  EXPECT_TRUE(isa<OuterOp>(kernels[0].getBlock()->front()));
  EXPECT_EQ(kernels[0].getFlops(), 7 * 4 * 2);
  EXPECT_EQ(kernels[1].getBlock()->getOperations().size(), 3u) << text;
  EXPECT_EQ(kernels[1].getFlops(), 2 * 4 * 2);
  // Codegen asks it which function computes it.
  LibraryCallOpInterface called = codegen::libraryOperation(*kernels[0].getBlock());
  ASSERT_TRUE(called);
  FailureOr<LibraryCall> call = called.getLibraryCall();
  ASSERT_TRUE(succeeded(call));
  EXPECT_EQ(call->name, "test.outer");
  EXPECT_EQ(call->numbers, SmallVector<int64_t>({4, 2}));
}

// The sum of the parts of a linear op's result is the op's result on the sum: it is reduced once,
// behind both.
TEST_F(OtherDialect, LinearOpsTakePartialValues) {
  std::string text = run(R"(
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                    %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x16xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
      %1 = "test.halve"(%0) : (tensor<64x16xf32>) -> tensor<64x16xf32>
      %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
      %3 = stablehlo.add %1, %2 : tensor<64x16xf32>
      return %3 : tensor<64x16xf32>
    })",
                         {buildPropagatePipeline, buildReshardPipeline});
  expectIn(text, "\"test.halve\"(%0) {sdy.sharding = "
                 "#sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={\"x\"}>]>}");
  size_t first = text.find("sdy.reshard");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("sdy.reshard", first + 1), std::string::npos) << text;
}

TEST_F(OtherDialect, OpsThatSayNothingAreRefused) {
  std::string message;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    message += diagnostic.str();
    return success();
  });
  EXPECT_EQ(run(R"(
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
      %0 = "test.silent"(%a) : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })",
                {buildPropagatePipeline, buildReshardPipeline, buildLocalizePipeline}),
            "");
  expectIn(message, "cannot be partitioned: localize has no rule for 'test.silent'");
}

} // namespace tessera::other_dialect
