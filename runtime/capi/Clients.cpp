// Clients, executables, buffers, events and calls of the C interface.
#include "runtime/capi/Handles.h"
#include "runtime/client/OwnGpus.h"
#include "runtime/client/ShardedCall.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/TopologyFile.h"
#include "runtime/device/cuda/CudaBackend.h"
#include <cmath>
#include <cstring>

using namespace tessera::runtime;

struct tessera_arena {
  std::shared_ptr<Arena> arena;
};

struct tessera_call {
  std::unique_ptr<ShardedCall> call;
};

namespace tessera::runtime {

Result<std::shared_ptr<Transport>> openTransport(const char *communicator) {
  if (!communicator || isOneProcess(communicator))
    return std::shared_ptr<Transport>();
  return Transport::open(communicator);
}

} // namespace tessera::runtime

namespace {

Status describeTile(const std::vector<Described> &tiles, size_t index, const char *what,
                    tessera_parameter *tile) {
  if (index >= tiles.size())
    return {Code::OutOfRange, std::string("there is no ") + what + " " + std::to_string(index)};
  return tiles[index].fill(tile);
}

Status findDevices(const Executable &executable, const std::vector<LoadedProgram::Place> &places,
                   size_t index, size_t *first, size_t *count) {
  if (!first || !count)
    return invalidArgument("a null argument");
  if (index >= places.size())
    return {Code::OutOfRange, "there is no parameter " + std::to_string(index)};
  auto [begin, end] = executable.devicesOf(*places[index].program);
  *first = begin;
  *count = end - begin;
  return {};
}

Status findPart(const Executable &executable, const std::vector<LoadedProgram::Place> &places,
                size_t index, size_t device, int64_t *start, int64_t *extent) {
  size_t first = 0, count = 0;
  if (Status s = findDevices(executable, places, index, &first, &count); !s.ok())
    return s;
  if (device >= count)
    return {Code::OutOfRange, "there is no device " + std::to_string(device)};
  Tile tile = tileOf(*places[index].parameter, places[index].program->mesh(),
                     executable.devices()[first + device].position);
  if (!tile.start.empty() && (!start || !extent))
    return invalidArgument("a null argument");
  std::copy(tile.start.begin(), tile.start.end(), start);
  std::copy(tile.extent.begin(), tile.extent.end(), extent);
  return {};
}

} // namespace

