// What the handles of the C interface stand for.
#pragma once

#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/capi/Guard.h"
#include "runtime/client/Buffer.h"
#include "runtime/client/Executable.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/session/Session.h"
#include <mutex>

namespace tessera::runtime {

// A parameter with what tessera_parameter points to.
struct Described {
  std::string name, type;
  std::vector<int64_t> shape;
  size_t bytes;
  bool donated;

  Described(std::string name, ElementType type, std::vector<int64_t> shape, bool donated)
      : name(std::move(name)), type(nameOf(type)), shape(std::move(shape)),
        bytes(elementCount(this->shape) * byteSize(type)), donated(donated) {}
  explicit Described(const tessera::program::Parameter &p)
      : Described(p.name(), p.type(), globalShape(p), p.donated()) {}

  Status fill(tessera_parameter *to) const {
    if (!to)
      return invalidArgument("tessera_parameter: a null argument");
    if (to->struct_size < sizeof(tessera_parameter))
      return invalidArgument("tessera_parameter: set struct_size first");
    *to = {to->struct_size, name.c_str(), type.c_str(), shape.size(), shape.data(), bytes, donated};
    return {};
  }
};

// What a communicator's name stands for; null for "local" and NULL.
Result<std::shared_ptr<Transport>> openTransport(const char *communicator);

} // namespace tessera::runtime

struct tessera_program {
  std::shared_ptr<const tessera::runtime::LoadedProgram> loaded;
  std::vector<tessera::runtime::Described> inputs, outputs;
  mutable std::once_flag described;
  mutable std::string info; // made when it is asked for

  explicit tessera_program(std::shared_ptr<const tessera::runtime::LoadedProgram> program)
      : loaded(std::move(program)) {
    std::vector<bool> taken(loaded->inputs().size());
    for (const auto &output : loaded->outputs()) {
      if (output.alias >= 0)
        taken[output.alias] = true;
      outputs.emplace_back(*output.parameter);
    }
    for (const auto &input : loaded->inputs()) {
      inputs.emplace_back(*input.parameter);
      inputs.back().donated |= taken[inputs.size() - 1];
    }
  }
};

struct tessera_client {
  std::shared_ptr<tessera::runtime::Client> client;
};

struct tessera_executable {
  std::shared_ptr<const tessera::runtime::Executable> executable;
  std::vector<tessera::runtime::Described> inputs, outputs; // tiles

  explicit tessera_executable(std::shared_ptr<const tessera::runtime::Executable> made)
      : executable(std::move(made)) {
    for (const auto &place : executable->program().inputs()) {
      const auto &p = *place.parameter;
      inputs.emplace_back(p.name(), p.type(), tessera::runtime::localShape(p),
                          executable->takes(inputs.size()));
    }
    for (const auto &place : executable->program().outputs())
      outputs.emplace_back(place.parameter->name(), place.parameter->type(),
                           tessera::runtime::localShape(*place.parameter), false);
  }
};

struct tessera_buffer {
  std::unique_ptr<tessera::runtime::Buffer> buffer;
  tessera::runtime::Described description;

  explicit tessera_buffer(std::unique_ptr<tessera::runtime::Buffer> made)
      : buffer(std::move(made)), description("", buffer->type(), buffer->dims(), false) {}
};

struct tessera_event {
  std::shared_ptr<tessera::runtime::device::Event> event;
};

namespace tessera::runtime {

// Gives the event away, or waits for it.
inline Status deliver(const std::shared_ptr<device::Event> &event, tessera_event **to) {
  if (!to)
    return event->wait();
  *to = new tessera_event{event};
  return {};
}

} // namespace tessera::runtime
