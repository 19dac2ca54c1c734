// Global arrays over a client: a program whose inputs are placed from the host, whose steps take
// and give arrays, and whose outputs are read back whole.
#pragma once

#include "runtime/array/HostArray.h"
#include "runtime/client/Call.h"
#include "runtime/client/OwnGpus.h"
#include "runtime/session/Array.h"

namespace tessera::runtime {

struct SessionOptions {
  std::shared_ptr<Client> client;           // null: one of its own, of the two that follow
  uint32_t workers = 0;                     // 0: TESSERA_WORKERS, or one a core
  std::shared_ptr<Transport> transport;     // other processes; null: all devices are here
  OwnGpus ownGpus = OwnGpus::WherePossible; // where there are no others
  std::shared_ptr<const Links> links;       // simulated delays of the local communicator
  double timeLimit = 0;                     // seconds that a step may take; 0: any
  std::vector<Fact> facts;                  // what the ranks must have alike beside the program
};

// One thread at a time, but for cancel. With several processes all ranks make the same calls; what
// fails on one before it comes to a collective is announced to the others, and ends the connection.
class Session {
public:
  // With several processes all call it, and first compare what they have: a difference, or a
  // failure of one, is an error on all.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const LoadedProgram> program,
                                                 const SessionOptions &options);

  const LoadedProgram &program() const { return call_->program(); }
  Transport *transport() const { return call_->executable().client()->transport(); }

  // Cuts a global host array into the devices' tiles, for an input (or output) of the program.
  Result<std::shared_ptr<Array>> place(const LoadedProgram::Place &place, const void *global);
  // The array itself when each device holds what the input asks for; otherwise, within one process,
  // a copy that fits.
  Result<std::shared_ptr<Array>> adopt(const std::shared_ptr<Array> &array,
                                       const LoadedProgram::Place &place);
  // The global array. With several processes all must call; only rank 0 gets the contents, unless
  // every device holds the whole array: then all do.
  Result<HostArray> fetch(const Array &array);

  // One step. Inputs that are donated are invalid afterwards, also when the step fails.
  Result<std::vector<std::shared_ptr<Array>>>
  execute(const std::vector<std::shared_ptr<Array>> &inputs);
  // Tells the other ranks, if there are any, that nothing more comes from this one, and why.
  void announce(const std::string &failure);
  // From any thread: the step that is running ends with an error.
  void cancel() { call_->cancel(); }

  Counters counters() const { return call_->counters(); }
  void setTracing(bool on) { call_->setTracing(on); }
  std::vector<TracedDevice> traced() const { return call_->traced(); }
  void forgetTraced() { call_->forgetTraced(); }
  // The kernels on the devices (of the first of several GPUs); null where they are the host's functions.
  const device::KernelCode *code() const { return call_->executable().devices()[0].code.get(); }
  // What is not as it could be; "" for nothing.
  const std::string &note() const { return note_; }
  uint32_t workers() const { return call_->executable().client()->pool().size(); }

private:
  Session(std::unique_ptr<Call> call, std::string note)
      : call_(std::move(call)), note_(std::move(note)), bound_(program().inputs().size()),
        fitting_(bound_.size()) {}
  Result<std::vector<std::shared_ptr<Array>>>
  step(const std::vector<std::shared_ptr<Array>> &inputs);
  Result<HostArray> gather(const Array &array);
  Result<std::shared_ptr<const void>> receiveTile(const Array &array, int32_t owner);
  Status sendTile(const Array &array, const std::shared_ptr<device::Memory> &memory);
  uint64_t nameForRanks(const Array &array) const;

  bool fits(const Array &array, const LoadedProgram::Place &place) const;
  bool fitsInput(const Array &array, size_t index);
  Status checkInput(size_t index, const Array *array);
  Status checkSharing(const std::vector<std::shared_ptr<Array>> &inputs) const;
  Status bind(const std::vector<std::shared_ptr<Array>> &inputs);

  std::unique_ptr<Call> call_;
  const std::string note_;
  std::vector<uint64_t> bound_; // by input: the identity of the array that is bound, 0 for none
  // By input: the parameter, and its program, whose arrays were last found to fit. A step that
  // gets what an earlier one got compares no shapes.
  struct Fitting {
    const program::Parameter *parameter = nullptr;
    std::shared_ptr<const LoadedProgram> file;
    const device::Backend *backend = nullptr; // of its first tile
  };
  std::vector<Fitting> fitting_;
  uint64_t made_ = 0; // arrays
};

} // namespace tessera::runtime
