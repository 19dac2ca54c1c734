#include "runtime/client/Executable.h"
#include "lib/text/Quantity.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/LocalCommunicator.h"
#include <algorithm>
#include <map>

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
Status checkMemory(const std::vector<Executable::Device> &devices) {
  struct Wanted {
    const device::Backend *backend;
    double bytes = 0;
    size_t devices = 0;
  };
  std::vector<Wanted>
      wanted; // in the order of the devices, so that the error is the same each time
  for (const auto &device : devices) {
    auto of = std::find_if(wanted.begin(), wanted.end(),
                           [&](const Wanted &each) { return each.backend == device.backend; });
    if (of == wanted.end())
      of = wanted.insert(of, {device.backend});
    of->bytes += arrayBytes(device.program->manifest());
    ++of->devices;
  }
  for (const auto &[backend, all, count] : wanted) {
    auto machine = static_cast<double>(backend->mostMemory());
    if (all > machine)
      return {Code::ResourceExhausted,
              "the program needs " + shown(all / static_cast<double>(count)) + " on each of " +
                  text::counted(count, "device") + ", and the machine has " + shown(machine) +
                  backend->where() +
                  ": use more processes on other machines (--comm=mpi), or shard its arrays "
                  "further"};
  }
  return {};
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

// Of processes over NCCL each has as many devices as GPUs, of all others one.
Status Executable::checkProcesses() const {
  int64_t devices = program().deviceCount();
  const Transport *transport = client_->transport();
  int64_t each = std::max<int64_t>(1, static_cast<int64_t>(client_->mostDevices()));
  if (!transport && client_->mostDevices() && devices > each)
    return invalidArgument("the program is for " + std::to_string(devices) +
                           " devices, the client has " + std::to_string(each) + " GPUs");
  if (transport && transport->size() * each != devices)
    return invalidArgument(
        "the program is for " + text::counted(static_cast<uint64_t>(devices), "device") +
        ", there " + (transport->size() == 1 ? "is " : "are ") +
        text::counted(static_cast<uint64_t>(transport->size()), "process", "processes") +
        (each > 1 ? " of " + std::to_string(each) + " GPUs"
                  : "; `mpirun -n " + std::to_string(devices) + "` starts one for each device"));
  constexpr int64_t most = 1 << 14; // pairs of ranks are counted in 32 bits
  if (!transport && devices > most)
    return Status(Code::Unimplemented, "the program is for " + std::to_string(devices) +
                                           " devices: one process runs at most " +
                                           std::to_string(most));
  return transport ? Status() : checkBookkeeping(program());
}

int32_t Executable::processOf(int64_t device) const {
  const Transport *transport = client_->transport();
  return transport ? static_cast<int32_t>(device * transport->size() / program().deviceCount()) : 0;
}

Status Executable::listDevices() {
  const LoadedProgram &loaded = program();
  ranges_.resize(loaded.programs().size());
  if (Status s = checkProcesses(); !s.ok())
    return s;
  const Transport *transport = client_->transport();
  for (const DeviceProgram &each : loaded.programs()) {
    ranges_[each.index()].begin = devices_.size();
    for (int64_t p = 0; p < each.mesh().size(); ++p)
      if (!transport || processOf(each.mesh().deviceAt(p)) == transport->rank())
        devices_.push_back(
            {&each, static_cast<uint32_t>(p), &client_->backend(devices_.size()), {}, {}});
    ranges_[each.index()].end = devices_.size();
  }
  return {};
}

// Once on each back end.
Status Executable::loadCode() {
  std::map<device::Backend *, std::shared_ptr<const device::KernelCode>> codes;
  std::map<std::pair<device::Backend *, const DeviceProgram *>, std::shared_ptr<device::Memory>>
      constants;
  for (Device &device : devices_) {
    if (!codes.count(device.backend)) {
      auto code = device.backend->load(program());
      if (!code.ok())
        return code.status();
      codes[device.backend] = *code;
    }
    auto &memory = constants[{device.backend, device.program}];
    if (!memory)
      memory = device.backend->constant(device.program->constants(),
                                        device.program->manifest().constant_bytes(), program_);
    if (!memory)
      return {Code::ResourceExhausted,
              "no memory for the program's constants" + device.backend->where()};
    device.code = codes[device.backend];
    device.constants = memory;
  }
  return {};
}

std::vector<std::shared_ptr<device::Memory>>
Executable::allocateTiles(Range range, device::Space space, size_t bytes) const {
  std::vector<std::shared_ptr<device::Memory>> tiles;
  for (size_t begin = range.begin, end = begin; begin < range.end; begin = end) {
    device::Backend *backend = devices_[begin].backend;
    while (end < range.end && devices_[end].backend == backend)
      ++end;
    auto made = backend->allocateTiles(space, bytes, end - begin);
    if (made.empty())
      return {};
    tiles.insert(tiles.end(), made.begin(), made.end());
  }
  return tiles;
}

Result<std::shared_ptr<const Executable>>
Executable::make(std::shared_ptr<Client> client, std::shared_ptr<const LoadedProgram> program) {
  std::shared_ptr<Executable> executable(new Executable());
  executable->client_ = std::move(client);
  executable->program_ = std::move(program);
  const LoadedProgram &loaded = executable->program();
  if (Status s = loaded.executable(); !s.ok())
    return s;
  device::Backend &backend = executable->client_->backend(0);
  if (loaded.target() != "cpu" && loaded.target() != backend.name())
    return invalidArgument("the program is for '" + loaded.target() +
                           "', the client's devices are " + std::string(backend.name()));
  if (Status s = executable->listDevices(); !s.ok())
    return s;
  if (Status s = checkMemory(executable->devices_); !s.ok())
    return s;
  if (Status s = executable->loadCode(); !s.ok())
    return s;
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
