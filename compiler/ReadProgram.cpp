#include "compiler/ReadProgram.h"

#include "compiler/Compile.h"
#include "compiler/Entry.h"
#include "compiler/source/InputCheck.h"
#include "compiler/source/InputShapes.h"
#include "compiler/source/Nesting.h"
#include "compiler/source/NewerTypes.h"
#include "compiler/source/PortableArtifact.h"
#include "compiler/source/SourcePlaces.h"
#include "compiler/source/SourceText.h"
#include "compiler/source/TopologyFile.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/Topology.h"
#include "lib/machines/Machines.h"
#include "lib/target/GpuArchitectures.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace tessera {

using namespace mlir;

// Programs for GPUs are priced for one, where nothing else is said. Empty: the default topology.
static std::string machineFor(ModuleOp module, const CompileOptions &options) {
  if (!options.topology.empty() || topologyOf(module).name != cost::defaultTopology().name)
    return options.topology;
  llvm::Expected<target::Choice> target = target::choose(options.target, options.targetCpu);
  if (!target) { // refused where it is used
    llvm::consumeError(target.takeError());
    return "";
  }
  return target::machineOf(target->processors.front()).str(); // of both, the CPU is first
}

// `wrong` begins with a line and column.
static std::string wrongTopology(const std::string &text, const std::string &file,
                                 const std::string &wrong) {
  std::string machines = file.empty() ? machines::orMachine(text) : "";
  if (!machines.empty())
    return "'" + text + "' is neither the name of a machine nor what a topology file has" +
           machines;
  if (file.empty())
    return "the topology: " + wrong;
  return file + ":" + wrong;
}

static Location named(Location location, llvm::SMRange name) {
  llvm::StringRef text(name.Start.getPointer(), name.End.getPointer() - name.Start.getPointer());
  return named(location, text.split(':').first);
}

static OwningOpRef<ModuleOp> parseWithNames(const llvm::SourceMgr &sources, MLIRContext *context) {
  ParserConfig config(context, /*verifyAfterParse=*/false); // below, once
  Block block;
  AsmParserState names;
  if (failed(parseAsmSourceFile(sources, &block, config, &names)))
    return {};
  for (const AsmParserState::OperationDefinition &definition : names.getOpDefs())
    if (!definition.resultGroups.empty())
      definition.op->setLoc(
          named(definition.op->getLoc(), definition.resultGroups.front().definition.loc));
  for (const AsmParserState::BlockDefinition &definition : names.getBlockDefs())
    for (auto [argument, source] :
         llvm::zip(definition.block->getArguments(), definition.arguments))
      if (source.loc.isValid())
        argument.setLoc(named(argument.getLoc(), source.loc));
  OwningOpRef<ModuleOp> module;
  if (auto only = llvm::hasSingleElement(block) ? dyn_cast<ModuleOp>(block.front()) : ModuleOp()) {
    only->remove();
    module = only;
  } else { // top-level ops stand in a module of their own
    module = ModuleOp::create(UnknownLoc::get(context));
    module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  }
  if (failed(checkNesting(module)) || failed(verify(*module)))
    return {};
  return module;
}

// Device programs that --stop-after=memory left say what their kernels and memory were laid out for.
// The command says it again, and may take another processor.
static LogicalResult dropTarget(ModuleOp module, const CompileOptions &options) {
  TargetAttr made = getTarget(module);
  llvm::Expected<target::Choice> target = target::choose(options.target, options.targetCpu);
  if (!target) { // refused where it is used
    llvm::consumeError(target.takeError());
    return success();
  }
  if (made && made.getName() != target->target)
    return module.emitError() << "device programs for '" << made.getName()
                              << "'; compile them with --target=" << made.getName();
  setTarget(module, {});
  return success();
}

SourceProgram readProgram(llvm::StringRef text, const CompileOptions &options, MLIRContext *context,
                          DiagnosticCollector &diagnostics, bool keepNames) {
  SourceProgram result;
  std::string wrong;
  std::unique_ptr<llvm::MemoryBuffer> readable = readableText(text, options.inputName, wrong);
  if (!readable) {
    result.error = "error: " + wrong;
    return result;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(readable), llvm::SMLoc());
  ParserConfig config(context);
  readNewerTypes(config);
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  OwningOpRef<ModuleOp> module = keepNames && !isBytecode(*buffer)
                                     ? parseWithNames(sources, context)
                                     : readModule(sources, config);
  if (!module) {
    result.error = diagnostics.error("is not a module in MLIR text or bytecode");
    return result;
  }
  bool isDone = holdsDevicePrograms(*module); // but for their code: no function is to be chosen
  std::string entry = entryOf(*module, options.entry);
  if (!isDone)
    dropUncalled(*module, entry);
  if ((isDone && failed(dropTarget(*module, options))) || failed(refuseUnknownOps(*module)) ||
      (!isDone && failed(selectEntry(*module, entry))) || failed(checkInput(*module)) ||
      (!isDone && failed(noteInputShapes(*module, options.inputShapes)))) {
    result.error = diagnostics.error("is not a program");
    return result;
  }
  if (std::string machine = machineFor(*module, options); !machine.empty()) {
    llvm::Expected<TopologyAttr> topology = parseTopologyFile(context, machine);
    if (!topology) {
      result.error = "error: " + wrongTopology(machine, options.topologyName,
                                               oneLine(llvm::toString(topology.takeError())));
      return result;
    }
    setTopology(*module, *topology);
  }
  setSchedule(*module, options.schedule);
  result.module = std::move(module);
  dropUnusedMeshes(*result.module);
  return result;
}

} // namespace tessera
