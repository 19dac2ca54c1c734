#include "passes/package/WriteProgram.h"

#include "dialects/comm/CommOps.h"
#include "passes/package/ElementTypes.h"
#include "passes/package/Figures.h"
#include "passes/package/Kinds.h"
#include "tessera/container.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tessera::exec;

namespace tessera {

uint32_t FileNumbers::ofLocation(Location location) {
  std::string text = locationText(location);
  if (text.empty())
    return 0;
  auto [it, isNew] = locations.try_emplace(text, file.locations_size());
  if (isNew)
    file.add_locations(llvm::json::fixUTF8(text));
  return it->second;
}

namespace {

class Writer {
public:
  Writer(ProgramOp program, const sdy::MeshTable &meshes, FileNumbers &numbers)
      : program(program), meshes(meshes), numbers(numbers) {}

  LogicalResult write(program::Program &out) {
    out.set_name(program.getSymName().str());
    if (program.getMesh())
      mesh = meshes.lookup(*program.getMesh());
    if (mesh) {
      for (const sharding::MeshAxis &axis : mesh->axes) {
        program::MeshAxis *to = out.mutable_mesh()->add_axes();
        to->set_name(llvm::json::fixUTF8(axis.name));
        to->set_size(axis.size);
      }
    }
    if (failed(writeDevices(*out.mutable_mesh())))
      return failure();
    for (Attribute attr : program.getInputs())
      if (failed(writeParameter(cast<ParameterAttr>(attr), *out.add_inputs())))
        return failure();
    for (Attribute attr : program.getOutputs())
      if (failed(writeParameter(cast<ParameterAttr>(attr), *out.add_outputs())))
        return failure();
    out.set_arena_bytes(program.getArenaBytes());
    out.set_host_bytes(program.getHostBytes());
    out.set_file_bytes(program.getFileBytes());
    out.set_constant_bytes(program.getConstantBytes());
    for (auto function : program.getBlock()->getOps<FunctionOp>()) {
      auto number = static_cast<uint32_t>(out.functions_size());
      if (failed(writeFunction(function, *out.add_functions())))
        return failure();
      functions[function.getSymName()] = number; // what follows may call it
    }
    return writeBlock(*program.getBlock(), *out.mutable_body());
  }

private:
  using Body = google::protobuf::RepeatedPtrField<program::Instruction>;

  // The mesh numbers its devices from 0; `devices` says which of all they are.
  int64_t deviceOf(int64_t id) {
    ArrayRef<int64_t> devices = program.getDevices().value_or(ArrayRef<int64_t>());
    if (devices.size() <= 1)
      return id + (devices.empty() ? 0 : devices.front());
    return id >= 0 && id < static_cast<int64_t>(devices.size()) ? devices[id] : -1;
  }
  LogicalResult writeDevices(program::Mesh &to) {
    ArrayRef<int64_t> ids = mesh ? ArrayRef<int64_t>(mesh->deviceIds) : ArrayRef<int64_t>();
    ArrayRef<int64_t> devices = program.getDevices().value_or(ArrayRef<int64_t>());
    int64_t size = 1;
    if (mesh)
      for (const sharding::MeshAxis &axis : mesh->axes)
        size *= axis.size;
    if (devices.size() > 1 && static_cast<int64_t>(devices.size()) != size)
      return program.emitOpError("is for ") << size << " devices, and names " << devices.size();
    if (ids.empty() && devices.size() <= 1)
      to.set_first_device(deviceOf(0));
    else
      for (int64_t position = 0; position < size; ++position)
        to.add_device_ids(deviceOf(ids.empty() ? position : ids[position]));
    return success();
  }

  LogicalResult writeParameter(ParameterAttr from, program::Parameter &to) {
    to.set_name(llvm::json::fixUTF8(from.getName()));
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
    to.set_memory(toProgram(from.getMemory()));
    return success();
  }

  static void writeAxis(const sharding::AxisRef &from, program::AxisRef &to) {
    to.set_axis(from.axis);
    to.set_pre_size(from.preSize);
    to.set_size(from.size);
  }

  LogicalResult writeFunction(FunctionOp from, program::Function &to) {
    to.set_name(from.getSymName().str());
    for (int64_t i = 0; i < from.getNumArguments(); ++i) {
      program::KernelOperand &argument = *to.add_arguments();
      argument.set_bytes(byteSize(from.getArgumentType(i)));
      argument.set_written(i >= static_cast<int64_t>(from.getReads().size()));
    }
    return writeBlock(*from.getBlock(), *to.mutable_body());
  }

