// Buffers of the C interface.
#include "runtime/array/StridedCopy.h"
#include "runtime/capi/Handles.h"
#include "runtime/device/HostAccess.h"
#include <cstring>

using namespace tessera::runtime;

namespace {

Result<ElementType> typeOf(const char *name) {
  for (int type = tessera::program::I1; tessera::program::ElementType_IsValid(type); ++type)
    if (nameOf(static_cast<ElementType>(type)) == name)
      return static_cast<ElementType>(type);
  return invalidArgument("there is no element type '" + std::string(name).substr(0, 40) + "'");
}

std::vector<int64_t> listOf(const int64_t *numbers, size_t count) {
  return std::vector<int64_t>(numbers, numbers + count);
}

Status checkValid(const Buffer &buffer) {
  return buffer.isValid() ? Status()
                          : Status(Code::FailedPrecondition,
                                   "the buffer was taken over by a step and is no longer valid");
}

// No negative sizes, and no more bytes than memory could have.
Status checkShape(const std::vector<int64_t> &shape, ElementType type) {
  double bytes = static_cast<double>(byteSize(type)); // doubles don't wrap around
  for (int64_t size : shape) {
    if (size < 0)
      return invalidArgument("a buffer's size is negative");
    bytes *= static_cast<double>(size);
  }
  constexpr double most = 1ull << 60;
  return bytes <= most ? Status() : Status(Code::ResourceExhausted, "a buffer is too large");
}

// That a part fits into an array of `shape`.
Status checkExtent(const std::vector<int64_t> &extent, const std::vector<int64_t> &shape) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (extent[i] < 0 || extent[i] > shape[i])
      return invalidArgument("a part of " + std::to_string(extent[i]) +
                             " elements along dimension " + std::to_string(i) +
                             ", where the buffer has " + std::to_string(shape[i]));
  return {};
}

} // namespace

extern "C" {

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
    if (Status s = checkValid(*buffer->buffer); !s.ok())
      return s;
    if (bytes != buffer->buffer->bytes())
      return invalidArgument("the buffer has " + std::to_string(buffer->buffer->bytes()) +
                             " bytes, there is room for " + std::to_string(bytes));
    return deliver(buffer->buffer->toHost(data), done);
  });
}

tessera_code tessera_buffer_from_host_part(tessera_client *client, uint32_t device,
                                           const char *type, size_t rank, const int64_t *shape,
                                           const void *data, const int64_t *strides,
                                           const int64_t *extent, tessera_buffer **buffer) {
  return guarded([&]() -> Status {
    if (!client || !type || (rank && (!shape || !strides || !extent)) || !buffer)
      return invalidArgument("tessera_buffer_from_host_part: a null argument");
    auto element = typeOf(type);
    if (!element.ok())
      return element.status();
    std::vector<int64_t> dims = listOf(shape, rank), part = listOf(extent, rank);
    if (Status s = checkShape(dims, *element); !s.ok())
      return s;
    if (Status s = checkExtent(part, dims); !s.ok())
      return s;
    if (!data && elementCount(part))
      return invalidArgument("tessera_buffer_from_host_part: a null argument");
    auto bytes = static_cast<size_t>(elementCount(dims) * byteSize(*element));
    if (Status s = client->client->checkDevice(device); !s.ok())
      return s;
    auto memory = client->client->backend(device).allocate(device::Space::Device, bytes);
    if (!memory)
      return Status(Code::ResourceExhausted,
                    "no memory for a buffer of " + std::to_string(bytes) + " bytes");
    Status filled = device::writeWhole(memory, [&](void *to) {
      if (part != dims)
        std::memset(to, 0, bytes);
      copyStrided({to, denseStrides(dims, byteSize(*element))}, {data, listOf(strides, rank)}, part,
                  byteSize(*element));
    });
    if (!filled.ok())
      return filled;
    *buffer = new tessera_buffer(std::make_unique<Buffer>(client->client, device, *element,
                                                          std::move(dims), std::move(memory),
                                                          device::Event::past()));
    return {};
  });
}

tessera_code tessera_buffer_to_host_part(tessera_buffer *buffer, void *data, const int64_t *strides,
                                         const int64_t *extent) {
  return guarded([&]() -> Status {
    size_t rank = buffer ? buffer->buffer->dims().size() : 0;
    if (!buffer || (rank && (!strides || !extent)))
      return invalidArgument("tessera_buffer_to_host_part: a null argument");
    if (Status s = checkValid(*buffer->buffer); !s.ok())
      return s;
    const std::vector<int64_t> &dims = buffer->buffer->dims();
    std::vector<int64_t> part = listOf(extent, rank);
    if (Status s = checkExtent(part, dims); !s.ok())
      return s;
    if (!data && elementCount(part))
      return invalidArgument("tessera_buffer_to_host_part: a null argument");
    if (const Status &s = buffer->buffer->ready()->wait(); !s.ok())
      return s;
    auto from = device::readable(buffer->buffer->memory());
    if (!from.ok())
      return from.status();
    int64_t element = byteSize(buffer->buffer->type());
    copyStrided({data, listOf(strides, rank)}, {from->get(), denseStrides(dims, element)}, part,
                element);
    return {};
  });
}

tessera_code tessera_buffer_host_view(tessera_buffer *buffer, const void **data) {
  return guarded([&]() -> Status {
    if (!buffer || !data)
      return invalidArgument("tessera_buffer_host_view: a null argument");
    if (Status s = checkValid(*buffer->buffer); !s.ok())
      return s;
    if (const Status &s = buffer->buffer->ready()->wait(); !s.ok())
      return s;
    const auto &memory = buffer->buffer->memory();
    *data = memory->backend().hostView(memory->address());
    return {};
  });
}

tessera_code tessera_buffer_share(tessera_buffer *buffer, tessera_buffer **other) {
  return guarded([&]() -> Status {
    if (!buffer || !other)
      return invalidArgument("tessera_buffer_share: a null argument");
    if (Status s = checkValid(*buffer->buffer); !s.ok())
      return s;
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

} // extern "C"
