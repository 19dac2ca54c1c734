// What the handles of the C interface stand for.
#pragma once

#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/capi/Guard.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/session/Session.h"

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
