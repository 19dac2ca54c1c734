// The runtime for C++ programs: header-only, over the stable C interface of c_api.h.
//
//   tessera::Program program = tessera::Program::fromFile("step.tsr");
//   tessera::Session session(program);
//   std::vector<tessera::Array> state = ..;               // session.place(i, values)
//   for (int step = 0; step < 100; ++step)
//     state = session.execute(state);                     // state stays on the devices
//   std::vector<float> weights = state[0].read<float>();
//
// or, with a buffer for each device and steps that run beside the caller:
//
//   tessera::Client client;
//   tessera::Executable executable(client, program);
//   tessera::Call call(executable);
//   call.bind(0, weights);                                // one Buffer a device; stays bound
//   auto [outputs, done] = call.start();
//   done.wait();
//
// Errors are thrown as tessera::Error. Objects are movable, and keep what they need of each other.
#pragma once

#include "tessera/c_api.h"

#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
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

// A kernel from outside: `function` computes the custom calls of this name in programs that are loaded
// later (docs/outside-kernels.md).
inline void registerKernel(const char *name, TesseraKernel function, void *user = nullptr,
                           uint64_t scratchBytes = 0,
                           const char *(*check)(const TesseraKernelCall *) = nullptr) {
  tessera_kernel_options options = {sizeof options, user, scratchBytes, check};
  throwUnlessOk(tessera_register_kernel(name, function, &options));
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
  // What `query` fills in.
  template <class F> static Parameter of(F query) {
    tessera_parameter p{};
    p.struct_size = sizeof p;
    throwUnlessOk(query(&p));
    return Parameter(p);
  }
  // As many elements as it has bytes, which `read` writes. Of a T whose size does not divide those,
  // the size that is there is refused.
  template <class T, class F> std::vector<T> values(F read) const {
    std::vector<T> values(bytes / sizeof(T));
    throwUnlessOk(read(values.data(), values.size() * sizeof(T)));
    return values;
  }
};

class Program {
public:
  // The contents of a .tsr file, which are copied.
  explicit Program(std::string_view bytes) : Program() {
    tessera_program *raw = nullptr;
    throwUnlessOk(tessera_program_load(bytes.data(), bytes.size(), &raw));
    program_.reset(raw);
  }
  // To be looked at only, on a machine that cannot execute it, too.
  static Program inspect(std::string_view bytes) {
    Program program;
    tessera_program *raw = nullptr;
    throwUnlessOk(tessera_program_inspect(bytes.data(), bytes.size(), &raw));
    program.program_.reset(raw);
    return program;
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
  // Error TESSERA_NOT_FOUND says which there are.
  size_t inputIndex(const std::string &name) const {
    size_t index = 0;
    throwUnlessOk(tessera_program_input_index(get(), name.c_str(), &index));
    return index;
  }
  std::string_view report() const { return tessera_program_report(get()); }
  // The JSON of `tessera info --json`.
  std::string_view info() const {
    const char *info = tessera_program_info(get());
    if (!info)
      throw Error(TESSERA_RESOURCE_EXHAUSTED, tessera_error_message());
    return info;
  }
  const tessera_program *get() const { return program_.get(); }

private:
  Program() : program_(nullptr, tessera_program_free) {}
  template <class F> std::vector<Parameter> list(size_t count, F query) const {
    std::vector<Parameter> parameters;
    for (size_t i = 0; i < count; ++i)
      parameters.push_back(Parameter::of([&](tessera_parameter *p) { return query(get(), i, p); }));
    return parameters;
  }
  std::unique_ptr<tessera_program, void (*)(tessera_program *)> program_;
};

// A global array in tiles on a session's devices.
class Array {
public:
  explicit Array(tessera_array *array) : array_(array, tessera_array_free) {}

