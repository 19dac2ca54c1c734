// Programs that tests bring to the road, on machines of their own.
#pragma once

#include "compiler/Registration.h"
#include "compiler/source/TopologyFile.h"
#include "dialects/tessera/Marks.h"

#include "RoadRun.h"

#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace tessera::plan {

class Road : public ::testing::Test {
protected:
  Road() : context(registry()) { context.loadAllAvailableDialects(); }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry all;
    registerDialects(all);
    return all;
  }

  // `program`: imported, with a mesh.
  std::unique_ptr<RoadRun> runOn(llvm::StringRef machineText, llvm::StringRef program) {
    module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
    return runOn(machineText);
  }

  std::unique_ptr<RoadRun> runOn(llvm::StringRef machineText) {
    auto machine = parseTopologyFile(&context, machineText);
    EXPECT_TRUE(bool(machine));
    setTopology(*module, *machine);
    EXPECT_TRUE(succeeded(ensureTarget(*module)));
    return std::make_unique<RoadRun>(*module);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tessera::plan
