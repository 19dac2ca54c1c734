// An exec.kernel from text.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace tessera::test {

// `body` is what stands between the braces. A failed test where it does not parse.
class KernelText {
public:
  KernelText(const std::string &signature, const std::string &body) {
    context.loadDialect<exec::ExecDialect, stablehlo::StablehloDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "exec.kernel @k" + signature + " {\n" + body + "\n}", &context);
    if (!module)
      ADD_FAILURE() << "the kernel does not parse";
  }
  // Null where it does not.
  exec::KernelOp kernel() {
    return module ? *module->getOps<exec::KernelOp>().begin() : exec::KernelOp();
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tessera::test