  void writeBuffer(Value value, program::Buffer &to) {
    auto op = value.getDefiningOp<BufferOp>();
    to.set_space(toProgram(op.getSpace()));
    to.set_index(op.getIndex());
    to.set_offset(op.getOffset());
    to.set_bytes(op.getBytes());
  }

  template <typename Message>
  LogicalResult writeChannel(Operation *op, StringRef name, Message &to) {
    auto channel = numbers.channels.find(name);
    if (channel == numbers.channels.end())
      return op->emitOpError("names no channel of the module: @") << name;
    to.set_channel(channel->second);
    return success();
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
          table->add_devices(deviceOf(device));
      }
    return success();
  }

  LogicalResult writeBlock(Block &block, Body &body) {
    for (Operation &op : block) {
      if (isa<BufferOp, exec::ConstantOp, FunctionOp>(op))
        continue;
      program::Instruction &to = *body.Add();
      to.set_location(numbers.ofLocation(op.getLoc()));
      if (failed(writeInstruction(&op, to)))
        return failure();
    }
    return success();
  }

  LogicalResult writeInstruction(Operation *op, program::Instruction &to) {
    if (auto dispatch = dyn_cast<DispatchOp>(op)) {
      auto kernel = numbers.kernels.find(dispatch.getKernel());
      if (kernel == numbers.kernels.end())
        return op->emitOpError("names no kernel of the module");
      to.mutable_dispatch()->set_kernel(kernel->second);
      for (Value buffer : dispatch->getOperands())
        writeBuffer(buffer, *to.mutable_dispatch()->add_operands());
      if (std::optional<uint64_t> at = dispatch.getScratchAt()) {
        program::Buffer &scratch = *to.mutable_dispatch()->mutable_scratch();
        scratch.set_space(toProgram(dispatch.getScratchIn().value_or(Space::Arena)));
        scratch.set_index(static_cast<uint32_t>(dispatch.getScratchIndex()));
        scratch.set_offset(*at);
        scratch.set_bytes(numbers.scratch.lookup(dispatch.getKernel()));
      }
      return success();
    }
    if (auto start = dyn_cast<StartOp>(op))
      return writeStart(start, *to.mutable_start());
    if (auto wait = dyn_cast<WaitOp>(op)) {
      to.mutable_wait()->set_site(wait.getSite());
      return success();
    }
    if (auto send = dyn_cast<SendOp>(op)) {
      to.mutable_send()->set_site(send.getSite());
      writeBuffer(send.getFrom(), *to.mutable_send()->mutable_from());
      return writeChannel(op, send.getChannel(), *to.mutable_send());
    }
    if (auto receive = dyn_cast<ReceiveOp>(op)) {
      to.mutable_receive()->set_site(receive.getSite());
      writeBuffer(receive.getTo(), *to.mutable_receive()->mutable_to());
      return writeChannel(op, receive.getChannel(), *to.mutable_receive());
    }
    if (auto copy = dyn_cast<CopyStartOp>(op)) {
      to.mutable_copy_start()->set_site(copy.getSite());
      writeBuffer(copy.getFrom(), *to.mutable_copy_start()->mutable_from());
      writeBuffer(copy.getTo(), *to.mutable_copy_start()->mutable_to());
      if (copy.getIndex()) {
        writeBuffer(copy.getIndex(), *to.mutable_copy_start()->mutable_index());
        to.mutable_copy_start()->set_step(*copy.getStep());
      }
      return success();
    }
    if (auto call = dyn_cast<CallOp>(op)) {
      auto function = functions.find(call.getFunction());
      if (function == functions.end())
        return op->emitOpError("calls @")
               << call.getFunction() << "; a function calls only those before it";
      to.mutable_call()->set_function(function->second);
      for (Value buffer : call->getOperands())
        writeBuffer(buffer, *to.mutable_call()->add_operands());
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

  ProgramOp program;
  const sdy::MeshTable &meshes;
  FileNumbers &numbers;
  const sharding::Mesh *mesh = nullptr;
  uint32_t depth = 0;                  // of the instruction that is being written
  llvm::StringMap<uint32_t> functions; // that are written
};

} // namespace

LogicalResult writeProgram(ProgramOp program, const sdy::MeshTable &meshes, FileNumbers &numbers,
                           program::Program &out) {
  return Writer(program, meshes, numbers).write(out);
}

} // namespace tessera
