// Writes the manifest: one message an op, with buffers, kernels, axes and locations as numbers.
#include "passes/package/Package.h"

#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/KnownAttributes.h"
#include "dialects/tessera/Marks.h"
#include "include/tessera/program.pb.h"
#include "passes/package/Constants.h"
#include "passes/package/ElementTypes.h"
#include "passes/package/Figures.h"
#include "passes/package/Kinds.h"
#include "passes/package/OutsideKernel.h"
#include "tessera/container.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tessera::exec;

namespace tessera {
namespace {

class Writer {
public:
  Writer(ModuleOp module, ProgramOp program) : module(module), program(program), meshes(module) {}

  LogicalResult write(program::Program &out) {
    out.set_version(container::kProgramVersion);
    out.set_name(program.getSymName().str());
    if (program.getMesh())
      mesh = meshes.lookup(*program.getMesh());
    if (mesh) {
      for (const sharding::MeshAxis &axis : mesh->axes) {
        program::MeshAxis *to = out.mutable_mesh()->add_axes();
        to->set_name(llvm::json::fixUTF8(axis.name));
        to->set_size(axis.size);
      }
      for (int64_t id : mesh->deviceIds)
        out.mutable_mesh()->add_device_ids(id);
    }
    for (Attribute attr : program.getInputs())
      if (failed(writeParameter(cast<ParameterAttr>(attr), *out.add_inputs())))
        return failure();
    for (Attribute attr : program.getOutputs())
      if (failed(writeParameter(cast<ParameterAttr>(attr), *out.add_outputs())))
        return failure();
    out.set_arena_bytes(program.getArenaBytes());
    out.set_constant_bytes(program.getConstantBytes());
    out.add_locations("");
    locations = &out;
    for (auto kernel : module.getOps<KernelOp>())
      if (failed(writeKernel(kernel, *out.add_kernels())))
        return failure();
    return writeBlock(*program.getBlock(), *out.mutable_body());
  }

private:
  using Body = google::protobuf::RepeatedPtrField<program::Instruction>;

  LogicalResult writeParameter(ParameterAttr from, program::Parameter &to) {
    to.set_name(llvm::json::fixUTF8(from.getName())); // bytes of the source, if damaged
    program::ElementType type = elementTypeOf(from.getGlobal().getElementType());
    if (type == program::ELEMENT_INVALID)
      return program.emitOpError("has a parameter of type ")
             << from.getGlobal() << ", which programs cannot take";
    to.set_type(type);
    for (int64_t size : from.getGlobal().getShape())
      to.add_global_shape(size);
    sharding::TensorSharding sharding;
    if (auto attr = dyn_cast_or_null<sdy::TensorShardingAttr>(from.getSharding())) {
      const sharding::Mesh *own = meshes.lookup(attr);
      if (own)
        sharding = sdy::toSharding(attr, *own);
      if (own && own != mesh)
        for (auto &dim : sharding.dims)
          for (sharding::AxisRef &axis : dim.axes)
            axis.axis = mesh ? mesh->axisIndex(own->axes[axis.axis].name) : -1;
    }
    for (auto [d, tile] : llvm::enumerate(from.getLocal().getShape())) {
      program::DimLayout *layout = to.add_layout();
      layout->set_tile(tile);
      if (d >= sharding.dims.size())
        continue;
      for (const sharding::AxisRef &axis : sharding.dims[d].axes) {
        if (axis.axis < 0)
          return program.emitOpError("has a parameter sharded by an axis that mesh @")
                 << *program.getMesh() << " has not";
        writeAxis(axis, *layout->add_axes());
      }
    }
    to.set_donated(from.getDonated());
    to.set_alias(from.getAlias() + 1);
    return success();
  }

  static void writeAxis(const sharding::AxisRef &from, program::AxisRef &to) {
    to.set_axis(from.axis);
    to.set_pre_size(from.preSize);
    to.set_size(from.size);
  }

