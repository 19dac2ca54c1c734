#include "compiler/CommandLine.h"

#include "compiler/ProgramArguments.h"
#include "lib/files/OutputFile.h"
#include "lib/target/X86Processors.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tessera {
namespace {

const char kUsage[] = R"(usage: tessera compile IN.mlir|IN.mlirbc -o OUT.tsr [options]

Compiles a StableHLO module with Shardy annotations into a program for the devices of its mesh.

  -o FILE              the program; with --stop-after, the module's text (- is standard output)
)";
const char kMoreUsage[] =
    R"(  --target=cpu|shadow  what kernels are generated for; shadow is the cpu with a device that runs behind
  --target-cpu=NAME    the processor: native (this one), x86-64-v3, x86-64-v4, .. (help lists all)
  --stop-after=PHASE   stop there and write the module as text
  --print-after=PHASE  print the module after that phase, and go on
  --report=FILE        write times, collectives and memory as JSON
  --verify-each        check the module after every pass
phases: import, propagate, reshard, localize, communicate, fuse, order, memory, codegen, package
)";

struct CommandLine {
  ProgramArguments program;
  std::string output, reportFile;
};

// Empty, or what is wrong with the arguments.
std::string parseArguments(int argc, const char *const *argv, CommandLine &line) {
  CompileOptions &options = line.program.options;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto [name, value] = argument.split('=');
    if (argument == "-o") {
      if (++i == argc)
        return "-o takes a file";
      line.output = argv[i];
    } else if (name == "--target") {
      options.target = value.str();
    } else if (name == "--target-cpu") {
      options.targetCpu = value.str();
    } else if (name == "--stop-after") {
      options.stopAfter = value.str();
    } else if (name == "--print-after") {
      options.printAfter = value.str();
    } else if (name == "--report") {
      line.reportFile = value.str();
    } else if (argument == "--verify-each") {
      options.verifyEach = true;
    } else if (std::string wrong = line.program.take(argument); !wrong.empty()) {
      return wrong;
    }
  }
  if (line.program.input.empty())
    return "no input file";
  if (line.output.empty() && options.stopAfter.empty())
    return "no output file: -o OUT.tsr";
  return "";
}

bool isStandardOutput(llvm::StringRef path) {
  llvm::sys::fs::file_status standard, file;
  return path == "-" ||
         (!llvm::sys::fs::status(1, standard) && !llvm::sys::fs::status(path, file) &&
          llvm::sys::fs::equivalent(standard, file));
}

// Says which file was written, as sha256sum does: `sha256sum --check` and `tessera run --sha256`
// take it. Not where standard output has something else already.
void printDigest(const CommandLine &line, llvm::StringRef digest) {
  if (!digest.empty() && line.program.options.printAfter.empty() &&
      !isStandardOutput(line.output) && !isStandardOutput(line.reportFile))
    llvm::outs() << digest << "  " << line.output << "\n";
}

// The exit code.
int compileProgram(int argc, const char *const *argv) {
  if (printedHelp(argc, argv, llvm::Twine(kUsage) + kProgramUsage + kMoreUsage))
    return 0;
  if (llvm::is_contained(llvm::ArrayRef(argv, argc), llvm::StringRef("--target-cpu=help"))) {
    llvm::outs() << target::x86ProcessorNames();
    return 0;
  }
  CommandLine line;
  if (std::string wrong = parseArguments(argc, argv, line); !wrong.empty())
    return failCommand("error: " + wrong + "; see tessera compile --help");
  std::optional<std::string> input = readFiles(line.program);
  if (!input)
    return 1;
  files::OutputFile output, report;
  std::string wrong = files::openTogether(
      {{line.output.empty() ? "-" : line.output, &output}, {line.reportFile, &report}});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  ProgressLine progress;
  CompileResult result = compile(*input, line.program.options, progress.listener());
  progress.clear();
  if (!result.error.empty())
    return failCommand(result.error);
  llvm::outs().flush(); // what --print-after asks for comes first
  wrong = output.write(result.program);
  if (wrong.empty() && report.isOpen())
    wrong = report.write(result.report);
  if (wrong.empty())
    wrong = files::commitTogether({&output, &report});
  if (!wrong.empty())
    return failCommand("error: " + wrong);
  printDigest(line, result.sha256);
  return 0;
}

} // namespace

int compileCommand(int argc, const char *const *argv) {
  return runCommand([&] { return compileProgram(argc, argv); });
}

} // namespace tessera
