// The C interface over the runtime: handles, codes, and no exception past it.
#include "include/tessera/c_api.h"
#include "runtime/HostMemory.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/local/TopologyFile.h"
#include "runtime/session/Session.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/trace/Report.h"
#include <cstring>
#include <exception>

using namespace tessera::runtime;

namespace {

// A parameter with what tessera_parameter points to.
struct Described {
  std::string name, type;
  std::vector<int64_t> shape;
  size_t bytes;
  bool donated;

  explicit Described(const tessera::program::Parameter &p)
      : name(p.name()), type(nameOf(p.type())), shape(globalShape(p)),
        bytes(elementCount(shape) * byteSize(p.type())), donated(p.donated()) {}

  Status fill(tessera_parameter *to) const {
    if (!to)
      return invalidArgument("tessera_parameter: a null argument");
    if (to->struct_size < sizeof(tessera_parameter))
      return invalidArgument("tessera_parameter: set struct_size first");
    *to = {to->struct_size, name.c_str(), type.c_str(), shape.size(), shape.data(), bytes, donated};
    return {};
  }
};

thread_local std::string lastError;

tessera_code report(const Status &status) noexcept {
  if (!status.ok()) {
    lastError.clear();
    try {
      lastError = status.message();
    } catch (...) {
      lastError = "out of memory"; // has room in the string itself
    }
  }
  return static_cast<tessera_code>(status.code());
}

// For functions that return no code.
template <class T> T without(const char *function, T value) noexcept {
  report(invalidArgument(std::string(function) + ": a null argument"));
  return value;
}

// Runs f, which returns a Status; turns what is thrown (memory, above all) into one.
template <class F> tessera_code guarded(F f) noexcept {
  try {
    return report(f());
  } catch (const std::bad_alloc &) {
    lastError = "out of memory"; // has room in the string itself
  } catch (const std::exception &e) {
    return report({Code::Internal, e.what()});
  } catch (...) {
    lastError = "failed";
  }
  return TESSERA_RESOURCE_EXHAUSTED;
}

} // namespace

struct tessera_program {
  std::shared_ptr<const LoadedProgram> loaded;
  std::vector<Described> inputs, outputs;

  explicit tessera_program(std::shared_ptr<const LoadedProgram> program)
      : loaded(std::move(program)) {
    std::vector<bool> taken(loaded->manifest().inputs_size());
    for (const auto &output : loaded->manifest().outputs()) {
      if (output.alias())
        taken[output.alias() - 1] = true;
      outputs.emplace_back(output);
    }
    for (const auto &input : loaded->manifest().inputs()) {
      inputs.emplace_back(input);
      inputs.back().donated |= taken[inputs.size() - 1];
    }
  }
};

struct tessera_session {
  std::shared_ptr<Session> session;
  StepTimes steps;
  Counters most;
  std::string report;
};

struct tessera_array {
  std::shared_ptr<Session> session;
  std::shared_ptr<Array> array;
  Described description;
};

