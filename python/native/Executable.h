// A program loaded for a client, with the calls that its steps take turns with.
#pragma once

#include "Array.h"
#include <unordered_map>

namespace tessera::python {

class Executable {
public:
  // `inputShardings`, `outputShardings`: what arrays say of themselves.
  Executable(std::shared_ptr<ClientState> client, const tessera::Program &program,
             nb::list inputShardings, nb::list outputShardings);

  // Starts a step on arrays, or what NumPy makes an array of: its outputs, which are there later.
  // Without `donate` nothing is taken over: the step works on copies of what it would.
  nb::list execute(nb::handle inputs, bool donate);
  // The same: the first ones by number, the others by name.
  nb::list call(nb::args positional, nb::kwargs named);
  // What the arrays of later steps have as their `kind`, by output.
  void setKinds(const nb::list &kinds);
  // Gives up the steps that are on their way.
  void cancel();

  const std::shared_ptr<ClientState> &client() const { return client_; }

private:
  struct Input {
    std::string name;
    std::shared_ptr<const Placement> placement;
    bool isTaken;
    nb::object sharding;
  };
  struct Output {
    std::shared_ptr<const Placement> placement;
    nb::object sharding;
    nb::object kind = nb::none();
  };
  // What a step gets for an input. `own`: how many hold it where nobody but the caller does.
  struct Given {
    std::shared_ptr<Contents> contents;
    long own;
  };

  std::string who(size_t input) const;
  std::vector<Given> look(nb::handle inputs);
  Given lookAt(size_t input, nb::handle value);
  void checkDonated(const std::vector<Given> &given, bool donate) const;
  std::shared_ptr<PreparedCall> acquire();
  std::shared_ptr<PreparedCall> makeCall();
  void bind(PreparedCall &call, const std::vector<Given> &given, bool donate);
  nb::list start(const std::shared_ptr<PreparedCall> &call, const std::vector<Given> &given,
                 bool donate);

  std::shared_ptr<ClientState> client_;
  tessera::Executable executable_;
  tessera::Arena arena_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::unordered_map<std::string, size_t> numbers_; // of inputs, by name
  bool takes_ = false;
  size_t buffers_ = 0; // that a step makes
  std::vector<std::shared_ptr<PreparedCall>> calls_;
};

} // namespace tessera::python
