#include "lib/compiler/Registration.h"

#include "lib/compiler/Phases.h"

#ifdef HAVE_TESSERASTABLEHLO
#include "dialects/stablehlo/StablehloOps.h"
#endif
#ifdef HAVE_TESSERASTABLEHLORULES
#include "dialects/stablehlo/rules/Rules.h"
#endif
#ifdef HAVE_TESSERACHLO
#include "dialects/chlo/ChloOps.h"
#endif
#ifdef HAVE_TESSERASDY
#include "dialects/sdy/SdyOps.h"
#endif
#ifdef HAVE_TESSERACOMM
#include "dialects/comm/CommOps.h"
#endif
#ifdef HAVE_TESSERAEXEC
#include "dialects/exec/ExecOps.h"
#endif
#ifdef HAVE_TESSERAIMPORT
#include "passes/import/Passes.h"
#endif
#ifdef HAVE_TESSERAPROPAGATE
#include "passes/propagate/Passes.h"
#endif
#ifdef HAVE_TESSERARESHARD
#include "passes/reshard/Passes.h"
#endif
#ifdef HAVE_TESSERALOCALIZE
#include "passes/localize/Passes.h"
#endif
#ifdef HAVE_TESSERACOMMUNICATE
#include "passes/communicate/Passes.h"
#endif
#ifdef HAVE_TESSERAFUSE
#include "passes/fuse/Passes.h"
#endif
#ifdef HAVE_TESSERAORDER
#include "passes/order/Passes.h"
#endif
#ifdef HAVE_TESSERAMEMORY
#include "passes/memory/Passes.h"
#endif
#ifdef HAVE_TESSERACODEGENCPU
#include "passes/codegen/cpu/Passes.h"
#endif
#ifdef HAVE_TESSERAPACKAGE
#include "passes/package/Passes.h"
#endif

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

namespace tessera {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect>();
  mlir::func::registerInlinerExtension(registry);
#ifdef HAVE_TESSERASTABLEHLO
  registry.insert<stablehlo::StablehloDialect>();
#endif
#ifdef HAVE_TESSERASTABLEHLORULES
  stablehlo::registerStablehloShardingRules(registry);
#endif
#ifdef HAVE_TESSERACHLO
  registry.insert<chlo::ChloDialect>();
#endif
#ifdef HAVE_TESSERASDY
  registry.insert<sdy::SdyDialect>();
#endif
#ifdef HAVE_TESSERACOMM
  registry.insert<comm::CommDialect>();
#endif
#ifdef HAVE_TESSERAEXEC
  registry.insert<exec::ExecDialect>();
#endif
}

void registerPasses() {
  mlir::registerTransformsPasses();
#ifdef HAVE_TESSERAIMPORT
  registerImportPasses();
#endif
#ifdef HAVE_TESSERAPROPAGATE
  registerPropagatePasses();
#endif
#ifdef HAVE_TESSERARESHARD
  registerReshardPasses();
#endif
#ifdef HAVE_TESSERALOCALIZE
  registerLocalizePasses();
#endif
#ifdef HAVE_TESSERACOMMUNICATE
  registerCommunicatePasses();
#endif
#ifdef HAVE_TESSERAFUSE
  registerFusePasses();
#endif
#ifdef HAVE_TESSERAORDER
  registerOrderPasses();
#endif
#ifdef HAVE_TESSERAMEMORY
  registerMemoryPasses();
#endif
#ifdef HAVE_TESSERACODEGENCPU
  registerCodegenCpuPasses();
#endif
#ifdef HAVE_TESSERAPACKAGE
  registerPackagePasses();
#endif
  registerCompilePipeline();
}

} // namespace tessera
