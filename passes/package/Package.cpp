// Writes the manifest: the tables that the programs of a file share, then each of them.
#include "passes/package/Package.h"

#include "dialects/tessera/KnownAttributes.h"
#include "dialects/tessera/Marks.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/WorkMemo.h"
#include "passes/package/Constants.h"
#include "passes/package/ElementTypes.h"
#include "passes/package/OutsideKernel.h"
#include "passes/package/StepWork.h"
#include "passes/package/WriteProgram.h"
#include "tessera/container.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tessera::exec;

namespace tessera {
namespace {

// What its reports are made from.
void writeWork(KernelOp from, double predictedSeconds, program::Kernel &to) {
  cost::KernelWork work = codegen::workOf(from);
  for (const cost::Touched &array : work.arrays)
    if (array.isWritten)
      to.set_bytes_written(to.bytes_written() + array.bytes);
    else
      to.set_bytes_read(to.bytes_read() + array.bytes);
  if (!work.products.empty())
    to.set_product_type(work.products[0].type == cost::ProductType::BF16  ? program::BF16
                        : work.products[0].type == cost::ProductType::F64 ? program::F64
                                                                          : program::F32);
  to.set_predicted_seconds(predictedSeconds);
}

LogicalResult writeKernel(KernelOp from, program::Kernel &to) {
  if (!from.getGrid())
    return from.emitOpError("is not compiled; run --tessera-codegen before packaging");
  to.set_symbol(from.getSymName().str());
  to.set_grid(*from.getGrid());
  to.set_scratch_bytes(from.getScratchBytes().value_or(0));
  to.set_flops(from.getFlops() ? from.getFlops()->convertToDouble() : 0);
  for (Type type : from.getInputTypes())
    to.add_operands()->set_bytes(byteSize(cast<RankedTensorType>(type)));
  for (Type type : from.getOutputTypes()) {
    program::KernelOperand &operand = *to.add_operands();
    operand.set_bytes(byteSize(cast<RankedTensorType>(type)));
    operand.set_written(true);
  }
  if (from.getLibrary())
    to.set_library(from.getLibrary()->str());
  for (int64_t number : from.getNumbers().value_or(ArrayRef<int64_t>()))
    to.add_numbers(number);
  for (int64_t number : from.getProduct().value_or(ArrayRef<int64_t>()))
    to.add_product(number);
  return writeOutside(from, to);
}

LogicalResult writeChannel(ChannelOp from, const llvm::StringMap<uint32_t> &programs,
                           program::Channel &to) {
  to.set_name(from.getSymName().str());
  auto source = programs.find(from.getFrom()), target = programs.find(from.getTo());
  if (source == programs.end() || target == programs.end())
    return from.emitOpError("names a program that the module has not");
  to.set_from(source->second);
  to.set_to(target->second);
  to.set_type(elementTypeOf(from.getTensorType().getElementType()));
  if (to.type() == program::ELEMENT_INVALID)
    return from.emitOpError("is for arrays of ")
           << from.getTensorType() << ", which cannot be sent";
  for (int64_t size : from.getTensorType().getShape())
    to.add_shape(size);
  for (int64_t position : from.getSourceTarget().value_or(ArrayRef<int64_t>()))
    to.add_source_target(position);
  return success();
}

void writeLaunch(LaunchAttr from, program::Launch &to) {
  to.set_threads(from.getThreads());
  to.set_shared_bytes(from.getSharedBytes());
  if (!from.getMaps())
    return;
  for (auto map : from.getMaps().getAsRange<TensorMapAttr>()) {
    program::TensorMap &made = *to.add_maps();
    made.set_operand(map.getOperand());
    made.set_offset(map.getOffset());
    made.set_type(elementTypeOf(map.getType()));
    for (int64_t size : map.getSizes().asArrayRef())
      made.add_sizes(size);
    for (int64_t stride : map.getStrides().asArrayRef())
      made.add_strides(stride);
    for (int64_t size : map.getBox().asArrayRef())
      made.add_box(size);
  }
}

// The image's entry in the manifest; its code becomes a section of its own.
LogicalResult writeImage(ImageOp from, program::File &file, Package &package) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(from.getCode());
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return from.emitOpError("has its code in a resource that the module does not hold");
  std::string section = file.images_size() ? "code" + std::to_string(file.images_size()) : "code";
  program::CodeImage &to = *file.add_images();
  to.set_target(from.getTarget().str());
  to.set_cpu(from.getCpu().str());
  for (auto feature : from.getFeatures().getAsRange<StringAttr>())
    to.add_features(feature.getValue().str());
  to.set_section(section);
  for (int64_t grid : from.getGrids().value_or(ArrayRef<int64_t>()))
    to.add_grids(grid);
  if (to.grids_size() && to.grids_size() != file.kernels_size())
    return from.emitOpError("gives ")
           << to.grids_size() << " grids for " << file.kernels_size() << " kernels";
  if (ArrayAttr launches = from.getLaunchesAttr())
    for (auto launch : launches.getAsRange<LaunchAttr>())
      writeLaunch(launch, *to.add_launches());
  if (to.launches_size() && to.launches_size() != file.kernels_size())
    return from.emitOpError("launches ")
           << to.launches_size() << " kernels; there are " << file.kernels_size();
  package.code.emplace_back(section, std::string(blob->getData().data(), blob->getData().size()));
  return success();
}

void writePrediction(const ModulePrediction &predicted, const cost::Topology &topology,
                     program::Prediction &to) {
  to.set_topology(llvm::json::fixUTF8(topology.name));
  to.set_seconds(predicted.time.seconds);
  to.set_compute(predicted.time.compute);
  to.set_communication(predicted.time.communication);
  to.set_exposed(predicted.time.exposed);
  to.set_overhead(predicted.time.overhead);
  to.set_peak_bytes(predicted.memory.total());
}

// Each program's constants at a multiple of the alignment.
LogicalResult addConstants(ProgramOp program, program::Program &to, std::string &section) {
  FailureOr<std::string> constants = constantSection(program);
  if (failed(constants))
    return failure();
  section.resize(llvm::alignTo(section.size(), container::kAlignment));
  to.set_constant_offset(section.size());
  if (section.empty())
    section = std::move(*constants); // of one program: gigabytes, which need no second place
  else
    section += *constants;
  return success();
}

} // namespace