  Parameter parameter() const {
    return Parameter::of([&](tessera_parameter *p) { return tessera_array_describe(get(), p); });
  }
  bool valid() const { return tessera_array_is_valid(get()) != 0; }
  // The global array. With several processes all call, and process 0 gets the contents; all do when
  // every device holds the whole array.
  template <class T> std::vector<T> read() const {
    return parameter().template values<T>(
        [&](void *data, size_t bytes) { return tessera_array_read(get(), data, bytes); });
  }
  tessera_array *get() const { return array_.get(); }

private:
  std::unique_ptr<tessera_array, void (*)(tessera_array *)> array_;
};

struct ClientSettings {
  uint32_t workers = 0;               // 0: TESSERA_WORKERS, or one a core
  std::string communicator = "local"; // or "mpi"
  std::string device = "cpu";         // or "shadow"
};

// Workers, devices and their memory. Shared by threads.
class Client {
public:
  explicit Client(const ClientSettings &settings = {}) : client_(nullptr, tessera_client_free) {
    tessera_client_options options{};
    options.struct_size = sizeof options;
    options.workers = settings.workers;
    options.communicator = settings.communicator.c_str();
    options.device = settings.device.c_str();
    tessera_client *raw = nullptr;
    throwUnlessOk(tessera_client_create(&options, &raw));
    client_.reset(raw);
  }
  int process() const { return tessera_client_process(get()); }
  int processCount() const { return tessera_client_process_count(get()); }
  tessera_client *get() const { return client_.get(); }

private:
  std::unique_ptr<tessera_client, void (*)(tessera_client *)> client_;
};

// Something that will have happened. Shared by threads.
class Event {
public:
  explicit Event(tessera_event *event) : event_(event, tessera_event_free) {}
  bool ready() const { return tessera_event_is_ready(event_.get()) != 0; }
  void wait() const { throwUnlessOk(tessera_event_wait(event_.get(), -1)); }
  // Whether it has happened within that many seconds, however it ended.
  bool endsWithin(double seconds) const {
    return ready() || tessera_event_wait(event_.get(), seconds) == TESSERA_OK || ready();
  }
  // Whether it has happened within that many seconds.
  bool waitFor(double seconds) const {
    tessera_code code = tessera_event_wait(event_.get(), seconds);
    if (code == TESSERA_DEADLINE_EXCEEDED && !ready())
      return false;
    throwUnlessOk(code);
    return true;
  }
  tessera_event *get() const { return event_.get(); }

private:
  std::unique_ptr<tessera_event, void (*)(tessera_event *)> event_;
};

// What one device holds.
class Buffer {
public:
  explicit Buffer(tessera_buffer *buffer) : buffer_(buffer, tessera_buffer_free) {}
  // Dense elements of type `type` ("f32", ..), copied.
  template <class T>
  Buffer(const Client &client, uint32_t device, const std::string &type,
         const std::vector<int64_t> &shape, const std::vector<T> &values)
      : buffer_(nullptr, tessera_buffer_free) {
    tessera_buffer *raw = nullptr;
    throwUnlessOk(tessera_buffer_from_host(client.get(), device, type.c_str(), shape.size(),
                                           shape.data(), values.data(), values.size() * sizeof(T),
                                           &raw, nullptr));
    buffer_.reset(raw);
  }
  // From a part of a host array whose elements lie `strides` bytes apart: `extent` of them; the rest
  // is zero.
  static Buffer fromPart(const Client &client, uint32_t device, const std::string &type,
                         std::span<const int64_t> shape, const void *data,
                         std::span<const int64_t> strides, std::span<const int64_t> extent) {
    tessera_buffer *raw = nullptr;
    throwUnlessOk(tessera_buffer_from_host_part(client.get(), device, type.c_str(), shape.size(),
                                                shape.data(), data, strides.data(), extent.data(),
                                                &raw));
    return Buffer(raw);
  }
  // The same to the host. Waits until it is ready.
  void readPart(void *data, std::span<const int64_t> strides,
                std::span<const int64_t> extent) const {
    throwUnlessOk(tessera_buffer_to_host_part(get(), data, strides.data(), extent.data()));
  }
  // Where the host can read it, once it is ready; null where it cannot.
  const void *hostView() const {
    const void *data = nullptr;
    throwUnlessOk(tessera_buffer_host_view(get(), &data));
    return data;
  }
  Parameter parameter() const {
    return Parameter::of([&](tessera_parameter *p) { return tessera_buffer_describe(get(), p); });
  }
  // Waits until it is ready.
  template <class T> std::vector<T> read() const {
    return parameter().template values<T>([&](void *data, size_t bytes) {
      return tessera_buffer_to_host(get(), data, bytes, nullptr);
    });
  }
  // Another one of the same memory, which is counted.
  Buffer share() const {
    tessera_buffer *raw = nullptr;
    throwUnlessOk(tessera_buffer_share(get(), &raw));
    return Buffer(raw);
  }
  bool valid() const { return tessera_buffer_is_valid(get()) != 0; }
  int device() const { return tessera_buffer_device(get()); }
  tessera_buffer *get() const { return buffer_.get(); }

private:
  std::unique_ptr<tessera_buffer, void (*)(tessera_buffer *)> buffer_;
};

// A program made ready for a client. Shared by threads.
class Executable {
public:
  Executable(const Client &client, const Program &program)
      : executable_(nullptr, tessera_executable_free),
        outputs_(tessera_program_output_count(program.get())) {
    tessera_executable *raw = nullptr;
    throwUnlessOk(tessera_executable_load(client.get(), program.get(), &raw));
    executable_.reset(raw);
  }
  size_t devices() const { return tessera_executable_device_count(get()); } // that are here
  size_t outputs() const { return outputs_; }
  // What each device holds of an input.
  Parameter inputTile(size_t input) const {
    return Parameter::of(
        [&](tessera_parameter *p) { return tessera_executable_input_tile(get(), input, p); });
  }
  Parameter outputTile(size_t output) const {
    return Parameter::of(
        [&](tessera_parameter *p) { return tessera_executable_output_tile(get(), output, p); });
  }
  // The devices that hold tiles of a parameter: (the first, how many).
  std::pair<size_t, size_t> inputDevices(size_t input) const {
    return devicesOf(tessera_executable_input_devices, input);
  }
  std::pair<size_t, size_t> outputDevices(size_t output) const {
    return devicesOf(tessera_executable_output_devices, output);
  }
  // What of the global array lies in a device's tile; devices count from those that hold some.
  struct Part {
    std::vector<int64_t> start, extent;
  };
  Part inputPart(size_t input, size_t device) const {
    return partOf(tessera_executable_input_part, inputTile(input).shape.size(), input, device);
  }
  Part outputPart(size_t output, size_t device) const {
    return partOf(tessera_executable_output_part, outputTile(output).shape.size(), output, device);
  }
  tessera_executable *get() const { return executable_.get(); }

private:
  template <class F> std::pair<size_t, size_t> devicesOf(F query, size_t index) const {
    std::pair<size_t, size_t> devices;
    throwUnlessOk(query(get(), index, &devices.first, &devices.second));
    return devices;
  }
  template <class F> Part partOf(F query, size_t rank, size_t index, size_t device) const {
    Part part{std::vector<int64_t>(rank), std::vector<int64_t>(rank)};
    throwUnlessOk(query(get(), index, device, part.start.data(), part.extent.data()));
    return part;
  }
  std::unique_ptr<tessera_executable, void (*)(tessera_executable *)> executable_;
  size_t outputs_;
};

// Memory for temporaries of calls of which only one executes at a time.
class Arena {
public:
  explicit Arena(std::span<const Executable *const> executables)
      : arena_(nullptr, tessera_arena_free) {
    std::vector<tessera_executable *> list;
    for (const Executable *executable : executables)
      list.push_back(executable->get());
    tessera_arena *raw = nullptr;
    throwUnlessOk(tessera_arena_create(list.data(), list.size(), &raw));
    arena_.reset(raw);
  }
  tessera_arena *get() const { return arena_.get(); }

private:
  std::unique_ptr<tessera_arena, void (*)(tessera_arena *)> arena_;
};

struct CallSettings {
  std::string topology = {};    // contents of a topology file whose links are simulated
  double timeLimit = 0;         // seconds that a step may take; 0: any
  const Arena *arena = nullptr; // null: one of its own
  bool isQueued = false;        // a step waits while another call executes on the arena
  // Buffers of inputs that no step takes over stay with the caller until the steps are over.
  bool isUnheld = false;
};

// An executable prepared to be executed again and again. One thread at a time, but for cancel.
class Call {
public:
  struct Step {
    std::vector<std::vector<Buffer>> outputs; // by output, then by device
    Event done;
  };

