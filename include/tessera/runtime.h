// The runtime for C++ programs: header-only, over the stable C interface of c_api.h.
//
//   tessera::Program program = tessera::Program::fromFile("step.tsr");
//   tessera::Session session(program);
//   std::vector<tessera::Array> state = ..;               // session.place(i, values)
//   for (int step = 0; step < 100; ++step)
//     state = session.execute(state);                     // state stays on the devices
//   std::vector<float> weights = state[0].read<float>();
//
// Errors are thrown as tessera::Error. Objects are movable; a Session keeps what it needs of its
// Program.
#pragma once

#include "tessera/c_api.h"

#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct Error : std::runtime_error {
  Error(tessera_code code, const char *message) : std::runtime_error(message), code(code) {}
  tessera_code code;
};

inline void throwUnlessOk(tessera_code code) {
  if (code != TESSERA_OK)
    throw Error(code, tessera_error_message());
}

// An input, an output or an array: global shape, element type ("f32", ..), bytes of the dense
// global array.
struct Parameter {
  std::string name, type;
  std::vector<int64_t> shape;
  size_t bytes = 0;
  bool donated = false;

  explicit Parameter(const tessera_parameter &p)
      : name(p.name), type(p.type), shape(p.shape, p.shape + p.rank), bytes(p.bytes),
        donated(p.donated != 0) {}
};

class Program {
public:
  // The contents of a .tsr file, which are copied.
  explicit Program(std::string_view bytes) : Program() {
    tessera_program *raw = nullptr;
    throwUnlessOk(tessera_program_load(bytes.data(), bytes.size(), &raw));
    program_.reset(raw);
  }
  // With `sha256` (64 hexadecimal digits) no other file than the one that has it.
  static Program fromFile(const std::string &path, const std::string &sha256 = {}) {
    Program program;
    tessera_program *raw = nullptr;
    throwUnlessOk(tessera_program_load_file_sha256(
        path.c_str(), sha256.empty() ? nullptr : sha256.c_str(), &raw));
    program.program_.reset(raw);
    return program;
  }

  int64_t devices() const { return tessera_program_devices(get()); }
  std::vector<Parameter> inputs() const {
    return list(tessera_program_input_count(get()), tessera_program_input);
  }
  std::vector<Parameter> outputs() const {
    return list(tessera_program_output_count(get()), tessera_program_output);
  }
  std::string_view report() const { return tessera_program_report(get()); }
  const tessera_program *get() const { return program_.get(); }

private:
  Program() : program_(nullptr, tessera_program_free) {}
  template <class F> std::vector<Parameter> list(size_t count, F query) const {
    std::vector<Parameter> parameters;
    for (size_t i = 0; i < count; ++i) {
      tessera_parameter p{};
      p.struct_size = sizeof p;
      throwUnlessOk(query(get(), i, &p));
      parameters.emplace_back(p);
    }
    return parameters;
  }
  std::unique_ptr<tessera_program, void (*)(tessera_program *)> program_;
};

// A global array in tiles on a session's devices.
class Array {
public:
  explicit Array(tessera_array *array) : array_(array, tessera_array_free) {}

  Parameter parameter() const {
    tessera_parameter p{};
    p.struct_size = sizeof p;
    throwUnlessOk(tessera_array_describe(get(), &p));
    return Parameter(p);
  }
  bool valid() const { return tessera_array_is_valid(get()) != 0; }
  // The global array. With several processes all call, and process 0 gets the contents; all do when
  // every device holds the whole array.
  template <class T> std::vector<T> read() const {
    size_t bytes = parameter().bytes;
    std::vector<T> values(bytes / sizeof(T));
    throwUnlessOk(tessera_array_read(get(), values.data(), bytes));
    return values;
  }
  tessera_array *get() const { return array_.get(); }

private:
  std::unique_ptr<tessera_array, void (*)(tessera_array *)> array_;
};

struct SessionSettings {
  uint32_t workers = 0;               // 0: TESSERA_WORKERS, or one a core
  std::string communicator = "local"; // or "mpi"
  std::string topology = {};          // contents of a topology file whose links are simulated
  double timeLimit = 0;               // seconds that a step may take; 0: any
};

class Session {
public:
  explicit Session(const Program &program, const SessionSettings &settings = {})
      : session_(nullptr, tessera_session_free),
        outputs_(tessera_program_output_count(program.get())),
        devices_(tessera_program_devices(program.get())) {
    tessera_session_options options{};
    options.struct_size = sizeof options;
    options.workers = settings.workers;
    options.communicator = settings.communicator.c_str();
    options.topology = settings.topology.empty() ? nullptr : settings.topology.c_str();
    options.time_limit = settings.timeLimit;
    tessera_session *raw = nullptr;
    throwUnlessOk(tessera_session_create(program.get(), &options, &raw));
    session_.reset(raw);
  }

  // A global host array, dense, in the element type of input `input`.
  Array place(size_t input, const void *data, size_t bytes) {
    tessera_array *array = nullptr;
    throwUnlessOk(tessera_array_place(get(), input, data, bytes, &array));
    return Array(array);
  }
  template <class T> Array place(size_t input, const std::vector<T> &values) {
    return place(input, values.data(), values.size() * sizeof(T));
  }

  // One step. Inputs that the program takes over (Parameter::donated) are invalid afterwards.
  std::vector<Array> execute(std::span<const Array *const> inputs) {
    std::vector<tessera_array *> in, out(outputs_);
    for (const Array *array : inputs)
      in.push_back(array->get());
    throwUnlessOk(tessera_session_execute(get(), in.data(), in.size(), out.data(), out.size()));
    std::vector<Array> outputs;
    for (tessera_array *array : out)
      outputs.emplace_back(array);
    return outputs;
  }
  std::vector<Array> execute(std::span<const Array> inputs) {
    std::vector<const Array *> pointers;
    for (const Array &array : inputs)
      pointers.push_back(&array);
    return execute(std::span<const Array *const>(pointers));
  }
  void cancel() { tessera_session_cancel(get()); } // from any thread

  tessera_counters counters() const {
    tessera_counters counters{};
    counters.struct_size = sizeof counters;
    throwUnlessOk(tessera_session_counters(get(), &counters));
    return counters;
  }
  std::string report() { return tessera_session_report(get()); }
  int64_t devices() const { return devices_; }
  int process() const { return tessera_session_process(get()); }
  int processCount() const { return tessera_session_process_count(get()); }
  tessera_session *get() const { return session_.get(); }

private:
  std::unique_ptr<tessera_session, void (*)(tessera_session *)> session_;
  size_t outputs_;
  int64_t devices_;
};

} // namespace tessera
