#include "runtime/tool/ProgramInfo.h"
#include "runtime/array/ElementType.h"
#include "runtime/program/CodeImages.h"
#include <set>

namespace tessera::runtime {

namespace {

std::vector<std::string> axesOf(const program::DimLayout &dim, const program::Mesh &mesh) {
  std::vector<std::string> names;
  for (const auto &axis : dim.axes()) {
    const auto &whole = mesh.axes(static_cast<int>(axis.axis()));
    std::string name = whole.name();
    if (axis.size() != whole.size())
      name += ":(" + std::to_string(axis.pre_size()) + ")" + std::to_string(axis.size());
    names.push_back(name);
  }
  return names;
}

ParameterInfo describeParameter(const program::Parameter &parameter, const program::Mesh &mesh) {
  ParameterInfo info{parameter.name(),
                     std::string(nameOf(parameter.type())),
                     globalShape(parameter),
                     localShape(parameter),
                     {},
                     parameter.donated(),
                     parameter.memory() == program::HOST_MEMORY,
                     {}};
  for (const auto &dim : parameter.layout())
    info.sharding.push_back(axesOf(dim, mesh));
  return info;
}

ProgramInfo describeProgram(const DeviceProgram &program) {
  const program::Program &manifest = program.manifest();
  ProgramInfo info;
  info.name = manifest.name();
  for (const auto &axis : manifest.mesh().axes())
    info.mesh.emplace_back(axis.name(), axis.size());
  info.devices = program.mesh().ranges();
  for (const auto &input : manifest.inputs()) {
    info.inputs.push_back(describeParameter(input, manifest.mesh()));
    info.inputBytes += static_cast<uint64_t>(localBytes(input));
  }
  for (const auto &output : manifest.outputs()) {
    info.outputs.push_back(describeParameter(output, manifest.mesh()));
    if (output.alias())
      info.outputs.back().alias = manifest.inputs(output.alias() - 1).name();
    else
      info.outputBytes += static_cast<uint64_t>(localBytes(output));
  }
  info.arena = manifest.arena_bytes();
  info.scratch = program.decoded().scratchBytes;
  info.constants = manifest.constant_bytes();
  info.host = manifest.host_bytes();
  info.file = manifest.file_bytes();
  info.instructions = program.decoded().code.size();
  info.moves = movesOf(program.decoded());
  return info;
}

} // namespace

FileInfo describeFile(const LoadedProgram &file) {
  const program::File &manifest = file.manifest();
  FileInfo info;
  info.version = manifest.version();
  info.devices = file.deviceCount();
  if (manifest.has_prediction()) {
    const program::Prediction &from = manifest.prediction();
    info.predicted =
        PredictionInfo{from.topology(), from.seconds(),  from.compute(),   from.communication(),
                       from.exposed(),  from.overhead(), from.peak_bytes()};
  }
  for (const DeviceProgram &program : file.programs())
    info.programs.push_back(describeProgram(program));
  for (const auto &channel : manifest.channels())
    info.channels.push_back({channel.name(),
                             manifest.programs(static_cast<int>(channel.from())).name(),
                             manifest.programs(static_cast<int>(channel.to())).name(),
                             std::string(nameOf(channel.type())),
                             {channel.shape().begin(), channel.shape().end()}});
  auto chosen = chooseImage(manifest);
  for (const auto &image : manifest.images())
    info.images.push_back({image.target(),
                           image.cpu(),
                           {image.features().begin(), image.features().end()},
                           chosen.ok() && *chosen == &image});
  std::set<std::string> library, outside;
  for (const auto &kernel : manifest.kernels()) {
    if (!kernel.library().empty())
      library.insert(kernel.library());
    if (!kernel.outside().empty())
      outside.insert(kernel.outside());
  }
  info.kernels = static_cast<uint64_t>(manifest.kernels_size());
  info.library.assign(library.begin(), library.end());
  info.outside.assign(outside.begin(), outside.end());
  return info;
}

} // namespace tessera::runtime
