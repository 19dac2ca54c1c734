#include "runtime/client/Call.h"
#include "lib/text/Quantity.h"
#include "runtime/array/Placement.h"
#include "runtime/comm/exchange/Agreement.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/comm/nccl/NcclCommunicator.h"
#include "runtime/execute/Backends.h"
#include "runtime/pool/Guest.h"
#include <algorithm>
#include <cstdio>
#include <new>

namespace tessera::runtime {

namespace {

// What every rank must have alike to run the program.
std::vector<Fact> factsOf(const LoadedProgram &program) {
  char fingerprint[24];
  std::snprintf(fingerprint, sizeof fingerprint, "%016llx",
                static_cast<unsigned long long>(program.fingerprint()));
  std::string inputs;
  for (const auto &input : program.inputs())
    inputs += (inputs.empty() ? "" : ", ") + describe(*input.parameter);
  return {{"program", fingerprint}, {"parameters", inputs}};
}

} // namespace

Call::Call(std::shared_ptr<const Executable> executable)
    : executable_(std::move(executable)), run_(executable_->client()->pool()),
      shortSteps_(executable_->devices().size()) {}

Call::~Call() {
  if (!run_.pool().isHere()) // nothing runs in the child of a fork
    return;
  cancel();
  done_->wait();
}

Result<std::unique_ptr<Call>>
Call::prepare(const Result<std::shared_ptr<const Executable>> &executable,
              const CallOptions &options, Transport *transport) {
  if (!transport) {
    auto call = executable.ok() ? make(*executable, options, 0)
                                : Result<std::unique_ptr<Call>>(executable.status());
    if (call.ok())
      if (Status s = (*call)->connect(); !s.ok())
        return s;
    return call;
  }
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
  if (Status s = (*call)->connect(); !s.ok())
    return s;
  return call;
}

// What communicators do together, once all ranks have agreed that they run the same.
Status Call::connect() {
  for (const DeviceProgram &each : program().programs()) {
    auto *nccl = dynamic_cast<NcclCommunicator *>(communicators_[each.index()].get());
    std::vector<std::shared_ptr<device::Memory>> arenas;
    auto [begin, end] = executable_->devicesOf(each);
    for (size_t d = begin; d < end; ++d)
      arenas.push_back(arena_->memory(d, device::Space::Device));
    if (nccl)
      if (Status s = nccl->connect(std::move(arenas)); !s.ok())
        return s;
  }
  return {};
}

Result<std::unique_ptr<Call>> Call::make(std::shared_ptr<const Executable> executable,
                                         const CallOptions &options, uint32_t number) {
  if (!(options.timeLimit >= 0))
    return invalidArgument("a time limit is a number of seconds, 0 for none");
  std::unique_ptr<Call> call(new Call(std::move(executable)));
  const Executable &made = *call->executable_;
  call->number_ = number;
  call->arena_ = options.arena;
  if (!call->arena_) {
    auto arena = Arena::make({&call->executable_, 1});
    if (!arena.ok())
      return arena.status();
    call->arena_ = *arena;
  }
  if (!call->arena_->isEnoughFor(made))
    return invalidArgument("the arena was made for other executables: it has " +
                           call->arena_->describe());
  if (Status s = call->makeCommunicators(options); !s.ok())
    return s;
  call->makeDevices();
  call->run_.wakeAll = [raw = call.get()] {
    for (const auto &communicator : raw->communicators_)
      if (communicator)
        communicator->wakeAll();
  };
  call->run_.describeStall = [raw = call.get()] { return raw->describeStall(); };
  call->run_.over = [raw = call.get()] { raw->over(); };
  call->timeLimit_ = options.timeLimit;
  if (!made.client()->transport() && !options.links && isShort(made.program()))
    call->guest_ = std::make_unique<Worker>(call->run_.pool(), call->run_.pool().size());
  call->queued_ = options.queued;
  size_t inputs = made.program().inputs().size();
  call->bound_.resize(inputs);
  call->held_.resize(inputs);
  call->lent_.resize(inputs);
  return call;
}

Status Call::makeCommunicators(const CallOptions &options) {
  const Client &client = *executable_->client();
  std::shared_ptr<LocalChannels> channels;
  if (!client.transport() && !program().channels().empty())
    channels = makeChannels(client.backend(0), program(), run_);
  for (const DeviceProgram &each : program().programs()) {
    auto here = executable_->devicesOf(each);
    if (here.begin == here.end) {
      communicators_.push_back(nullptr);
      continue;
    }
    std::vector<DeviceHere> devices;
    for (size_t d = here.begin; d < here.end; ++d)
      devices.push_back({executable_->devices()[d].position, executable_->devices()[d].backend});
    auto made = client.transport()
                    ? makeCommunicator(devices, each, run_, *client.transport(), number_)
                    : makeCommunicator(devices, each, run_, options.links, channels);
    if (!made.ok())
      return made.status();
    communicators_.push_back(std::move(*made));
  }
  return {};
}

void Call::makeDevices() {
  const auto &devices = executable_->devices();
  for (size_t d = 0; d < devices.size(); ++d) {
    const Executable::Device &of = devices[d];
    DeviceMemory memory{arena_->memory(d, device::Space::Device), of.constants,
                        arena_->memory(d, device::Space::Host),
                        arena_->memory(d, device::Space::File), of.code};
    auto device = std::make_unique<Interpreter>(
        *of.program, of.position, run_, *communicators_[of.program->index()], *of.backend, memory);
    device->home = static_cast<uint32_t>(d * run_.pool().size() / devices.size());
    devices_.push_back(std::move(device));
  }
}

void Call::bindAddresses(size_t input, const Tiles &tiles) {
  const LoadedProgram::Place &place = program().inputs()[input];
  auto [begin, end] = executable_->devicesOf(*place.program);
  for (size_t d = begin; d < end; ++d)
    devices_[d]->bindInput(place.index, tiles[d - begin]->address());
  rebound_ = true;
}

void Call::bind(size_t input, Tiles tiles) {
  held_[input] = std::move(tiles);
  bindAddresses(input, held_[input]);
  bound_[input] = true;
}

void Call::bindUnheld(size_t input, const Tiles &tiles) {
  held_[input].clear();
  if (executable_->client()->transport())
    lent_[input].assign(tiles.begin(), tiles.end());
  bindAddresses(input, tiles);
  bound_[input] = true;
}

// Inputs that the step takes over leave the call; those that somebody else holds are copied.
Status Call::takeInputs() {
  const auto &inputs = program().inputs();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!bound_[i])
      return invalidArgument("input " + std::to_string(i) + " ('" + inputs[i].parameter->name() +
                             "') is not bound" +
                             (executable_->takes(i) ? ": the last step has taken it over" : ""));
  taken_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!executable_->takes(i))
      continue;
    taken_[i] = std::move(held_[i]);
    held_[i].clear();
    bound_[i] = false; // also where what follows fails: nobody runs on a copy that was not made
    bool moved = false;
    for (auto &tile : taken_[i]) {
      if (tile.use_count() == 1)
        continue;
      auto copy = tile->backend().allocate(tile->space(), tile->bytes());
      if (!copy)
        return {Code::ResourceExhausted, "no memory for a copy of input '" +
                                             inputs[i].parameter->name() + "'" + describeLive({})};
      copies_.push_back({tile, copy});
      tile = std::move(copy);
      moved = true;
    }
    if (moved)
      bindAddresses(i, taken_[i]);
  }
  return {};
}

