// Clients, executables, buffers, events and calls of the C interface.
#include "runtime/capi/Handles.h"
#include "runtime/client/ShardedCall.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/TopologyFile.h"
#include <cmath>
#include <cstring>

using namespace tessera::runtime;

struct tessera_executable {
  std::shared_ptr<const Executable> executable;
  std::vector<Described> inputs, outputs; // tiles

  explicit tessera_executable(std::shared_ptr<const Executable> made)
      : executable(std::move(made)) {
    for (const auto &place : executable->program().inputs()) {
      const auto &p = *place.parameter;
      inputs.emplace_back(p.name(), p.type(), localShape(p), executable->takes(inputs.size()));
    }
    for (const auto &place : executable->program().outputs())
      outputs.emplace_back(place.parameter->name(), place.parameter->type(),
                           localShape(*place.parameter), false);
  }
};

struct tessera_buffer {
  std::unique_ptr<Buffer> buffer;
  Described description;

  explicit tessera_buffer(std::unique_ptr<Buffer> made)
      : buffer(std::move(made)), description("", buffer->type(), buffer->dims(), false) {}
};

struct tessera_event {
  std::shared_ptr<device::Event> event;
};

struct tessera_arena {
  std::shared_ptr<Arena> arena;
};

struct tessera_call {
  std::unique_ptr<ShardedCall> call;
};

namespace tessera::runtime {

Result<std::shared_ptr<Transport>> openTransport(const char *communicator) {
  if (!communicator || std::strcmp(communicator, "local") == 0)
    return std::shared_ptr<Transport>();
  return Transport::open(communicator);
}

} // namespace tessera::runtime

namespace {

Result<ElementType> typeOf(const char *name) {
  for (int type = tessera::program::I1; tessera::program::ElementType_IsValid(type); ++type)
    if (nameOf(static_cast<ElementType>(type)) == name)
      return static_cast<ElementType>(type);
  return invalidArgument("there is no element type '" + std::string(name).substr(0, 40) + "'");
}

// Gives the event away, or waits for it.
Status deliver(const std::shared_ptr<device::Event> &event, tessera_event **to) {
  if (!to)
    return event->wait();
  *to = new tessera_event{event};
  return {};
}

Status describeTile(const std::vector<Described> &tiles, size_t index, const char *what,
                    tessera_parameter *tile) {
  if (index >= tiles.size())
    return {Code::OutOfRange, std::string("there is no ") + what + " " + std::to_string(index)};
  return tiles[index].fill(tile);
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

tessera_code tessera_buffer_from_host(tessera_client *client, uint32_t device, const char *type,
                                      size_t rank, const int64_t *shape, const void *data,
                                      size_t bytes, tessera_buffer **buffer,
                                      tessera_event **copied) {
  return guarded([&]() -> Status {
    if (!client || !type || (rank && !shape) || (bytes && !data) || !buffer)
      return invalidArgument("tessera_buffer_from_host: a null argument");
    auto element = typeOf(type);
    if (!element.ok())
      return element.status();
    double expected = static_cast<double>(byteSize(*element)); // doubles don't wrap around
    for (size_t i = 0; i < rank; ++i) {
      if (shape[i] < 0)
        return invalidArgument("tessera_buffer_from_host: a size is negative");
      expected *= static_cast<double>(shape[i]);
    }
    if (expected != static_cast<double>(bytes))
      return invalidArgument("tessera_buffer_from_host: " + std::to_string(bytes) +
                             " bytes are given, the shape has another number");
    std::shared_ptr<device::Event> event;
    auto made = Buffer::fromHost(client->client, device, *element,
                                 std::vector<int64_t>(shape, shape + rank), data,
                                 copied ? &event : nullptr);
    if (!made.ok())
      return made.status();
    auto handle = std::make_unique<tessera_buffer>(std::move(*made));
    if (copied)
      *copied = new tessera_event{event};
    *buffer = handle.release();
    return {};
  });
}

tessera_code tessera_buffer_to_host(tessera_buffer *buffer, void *data, size_t bytes,
                                    tessera_event **done) {
  return guarded([&]() -> Status {
    if (!buffer || (bytes && !data))
      return invalidArgument("tessera_buffer_to_host: a null argument");
    if (!buffer->buffer->isValid())
      return Status(Code::FailedPrecondition,
                    "the buffer was taken over by a step and is no longer valid");
    if (bytes != buffer->buffer->bytes())
      return invalidArgument("the buffer has " + std::to_string(buffer->buffer->bytes()) +
                             " bytes, there is room for " + std::to_string(bytes));
    return deliver(buffer->buffer->toHost(data), done);
  });
}

tessera_code tessera_buffer_share(tessera_buffer *buffer, tessera_buffer **other) {
  return guarded([&]() -> Status {
    if (!buffer || !other)
      return invalidArgument("tessera_buffer_share: a null argument");
    if (!buffer->buffer->isValid())
      return Status(Code::FailedPrecondition,
                    "the buffer was taken over by a step and is no longer valid");
    *other = new tessera_buffer(buffer->buffer->share());
    return {};
  });
}

tessera_code tessera_buffer_describe(const tessera_buffer *buffer, tessera_parameter *parameter) {
  return guarded([&]() -> Status {
    return buffer ? buffer->description.fill(parameter)
                  : invalidArgument("tessera_buffer_describe: a null argument");
  });
}

int32_t tessera_buffer_device(const tessera_buffer *buffer) {
  return buffer ? static_cast<int32_t>(buffer->buffer->device())
                : without("tessera_buffer_device", -1);
}

int32_t tessera_buffer_is_valid(const tessera_buffer *buffer) {
  return buffer ? buffer->buffer->isValid() : without("tessera_buffer_is_valid", 0);
}

tessera_code tessera_buffer_ready(const tessera_buffer *buffer, tessera_event **event) {
  return guarded([&]() -> Status {
    if (!buffer || !event)
      return invalidArgument("tessera_buffer_ready: a null argument");
    *event = new tessera_event{buffer->buffer->ready()};
    return {};
  });
}

void tessera_buffer_free(tessera_buffer *buffer) { delete buffer; }

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
    *call = new tessera_call{std::make_unique<ShardedCall>(std::move(*made))};
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