  LogicalResult writeKernel(KernelOp from, program::Kernel &to) {
    if (!from.getGrid())
      return from.emitOpError("is not compiled; run --tessera-codegen before packaging");
    kernels[from.getSymName()] = kernels.size();
    to.set_symbol(from.getSymName().str());
    to.set_grid(*from.getGrid());
    to.set_scratch_bytes(from.getScratchBytes().value_or(0));
    to.set_flops(from.getFlops() ? from.getFlops()->convertToDouble() : 0);
    if (from.getLibrary())
      to.set_library(from.getLibrary()->str());
    for (Type type : from.getInputTypes())
      to.add_operands()->set_bytes(byteSize(cast<RankedTensorType>(type)));
    for (Type type : from.getOutputTypes()) {
      program::KernelOperand &operand = *to.add_operands();
      operand.set_bytes(byteSize(cast<RankedTensorType>(type)));
      operand.set_written(true);
    }
    for (int64_t number : from.getNumbers().value_or(ArrayRef<int64_t>()))
      to.add_numbers(number);
    return writeOutside(from, to);
  }

  void writeBuffer(Value value, program::Buffer &to) {
    auto op = value.getDefiningOp<BufferOp>();
    to.set_space(toProgram(op.getSpace()));
    to.set_index(op.getIndex());
    to.set_offset(op.getOffset());
    to.set_bytes(op.getBytes());
  }

  template <typename Axes> LogicalResult writeAxes(Operation *op, Attribute attr, Axes *to) {
    auto axes = dyn_cast<comm::AxesAttr>(attr);
    if (!axes || !mesh)
      return op->emitOpError("needs axes of the program's mesh (#comm.axes), not ") << attr;
    const sharding::Mesh *own = meshes.lookup(axes.getMesh().getValue());
    if (!own)
      return op->emitOpError("names a mesh that the module has not: ") << axes.getMesh();
    for (sharding::AxisRef axis : axes.toAxisRefs(*own)) {
      axis.axis = mesh->axisIndex(own->axes[axis.axis].name);
      if (axis.axis < 0)
        return op->emitOpError("uses an axis that mesh @") << *program.getMesh() << " has not";
      writeAxis(axis, *to->Add());
    }
    return success();
  }

  LogicalResult writeStart(StartOp from, program::Start &start) {
    start.set_site(from.getSite());
    program::Collective &to = *start.mutable_collective();
    to.set_kind(toProgram(from.getKind()));
    if (failed(writeAxes(from, from.getAxes(), to.mutable_axes())))
      return failure();
    if (from.getReduction())
      to.set_reduction(toProgram(*from.getReduction()));
    auto element =
        from.getFrom().front().getDefiningOp<BufferOp>().getTensorType().getElementType();
    to.set_type(elementTypeOf(element));
    for (Value buffer : from.getFrom()) {
      auto type = buffer.getDefiningOp<BufferOp>().getTensorType();
      if (type.getElementType() != element)
        return from.emitOpError("moves operands of different element types together");
      program::Shape *shape = to.add_shapes();
      for (int64_t size : type.getShape())
        shape->add_dims(size);
      writeBuffer(buffer, *to.add_operands());
    }
    for (Value buffer : from.getTo())
      writeBuffer(buffer, *to.add_results());
    to.set_dim(from.getDim());
    to.set_concat_dim(from.getConcatDim());
    if (auto pairs = from.getSourceTarget())
      for (int64_t rank : *pairs)
        to.add_source_target(rank);
    to.set_shift(from.getShift());
    to.set_wrap(from.getWrap());
    if (ArrayAttr groups = from.getGroupsAttr())
      for (Attribute group : groups) {
        program::GroupTable *table = to.add_groups();
        for (int64_t device : cast<DenseI64ArrayAttr>(group).asArrayRef())
          table->add_devices(device);
      }
    return success();
  }

  uint32_t numberOf(Location location) {
    std::string text = locationText(location);
    if (text.empty())
      return 0;
    auto [it, isNew] = locationNumbers.try_emplace(text, locations->locations_size());
    if (isNew)
      locations->add_locations(llvm::json::fixUTF8(text));
    return it->second;
  }

  LogicalResult writeBlock(Block &block, Body &body) {
    for (Operation &op : block) {
      if (isa<BufferOp, exec::ConstantOp>(op))
        continue;
      program::Instruction &to = *body.Add();
      to.set_location(numberOf(op.getLoc()));
      if (failed(writeInstruction(&op, to)))
        return failure();
    }
    return success();
  }