FailureOr<Package> packageProgram(ModuleOp module, StringRef report) {
  if (failed(verifyAttributes(module)))
    return failure();
  auto programs = llvm::to_vector(module.getOps<ProgramOp>());
  if (programs.empty())
    return module.emitError("holds no device program");
  for (ProgramOp program : programs)
    if (failed(program.verify()))
      return failure();
  Package package;
  codegen::WorkMemo counted;
  program::File file;
  file.set_version(container::kProgramVersion);
  file.set_report_json(report.str());
  ModulePrediction predicted = predictModule(module);
  writePrediction(predicted, topologyOf(module), *file.mutable_prediction());
  FileNumbers numbers{file, {}, {}, {}, {}};
  file.add_locations("");
  sdy::MeshTable meshes(module);
  for (auto kernel : module.getOps<KernelOp>()) {
    numbers.kernels[kernel.getSymName()] = file.kernels_size();
    numbers.scratch[kernel.getSymName()] = kernel.getScratchBytes().value_or(0);
    program::Kernel &made = *file.add_kernels();
    if (failed(writeKernel(kernel, made)))
      return failure();
    KernelFigures figures = predicted.kernels.lookup(kernel.getSymName());
    writeWork(kernel, figures.count > 0 ? figures.seconds / figures.count : 0, made);
  }
  for (auto image : module.getOps<ImageOp>())
    if (failed(writeImage(image, file, package)))
      return failure();
  llvm::StringMap<uint32_t> programNumbers;
  for (auto [i, program] : llvm::enumerate(programs))
    programNumbers[program.getSymName()] = i;
  for (auto channel : module.getOps<ChannelOp>()) {
    numbers.channels[channel.getSymName()] = file.channels_size();
    if (failed(writeChannel(channel, programNumbers, *file.add_channels())))
      return failure();
  }
  for (ProgramOp program : programs) {
    program::Program &made = *file.add_programs();
    if (failed(writeProgram(program, meshes, numbers, made)) ||
        failed(addConstants(program, made, package.constants)))
      return failure();
  }
  if (file.ByteSizeLong() > container::kMostManifest || !file.SerializeToString(&package.manifest))
    return programs.front().emitError("has instructions and tables of ")
           << file.ByteSizeLong() << " bytes; programs have " << container::kMostManifest
           << " at most";
  return package;
}

std::string writeContainer(const Package &package) {
  using container::SectionKind;
  std::vector<container::Section> sections = {
      {"manifest", SectionKind::Manifest, package.manifest}};
  for (const auto &[name, code] : package.code)
    sections.push_back({name, SectionKind::Code, code});
  sections.push_back({"constants", SectionKind::Constants, package.constants});
  return container::write(sections);
}

} // namespace tessera
