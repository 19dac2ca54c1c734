#include "runtime/client/Call.h"
#include "runtime/array/Placement.h"
#include "runtime/comm/exchange/ExchangeCommunicator.h"
#include "runtime/comm/local/LocalCommunicator.h"
#include <algorithm>
#include <cstdio>
#include <new>
#include <set>

namespace tessera::runtime {

namespace {

// What every rank must have alike to run the program.
std::vector<Fact> factsOf(const LoadedProgram &program) {
  char fingerprint[24];
  std::snprintf(fingerprint, sizeof fingerprint, "%016llx",
                static_cast<unsigned long long>(program.fingerprint()));
  std::string inputs;
  for (const auto &input : program.manifest().inputs())
    inputs += (inputs.empty() ? "" : ", ") + describe(input);
  return {{"program", fingerprint}, {"parameters", inputs}};
}

} // namespace

Call::Call(std::shared_ptr<const Executable> executable)
    : executable_(std::move(executable)), run_(executable_->client()->pool()) {}

Call::~Call() {
  if (!run_.pool().isHere()) // nothing runs in the child of a fork
    return;
  cancel();
  done_->wait();
}

Result<std::unique_ptr<Call>>
Call::prepare(const Result<std::shared_ptr<const Executable>> &executable,
              const CallOptions &options, Transport *transport) {
  if (!transport)
    return executable.ok() ? make(*executable, options, 0) : executable.status();
  uint32_t number = transport->nextSession();
  Result<std::unique_ptr<Call>> call = Status(Code::ResourceExhausted, "out of memory");
  try {
    call = executable.ok() ? make(*executable, options, number)
                           : Result<std::unique_ptr<Call>>(executable.status());
  } catch (const std::bad_alloc &) {
    // The others wait to hear of it.
  }
  Position position{call.ok() ? Status() : call.status(), {}};
  if (executable.ok())
    position.facts = factsOf((*executable)->program());
  position.facts.push_back({"session", std::to_string(number)});
  position.facts.insert(position.facts.end(), options.facts.begin(), options.facts.end());
  if (Status s = agree(*transport, position); !s.ok())
    return s;
  return call;
}

Result<std::unique_ptr<Call>> Call::make(std::shared_ptr<const Executable> executable,
                                         const CallOptions &options, uint32_t number) {
  if (!(options.timeLimit >= 0))
    return invalidArgument("a time limit is a number of seconds, 0 for none");
  std::unique_ptr<Call> call(new Call(std::move(executable)));
  const Executable &made = *call->executable_;
  const LoadedProgram &program = made.program();
  call->number_ = number;
  call->arena_ = options.arena;
  if (!call->arena_) {
    auto arena = Arena::make({&call->executable_, 1});
    if (!arena.ok())
      return arena.status();
    call->arena_ = *arena;
  }
  if (call->arena_->devices() < made.positions().size() ||
      call->arena_->bytes() < program.manifest().arena_bytes())
    return invalidArgument("the arena was made for other executables: it has " +
                           std::to_string(call->arena_->bytes()) + " bytes on " +
                           std::to_string(call->arena_->devices()) + " devices");
  if (Transport *transport = made.client()->transport())
    call->communicator_ = std::make_unique<ExchangeCommunicator>(program, call->run_, *transport,
                                                                 made.client()->backend(), number);
  else
    call->communicator_ = std::make_unique<LocalCommunicator>(program, call->run_, options.links);
  for (size_t d = 0; d < made.positions().size(); ++d) {
    auto device = std::make_unique<Interpreter>(program, made.positions()[d], call->run_,
                                                *call->communicator_, made.client()->backend(),
                                                call->arena_->memory(d), made.constants());
    device->home = static_cast<uint32_t>(d * call->run_.pool().size() / made.positions().size());
    call->devices_.push_back(std::move(device));
  }
  call->run_.wakeAll = [communicator = call->communicator_.get()] { communicator->wakeAll(); };
  call->run_.describeStall = [raw = call.get()] { return raw->describeStall(); };
  call->run_.over = [raw = call.get()] { raw->over(); };
  call->timeLimit_ = options.timeLimit;
  size_t inputs = program.manifest().inputs_size();
  call->bound_.resize(inputs);
  call->held_.resize(inputs);
  return call;
}

void Call::bindAddresses(size_t input, const Tiles &tiles) {
  for (size_t d = 0; d < devices_.size(); ++d)
    devices_[d]->bindInput(input, tiles[d]->address());
  bound_[input] = true;
  rebound_ = true;
}

void Call::bind(size_t input, Tiles tiles) {
  held_[input] = std::move(tiles);
  bindAddresses(input, held_[input]);
}

void Call::bindUnheld(size_t input, const Tiles &tiles) {
  held_[input].clear();
  bindAddresses(input, tiles);
}

// Inputs that the step takes over leave the call; those that somebody else holds are copied.
Status Call::takeInputs() {
  const auto &inputs = program().manifest().inputs();
  for (int i = 0; i < inputs.size(); ++i)
    if (!bound_[i])
      return invalidArgument("input " + std::to_string(i) + " ('" + inputs[i].name() +
                             "') is not bound" +
                             (executable_->takes(i) ? ": the last step has taken it over" : ""));
  taken_.resize(inputs.size());
  for (int i = 0; i < inputs.size(); ++i) {
    if (!executable_->takes(i))
      continue;
    bool moved = false;
    for (auto &tile : held_[i]) {
      if (tile.use_count() == 1)
        continue;
      auto copy = executable_->client()->backend().allocate(device::Space::Device, tile->bytes());
      if (!copy)
        return {Code::ResourceExhausted,
                "no memory for a copy of input '" + inputs[i].name() + "'"};
      copies_.push_back({tile, copy});
      tile = std::move(copy);
      moved = true;
    }
    if (moved)
      bindAddresses(i, held_[i]);
  }
  for (int i = 0; i < inputs.size(); ++i)
    if (executable_->takes(i)) {
      taken_[i] = std::move(held_[i]);
      held_[i].clear();
      bound_[i] = false;
    }
  return {};
}

Status Call::makeOutputs(std::vector<Tiles> &outputs) {
  const auto &parameters = program().manifest().outputs();
  outputs.clear();
  outputs.resize(parameters.size());
  for (int i = 0; i < parameters.size(); ++i) {
    if (int alias = parameters[i].alias()) {
      outputs[i] = std::move(taken_[alias - 1]);
      continue;
    }
    auto bytes = static_cast<size_t>(localBytes(parameters[i]));
    outputs[i].reserve(devices_.size());
    for (auto &device : devices_) {
      outputs[i].push_back(executable_->client()->backend().allocate(device::Space::Device, bytes));
      if (!outputs[i].back())
        return {Code::ResourceExhausted, "no memory for output '" + parameters[i].name() + "'"};
      device->bindOutput(i, outputs[i].back()->address());
    }
  }
  made_ = outputs;
  return {};
}

Result<std::shared_ptr<device::Event>>
Call::start(std::span<const std::shared_ptr<device::Event>> after, std::vector<Tiles> &outputs) {
  if (Status s = executable_->client()->checkHere(); !s.ok())
    return s;
  if (executing_.exchange(true, std::memory_order_acquire))
    return Status(Code::FailedPrecondition, "a step of it is being executed already");
  if (!arena_->tryAcquire()) {
    executing_.store(false, std::memory_order_release);
    return Status(Code::FailedPrecondition, "a call that shares its arena is being executed");
  }
  auto event = begin(after, outputs);
  if (!event.ok()) {
    taken_.clear();
    copies_.clear();
    arena_->release();
    executing_.store(false, std::memory_order_release);
  }
  return event;
}

Result<std::shared_ptr<device::Event>>
Call::begin(std::span<const std::shared_ptr<device::Event>> after, std::vector<Tiles> &outputs) {
  if (Status s = takeInputs(); !s.ok())
    return s;
  if (Status s = makeOutputs(outputs); !s.ok())
    return s;
  auto done = std::make_shared<device::Event>();
  done_ = done;
  failure_ = Status();
  cancelled_ = false;
  awaited_ = 1;
  for (const auto &event : after)
    await(event);
  arrived({});
  return done;
}

void Call::await(const std::shared_ptr<device::Event> &event) {
  awaited_.fetch_add(1, std::memory_order_relaxed);
  event->then([this, raw = event.get()] { arrived(raw->status()); });
}

void Call::arrived(const Status &status) {
  if (!status.ok()) {
    std::lock_guard lock(failureMutex_);
    if (failure_.ok())
      failure_ = status;
  }
  if (awaited_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (!failure_.ok())
    return conclude({failure_.code(), "an input could not be made: " + failure_.message()});
  if (copies_.empty())
    return launch();
  awaited_ = 1;
  std::vector<Copy> copies = std::move(copies_);
  copies_.clear();
  for (const Copy &copy : copies) {
    auto event =
        copy.to->backend().copy(copy.to->address(), copy.from->address(), copy.to->bytes());
    copied_.push_back(copy);
    await(event);
  }
  arrived({});
}

void Call::launch() {
  copied_.clear();
  run_.begin(static_cast<int32_t>(devices_.size()));
  Task *chain = nullptr;
  for (size_t d = devices_.size(); d-- > 0;) {
    devices_[d]->rewind();
    devices_[d]->next = chain;
    chain = devices_[d].get();
  }
  run_.hold(); // what follows here is part of the run
  run_.wake(chain);
  if (timeLimit_ > 0) {
    constexpr double longest = 1e9; // 30 years
    auto deadline = Pool::now() + static_cast<int64_t>(std::min(timeLimit_, longest) * 1e9);
    if (Status s = executable_->client()->deadlines().set(run_, deadline); !s.ok())
      run_.fail(std::move(s));
  }
  if (cancelled_)
    run_.fail({Code::Cancelled, "the step was cancelled"});
  run_.retire();
}

// On whatever thread ends the run.
void Call::over() {
  if (timeLimit_ > 0)
    executable_->client()->deadlines().clear(run_);
  Status status = run_.status();
  if (status.code() == Code::DeadlineExceeded)
    status = describeLimit();
  if (!status.ok()) {
    communicator_->announceFailure(status.message());
    communicator_->reset();
  }
  Counters counters;
  if (rebound_)
    counters.peakBytes = peakBytes();
  else
    counters.peakBytes = counters_.peakBytes;
  rebound_ = false;
  for (const auto &device : devices_) {
    counters.collectives = std::max(counters.collectives, device->collectives());
    counters.collectiveBytes = std::max(counters.collectiveBytes, device->collectiveBytes());
  }
  {
    std::lock_guard lock(countersMutex_);
    counters_ = counters;
  }
  conclude(std::move(status));
}

void Call::conclude(Status status) {
  taken_.clear();
  made_.clear();
  copies_.clear();
  copied_.clear();
  auto done = done_;
  arena_->release();
  executing_.store(false, std::memory_order_release);
  done->signal(std::move(status)); // and the call may be gone
}

void Call::cancel() {
  if (!run_.pool().isHere())
    return;
  cancelled_ = true;
  run_.failFromOutside({Code::Cancelled, "the step was cancelled"});
}

// All devices hold as much.
uint64_t Call::peakBytes() const {
  std::vector<std::pair<uint64_t, uint64_t>> arrays; // address, bytes
  const auto &manifest = program().manifest();
  for (int i = 0; i < manifest.inputs_size(); ++i)
    arrays.emplace_back(devices_[0]->inputAddress(i).number(), localBytes(manifest.inputs(i)));
  std::sort(arrays.begin(), arrays.end());
  arrays.erase(std::unique(arrays.begin(), arrays.end(),
                           [](const auto &a, const auto &b) { return a.first == b.first; }),
               arrays.end());
  uint64_t bytes = manifest.arena_bytes() + program().decoded().scratchBytes;
  for (const auto &[address, size] : arrays)
    bytes += size;
  for (const auto &output : manifest.outputs())
    bytes += output.alias() ? 0 : localBytes(output);
  return bytes;
}

Status Call::describeStall() const {
  std::string text = "the devices wait for each other:";
  std::set<uint32_t> sites; // one device speaks for all that wait there
  for (const auto &device : devices_)
    if (!device->ended() && device->current().opcode == Opcode::Wait && sites.size() < 4 &&
        sites.insert(device->current().a).second)
      text += (sites.size() > 1 ? "; device " : " device ") +
              std::to_string(program().mesh().deviceAt(device->position())) + " waits for " +
              communicator_->describeWait(device->position(), device->current().a);
  return {Code::Internal, text};
}

Status Call::describeLimit() const {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", timeLimit_);
  std::string text = std::string("a step took longer than the time limit of ") + seconds + " s";
  // A device that computes in a loop says more than one that waits for it.
  const Interpreter *best = nullptr;
  auto rank = [](const Interpreter &device) {
    return (device.currentLoop() ? 2 : 0) + (device.current().opcode != Opcode::Wait ? 1 : 0);
  };
  for (const auto &device : devices_)
    if (device->current().opcode != Opcode::End && (!best || rank(*device) > rank(*best)))
      best = device.get();
  if (!best)
    return {Code::DeadlineExceeded, text};
  const Instruction *loop = best->currentLoop();
  return {Code::DeadlineExceeded,
          text + ": device " + std::to_string(program().mesh().deviceAt(best->position())) +
              " was " + (loop ? "in the loop at " : "at ") +
              program().location(loop ? loop->location : best->current().location)};
}

void Call::setTracing(bool on) {
  for (auto &device : devices_)
    device->tracing = on;
}

Status Call::writeTrace(files::OutputFile &file) const {
  std::vector<std::vector<TraceEvent>> events;
  for (const auto &device : devices_)
    events.push_back(device->trace);
  return runtime::writeTrace(file, program(), executable_->positions(), events);
}

} // namespace tessera::runtime
