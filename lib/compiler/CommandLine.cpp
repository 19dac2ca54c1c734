#include "lib/compiler/CommandLine.h"

#include "lib/compiler/Compile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace tessera {
namespace {

const char kUsage[] = R"(usage: tessera compile IN.mlir|IN.mlirbc -o OUT.tsr [options]

Compiles a StableHLO module with Shardy annotations into a program for the devices of its mesh.

  -o FILE              the program; with --stop-after, the module's text (- is standard output)
  --entry=NAME         the function to compile (main)
  --input-shapes=LIST  shapes of arguments that have dynamic ones: in0:8x128xf32,in1:4
  --target=cpu         what kernels are generated for
  --topology=FILE      the machine that costs are predicted for (a default is built in)
  --stop-after=PHASE   stop there and write the module as text
  --print-after=PHASE  print the module after that phase, and go on
  --report=FILE        write times, collectives and memory as JSON
  --verify-each        check the module after every pass
phases: import, propagate, reshard, localize, communicate, fuse, order, memory, codegen, package
)";

struct CommandLine {
  CompileOptions options;
  std::string input, output, topologyFile, reportFile;
};

int fail(const llvm::Twine &line) {
  llvm::errs() << line << "\n";
  return 1;
}

// Empty, or what is wrong with the arguments.
std::string parseArguments(int argc, const char *const *argv, CommandLine &line) {
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto [name, value] = argument.split('=');
    if (argument == "-o") {
      if (++i == argc)
        return "-o takes a file";
      line.output = argv[i];
    } else if (name == "--entry") {
      line.options.entry = value.str();
    } else if (name == "--target") {
      line.options.target = value.str();
    } else if (name == "--input-shapes") {
      line.options.inputShapes = value.str();
    } else if (name == "--topology") {
      line.topologyFile = value.str();
    } else if (name == "--stop-after") {
      line.options.stopAfter = value.str();
    } else if (name == "--print-after") {
      line.options.printAfter = value.str();
    } else if (name == "--report") {
      line.reportFile = value.str();
    } else if (argument == "--verify-each") {
      line.options.verifyEach = true;
    } else if (argument.starts_with("-") && argument != "-") {
      return ("unknown option " + argument).str();
    } else if (line.input.empty()) {
      line.input = argument.str();
    } else {
      return ("two inputs: " + line.input + " and " + argument).str();
    }
  }
  if (line.input.empty())
    return "no input file";
  if (line.output.empty() && line.options.stopAfter.empty())
    return "no output file: -o OUT.tsr";
  return "";
}

// Writes beside the file first, so that a reader never sees half of it. Empty, or what went wrong.
std::string writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  if (path.empty() || path == "-") {
    llvm::outs() << bytes;
    return "";
  }
  bool plain = !llvm::sys::fs::exists(path) || llvm::sys::fs::is_regular_file(path);
  std::string target = plain ? (path + ".partial").str() : path.str();
  std::error_code code;
  {
    llvm::raw_fd_ostream file(target, code);
    if (!code) {
      file << bytes;
      file.close();
      code = file.error();
      file.clear_error();
    }
  }
  if (!code && plain)
    code = llvm::sys::fs::rename(target, path);
  if (code)
    return ("error: " + path + ": cannot be written: " + code.message()).str();
  return "";
}

} // namespace

int compileCommand(int argc, const char *const *argv) {
  for (int i = 0; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--help" || llvm::StringRef(argv[i]) == "-h") {
      llvm::outs() << kUsage;
      return 0;
    }
  CommandLine line;
  if (std::string wrong = parseArguments(argc, argv, line); !wrong.empty())
    return fail("error: " + wrong + "; see tessera compile --help");

  auto input = llvm::MemoryBuffer::getFileOrSTDIN(line.input);
  if (!input)
    return fail("error: " + line.input + ": cannot be read: " + input.getError().message());
  line.options.inputName = line.input == "-" ? "<stdin>" : line.input;
  if (!line.topologyFile.empty()) {
    auto topology = llvm::MemoryBuffer::getFile(line.topologyFile);
    if (!topology)
      return fail("error: " + line.topologyFile +
                  ": cannot be read: " + topology.getError().message());
    line.options.topology = (*topology)->getBuffer().str();
  }

  bool progress = isatty(STDERR_FILENO);
  auto clearProgress = [&] {
    if (progress)
      llvm::errs() << "\r\033[K";
  };
  CompileResult result = compile((*input)->getBuffer(), line.options,
                                 {.diagnostic =
                                      [&](const std::string &text) {
                                        clearProgress();
                                        llvm::errs() << text << "\n";
                                      },
                                  .began =
                                      [&](llvm::StringRef phase) {
                                        clearProgress();
                                        if (progress)
                                          llvm::errs() << "tessera: " << phase;
                                      },
                                  .print = [&](llvm::StringRef text) { llvm::outs() << text; }});
  clearProgress();
  if (!result.error.empty())
    return fail(result.error);
  if (std::string wrong = writeFile(line.output, result.program); !wrong.empty())
    return fail(wrong);
  if (!line.reportFile.empty())
    if (std::string wrong = writeFile(line.reportFile, result.report); !wrong.empty())
      return fail(wrong);
  return 0;
}

} // namespace tessera
