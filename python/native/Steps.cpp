#include "Steps.h"
#include "Array.h"
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

namespace tessera::python {

static void letGo(Step &step) {
  step.isOver = true;
  step.call.reset();
  step.reads.clear();
  step.after.clear();
}

// All that there are.
static std::vector<ClientState *> &clients() {
  static auto &list = *new std::vector<ClientState *>();
  return list;
}

ClientState::ClientState(tessera::Client client, std::string device)
    : client(std::move(client)), device(std::move(device)) {
  clients().push_back(this);
}
ClientState::~ClientState() { std::erase(clients(), this); }

// Before the interpreter goes: nobody is going to ask for what is still on its way.
static void shutDown() {
  for (ClientState *client : std::vector(clients())) {
    if (getpid() != client->process)
      continue;
    for (const auto &step : std::vector(client->steps))
      if (step->call)
        step->call->call.cancel();
    for (const auto &step : std::vector(client->steps)) {
      nb::gil_scoped_release unlocked;
      while (!step->done.endsWithin(1))
        continue;
    }
    client->sweep();
  }
}

void ClientState::sweep() {
  if (getpid() != process) // nothing ends any more
    return;
  std::vector<std::shared_ptr<Step>> over;
  std::erase_if(steps, [&](const auto &step) {
    if (!step->done.ready())
      return false;
    over.push_back(step);
    return true;
  });
  for (const auto &step : over) // may free what sweeps again
    letGo(*step);
}

void markNeeded(Step &step) {
  std::vector<Step *> open{&step};
  while (!open.empty()) {
    Step *next = open.back();
    open.pop_back();
    if (next->isNeeded || next->isOver)
      continue;
    next->isNeeded = true;
    for (const auto &before : next->after)
      open.push_back(before.get());
  }
}

// True when it is over, false when a signal's handler has raised an exception.
static bool sleepUntilOver(ClientState &client, Step &step) {
  if (getpid() != client.process && !step.done.ready())
    throwPrecondition("a step of the process that was forked from does not end here: wait for it "
                      "before the fork");
  constexpr double between = 0.05; // seconds between looks at signals
  while (true) {
    {
      nb::gil_scoped_release unlocked;
      if (step.done.endsWithin(between))
        return true;
    }
    if (PyErr_CheckSignals() != 0)
      return false;
  }
}

void waitFor(ClientState &client, Step &step) {
  if (!sleepUntilOver(client, step)) {
    if (step.call && !step.takes && !step.isNeeded && step.call->step == step.number)
      step.call->call.cancel();
    throw nb::python_error(); // what Python's handler raised: KeyboardInterrupt
  }
  client.sweep();
  step.done.wait(); // throws how it ended
}

void waitForTurn(ClientState &client, Step &step) {
  if (!sleepUntilOver(client, step))
    throw nb::python_error();
  client.sweep();
}

void bindClient(nb::module_ &m) {
  nb::class_<ClientState>(m, "Client")
      .def(
          "__init__",
          [](ClientState *self, const std::string &device, uint32_t workers,
             const std::string &communicator) {
            auto made = [&] {
              nb::gil_scoped_release unlocked;
              return tessera::Client(
                  {.workers = workers, .communicator = communicator, .device = device});
            };
            new (self) ClientState(made(), device);
          },
          nb::arg("device"), nb::arg("workers"), nb::arg("communicator"))
      .def_ro("device", &ClientState::device)
      .def_prop_ro("process", [](const ClientState &c) { return c.client.process(); })
      .def_prop_ro("process_count", [](const ClientState &c) { return c.client.processCount(); });
  m.def("shut_down", &shutDown);
}

} // namespace tessera::python
