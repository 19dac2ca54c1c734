// What compile reports of a program: docs/command-line.md.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace tessera {

// {"devices", "collectives", "memory", "flops", "predicted"} of the module's exec.program; only "devices" when
// it has none yet.
llvm::json::Object reportProgram(mlir::ModuleOp module, int64_t devices);

// As JSON, with each number in the fewest digits that say it: 0.00064, where LLVM writes
// 0.00064000000000000005.
std::string reportText(llvm::json::Object report);

// The same in a line for people, without the line's end:
//   compiled for 8 devices in 2.1 s: 14 collectives and 1.2 MiB received a step, peak 3.4 MiB a device,
//   1.9 ms a step predicted
// `isSharded`: whether any value of the module had a sharding.
std::string summaryLine(const llvm::json::Object &report, bool isSharded, double seconds);

} // namespace tessera