  explicit Call(const Executable &executable, const CallSettings &settings = {})
      : call_(nullptr, tessera_call_free), outputs_(executable.outputs()),
        devices_(executable.devices()) {
    tessera_call_options options{};
    options.struct_size = sizeof options;
    options.topology = settings.topology.empty() ? nullptr : settings.topology.c_str();
    options.time_limit = settings.timeLimit;
    options.arena = settings.arena ? settings.arena->get() : nullptr;
    options.queued = settings.isQueued;
    options.unheld = settings.isUnheld;
    tessera_call *raw = nullptr;
    throwUnlessOk(tessera_call_create(executable.get(), &options, &raw));
    call_.reset(raw);
  }
  // One buffer a device. They stay bound; those of a donated input are taken over by the next step.
  void bind(size_t input, std::span<const Buffer> tiles) {
    std::vector<tessera_buffer *> list;
    for (const Buffer &tile : tiles)
      list.push_back(tile.get());
    throwUnlessOk(tessera_call_bind(get(), input, list.data(), list.size()));
  }
  // Outputs may be bound, and shared, before the step is done.
  Step start() {
    std::vector<tessera_buffer *> raw(outputs_ * devices_);
    tessera_event *done = nullptr;
    throwUnlessOk(tessera_call_start(get(), raw.data(), raw.size(), &done));
    Step step{{}, Event(done)};
    for (size_t i = 0; i < outputs_; ++i) {
      step.outputs.emplace_back();
      for (size_t d = 0; d < devices_; ++d)
        step.outputs.back().emplace_back(raw[i * devices_ + d]);
    }
    return step;
  }
  void cancel() { tessera_call_cancel(get()); } // from any thread
  tessera_call *get() const { return call_.get(); }

private:
  std::unique_ptr<tessera_call, void (*)(tessera_call *)> call_;
  size_t outputs_, devices_;
};

struct SessionSettings {
  uint32_t workers = 0;               // 0: TESSERA_WORKERS, or one a core
  std::string communicator = "local"; // or "mpi"
  std::string topology = {};          // contents of a topology file whose links are simulated
  double timeLimit = 0;               // seconds that a step may take; 0: any
  const Client *client = nullptr;     // whose workers, memory and processes it uses; null: its own
  bool profile = false;               // its report says where the time of the quickest step went
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
    options.profile = settings.profile;
    options.client = settings.client ? settings.client->get() : nullptr;
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
  // The same by name, in any order: each input of the program once, and no others.
  std::vector<Array> execute(const std::vector<std::pair<std::string, const Array *>> &inputs) {
    std::vector<const char *> names;
    std::vector<tessera_array *> in, out(outputs_);
    for (const auto &[name, array] : inputs) {
      names.push_back(name.c_str());
      in.push_back(array->get());
    }
    throwUnlessOk(tessera_session_execute_named(get(), names.data(), in.data(), in.size(),
                                                out.data(), out.size()));
    return std::vector<Array>(out.begin(), out.end());
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
