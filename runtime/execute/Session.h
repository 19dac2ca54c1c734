// A program, its devices in this process and their memory: what executes steps.
#pragma once

#include "runtime/array/Npz.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/local/Links.h"
#include "runtime/execute/Array.h"
#include "runtime/execute/Interpreter.h"
#include "runtime/pool/Run.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/trace/Report.h"
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::runtime {

class Transport;

struct SessionOptions {
  uint32_t workers = 0;               // 0: TESSERA_WORKERS, or one a core
  std::shared_ptr<const Links> links; // simulated delays of the local communicator
  double timeLimit = 0;               // seconds that a step may take; 0: any
  std::shared_ptr<Transport>
      transport;           // other processes, one device each; null: all devices are here
  std::vector<Fact> facts; // what the ranks must have alike beside the program
};

// One thread at a time, but for cancel. With several processes all ranks make the same calls; what
// fails on one before it comes to a collective is announced to the others, and ends the connection.
class Session {
public:
  // With several processes all call it, and first compare what they have: a difference, or a
  // failure of one, is an error on all.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const LoadedProgram> program,
                                                 const SessionOptions &options);
  ~Session();

  const LoadedProgram &program() const { return *program_; }
  // The devices of this process, by position on the mesh.
  const std::vector<uint32_t> &positions() const { return positions_; }
  Transport *transport() const { return transport_.get(); }

  // Cuts a global host array into the devices' tiles, for input (or output) `parameter`.
  Result<std::shared_ptr<Array>> place(const program::Parameter &parameter, const void *global);
  // The array itself when each device holds what `parameter` asks for; otherwise, within one
  // process, a copy that fits.
  Result<std::shared_ptr<Array>> adopt(const std::shared_ptr<Array> &array,
                                       const program::Parameter &parameter);
  // The global array. With several processes all must call; only rank 0 gets the contents, unless
  // every device holds the whole array: then all do.
  Result<HostArray> fetch(const Array &array);

  // One step. Inputs that are donated are invalid afterwards, also when the step fails.
  Result<std::vector<std::shared_ptr<Array>>>
  execute(const std::vector<std::shared_ptr<Array>> &inputs);
  // Tells the other ranks, if there are any, that nothing more comes from this one, and why.
  void announce(const std::string &failure);
  // From any thread: the step that is running ends with an error.
  void cancel();

  const Counters &counters() const { return counters_; }

  void setTracing(bool on);
  Status writeTrace(files::OutputFile &file) const;

private:
  Session(std::shared_ptr<const LoadedProgram> program, std::shared_ptr<Pool> pool);
  static Result<std::unique_ptr<Session>> make(std::shared_ptr<const LoadedProgram> program,
                                               const SessionOptions &options, uint32_t number);
  Result<std::vector<std::shared_ptr<Array>>>
  step(const std::vector<std::shared_ptr<Array>> &inputs);
  Result<HostArray> gather(const Array &array);
  Result<std::shared_ptr<const void>> receiveTile(const Array &array, int32_t owner);
  Status sendTile(const Array &array);
  uint64_t nameForRanks(const Array &array) const;

  bool fits(const Array &array, const program::Parameter &parameter) const;
  Status checkInputs(const std::vector<std::shared_ptr<Array>> &inputs) const;
  Status runDevices();
  Status describeStall() const;
  Status describeLimit() const;
  void count(const std::vector<std::shared_ptr<Array>> &inputs,
             const std::vector<std::shared_ptr<Array>> &outputs);

  std::shared_ptr<const LoadedProgram> program_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<device::Backend> backend_;
  std::shared_ptr<Transport> transport_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Communicator> communicator_;
  std::vector<uint32_t> positions_;
  std::vector<std::unique_ptr<Interpreter>> devices_;
  double timeLimit_ = 0;
  Counters counters_;
  uint64_t made_ = 0;   // arrays
  uint32_t number_ = 0; // among the sessions of the transport
  std::mutex executing_;
  std::mutex cancelling_; // guards running_
  bool running_ = false;
};

} // namespace tessera::runtime
