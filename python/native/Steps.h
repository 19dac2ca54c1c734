// Clients, and steps that are being executed for them.
#pragma once

#include "Placement.h"
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace tessera::python {

struct Contents;

// A call that steps of an executable take turns with.
struct PreparedCall {
  tessera::Call call;
  std::vector<uint64_t> bound = {}; // by input: the number of the contents that are bound
  uint64_t step = 0;                // the last one that was started
  bool claimed = false;             // by a thread that is about to start a step
};

// A step that was started. What it needs is held until it is over.
struct Step {
  tessera::Event done;
  uint64_t number;
  bool takes;            // inputs over: it is not given up lightly
  bool isNeeded = false; // by a step that takes inputs over
  bool isOver = false;   // what follows has been let go
  std::shared_ptr<PreparedCall> call = {};
  std::vector<std::shared_ptr<Contents>> reads = {};
  std::vector<std::shared_ptr<Step>> after = {}; // steps that it waits for
};

// A client with the steps that are on their way. With the GIL, as all of this.
struct ClientState {
  tessera::Client client;
  std::string device;
  pid_t process = getpid();
  std::vector<std::shared_ptr<Step>> steps = {};

  ClientState(tessera::Client client, std::string device);
  ~ClientState();
  ClientState(const ClientState &) = delete;
  ClientState &operator=(const ClientState &) = delete;
  // Lets go of what steps that are over have held.
  void sweep();
};

// Sleeps until the step is over, without the GIL. Ctrl-C ends the wait, and the step, where it takes no
// inputs over and no step that does needs it. Throws when the step failed.
void waitFor(ClientState &client, Step &step);

// The same to start another step after it: it is never given up, and may have failed.
void waitForTurn(ClientState &client, Step &step);

// The step and those before it must run to their end.
void markNeeded(Step &step);

void bindClient(nb::module_ &m);

} // namespace tessera::python
