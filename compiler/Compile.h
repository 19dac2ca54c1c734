// The compiler as a function: an annotated module in, the bytes of a .tsr program out.
#pragma once

#include "lib/cost/ScheduleOptions.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tessera {

struct CompileOptions {
  std::string inputName = "<module>"; // for diagnostics
  std::string entry = "main";
  std::string target = "cpu";
  std::string targetCpu = "native"; // or a processor that LLVM knows; several, with commas
  std::string inputShapes;          // of dynamic arguments: in0:8x128xf32,in1:4 (InputShapes.h)
  std::string topology;             // contents of a topology file, or a machine; empty: the default
  std::string topologyName;         // the file, for diagnostics; empty: it has none
  cost::ScheduleOptions schedule;   // --overlap, --memory
  std::string stopAfter;      // a phase: the result is the module's text as that phase leaves it
  std::string printAfter;     // a phase: its module's text goes to `print`
  bool predictsTrace = false; // the result has one
  bool verifyEach = false;    // MLIR's verifier after each pass, not only each phase's own
};

// Takes what the user writes for --overlap and --memory; what is empty stays as it is. "" or what is
// wrong: "overlap=most: must be auto, on or off".
std::string readSchedule(llvm::StringRef overlap, llvm::StringRef memory,
                         cost::ScheduleOptions &into);

struct CompileListener {
  llvm::function_ref<void(const std::string &line)> diagnostic; // a warning or remark
  llvm::function_ref<void(llvm::StringRef phase)> began;        // progress
  llvm::function_ref<void(llvm::StringRef text)> print;         // what printAfter asks for
};

// Says nothing to anybody.
const CompileListener &silentListener();

struct CompileResult {
  std::string error;   // empty on success; otherwise one line that begins with `error:`
  std::string program; // .tsr bytes, or IR text with stopAfter
  std::string report;  // JSON; see docs/command-line.md
  std::string trace;   // of the predicted step, where asked for; empty without a device program
  std::string sha256;  // of .tsr bytes, in hexadecimal
  std::string summary; // of the report, in a line for people; empty with stopAfter
};

// Parses text or MLIR bytecode and takes it down the road. Keeps no state between calls.
CompileResult compile(llvm::StringRef module, const CompileOptions &options,
                      const CompileListener &listener);

} // namespace tessera