extern "C" {

tessera_code tessera_client_create(const tessera_client_options *given, tessera_client **client) {
  return guarded([&]() -> Status {
    if (!client)
      return invalidArgument("tessera_client_create: a null argument");
    tessera_client_options options = {};
    if (given)
      std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
    ClientOptions internal;
    internal.workers = options.workers;
    if (options.device)
      internal.device = options.device;
    auto transport = openTransport(options.communicator);
    if (!transport.ok())
      return transport.status();
    internal.transport = *transport;
    if (!*transport && options.communicator && ownGpusOf(options.communicator) == OwnGpus::Always &&
        internal.device == "cuda")
      internal.gpus = std::max(1u, device::CudaBackend::visible());
    auto made = Client::create(internal);
    if (!made.ok())
      return made.status();
    *client = new tessera_client{*made};
    return {};
  });
}

void tessera_client_free(tessera_client *client) { delete client; }

int32_t tessera_client_process(const tessera_client *client) {
  if (!client)
    return without("tessera_client_process", -1);
  return client->client->transport() ? client->client->transport()->rank() : 0;
}

int32_t tessera_client_process_count(const tessera_client *client) {
  if (!client)
    return without("tessera_client_process_count", 0);
  return client->client->transport() ? client->client->transport()->size() : 1;
}

tessera_code tessera_executable_load(tessera_client *client, const tessera_program *program,
                                     tessera_executable **executable) {
  return guarded([&]() -> Status {
    if (!client || !program || !executable)
      return invalidArgument("tessera_executable_load: a null argument");
    auto made = Executable::make(client->client, program->loaded);
    if (!made.ok())
      return made.status();
    *executable = new tessera_executable(*made);
    return {};
  });
}

void tessera_executable_free(tessera_executable *executable) { delete executable; }

size_t tessera_executable_device_count(const tessera_executable *executable) {
  return executable ? executable->executable->devices().size()
                    : without("tessera_executable_device_count", size_t{0});
}

int64_t tessera_executable_device_id(const tessera_executable *executable, size_t device) {
  if (!executable)
    return without("tessera_executable_device_id", int64_t{-1});
  const auto &devices = executable->executable->devices();
  return device < devices.size()
             ? devices[device].program->mesh().deviceAt(devices[device].position)
             : -1;
}

tessera_code tessera_executable_input_tile(const tessera_executable *executable, size_t index,
                                           tessera_parameter *tile) {
  return guarded([&]() -> Status {
    return executable ? describeTile(executable->inputs, index, "input", tile)
                      : invalidArgument("tessera_executable_input_tile: a null argument");
  });
}

tessera_code tessera_executable_output_tile(const tessera_executable *executable, size_t index,
                                            tessera_parameter *tile) {
  return guarded([&]() -> Status {
    return executable ? describeTile(executable->outputs, index, "output", tile)
                      : invalidArgument("tessera_executable_output_tile: a null argument");
  });
}

tessera_code tessera_executable_input_devices(const tessera_executable *executable, size_t index,
                                              size_t *first, size_t *count) {
  return guarded([&]() -> Status {
    return executable ? findDevices(*executable->executable,
                                    executable->executable->program().inputs(), index, first, count)
                      : invalidArgument("tessera_executable_input_devices: a null argument");
  });
}

tessera_code tessera_executable_input_part(const tessera_executable *executable, size_t index,
                                           size_t device, int64_t *start, int64_t *extent) {
  return guarded([&]() -> Status {
    return executable
               ? findPart(*executable->executable, executable->executable->program().inputs(),
                          index, device, start, extent)
               : invalidArgument("tessera_executable_input_part: a null argument");
  });
}

tessera_code tessera_executable_output_devices(const tessera_executable *executable, size_t index,
                                               size_t *first, size_t *count) {
  return guarded([&]() -> Status {
    return executable
               ? findDevices(*executable->executable, executable->executable->program().outputs(),
                             index, first, count)
               : invalidArgument("tessera_executable_output_devices: a null argument");
  });
}

tessera_code tessera_executable_output_part(const tessera_executable *executable, size_t index,
                                            size_t device, int64_t *start, int64_t *extent) {
  return guarded([&]() -> Status {
    return executable
               ? findPart(*executable->executable, executable->executable->program().outputs(),
                          index, device, start, extent)
               : invalidArgument("tessera_executable_output_part: a null argument");
  });
}

tessera_code tessera_event_wait(tessera_event *event, double seconds) {
  return guarded([&]() -> Status {
    if (!event || std::isnan(seconds))
      return invalidArgument("tessera_event_wait: a null argument");
    constexpr double longest = 1e9; // 30 years
    if (seconds < 0 || seconds > longest)
      return event->event->wait();
    if (!event->event->waitUntil(Pool::now() + static_cast<int64_t>(seconds * 1e9)))
      return {Code::DeadlineExceeded, "it has not happened yet"};
    return event->event->status();
  });
}

int32_t tessera_event_is_ready(const tessera_event *event) {
  return event ? event->event->ready() : without("tessera_event_is_ready", 0);
}

tessera_code tessera_event_when_ready(tessera_event *event,
                                      void (*then)(void *user, tessera_code code), void *user) {
  return guarded([&]() -> Status {
    if (!event || !then)
      return invalidArgument("tessera_event_when_ready: a null argument");
    event->event->then([raw = event->event.get(), then, user] {
      then(user, static_cast<tessera_code>(raw->status().code()));
    });
    return {};
  });
}

void tessera_event_free(tessera_event *event) { delete event; }

tessera_code tessera_arena_create(tessera_executable *const *executables, size_t count,
                                  tessera_arena **arena) {
  return guarded([&]() -> Status {
    if (!executables || !arena)
      return invalidArgument("tessera_arena_create: a null argument");
    std::vector<std::shared_ptr<const Executable>> list;
    for (size_t i = 0; i < count; ++i) {
      if (!executables[i])
        return invalidArgument("tessera_arena_create: a null executable");
      list.push_back(executables[i]->executable);
    }
    auto made = Arena::make(list);
    if (!made.ok())
      return made.status();
    *arena = new tessera_arena{*made};
    return {};
  });
}

void tessera_arena_free(tessera_arena *arena) { delete arena; }

tessera_code tessera_call_create(tessera_executable *executable, const tessera_call_options *given,
                                 tessera_call **call) {
  return guarded([&]() -> Status {
    if (!executable || !call)
      return invalidArgument("tessera_call_create: a null argument");
    tessera_call_options options = {};
    if (given)
      std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
    CallOptions internal;
    internal.timeLimit = options.time_limit;
    if (options.arena)
      internal.arena = options.arena->arena;
    internal.queued = options.queued != 0;
    Result<std::shared_ptr<const Executable>> program = executable->executable;
    Transport *transport = (*program)->client()->transport();
    if (options.topology) {
      auto links = parseTopology(options.topology, (*program)->program());
      if (links.ok())
        internal.links = *links;
      else
        program = links.status();
    }
    auto made = Call::prepare(program, internal, transport);
    if (!made.ok())
      return made.status();
    *call = new tessera_call{std::make_unique<ShardedCall>(std::move(*made), options.unheld == 0)};
    return {};
  });
}

void tessera_call_free(tessera_call *call) { delete call; }

tessera_code tessera_call_bind(tessera_call *call, size_t input, tessera_buffer *const *buffers,
                               size_t count) {
  return guarded([&]() -> Status {
    if (!call || (count && !buffers))
      return invalidArgument("tessera_call_bind: a null argument");
    std::vector<Buffer *> tiles;
    for (size_t i = 0; i < count; ++i)
      tiles.push_back(buffers[i] ? buffers[i]->buffer.get() : nullptr);
    return call->call->bind(input, tiles);
  });
}

tessera_code tessera_call_start(tessera_call *call, tessera_buffer **outputs, size_t output_count,
                                tessera_event **done) {
  return guarded([&]() -> Status {
    if (!call || (output_count && !outputs))
      return invalidArgument("tessera_call_start: a null argument");
    const Executable &executable = call->call->call().executable();
    size_t expected = 0;
    for (const auto &output : executable.program().outputs()) {
      auto [begin, end] = executable.devicesOf(*output.program);
      expected += end - begin;
    }
    if (output_count != expected)
      return invalidArgument("the program makes " + std::to_string(expected) +
                             " buffers here, there is room for " + std::to_string(output_count));
    std::vector<std::unique_ptr<Buffer>> made;
    auto event = call->call->start(made);
    if (!event.ok())
      return event.status();
    std::vector<std::unique_ptr<tessera_buffer>> handles;
    for (auto &buffer : made)
      handles.push_back(std::make_unique<tessera_buffer>(std::move(buffer)));
    if (Status s = deliver(*event, done); !s.ok())
      return s;
    for (size_t i = 0; i < handles.size(); ++i)
      outputs[i] = handles[i].release();
    return {};
  });
}

void tessera_call_cancel(tessera_call *call) {
  guarded([&]() -> Status {
    if (!call)
      return invalidArgument("tessera_call_cancel: a null argument");
    call->call->call().cancel();
    return {};
  });
}

tessera_code tessera_call_counters(const tessera_call *call, tessera_counters *counters) {
  return guarded([&]() -> Status {
    if (!call || !counters)
      return invalidArgument("tessera_call_counters: a null argument");
    if (counters->struct_size < sizeof(tessera_counters))
      return invalidArgument("tessera_counters: set struct_size first");
    Counters now = call->call->call().counters();
    *counters = {counters->struct_size, now.collectives, now.collectiveBytes, now.peakBytes};
    return {};
  });
}

} // extern "C"
