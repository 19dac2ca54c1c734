#include "lib/compiler/Registration.h"

#include "dialects/comm/CommOps.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

namespace tessera {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect>();
  registry.insert<comm::CommDialect>();
  mlir::func::registerInlinerExtension(registry);
}

void registerPasses() { mlir::registerTransformsPasses(); }

} // namespace tessera