  LogicalResult writeInstruction(Operation *op, program::Instruction &to) {
    if (auto dispatch = dyn_cast<DispatchOp>(op)) {
      auto kernel = kernels.find(dispatch.getKernel());
      if (kernel == kernels.end())
        return op->emitOpError("names no kernel of the module");
      to.mutable_dispatch()->set_kernel(kernel->second);
      for (Value buffer : dispatch->getOperands())
        writeBuffer(buffer, *to.mutable_dispatch()->add_operands());
      return success();
    }
    if (auto start = dyn_cast<StartOp>(op))
      return writeStart(start, *to.mutable_start());
    if (auto wait = dyn_cast<WaitOp>(op)) {
      to.mutable_wait()->set_site(wait.getSite());
      return success();
    }
    llvm::SaveAndRestore nested(depth, depth + 1);
    if (isa<LoopOp, BranchOp>(op) && depth > container::kDeepestNesting)
      return op->emitOpError("is nested in ")
             << container::kDeepestNesting << " loops and conditionals; that is as deep as "
             << "programs go: make functions or arrays of some of them";
    if (auto loop = dyn_cast<LoopOp>(op)) {
      program::Loop &made = *to.mutable_loop();
      made.set_trip_count(loop.getTripCount() ? static_cast<int64_t>(*loop.getTripCount()) : -1);
      if (loop.getPredicate()) {
        writeBuffer(loop.getPredicate(), *made.mutable_predicate());
        if (failed(writeBlock(loop.getCondition().front(), *made.mutable_condition())))
          return failure();
      }
      return writeBlock(loop.getBody().front(), *made.mutable_body());
    }
    if (auto branch = dyn_cast<BranchOp>(op)) {
      writeBuffer(branch.getIndex(), *to.mutable_branch()->mutable_index());
      for (Region &region : branch.getBlocks())
        if (failed(writeBlock(region.front(), *to.mutable_branch()->add_blocks()->mutable_body())))
          return failure();
      return success();
    }
    if (auto copy = dyn_cast<CopyOp>(op)) {
      writeBuffer(copy.getFrom(), *to.mutable_copy()->mutable_from());
      writeBuffer(copy.getTo(), *to.mutable_copy()->mutable_to());
      return success();
    }
    if (auto coordinate = dyn_cast<CoordinateOp>(op)) {
      writeBuffer(coordinate.getTo(), *to.mutable_coordinate()->mutable_to());
      return writeAxes(op, coordinate.getAxes(), to.mutable_coordinate()->mutable_axes());
    }
    return op->emitOpError("is no instruction");
  }

  ModuleOp module;
  ProgramOp program;
  sdy::MeshTable meshes;
  const sharding::Mesh *mesh = nullptr;
  uint32_t depth = 0; // of the instruction that is being written
  llvm::StringMap<uint32_t> kernels;
  llvm::StringMap<uint32_t> locationNumbers;
  program::Program *locations = nullptr;
};

} // namespace

FailureOr<Package> packageProgram(ModuleOp module, StringRef report) {
  if (failed(verifyAttributes(module)))
    return failure();
  auto programs = llvm::to_vector(module.getOps<ProgramOp>());
  if (programs.size() != 1)
    return module.emitError("holds ") << programs.size() << " device programs instead of one";
  if (failed(programs.front().verify()))
    return failure();
  program::Program message;
  if (failed(Writer(module, programs.front()).write(message)))
    return failure();
  if (TargetAttr target = getTarget(module)) {
    ProcessorAttr processor = target.getProcessors().front();
    message.set_target_cpu(processor.getName().str());
    for (StringAttr feature : processor.getFeatures())
      message.add_target_features(feature.str());
  }
  message.set_report_json(report.str());

  Package package;
  FailureOr<std::string> constants = constantSection(programs.front());
  if (failed(constants))
    return failure();
  package.constants = std::move(*constants);
  if (auto code = module->getAttrOfType<DenseResourceElementsAttr>("exec.code"))
    if (AsmResourceBlob *blob = code.getRawHandle().getBlob())
      package.code.assign(blob->getData().data(), blob->getData().size());
  if (message.ByteSizeLong() > container::kMostManifest ||
      !message.SerializeToString(&package.manifest))
    return programs.front().emitError("has instructions and tables of ")
           << message.ByteSizeLong() << " bytes; programs have " << container::kMostManifest
           << " at most";
  return package;
}

std::string writeContainer(const Package &package) {
  using container::SectionKind;
  return container::write({{"manifest", SectionKind::Manifest, package.manifest},
                           {"code", SectionKind::Code, package.code},
                           {"constants", SectionKind::Constants, package.constants}});
}

} // namespace tessera
