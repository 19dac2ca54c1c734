#include "runtime/client/Executable.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/LocalCommunicator.h"
#include <cstdio>

namespace tessera::runtime {

namespace {

// Says so when the arrays of one step can't fit into this machine, before any of them is made:
// what is promised and not there would end the process later.
Status checkMemory(const LoadedProgram &program, size_t devices, uint64_t most) {
  const auto &manifest = program.manifest();
  double bytes = static_cast<double>(manifest.arena_bytes()); // doubles don't wrap around
  for (const auto &input : manifest.inputs())
    bytes += static_cast<double>(localBytes(input));
  for (const auto &output : manifest.outputs())
    bytes += output.alias() ? 0 : static_cast<double>(localBytes(output));
  auto machine = static_cast<double>(most);
  if (bytes * static_cast<double>(devices) <= machine)
    return {};
  constexpr double gib = 1 << 30;
  char text[240];
  std::snprintf(text, sizeof text,
                "the program needs %.1f GiB on each of %zu devices, and the machine has %.1f GiB: "
                "use more processes on other machines (--comm=mpi), or shard its arrays further",
                bytes / gib, devices, machine / gib);
  return {Code::ResourceExhausted, text};
}

// What devices in one process take beside their arrays: tables of pointers, places at collectives,
// tiles. A short program can ask for much of it, and legitimate ones are far from the limit.
Status checkBookkeeping(const LoadedProgram &program) {
  const auto &manifest = program.manifest();
  const Decoded &decoded = program.decoded();
  constexpr double tile = 256, dimension = 32, most = 1 << 30;
  double each = static_cast<double>(decoded.slots.size()) * 2 * sizeof(void *) +
                static_cast<double>(decoded.counters + decoded.coordinates.size()) * 8;
  for (const auto *list : {&manifest.inputs(), &manifest.outputs()})
    for (const auto &parameter : *list)
      each += tile + dimension * parameter.layout_size();
  auto devices = static_cast<double>(program.mesh().size());
  double bytes = devices * each + LocalCommunicator::bytesFor(program);
  if (bytes <= most)
    return {};
  char text[200];
  std::snprintf(text, sizeof text,
                "%.0f devices in one process take %.1f GiB beside their arrays for this program, "
                "and 1 GiB is the limit: use more processes (--comm=mpi)",
                devices, bytes / most);
  return {Code::Unimplemented, text};
}

} // namespace

Result<std::shared_ptr<const Executable>>
Executable::make(std::shared_ptr<Client> client, std::shared_ptr<const LoadedProgram> program) {
  std::shared_ptr<Executable> executable(new Executable());
  executable->client_ = std::move(client);
  executable->program_ = std::move(program);
  const LoadedProgram &loaded = executable->program();
  int64_t devices = loaded.mesh().size();
  if (Transport *transport = executable->client_->transport()) {
    if (transport->size() != devices)
      return invalidArgument("the program is for " + std::to_string(devices) +
                             " devices, there are " + std::to_string(transport->size()) +
                             " processes");
    int64_t position = loaded.mesh().positionOf(transport->rank());
    executable->positions_.push_back(static_cast<uint32_t>(position));
  } else {
    constexpr int64_t most = 1 << 14; // pairs of ranks are counted in 32 bits
    if (devices > most)
      return Status(Code::Unimplemented, "the program is for " + std::to_string(devices) +
                                             " devices: one process runs at most " +
                                             std::to_string(most));
    if (Status s = checkBookkeeping(loaded); !s.ok())
      return s;
    for (int64_t p = 0; p < devices; ++p)
      executable->positions_.push_back(static_cast<uint32_t>(p));
  }
  device::Backend &backend = executable->client_->backend();
  if (Status s = checkMemory(loaded, executable->positions_.size(), backend.mostMemory()); !s.ok())
    return s;
  executable->constants_ = backend.constant(loaded.constants(), loaded.manifest().constant_bytes(),
                                            executable->program_);
  if (!executable->constants_)
    return Status(Code::ResourceExhausted, "no memory for the program's constants");
  for (const KernelEntry &kernel : loaded.decoded().kernels)
    if (kernel.used && kernel.prepare)
      kernel.prepare(kernel.plan.get());
  const auto &manifest = loaded.manifest();
  for (const auto &input : manifest.inputs())
    executable->takes_.push_back(input.donated());
  for (const auto &output : manifest.outputs())
    if (output.alias())
      executable->takes_[output.alias() - 1] = true;
  return std::shared_ptr<const Executable>(std::move(executable));
}

} // namespace tessera::runtime