extern "C" {

const char *tessera_error_message(void) { return lastError.c_str(); }

tessera_code tessera_program_load(const void *bytes, size_t size, tessera_program **program) {
  return guarded([&]() -> Status {
    if (!program || (!bytes && size))
      return invalidArgument("tessera_program_load: a null argument");
    // At a place where constants can be read without another copy.
    std::shared_ptr<void> copy(allocateAligned(size), freeAligned);
    if (!copy)
      return {Code::ResourceExhausted, "no memory for the program"};
    std::memcpy(copy.get(), bytes, size);
    auto loaded = LoadedProgram::load({static_cast<const char *>(copy.get()), size}, copy);
    if (!loaded.ok())
      return loaded.status();
    *program = new tessera_program(*loaded);
    return {};
  });
}

tessera_code tessera_program_load_file(const char *path, tessera_program **program) {
  return tessera_program_load_file_sha256(path, nullptr, program);
}

tessera_code tessera_program_load_file_sha256(const char *path, const char *sha256,
                                              tessera_program **program) {
  return guarded([&]() -> Status {
    if (!program || !path)
      return invalidArgument("tessera_program_load_file: a null argument");
    if (sha256 && !*sha256)
      return invalidArgument("tessera_program_load_file_sha256: an empty SHA-256");
    auto loaded = LoadedProgram::loadFile(path, sha256 ? sha256 : "");
    if (!loaded.ok())
      return loaded.status();
    *program = new tessera_program(*loaded);
    return {};
  });
}

void tessera_program_free(tessera_program *program) { delete program; }

int64_t tessera_program_devices(const tessera_program *program) {
  return program ? program->loaded->mesh().size() : without("tessera_program_devices", -1);
}
size_t tessera_program_input_count(const tessera_program *program) {
  return program ? program->inputs.size() : without("tessera_program_input_count", size_t{0});
}
size_t tessera_program_output_count(const tessera_program *program) {
  return program ? program->outputs.size() : without("tessera_program_output_count", size_t{0});
}

tessera_code tessera_program_input(const tessera_program *program, size_t index,
                                   tessera_parameter *input) {
  return guarded([&]() -> Status {
    if (!program)
      return invalidArgument("tessera_program_input: a null argument");
    if (index >= program->inputs.size())
      return invalidArgument("there is no input " + std::to_string(index));
    return program->inputs[index].fill(input);
  });
}

tessera_code tessera_program_output(const tessera_program *program, size_t index,
                                    tessera_parameter *output) {
  return guarded([&]() -> Status {
    if (!program)
      return invalidArgument("tessera_program_output: a null argument");
    if (index >= program->outputs.size())
      return invalidArgument("there is no output " + std::to_string(index));
    return program->outputs[index].fill(output);
  });
}

const char *tessera_program_report(const tessera_program *program) {
  return program ? program->loaded->manifest().report_json().c_str()
                 : without("tessera_program_report", "");
}

tessera_code tessera_session_create(const tessera_program *program,
                                    const tessera_session_options *given,
                                    tessera_session **session) {
  return guarded([&]() -> Status {
    tessera_session_options options = {};
    if (given)
      std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
    SessionOptions internal;
    internal.workers = options.workers;
    internal.timeLimit = options.time_limit;
    if (options.communicator && std::strcmp(options.communicator, "local") != 0) {
      auto transport = Transport::open(options.communicator);
      if (!transport.ok())
        return transport.status();
      internal.transport = *transport;
    }
    // The other ranks wait to hear of what is wrong here.
    auto refuse = [&](const Status &status) {
      return internal.transport ? agree(*internal.transport, {status, {}}) : status;
    };
    if (!program || !session)
      return refuse(invalidArgument("tessera_session_create: a null argument"));
    if (options.topology) {
      auto links = parseTopology(options.topology, program->loaded->manifest().mesh());
      if (!links.ok())
        return refuse(links.status());
      internal.links = *links;
    }
    auto created = Session::create(program->loaded, internal);
    if (!created.ok())
      return created.status();
    *session = new tessera_session{std::move(*created), {}, {}, {}};
    return {};
  });
}

void tessera_session_free(tessera_session *session) { delete session; }

int32_t tessera_session_process(const tessera_session *session) {
  if (!session)
    return without("tessera_session_process", -1);
  return session->session->transport() ? session->session->transport()->rank() : 0;
}

int32_t tessera_session_process_count(const tessera_session *session) {
  if (!session)
    return without("tessera_session_process_count", 0);
  return session->session->transport() ? session->session->transport()->size() : 1;
}

tessera_code tessera_session_execute(tessera_session *session, tessera_array *const *inputs,
                                     size_t input_count, tessera_array **outputs,
                                     size_t output_count) {
  return guarded([&]() -> Status {
    if (!session)
      return invalidArgument("tessera_session_execute: a null argument");
    // Before the step the other ranks hear of what keeps this one from it.
    auto refuse = [&](std::string message) {
      session->session->announce(message);
      return invalidArgument(std::move(message));
    };
    if ((input_count && !inputs) || (output_count && !outputs))
      return refuse("tessera_session_execute: a null argument");
    auto expected = static_cast<size_t>(session->session->program().manifest().outputs_size());
    if (output_count != expected)
      return refuse("the program has " + std::to_string(expected) + " outputs, there is room for " +
                    std::to_string(output_count));
    std::vector<std::shared_ptr<Array>> arrays;
    std::vector<std::pair<std::shared_ptr<Array>, std::shared_ptr<Array>>> moved;
    for (size_t i = 0; i < input_count; ++i) {
      arrays.push_back(inputs[i] ? inputs[i]->array : nullptr);
      const auto &parameters = session->session->program().manifest().inputs();
      if (!arrays[i] || inputs[i]->session == session->session ||
          i >= static_cast<size_t>(parameters.size()))
        continue;
      auto adopted = session->session->adopt(arrays[i], parameters[static_cast<int>(i)]);
      if (!adopted.ok())
        return refuse("input " + std::to_string(i) + ": " + adopted.status().message());
      moved.emplace_back(arrays[i], *adopted);
      arrays[i] = *adopted;
    }
    int64_t begin = Pool::now();
    auto results = session->session->execute(arrays);
    for (auto &[original, copy] : moved) // a copy that was donated stands for its original
      if (!copy->valid && original->valid)
        original->take();
    if (!results.ok())
      return results.status();
    session->steps.add(static_cast<double>(Pool::now() - begin) * 1e-9);
    session->most = larger(session->most, session->session->counters());
    std::vector<std::unique_ptr<tessera_array>> made;
    for (auto &result : *results) {
      Described description(result->parameter);
      made.push_back(std::make_unique<tessera_array>(session->session, std::move(result),
                                                     std::move(description)));
    }
    for (size_t i = 0; i < made.size(); ++i)
      outputs[i] = made[i].release();
    return {};
  });
}

void tessera_session_cancel(tessera_session *session) {
  guarded([&]() -> Status {
    if (!session)
      return invalidArgument("tessera_session_cancel: a null argument");
    session->session->cancel();
    return {};
  });
}

tessera_code tessera_session_counters(const tessera_session *session, tessera_counters *counters) {
  return guarded([&]() -> Status {
    if (!session || !counters)
      return invalidArgument("tessera_session_counters: a null argument");
    if (counters->struct_size < sizeof(tessera_counters))
      return invalidArgument("tessera_counters: set struct_size first");
    const Counters &now = session->session->counters();
    *counters = {counters->struct_size, now.collectives, now.collectiveBytes, now.peakBytes};
    return {};
  });
}

const char *tessera_session_report(tessera_session *session) {
  if (!session)
    return without("tessera_session_report", "");
  guarded([&]() -> Status {
    session->report =
        reportJson(session->session->program().mesh().size(), session->steps, session->most);
    return {};
  });
  return session->report.c_str();
}

tessera_code tessera_array_place(tessera_session *session, size_t input, const void *data,
                                 size_t bytes, tessera_array **array) {
  return guarded([&]() -> Status {
    if (!session || !array || (bytes && !data))
      return invalidArgument("tessera_array_place: a null argument");
    const auto &inputs = session->session->program().manifest().inputs();
    if (input >= static_cast<size_t>(inputs.size()))
      return invalidArgument("there is no input " + std::to_string(input));
    const auto &parameter = inputs[static_cast<int>(input)];
    Described description(parameter);
    if (bytes != description.bytes)
      return invalidArgument("input " + std::to_string(input) + " ('" + parameter.name() +
                             "') is " + describe(parameter) + " of " +
                             std::to_string(description.bytes) + " bytes, " +
                             std::to_string(bytes) + " are given");
    auto placed = session->session->place(parameter, data);
    if (!placed.ok())
      return placed.status();
    *array = new tessera_array{session->session, *placed, std::move(description)};
    return {};
  });
}

tessera_code tessera_array_read(tessera_array *array, void *data, size_t bytes) {
  return guarded([&]() -> Status {
    if (!array)
      return invalidArgument("tessera_array_read: a null argument");
    auto refuse = [&](std::string message) { // the other ranks read it
      array->session->announce(message);
      return invalidArgument(std::move(message));
    };
    if (bytes && !data)
      return refuse("tessera_array_read: a null argument");
    if (bytes != array->description.bytes)
      return refuse("the array has " + std::to_string(array->description.bytes) +
                    " bytes, there is room for " + std::to_string(bytes));
    auto host = array->session->fetch(*array->array);
    if (!host.ok())
      return host.status();
    std::memcpy(data, host->bytes.data(), host->bytes.size());
    return {};
  });
}

tessera_code tessera_array_describe(const tessera_array *array, tessera_parameter *parameter) {
  return guarded([&]() -> Status {
    return array ? array->description.fill(parameter)
                 : invalidArgument("tessera_array_describe: a null argument");
  });
}

int32_t tessera_array_is_valid(const tessera_array *array) {
  return array ? array->array->valid : without("tessera_array_is_valid", 0);
}

void tessera_array_free(tessera_array *array) { delete array; }

} // extern "C"
