#include "runtime/execute/Session.h"
#include "include/tessera/container.h"
#include "runtime/HostMemory.h"
#include "runtime/array/ElementType.h"
#include "runtime/comm/exchange/ExchangeCommunicator.h"
#include "runtime/comm/local/LocalCommunicator.h"
#include "runtime/device/HostAccess.h"
#include "runtime/execute/Backends.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <unordered_map>

namespace tessera::runtime {

namespace {

// Says so when the arrays of one step can't fit into this machine, before any of them is made:
// what is promised and not there would end the process later.
Status checkMemory(const LoadedProgram &program, size_t devices, uint64_t most) {
  const auto &manifest = program.manifest();
  double bytes = static_cast<double>(manifest.arena_bytes()); // doubles don't wrap around
  for (const auto &input : manifest.inputs())
    bytes += static_cast<double>(localBytes(input));
  for (const auto &output : manifest.outputs())
    bytes += output.alias() ? 0 : static_cast<double>(localBytes(output));
  auto machine = static_cast<double>(most);
  if (bytes * static_cast<double>(devices) <= machine)
    return {};
  constexpr double gib = 1 << 30;
  char text[240];
  std::snprintf(text, sizeof text,
                "the program needs %.1f GiB on each of %zu devices, and the machine has %.1f GiB: "
                "use more processes on other machines (--comm=mpi), or shard its arrays further",
                bytes / gib, devices, machine / gib);
  return {Code::Failed, text};
}

// What devices in one process take beside their arrays: tables of pointers, places at collectives,
// tiles. A short program can ask for much of it, and legitimate ones are far from the limit.
Status checkBookkeeping(const LoadedProgram &program) {
  const auto &manifest = program.manifest();
  const Decoded &decoded = program.decoded();
  constexpr double tile = 256, dimension = 32, most = 1 << 30;
  double each = static_cast<double>(decoded.slots.size()) * 2 * sizeof(void *) +
                static_cast<double>(decoded.counters + decoded.coordinates.size()) * 8;
  for (const auto *list : {&manifest.inputs(), &manifest.outputs()})
    for (const auto &parameter : *list)
      each += tile + dimension * parameter.layout_size();
  auto devices = static_cast<double>(program.mesh().size());
  double bytes = devices * each + LocalCommunicator::bytesFor(program);
  if (bytes <= most)
    return {};
  char text[200];
  std::snprintf(text, sizeof text,
                "%.0f devices in one process take %.1f GiB beside their arrays for this program, "
                "and 1 GiB is the limit: use more processes (--comm=mpi)",
                devices, bytes / most);
  return {Code::Unsupported, text};
}

} // namespace

Session::Session(std::shared_ptr<const LoadedProgram> program, std::shared_ptr<Pool> pool)
    : program_(std::move(program)), pool_(std::move(pool)), run_(std::make_unique<Run>(*pool_)) {}

Session::~Session() = default;

// What every rank must have alike to run the program.
static std::vector<Fact> factsOf(const LoadedProgram &program) {
  char fingerprint[24];
  std::snprintf(fingerprint, sizeof fingerprint, "%016llx",
                static_cast<unsigned long long>(program.fingerprint()));
  std::string inputs;
  for (const auto &input : program.manifest().inputs())
    inputs += (inputs.empty() ? "" : ", ") + describe(input);
  return {{"program", fingerprint}, {"parameters", inputs}};
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const LoadedProgram> program,
                                                 const SessionOptions &options) {
  if (!options.transport)
    return make(std::move(program), options, 0);
  uint32_t number = options.transport->nextSession();
  Result<std::unique_ptr<Session>> session = Status(Code::Failed, "out of memory");
  try {
    session = make(program, options, number);
  } catch (const std::bad_alloc &) {
    // The others wait to hear of it.
  }
  Position position{session.ok() ? Status() : session.status(), factsOf(*program)};
  position.facts.push_back({"session", std::to_string(number)});
  position.facts.insert(position.facts.end(), options.facts.begin(), options.facts.end());
  if (Status s = agree(*options.transport, position); !s.ok())
    return s;
  return session;
}

Result<std::unique_ptr<Session>> Session::make(std::shared_ptr<const LoadedProgram> program,
                                               const SessionOptions &options, uint32_t number) {
  if (!(options.timeLimit >= 0))
    return invalidArgument("a time limit is a number of seconds, 0 for none");
  uint32_t workers = options.workers;
  if (workers == 0 && options.transport) { // the processes share the machine's cores
    auto all = Pool::defaultSize();
    if (!all.ok())
      return all.status();
    workers = std::max(1u, *all / static_cast<uint32_t>(options.transport->size()));
  }
  auto pool = Pool::shared(workers);
  if (!pool.ok())
    return pool.status();
  std::unique_ptr<Session> session(new Session(std::move(program), *pool));
  session->timeLimit_ = options.timeLimit;
  const LoadedProgram &loaded = session->program();
  auto backend = makeBackend("cpu", *pool);
  if (!backend.ok())
    return backend.status();
  session->backend_ = *backend;
  if (options.transport) {
    session->transport_ = options.transport;
    session->number_ = number;
    if (options.transport->size() != loaded.mesh().size())
      return invalidArgument("the program is for " + std::to_string(loaded.mesh().size()) +
                             " devices, there are " + std::to_string(options.transport->size()) +
                             " processes");
    int64_t position = loaded.mesh().positionOf(options.transport->rank());
    session->positions_.push_back(static_cast<uint32_t>(position));
    session->communicator_ = std::make_unique<ExchangeCommunicator>(
        loaded, *session->run_, *options.transport, **backend, number);
  } else {
    constexpr int64_t most = 1 << 14; // pairs of ranks are counted in 32 bits
    if (loaded.mesh().size() > most)
      return Status(Code::Unsupported,
                    "the program is for " + std::to_string(loaded.mesh().size()) +
                        " devices: one process runs at most " + std::to_string(most));
    if (Status s = checkBookkeeping(loaded); !s.ok())
      return s;
    for (int64_t p = 0; p < loaded.mesh().size(); ++p)
      session->positions_.push_back(static_cast<uint32_t>(p));
    session->communicator_ =
        std::make_unique<LocalCommunicator>(loaded, *session->run_, options.links);
  }
  if (Status s = checkMemory(loaded, session->positions_.size(), (*backend)->mostMemory()); !s.ok())
    return s;
  for (const KernelEntry &kernel : loaded.decoded().kernels)
    if (kernel.used && kernel.prepare)
      kernel.prepare(kernel.plan.get());
  session->run_->wakeAll = [communicator = session->communicator_.get()] {
    communicator->wakeAll();
  };
  auto constants = (*backend)->constant(loaded.constants(), loaded.manifest().constant_bytes(),
                                        session->program_);
  if (!constants)
    return Status(Code::Failed, "no memory for the program's constants");
  for (uint32_t position : session->positions_) {
    auto arena = (*backend)->allocate(device::Space::Device, loaded.manifest().arena_bytes());
    if (!arena)
      return Status(Code::Failed, "no memory for an arena of " +
                                      std::to_string(loaded.manifest().arena_bytes()) + " bytes");
    auto device =
        std::make_unique<Interpreter>(loaded, position, *session->run_, *session->communicator_,
                                      **backend, std::move(arena), constants);
    uint64_t index = session->devices_.size();
    device->home =
        static_cast<uint32_t>(index * session->pool_->size() / session->positions_.size());
    session->devices_.push_back(std::move(device));
  }
  return session;
}

Result<std::shared_ptr<Array>> Session::place(const program::Parameter &parameter,
                                              const void *global) {
  auto array = std::make_shared<Array>();
  array->parameter = parameter;
  array->mesh = program_->sharedMesh();
  array->number = ++made_;
  for (uint32_t position : positions_) {
    auto tile = backend_->allocate(device::Space::Device, localBytes(parameter));
    if (!tile)
      return Status(Code::Failed, "no memory for array '" + parameter.name() + "'");
    if (Status s = device::writeWhole(
            tile,
            [&](void *data) { scatterTile(parameter, program_->mesh(), position, global, data); });
        !s.ok())
      return s;
    array->tiles.push_back(std::move(tile));
  }
  return array;
}

bool Session::fits(const Array &array, const program::Parameter &parameter) const {
  // Tiles are in the order of positions: those of another mesh may be permuted.
  return array.tiles.size() == devices_.size() && array.mesh->sameDevices(program_->mesh()) &&
         (array.tiles.empty() || array.tiles[0]->backend().name() == backend_->name()) &&
         samePlacement(array.parameter, *array.mesh, parameter, program_->mesh());
}

Result<std::shared_ptr<Array>> Session::adopt(const std::shared_ptr<Array> &array,
                                              const program::Parameter &parameter) {
  if (!array->valid || fits(*array, parameter))
    return array;
  if (array->parameter.type() != parameter.type() ||
      globalShape(array->parameter) != globalShape(parameter) ||
      array->mesh->size() != program_->mesh().size() || transport_)
    return invalidArgument("an array " + describe(array->parameter) + " cannot be used as '" +
                           parameter.name() + "', which is " + describe(parameter));
  auto host = fetch(*array);
  if (!host.ok())
    return host.status();
  return place(parameter, host->bytes.data());
}

Result<HostArray> Session::fetch(const Array &array) {
  if (transport_ && !transport_->isHere())
    return invalidArgument("the processes of MPI are not those of a fork: read in the parent");
  auto host = gather(array);
  if (!host.ok())
    announce(host.status().message());
  return host;
}

void Session::announce(const std::string &failure) {
  if (transport_ && transport_->isHere())
    transport_->announce(failure);
}

Result<HostArray> Session::gather(const Array &array) {
  if (!array.valid)
    return invalidArgument("array '" + array.parameter.name() +
                           "' was donated to a step and is no longer valid");
  HostArray host{array.parameter.type(), globalShape(array.parameter), {}};
  std::vector<int64_t> holders = firstReplicas(array.parameter, *array.mesh);
  bool everywhere = holders.size() == 1; // every device holds the whole array
  bool root = !transport_ || transport_->rank() == 0 || everywhere;
  if (root)
    host.bytes.resize(elementCount(host.shape) * byteSize(host.type));
  for (int64_t position : holders) {
    auto owner = static_cast<int32_t>(array.mesh->deviceAt(static_cast<uint32_t>(position)));
    bool here = !transport_ || owner == transport_->rank() || everywhere;
    if (!root) {
      if (here)
        if (Status s = sendTile(array); !s.ok())
          return s;
      continue;
    }
    auto tile =
        here ? device::readable(array.tiles[transport_ ? 0 : position]) : receiveTile(array, owner);
    if (!tile.ok())
      return tile.status();
    gatherTile(array.parameter, *array.mesh, position, tile->get(), host.bytes.data());
  }
  return host;
}

// Tells arrays apart where ranks read them in different orders.
uint64_t Session::nameForRanks(const Array &array) const {
  std::string name = std::to_string(number_) + " " + std::to_string(array.number) + " " +
                     describe(array.parameter);
  return container::hash(name);
}

Status Session::sendTile(const Array &array) {
  auto name = std::make_shared<uint64_t>(nameForRanks(array));
  if (Status s = transport_->deliver(0, kFetchTag, name.get(), sizeof *name, name); !s.ok())
    return s;
  auto tile = device::readable(array.tiles[0]);
  if (!tile.ok())
    return tile.status();
  return transport_->deliver(0, kFetchTag, tile->get(), localBytes(array.parameter), *tile);
}

Result<std::shared_ptr<const void>> Session::receiveTile(const Array &array, int32_t owner) {
  uint64_t right = nameForRanks(array);
  auto name = transport_->collect(owner, kFetchTag, sizeof right);
  if (!name.ok())
    return name.status();
  if (std::memcmp((*name)->data(), &right, sizeof right) != 0)
    return Status(Code::Failed, "rank " + std::to_string(owner) + " reads another array than '" +
                                    array.parameter.name() + "', which rank 0 reads");
  auto tile = transport_->collect(owner, kFetchTag, localBytes(array.parameter));
  if (!tile.ok())
    return tile.status();
  return std::shared_ptr<const void>(*tile, (*tile)->data());
}

Status Session::checkInputs(const std::vector<std::shared_ptr<Array>> &inputs) const {
  const auto &expected = program_->manifest().inputs();
  if (static_cast<int>(inputs.size()) != expected.size())
    return invalidArgument("the program has " + std::to_string(expected.size()) + " inputs, " +
                           std::to_string(inputs.size()) + " are given");
  std::unordered_map<const Array *, int> firstUse;
  for (int i = 0; i < expected.size(); ++i) {
    std::string who = "input " + std::to_string(i) + " ('" + expected[i].name() + "')";
    if (!inputs[i])
      return invalidArgument(who + " is null");
    if (!inputs[i]->valid)
      return invalidArgument(who + " was donated to an earlier step and is no longer valid");
    if (!fits(*inputs[i], expected[i]))
      return invalidArgument(who + " is " + describe(inputs[i]->parameter) +
                             ", the program expects " + describe(expected[i]));
    auto [first, isNew] = firstUse.try_emplace(inputs[i].get(), i);
    int other = first->second;
    if (!isNew && (expected[i].donated() || expected[other].donated())) {
      int given = expected[i].donated() ? i : other;
      return invalidArgument("input " + std::to_string(given) + " is donated, and given as input " +
                             std::to_string(i + other - given) + " too");
    }
  }
  return {};
}

Result<std::vector<std::shared_ptr<Array>>>
Session::execute(const std::vector<std::shared_ptr<Array>> &inputs) {
  auto outputs = step(inputs);
  if (!outputs.ok())
    announce(outputs.status().message());
  return outputs;
}

Result<std::vector<std::shared_ptr<Array>>>
Session::step(const std::vector<std::shared_ptr<Array>> &inputs) {
  if (!pool_->isHere())
    return invalidArgument("the session was made before this process was forked: its workers are "
                           "threads of the parent; make a session here");
  std::unique_lock lock(executing_, std::try_to_lock);
  if (!lock)
    return invalidArgument("the session is executing a step already");
  if (Status s = checkInputs(inputs); !s.ok())
    return s;
  const auto &manifest = program_->manifest();
  std::vector<std::shared_ptr<Array>> outputs;
  std::vector<bool> consumed(inputs.size());
  for (int i = 0; i < manifest.inputs_size(); ++i)
    consumed[i] = manifest.inputs(i).donated();
  for (const auto &parameter : manifest.outputs()) {
    auto output = std::make_shared<Array>();
    output->parameter = parameter;
    output->mesh = program_->sharedMesh();
    output->number = ++made_;
    if (int alias = parameter.alias()) {
      output->tiles = inputs[alias - 1]->tiles;
      consumed[alias - 1] = true;
    } else {
      for (size_t d = 0; d < devices_.size(); ++d) {
        output->tiles.push_back(backend_->allocate(device::Space::Device, localBytes(parameter)));
        if (!output->tiles.back())
          return Status(Code::Failed, "no memory for output '" + parameter.name() + "'");
      }
    }
    outputs.push_back(std::move(output));
  }
  std::vector<device::Address> inputAddresses(inputs.size()), outputAddresses(outputs.size());
  for (size_t d = 0; d < devices_.size(); ++d) {
    for (size_t i = 0; i < inputs.size(); ++i)
      inputAddresses[i] = inputs[i]->tiles[d]->address();
    for (size_t i = 0; i < outputs.size(); ++i)
      outputAddresses[i] = outputs[i]->tiles[d]->address();
    devices_[d]->prepare(inputAddresses, outputAddresses);
  }
  Status status = runDevices();
  count(inputs, outputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (consumed[i]) {
      inputs[i]->valid = false;
      inputs[i]->tiles.clear();
    }
  if (!status.ok())
    return status;
  return outputs;
}

Status Session::runDevices() {
  run_->begin(static_cast<int32_t>(devices_.size()));
  Task *chain = nullptr;
  for (size_t d = devices_.size(); d-- > 0;) {
    devices_[d]->next = chain;
    chain = devices_[d].get();
  }
  {
    std::lock_guard lock(cancelling_);
    run_->wake(chain);
    running_ = true;
  }
  constexpr double longest = 1e9; // 30 years
  int64_t deadline = timeLimit_ > 0
                         ? Pool::now() + static_cast<int64_t>(std::min(timeLimit_, longest) * 1e9)
                         : INT64_MAX;
  Run::End end = run_->wait(deadline);
  bool tooLate = false;
  if (end == Run::End::TooLate) { // devices end at their next loop, kernel or collective
    tooLate = run_->failFromOutside({Code::Failed, "the time limit has passed"});
    end = run_->wait();
  }
  if (end == Run::End::Stalled) {
    run_->failFromOutside(describeStall()); // wakes the stalled devices, which end
    run_->wait();
  }
  {
    std::lock_guard lock(cancelling_);
    running_ = false;
  }
  Status status = tooLate ? describeLimit() : run_->status();
  if (!status.ok()) {
    communicator_->announceFailure(status.message());
    communicator_->reset();
  }
  return status;
}

Status Session::describeStall() const {
  std::string text = "the devices wait for each other:";
  std::set<uint32_t> sites; // one device speaks for all that wait there
  for (const auto &device : devices_)
    if (!device->ended() && device->current().opcode == Opcode::Wait && sites.size() < 4 &&
        sites.insert(device->current().a).second)
      text += (sites.size() > 1 ? "; device " : " device ") +
              std::to_string(program_->mesh().deviceAt(device->position())) + " waits for " +
              communicator_->describeWait(device->position(), device->current().a);
  return {Code::Failed, text};
}

Status Session::describeLimit() const {
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
    return {Code::Failed, text};
  const Instruction *loop = best->currentLoop();
  return {Code::Failed, text + ": device " +
                            std::to_string(program_->mesh().deviceAt(best->position())) + " was " +
                            (loop ? "in the loop at " : "at ") +
                            program_->location(loop ? loop->location : best->current().location)};
}

void Session::cancel() {
  if (!pool_->isHere())
    return;
  std::lock_guard lock(cancelling_);
  if (running_)
    run_->failFromOutside({Code::Cancelled, "the step was cancelled"});
}

void Session::count(const std::vector<std::shared_ptr<Array>> &inputs,
                    const std::vector<std::shared_ptr<Array>> &outputs) {
  counters_ = Counters();
  for (size_t d = 0; d < devices_.size(); ++d) {
    std::set<const device::Memory *> buffers;
    uint64_t bytes = devices_[d]->arenaBytes() + program_->decoded().scratchBytes;
    for (const auto *arrays : {&inputs, &outputs})
      for (const auto &array : *arrays)
        if (buffers.insert(array->tiles[d].get()).second)
          bytes += array->tiles[d]->bytes();
    counters_.peakBytes = std::max(counters_.peakBytes, bytes);
    counters_.collectives = std::max(counters_.collectives, devices_[d]->collectives());
    counters_.collectiveBytes = std::max(counters_.collectiveBytes, devices_[d]->collectiveBytes());
  }
}

void Session::setTracing(bool on) {
  for (auto &device : devices_)
    device->tracing = on;
}

Status Session::writeTrace(files::OutputFile &file) const {
  std::vector<std::vector<TraceEvent>> events;
  for (const auto &device : devices_)
    events.push_back(device->trace);
  return runtime::writeTrace(file, *program_, positions_, events);
}

} // namespace tessera::runtime
