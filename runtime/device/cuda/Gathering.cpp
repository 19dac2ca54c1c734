#include "runtime/device/cuda/Gathering.h"
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace tessera::runtime::device::cuda {

static constexpr size_t kMostCommands = 4096; // of a lane

Gathering::Gathering(std::shared_ptr<CudaBackend> backend, Health health, Patience::Waits waits)
    : backend_(std::move(backend)), driver_(backend_->driver()), health_(std::move(health)),
      progress_(*backend_, std::move(waits)), known_(*backend_) {
  timer_.context = this;
  timer_.fire = [](Timer *timer) { static_cast<Gathering *>(timer->context)->fire(); };
}

Gathering::~Gathering() {
  backend_->enter();
  for (auto &[stream, tail] : tails_)
    if (tail.event)
      driver_.cuEventDestroy(tail.event);
  if (graphEvent_)
    driver_.cuEventDestroy(graphEvent_);
}

ResultCode Gathering::open(uint64_t name, Stream stream, Run &run, Named named) {
  std::lock_guard lock(mutex_);
  for (EventHandle *event : {&graphEvent_, &tails_[stream].event})
    if (!*event)
      if (ResultCode code = driver_.cuEventCreate(event, kNoTiming); code != kSuccess)
        return code;
  if (!origin_)
    origin_ = stream;
  lanes_[name].stream = stream;
  owners_[name] = {&run, std::move(named)};
  return kSuccess;
}

void Gathering::close(uint64_t name) {
  std::lock_guard lock(mutex_);
  auto lane = lanes_.find(name);
  if (lane == lanes_.end())
    return;
  clear();
  Stream stream = lane->second.stream;
  lanes_.erase(lane);
  owners_.erase(name);
  auto isOther = [&](const auto &other) { return other.second.stream == stream; };
  if (std::any_of(lanes_.begin(), lanes_.end(), isOther))
    return;
  driver_.cuEventDestroy(tails_[stream].event);
  tails_.erase(stream);
  if (origin_ == stream)
    origin_ = nullptr;
}

void Gathering::begin(bool isWatched) {
  std::lock_guard lock(mutex_);
  isWatched_ = isWatched;
  progress_.begin();
  clear();
  held_.clear();
  known_.tidy();
}

// --- Commands ---

void Gathering::add(uint64_t name, Command command, const Pointer *operands,
                    std::shared_ptr<const void> held) {
  std::lock_guard lock(mutex_);
  Lane &lane = lanes_[name];
  command.firstOperand = static_cast<uint32_t>(lane.operands.size());
  if (operands)
    lane.operands.insert(lane.operands.end(), operands, operands + command.operands);
  if (held)
    lane.held.push_back(std::move(held));
  append(name, command);
}

void Gathering::append(uint64_t name, const Command &command) {
  Lane &lane = lanes_[name];
  order_.push_back({name, lane.commands.size()});
  lane.commands.push_back(command);
  if (isWatched_)
    giveAll();
}

void Gathering::record(uint64_t lane, StreamEvent &event) {
  std::lock_guard lock(mutex_);
  if (event.gathered != number_)
    event.gathered = number_, event.records = 0;
  ++event.records;
  append(lane, {.kind = Command::Record, .event = &event});
}

void Gathering::await(uint64_t lane, StreamEvent &event) {
  std::lock_guard lock(mutex_);
  uint32_t record = event.gathered == number_ ? event.records : 0;
  append(lane, {.kind = Command::Await, .event = &event, .record = record});
}

Stream Gathering::reach(uint64_t name) {
  std::lock_guard lock(mutex_);
  giveAll();
  while (isGiving_) { // other devices of this worker stand still meanwhile
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    checkProgress(*owners_[name].run);
    if (owners_[name].run->failed())
      clear();
    giveAll();
  }
  if (!isWatched_ && !progress_.isMarked()) // a graph
    progress_.mark(origin_);
  Stream stream = lanes_[name].stream;
  follow(stream);
  tails_[stream].isAhead = true;
  return stream;
}

bool Gathering::isFull(uint64_t name) {
  std::lock_guard lock(mutex_);
  return lanes_[name].commands.size() >= kMostCommands;
}

void Gathering::drop() {
  std::lock_guard lock(mutex_);
  clear();
}

void Gathering::clear() {
  for (auto &[name, lane] : lanes_)
    lane.clear();
  order_.clear();
  next_ = 0;
  isGiving_ = false;
  ++number_;
}

// --- Giving them ---

void Gathering::refuse(uint64_t lane, uint32_t tag, const Status &why) {
  const Owner &owner = owners_[lane];
  owner.run->fail(owner.named(tag, why));
}

void Gathering::giveAll() {
  if (order_.empty() || !origin_ || backend_->isGivenUp())
    return clear();
  backend_->enter();
  bool isOneByOne = isWatched_ || isGiving_;
  GraphExec graph = isOneByOne ? nullptr : known_.of(lanes_, [this] { return capture(); });
  if (graph) {
    ResultCode code = gatherTails();
    if (code == kSuccess)
      code = driver_.cuGraphLaunch(graph, origin_);
    passEvents();
    noteGraph();
    const Given &first = order_.front();
    if (code != kSuccess)
      refuse(first.lane, lanes_[first.lane].commands[first.command].tag,
             driver_.status(code, "a graph cannot be launched"));
  } else {
    isGiving_ = !giveEach();
  }
  if (isGiving_)
    return;
  holdGiven();
  clear();
}

void Gathering::holdGiven() {
  for (auto &[name, lane] : lanes_)
    for (auto &held : lane.held)
      if (held_.empty() || held_.back() != held)
        held_.push_back(std::move(held));
}

// Once all that was given is over.
void Gathering::letGo() {
  if (progress_.isMarked() && progress_.result() != kNotReady)
    held_.clear();
}

// Its launches are what may not end, where it has any.
void Gathering::noteGraph() {
  auto commandOf = [&](const Given &given) -> const Command & {
    return lanes_[given.lane].commands[given.command];
  };
  bool hasLaunches =
      std::ranges::any_of(order_, [&](const Given &given) { return commandOf(given).isLaunch(); });
  for (const Given &given : order_)
    if (const Command &command = commandOf(given);
        hasLaunches ? command.isLaunch() : !command.isEvent())
      progress_.given(given.lane, command.tag);
}

// In the order in which they came: what is waited for has been recorded before. False where the rest has
// to wait for the GPU.
bool Gathering::giveEach() {
  for (; next_ < order_.size(); ++next_) {
    if (!isWatched_ && progress_.isFull())
      return false;
    const Given given = order_[next_];
    Lane &lane = lanes_[given.lane];
    const Command &command = lane.commands[given.command];
    const char *what =
        command.isLaunch() ? "it cannot be launched" : "the command cannot be given to the GPU";
    ResultCode code = giveOne(lane, command);
    if (code == kSuccess && !command.isEvent()) {
      progress_.given(given.lane, command.tag);
      if (!isWatched_)
        code = progress_.mark(lane.stream), what = "no event behind it";
    }
    if (code != kSuccess) {
      refuse(given.lane, command.tag, driver_.status(code, what));
      return true;
    }
  }
  return true;
}

ResultCode Gathering::giveOne(Lane &lane, const Command &command) {
  if (ResultCode code = follow(lane.stream); code != kSuccess)
    return code;
  if (command.kind == Command::Await && command.event->isInGraph)
    return kSuccess; // the stream follows the graph
  if (command.kind == Command::Record)
    command.event->isInGraph = false;
  tails_[lane.stream].isAhead = true;
  return give(driver_, command, lane.operands, lane.stream);
}

// The stream comes after the graphs that were given.
ResultCode Gathering::follow(Stream stream) {
  Tail &tail = tails_[stream];
  if (tail.behind == graphs_ || stream == origin_)
    return kSuccess;
  ResultCode code = kSuccess;
  if (recorded_ != graphs_)
    code = driver_.cuEventRecord(graphEvent_, origin_);
  recorded_ = graphs_;
  tail.behind = graphs_;
  return code == kSuccess ? driver_.cuStreamWaitEvent(stream, graphEvent_, 0) : code;
}

// What is given to the first stream from here on comes after all the others'.
ResultCode Gathering::gatherTails() {
  for (auto &[stream, tail] : tails_) {
    if (!std::exchange(tail.isAhead, false) || stream == origin_)
      continue;
    ResultCode code = driver_.cuEventRecord(tail.event, stream);
    if (code == kSuccess)
      code = driver_.cuStreamWaitEvent(origin_, tail.event, 0);
    if (code != kSuccess)
      return code;
  }
  return kSuccess;
}

// Only what this function gives comes into the graph: other threads go on with other streams. What was
// recorded earlier is over when the graph begins.
GraphExec Gathering::capture() {
  constexpr int kRelaxed = 2; // mode
  if (driver_.cuStreamBeginCapture(origin_, kRelaxed) != kSuccess)
    return nullptr;
  ResultCode code = kSuccess;
  auto then = [&](auto &&call) {
    if (code == kSuccess)
      code = call();
  };
  std::set<Stream> inside = {origin_};
  recorded_ = 0; // the event is the graph's from here on
  then([&] { return driver_.cuEventRecord(graphEvent_, origin_); });
  for (const Given &given : order_) {
    const Lane &lane = lanes_[given.lane];
    const Command &command = lane.commands[given.command];
    if (inside.insert(lane.stream).second)
      then([&] { return driver_.cuStreamWaitEvent(lane.stream, graphEvent_, 0); });
    if (command.kind != Command::Await || command.record)
      then([&] { return give(driver_, command, lane.operands, lane.stream); });
  }
  inside.erase(origin_);
  for (Stream stream : inside) {
    then([&] { return driver_.cuEventRecord(tails_[stream].event, stream); });
    then([&] { return driver_.cuStreamWaitEvent(origin_, tails_[stream].event, 0); });
  }
  Graph graph = nullptr;
  GraphExec made = nullptr;
  bool isWhole = driver_.cuStreamEndCapture(origin_, &graph) == kSuccess && code == kSuccess;
  if (isWhole && driver_.cuGraphInstantiate(&made, graph, 0) != kSuccess)
    made = nullptr;
  if (graph)
    driver_.cuGraphDestroy(graph);
  if (!made && gatherTails() == kSuccess)
    passEvents();
  return made;
}

// Events that were captured cannot be waited for any more: who does follows the first stream instead,
// which is behind what all had been given.
void Gathering::passEvents() {
  ++graphs_;
  for (const auto &[name, lane] : lanes_)
    for (const Command &command : lane.commands)
      if (command.kind == Command::Record)
        command.event->isInGraph = true;
}

} // namespace tessera::runtime::device::cuda
