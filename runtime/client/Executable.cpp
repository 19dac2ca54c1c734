#include "runtime/client/Executable.h"
#include "lib/text/Quantity.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/LocalCommunicator.h"
#include <algorithm>

namespace tessera::runtime {

namespace {

double arrayBytes(const program::Program &manifest) {
  double bytes = static_cast<double>(manifest.arena_bytes()) + // doubles don't wrap around
                 static_cast<double>(manifest.host_bytes());
  for (const auto &input : manifest.inputs())
    bytes += static_cast<double>(localBytes(input));
  for (const auto &output : manifest.outputs())
    bytes += output.alias() ? 0 : static_cast<double>(localBytes(output));
  return bytes;
}

// Figures of programs from files may be larger than any machine's.
std::string shown(double bytes) {
  return text::bytes(static_cast<uint64_t>(std::min(bytes, 0x1p62)));
}

// Says so when the arrays of one step can't fit into this machine, before any of them is made:
// what is promised and not there would end the process later.
Status checkMemory(const std::vector<Executable::Device> &devices, uint64_t most) {
  double all = 0;
  for (const auto &device : devices)
    all += arrayBytes(device.program->manifest());
  auto machine = static_cast<double>(most);
  if (all <= machine)
    return {};
  return {Code::ResourceExhausted,
          "the program needs " + shown(all / static_cast<double>(devices.size())) + " on each of " +
              text::counted(devices.size(), "device") + ", and the machine has " + shown(machine) +
              ": use more processes on other machines (--comm=mpi), or shard its arrays further"};
}

double bookkeeping(const DeviceProgram &program) {
  const auto &manifest = program.manifest();
  const Decoded &decoded = program.decoded();
  constexpr double tile = 256, dimension = 32;
  double each = static_cast<double>(decoded.slots.size()) * 2 * sizeof(void *) +
                static_cast<double>(decoded.counters + decoded.coordinates.size() +
                                    decoded.functions.size()) *
                    8;
  for (const auto *list : {&manifest.inputs(), &manifest.outputs()})
    for (const auto &parameter : *list)
      each += tile + dimension * parameter.layout_size();
  return static_cast<double>(program.mesh().size()) * each + LocalCommunicator::bytesFor(program);
}

// What devices in one process take beside their arrays: tables of pointers, places at collectives
// and channels, tiles. A short program can ask for much of it, and legitimate ones are far from the
// limit.
Status checkBookkeeping(const LoadedProgram &program) {
  constexpr double most = 1 << 30;
  double bytes = LocalChannels::bytesFor(program);
  for (const DeviceProgram &each : program.programs())
    bytes += bookkeeping(each);
  if (bytes <= most)
    return {};
  return {Code::Unimplemented,
          std::to_string(program.deviceCount()) + " devices in one process take " + shown(bytes) +
              " beside their arrays for this program, and 1 GiB is the limit: use more processes "
              "(--comm=mpi)"};
}

} // namespace

Status Executable::listDevices() {
  const LoadedProgram &loaded = program();
  ranges_.resize(loaded.programs().size());
  int64_t devices = loaded.deviceCount();
  if (Transport *transport = client_->transport()) {
    if (transport->size() != devices)
      return invalidArgument("the program is for " + std::to_string(devices) +
                             " devices, there are " + std::to_string(transport->size()) +
                             " processes");
    const DeviceProgram &own = loaded.programOf(transport->rank());
    devices_.push_back({&own, static_cast<uint32_t>(own.mesh().positionOf(transport->rank()))});
    ranges_[own.index()] = {0, 1};
    return {};
  }
  constexpr int64_t most = 1 << 14; // pairs of ranks are counted in 32 bits
  if (devices > most)
    return Status(Code::Unimplemented, "the program is for " + std::to_string(devices) +
                                           " devices: one process runs at most " +
                                           std::to_string(most));
  if (Status s = checkBookkeeping(loaded); !s.ok())
    return s;
  for (const DeviceProgram &each : loaded.programs()) {
    ranges_[each.index()].begin = devices_.size();
    for (int64_t p = 0; p < each.mesh().size(); ++p)
      devices_.push_back({&each, static_cast<uint32_t>(p)});
    ranges_[each.index()].end = devices_.size();
  }
  return {};
}

Result<std::shared_ptr<const Executable>>
Executable::make(std::shared_ptr<Client> client, std::shared_ptr<const LoadedProgram> program) {
  std::shared_ptr<Executable> executable(new Executable());
  executable->client_ = std::move(client);
  executable->program_ = std::move(program);
  const LoadedProgram &loaded = executable->program();
  device::Backend &backend = executable->client_->backend();
  if (loaded.target() != "cpu" && loaded.target() != backend.name())
    return invalidArgument("the program is for '" + loaded.target() +
                           "', the client's devices are " + std::string(backend.name()));
  if (Status s = executable->listDevices(); !s.ok())
    return s;
  if (Status s = checkMemory(executable->devices_, backend.mostMemory()); !s.ok())
    return s;
  auto code = backend.load(loaded);
  if (!code.ok())
    return code.status();
  executable->code_ = std::move(*code);
  executable->constants_.resize(loaded.programs().size());
  for (const DeviceProgram &each : loaded.programs()) {
    auto range = executable->devicesOf(each);
    if (range.begin == range.end)
      continue;
    auto &constants = executable->constants_[each.index()];
    constants =
        backend.constant(each.constants(), each.manifest().constant_bytes(), executable->program_);
    if (!constants)
      return Status(Code::ResourceExhausted, "no memory for the program's constants");
  }
  for (const KernelEntry &kernel : loaded.kernels())
    if (kernel.used && kernel.prepare)
      kernel.prepare(kernel.plan.get());
  for (const auto &input : loaded.inputs())
    executable->takes_.push_back(input.parameter->donated());
  for (const auto &output : loaded.outputs())
    if (output.alias >= 0)
      executable->takes_[output.alias] = true;
  return std::shared_ptr<const Executable>(std::move(executable));
}

} // namespace tessera::runtime