Status Call::makeOutputs(std::vector<Tiles> &outputs) {
  const auto &places = program().outputs();
  outputs.clear();
  outputs.resize(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const program::Parameter &parameter = *places[i].parameter;
    if (places[i].alias >= 0) {
      outputs[i] = std::move(taken_[places[i].alias]);
      continue;
    }
    auto bytes = static_cast<size_t>(localBytes(parameter));
    auto [begin, end] = executable_->devicesOf(*places[i].program);
    outputs[i] = executable_->allocateTiles({begin, end}, spaceOf(parameter), bytes);
    if (outputs[i].empty() && begin < end)
      return {Code::ResourceExhausted, "no memory for output '" + parameter.name() + "' of " +
                                           text::bytes(bytes) + " on each device" +
                                           describeLive(outputs)};
    for (size_t d = begin; d < end; ++d)
      devices_[d]->bindOutput(places[i].index, outputs[i][d - begin]->address());
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
  auto done = std::make_shared<device::Event>();
  std::shared_ptr<device::Event> turn = device::Event::past(); // to execute on the arena
  if (queued_) {
    turn = arena_->enqueue(done);
  } else if (!arena_->tryAcquire(done)) {
    executing_.store(false, std::memory_order_release);
    return Status(Code::FailedPrecondition, "a call that shares its arena is being executed");
  }
  Status status = begin(after, *turn, done, outputs);
  if (status.ok())
    return done;
  taken_.clear();
  copies_.clear();
  executing_.store(false, std::memory_order_release);
  turn->then([done, status] { done->signal(status); }); // whose turn is next still waits for them
  return status;
}

Status Call::begin(std::span<const std::shared_ptr<device::Event>> after, device::Event &turn,
                   const std::shared_ptr<device::Event> &done, std::vector<Tiles> &outputs) {
  if (Status s = takeInputs(); !s.ok())
    return s;
  if (Status s = makeOutputs(outputs); !s.ok())
    return s;
  done_ = done;
  failure_ = Status();
  cancelled_ = false;
  awaited_ = 2;
  for (const auto &event : after)
    await(event);
  turn.then([this] { arrived({}); });
  arrived({});
  return {};
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

// On the thread that starts the step, or that made the last of its inputs.
void Call::launch() {
  if (!guest_ || !Guest::isPossible() || !shortSteps_.isNext()) {
    beginRun();
    return run_.retire();
  }
  int64_t begin = Pool::now();
  Guest guest(*guest_);
  beginRun();
  guest.carryOut();
  shortSteps_.took(Pool::now() - begin);
  run_.retire();
}

// Holds the run, which is not over before that is given up.
void Call::beginRun() {
  copied_.clear();
  run_.begin(static_cast<int32_t>(devices_.size()));
  Task *chain = nullptr;
  for (size_t d = devices_.size(); d-- > 0;) {
    devices_[d]->rewind();
    devices_[d]->next = chain;
    chain = devices_[d].get();
  }
  run_.hold(); // what follows here is part of the run
  if (Transport *transport = executable_->client()->transport(); transport && transport->isOver())
    run_.fail(transport->health());
  run_.wake(chain);
  if (timeLimit_ > 0) {
    constexpr double longest = 1e9; // 30 years
    auto deadline = Pool::now() + static_cast<int64_t>(std::min(timeLimit_, longest) * 1e9);
    if (Status s = executable_->client()->deadlines().set(run_, deadline); !s.ok())
      run_.fail(std::move(s));
  }
  if (cancelled_)
    run_.fail({Code::Cancelled, "the step was cancelled"});
}

// On whatever thread ends the run.
void Call::over() {
  if (timeLimit_ > 0)
    executable_->client()->deadlines().clear(run_);
  Status status = run_.status();
  if (status.code() == Code::DeadlineExceeded)
    status = describeLimit();
  if (!status.ok())
    for (const auto &communicator : communicators_)
      if (communicator) {
        communicator->announceFailure(status.message());
        if (communicator->mayStillWrite())
          keepBuffers();
        communicator->reset();
      }
  Counters counters;
  bool isKnown = !rebound_;
  counters.peakBytes = isKnown ? counters_.peakBytes : peakBytes(program::DEVICE_MEMORY);
  counters.hostPeakBytes = isKnown ? counters_.hostPeakBytes : peakBytes(program::HOST_MEMORY);
  rebound_ = false;
  for (const auto &device : devices_) {
    counters.collectives = std::max(counters.collectives, device->collectives());
    counters.collectiveBytes = std::max(counters.collectiveBytes, device->collectiveBytes());
    counters.transfers = std::max(counters.transfers, device->transfers());
    counters.transferBytes = std::max(counters.transferBytes, device->transferBytes());
  }
  {
    std::lock_guard lock(countersMutex_);
    counters_ = counters;
  }
  conclude(std::move(status));
}

// Messages of a failed run may still come: until the connection is closed their memory is nobody
// else's, whose numbers they could change or be.
void Call::keepBuffers() {
  auto kept = std::make_shared<std::vector<std::shared_ptr<const device::Memory>>>();
  for (size_t d = 0; d < devices_.size(); ++d)
    for (auto space : {device::Space::Device, device::Space::Host})
      kept->push_back(arena_->memory(d, space));
  for (const Executable::Device &device : executable_->devices())
    kept->push_back(device.constants);
  for (const auto *lists : {&held_, &taken_, &made_})
    for (const Tiles &tiles : *lists)
      kept->insert(kept->end(), tiles.begin(), tiles.end());
  for (const auto &tiles : lent_)
    for (const auto &tile : tiles)
      kept->push_back(tile.lock());
  executable_->client()->transport()->buryBuffers(std::move(kept));
}

void Call::conclude(Status status) {
  taken_.clear();
  made_.clear();
  copies_.clear();
  copied_.clear();
  auto done = done_;
  arena_->release(done);
  executing_.store(false, std::memory_order_release);
  done->signal(std::move(status)); // and the call may be gone
}

void Call::cancel() {
  if (!run_.pool().isHere())
    return;
  cancelled_ = true;
  run_.failFromOutside({Code::Cancelled, "the step was cancelled"});
}

} // namespace tessera::runtime
