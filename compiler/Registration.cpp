#include "compiler/Registration.h"

#include "compiler/Phases.h"
#include "dialects/chlo/ChloOps.h"
#include "dialects/comm/CommOps.h"
#include "dialects/comm/ShardingRules.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/rules/Rules.h"
#include "dialects/tessera/TesseraDialect.h"
#include "dialects/vhlo/Vhlo.h"
#include "passes/plan/Passes.h"
#include "passes/portable/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera {

void registerDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<mlir::func::FuncDialect, stablehlo::StablehloDialect, chlo::ChloDialect,
              vhlo::VhloDialect, sdy::SdyDialect, TesseraDialect, comm::CommDialect,
              exec::ExecDialect, mlir::quant::QuantDialect, mlir::arith::ArithDialect,
              mlir::tensor::TensorDialect, mlir::shape::ShapeDialect,
              mlir::complex::ComplexDialect>(); // whose attribute a number of chlo.constant_like is
  mlir::func::registerInlinerExtension(registry);
  // Any phase may leave marks, whatever the program says.
  registry.addExtension(+[](mlir::MLIRContext *context, mlir::BuiltinDialect *) {
    context->loadDialect<TesseraDialect>();
  });
  stablehlo::registerStablehloShardingRules(registry);
  comm::registerCommShardingRules(registry);
}

void registerPasses() {
  registerPortablePasses();
  registerPlanPasses();
  for (const Phase &phase : phases())
    phase.registerPasses();
  registerCompilePipeline();
}

static void printPipeline(llvm::StringRef name) {
  if (const auto *pipeline = mlir::PassPipelineInfo::lookup(name))
    llvm::outs() << llvm::left_justify(("  --" + name).str(), 28) << pipeline->getPassDescription()
                 << "\n";
}

void printPasses() {
  llvm::outs() << "Phases, in the order of the road:\n";
  for (const Phase &phase : phases())
    printPipeline(("tessera-" + phase.name).str());
  printPipeline("tessera-compile");
  llvm::outs() << "\n";
  mlir::printRegisteredPasses();
}

} // namespace tessera
