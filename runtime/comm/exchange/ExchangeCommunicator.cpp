#include "runtime/comm/exchange/ExchangeCommunicator.h"
#include "runtime/program/LoadedProgram.h"
#include <algorithm>
#include <cstring>
#include <sched.h>

namespace tessera::runtime {

using program::Collective;

ExchangeCommunicator::ExchangeCommunicator(const DeviceProgram &program, Run &run,
                                           Transport &transport, device::Backend &backend,
                                           uint32_t session)
    : program_(program), run_(run), transport_(transport), backend_(backend), session_(session),
      position_(static_cast<uint32_t>(program.mesh().positionOf(transport.rank()))),
      flights_(program.decoded().sites + program.decoded().transferSites),
      sequences_(program.decoded().groupSets.size()), views_(sequences_.size()) {
  transport_.background().join(*this);
}

ExchangeCommunicator::~ExchangeCommunicator() {
  if (!transport_.isHere())
    return; // its thread is the parent's, and may have been anywhere
  transport_.background().leave(*this);
  reset();
}

bool ExchangeCommunicator::mayStillWrite() const {
  std::lock_guard lock(mutex_);
  return !active_.empty();
}

void ExchangeCommunicator::reset() {
  std::lock_guard lock(mutex_);
  failure_ = Status();
  // The messages of a failed run may still arrive: their memory stays with the transport. Copies
  // from and to the device end soon; this may be the only worker that could carry them out.
  for (uint32_t site : active_) {
    for (const auto &event : flights_[site].copying)
      while (run_.pool().isHere() && !event->ready()) {
        run_.pool().fireTimers();
        sched_yield();
      }
    transport_.bury(std::make_shared<Flight>(std::move(flights_[site])));
    flights_[site] = Flight();
  }
  active_.clear();
}

Status ExchangeCommunicator::start(Worker &, uint32_t position, const CollectivePlan &plan,
                                   const device::Address *buffers) {
  std::unique_lock lock(mutex_);
  Flight &flight = flights_[plan.site];
  if (flight.plan)
    return {Code::Internal, "device " + std::to_string(transport_.rank()) + " starts " +
                                nameOf(plan) + " at " + program_.location(plan.location) +
                                " again before it has waited for it"};
  flight.plan = &plan;
  flight.addresses = buffers;
  flight.sequence = plan.route ? 0 : ++sequences_[plan.groupSet];
  flight.phase = 0;
  active_.push_back(plan.site);
  transport_.comeToCollective();
  readOperands(flight);
  if (flight.is != Flight::Is::ReadingOperands)
    if (Status s = post(flight); !s.ok())
      return s;
  lock.unlock();
  if (plan.bytes >= Exchange::kApart)
    transport_.background().wake();
  return {};
}

void ExchangeCommunicator::readOperands(Flight &flight) {
  size_t operands = flight.plan->transfers.size();
  flight.is = Flight::Is::Exchanging;
  flight.buffers.resize(2 * operands);
  for (size_t i = 0; i < 2 * operands; ++i) {
    flight.buffers[i] = backend_.hostView(flight.addresses[i]);
    if (flight.buffers[i])
      continue;
    flight.is = Flight::Is::ReadingOperands;
    const Transfer &transfer = flight.plan->transfers[i % operands];
    size_t bytes = i < operands ? transfer.operandBytes : transfer.resultBytes;
    flight.copies.resize(2 * operands);
    flight.copies[i].resize(bytes);
    flight.buffers[i] = flight.copies[i].data();
    if (i < operands)
      flight.copying.push_back(backend_.copyToHost(flight.buffers[i], flight.addresses[i], bytes));
  }
}

void ExchangeCommunicator::writeResults(Flight &flight) {
  flight.is = Flight::Is::WritingResults;
  for (size_t i = flight.plan->transfers.size(); i < flight.copies.size(); ++i)
    flight.copying.push_back(backend_.copyFromHost(flight.addresses[i], flight.copies[i].data(),
                                                   flight.copies[i].size()));
}

// Messages of a channel come in the order of their sends, and their number in it says nothing more.
Status ExchangeCommunicator::postTransfer(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  const Route &route = *plan.route;
  const LoadedProgram &file = program_.file();
  auto channel = static_cast<uint32_t>(&route - file.channels().data());
  int32_t tag = transport_.tagOf(session_, kFirstChannelTag + static_cast<int32_t>(channel));
  std::vector<std::vector<char>> &messages = plan.sends ? flight.out : flight.in;
  messages.assign(1, std::vector<char>(sizeof(Header) + route.bytes()));
  std::vector<char> &message = messages[0];
  if (!plan.sends) {
    const MeshGrid &mesh = file.programs()[route.from()].mesh();
    auto peer = static_cast<int32_t>(mesh.deviceAt(route.sourceOf(position_)));
    flight.requests.push_back(transport_.receive(peer, tag, message.data(), message.size()));
    return {};
  }
  Header header{session_, 0, channel, 0};
  std::memcpy(message.data(), &header, sizeof header);
  std::memcpy(message.data() + sizeof header, flight.buffers[0], route.bytes());
  const MeshGrid &mesh = file.programs()[route.to()].mesh();
  route.forEachTarget(position_, [&](uint32_t target) {
    auto peer = static_cast<int32_t>(mesh.deviceAt(target));
    flight.requests.push_back(transport_.send(peer, tag, message.data(), message.size()));
  });
  return {};
}

Status ExchangeCommunicator::landTransfer(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  if (plan.sends)
    return {};
  Header header;
  std::memcpy(&header, flight.in[0].data(), sizeof header);
  auto channel = static_cast<uint32_t>(plan.route - program_.file().channels().data());
  if (header.session != session_ || header.site != channel)
    return {Code::Internal, std::string("receive at ") + program_.location(plan.location) +
                                ": the sender runs another session"};
  std::memcpy(flight.buffers[1], flight.in[0].data() + sizeof header, plan.route->bytes());
  return {};
}

int32_t ExchangeCommunicator::peerOf(const CollectivePlan &plan, uint32_t rank) const {
  const GroupSet &set = groupsOf(plan);
  return static_cast<int32_t>(program_.mesh().deviceAt(set.member(set.groupOf(position_), rank)));
}

// Where pieces begin in a message's memory: behind the header, and behind the longest message that a
// rank may send in its place which starts another collective.
size_t ExchangeCommunicator::stagingOf(const Exchange &exchange, uint32_t from, uint32_t to) {
  return sizeof(Header) + (exchange.isApart(from, to) ? Exchange::kApart : 0);
}

void ExchangeCommunicator::postReceive(Flight &flight, const Exchange &exchange, uint32_t from,
                                       int32_t tag) {
  const CollectivePlan &plan = exchange.plan;
  size_t first = stagingOf(exchange, from, exchange.rank), bytes = first;
  bool apart = exchange.isApart(from, exchange.rank);
  for (size_t i = 0; i < plan.transfers.size(); ++i)
    if (!apart || !exchange.target(i, from))
      bytes += exchange.bytes(i, from, exchange.rank);
  std::vector<char> &message = flight.in[from];
  message.resize(bytes);
  std::memset(message.data(), 0, sizeof(Header));
  int32_t peer = peerOf(plan, from);
  flight.requests.push_back(
      transport_.receive(peer, tag, message.data(), apart ? first : message.size()));
  if (!apart)
    return;
  char *staged = message.data() + first;
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    int64_t size = exchange.bytes(i, from, exchange.rank);
    char *target = exchange.target(i, from);
    flight.requests.push_back(transport_.receive(peer, tag, target ? target : staged, size));
    staged += target ? 0 : size;
  }
}

void ExchangeCommunicator::postSend(Flight &flight, const Exchange &exchange, uint32_t to,
                                    int32_t tag) {
  const CollectivePlan &plan = exchange.plan;
  bool apart = exchange.isApart(exchange.rank, to);
  size_t bytes = sizeof(Header);
  for (size_t i = 0; i < plan.transfers.size(); ++i)
    if (!apart || !exchange.source(i, to))
      bytes += exchange.bytes(i, exchange.rank, to);
  std::vector<char> &message = flight.out[to];
  message.resize(bytes);
  Header header{session_, flight.sequence, plan.site, 0};
  std::memcpy(message.data(), &header, sizeof header);
  int32_t peer = peerOf(plan, to);
  if (apart)
    flight.requests.push_back(transport_.send(peer, tag, message.data(), sizeof header));
  char *staged = message.data() + sizeof header;
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    int64_t size = exchange.bytes(i, exchange.rank, to);
    const char *source = apart ? exchange.source(i, to) : nullptr;
    if (!source) {
      exchange.pack(i, to, staged);
      source = staged;
      staged += size;
    }
    if (apart)
      flight.requests.push_back(transport_.send(peer, tag, source, size));
  }
  if (!apart)
    flight.requests.push_back(transport_.send(peer, tag, message.data(), message.size()));
}

int32_t ExchangeCommunicator::tagOf(const Flight &flight) const {
  const CollectivePlan &plan = *flight.plan;
  return transport_.tagOf(session_, flight.phase == 0
                                        ? kFirstGroupTag + static_cast<int32_t>(plan.groupSet)
                                        : kFirstSiteTag + static_cast<int32_t>(plan.site));
}

// In the first phase headers, as of any other collective whose pieces travel apart, and addresses;
// in the last one a byte.
void ExchangeCommunicator::postSum(Flight &flight, const Exchange &exchange) {
  const CollectivePlan &plan = exchange.plan;
  PeerSum &sum = *flight.sum;
  int32_t tag = tagOf(flight);
  bool isFirst = flight.phase == 0;
  Header header{session_, flight.sequence, plan.site, 0};
  for (uint32_t r = 0; r < plan.groupSize; ++r) {
    if (r == exchange.rank)
      continue;
    int32_t peer = peerOf(plan, r);
    flight.in[r].assign(isFirst ? sizeof header + Exchange::kApart : 1, 0);
    flight.requests.push_back(
        transport_.receive(peer, tag, flight.in[r].data(), flight.in[r].size()));
    flight.out[r].assign(isFirst ? sizeof header : 1, 0);
    if (isFirst)
      std::memcpy(flight.out[r].data(), &header, sizeof header);
    flight.requests.push_back(
        transport_.send(peer, tag, flight.out[r].data(), flight.out[r].size()));
    if (!isFirst)
      continue;
    std::vector<uint64_t> &theirs = sum.addressesOf(r);
    const std::vector<uint64_t> &own = sum.ownAddresses();
    size_t bytes = own.size() * sizeof(uint64_t);
    flight.requests.push_back(transport_.receive(peer, tag, theirs.data(), bytes));
    flight.requests.push_back(transport_.send(peer, tag, own.data(), bytes));
  }
}

Status ExchangeCommunicator::goOnWithSum(Flight &flight) {
  constexpr int addresses = 0, summing = 1, done = 2;
  if (flight.phase == addresses) {
    if (Status s = checkHeaders(flight); !s.ok())
      return s;
    flight.sum->mapPeers(views_[flight.plan->groupSet]);
    flight.phase = summing;
  }
  if (flight.phase != summing) { // all have read the operand and written the result
    flight.sum.reset();
    return {};
  }
  Exchange exchange = exchangeOf(flight);
  Result<int64_t> reduced = flight.sum->advance(exchange);
  if (!reduced.ok())
    return reduced.status();
  moved_ += *reduced > 0;
  if (!flight.sum->isDone(exchange))
    return {};
  flight.phase = done;
  return post(flight);
}

Status ExchangeCommunicator::post(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  if (plan.route)
    return postTransfer(flight);
  Exchange exchange = exchangeOf(flight);
  flight.in.resize(plan.groupSize);
  flight.out.resize(plan.groupSize);
  if (flight.phase == 0) {
    std::vector<int64_t> processes;
    for (uint32_t r = 0; r < plan.groupSize; ++r)
      processes.push_back(transport_.processOf(peerOf(plan, r)));
    flight.sum = PeerSum::isFor(plan, processes)
                     ? std::make_unique<PeerSum>(exchange, std::move(processes), backend_.segment())
                     : nullptr;
  }
  if (flight.sum) {
    postSum(flight, exchange);
    return {};
  }
  int32_t tag = tagOf(flight);
  for (uint32_t r = 0; r < plan.groupSize; ++r)
    if (exchange.sends(r, exchange.rank))
      postReceive(flight, exchange, r, tag);
  for (uint32_t r = 0; r < plan.groupSize; ++r)
    if (exchange.sends(exchange.rank, r))
      postSend(flight, exchange, r, tag);
  return {};
}

Status ExchangeCommunicator::checkHeaders(const Flight &flight) const {
  const CollectivePlan &plan = *flight.plan;
  if (plan.route || (flight.sum && flight.phase > 0)) // no headers
    return {};
  Exchange exchange = exchangeOf(flight);
  for (uint32_t r = 0; r < plan.groupSize; ++r) {
    if (!exchange.sends(r, exchange.rank))
      continue;
    Header header;
    std::memcpy(&header, flight.in[r].data(), sizeof header);
    if (header.session == 0) // sessions are counted from 1
      continue;
    if (header.session != session_)
      return {Code::Internal, nameOf(plan.kind) + std::string(" at ") +
                                  program_.location(plan.location) + ": rank " +
                                  std::to_string(peerOf(plan, r)) + " runs another session"};
    if (header.sequence == flight.sequence && header.site == plan.site)
      continue;
    std::string other = "another collective";
    for (const CollectivePlan &candidate : program_.decoded().collectives)
      if (candidate.site == header.site)
        other =
            std::string(nameOf(candidate.kind)) + " at " + program_.location(candidate.location);
    return {Code::Internal, "device " + std::to_string(transport_.rank()) + ": collective " +
                                std::to_string(flight.sequence) + " of its group is " +
                                nameOf(plan.kind) + " at " + program_.location(plan.location) +
                                ", on another device it is " + other +
                                ": the devices took different ways through the program"};
  }
  return {};
}

Status ExchangeCommunicator::land(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  if (plan.route)
    return landTransfer(flight);
  if (Status s = checkHeaders(flight); !s.ok())
    return s;
  Exchange exchange = exchangeOf(flight);
  std::vector<std::vector<const char *>> sources(plan.transfers.size(),
                                                 std::vector<const char *>(plan.groupSize));
  for (uint32_t r = 0; r < plan.groupSize; ++r) {
    if (!exchange.sends(r, exchange.rank))
      continue;
    bool apart = exchange.isApart(r, exchange.rank);
    const char *staged = flight.in[r].data() + stagingOf(exchange, r, exchange.rank);
    for (size_t i = 0; i < plan.transfers.size(); ++i) {
      if (apart && exchange.target(i, r))
        continue; // it is where it belongs
      sources[i][r] = staged;
      if (!exchange.reducesNext())
        exchange.unpack(i, r, staged);
      staged += exchange.bytes(i, r, exchange.rank);
    }
  }
  if (!exchange.reducesNext()) {
    exchange.keepOwn();
    return {};
  }
  exchange.reduce(sources);
  if (plan.kind != Collective::ALL_REDUCE)
    return {};
  flight.phase = 1;
  return post(flight);
}

// Goes on with a collective as far as it can; it is over when its plan is null. `mayPost`: the
// messages of all earlier ones are on their way, in the order that the peers expect.
Status ExchangeCommunicator::progress(Flight &flight, bool mayPost, bool waits) {
  using Is = Flight::Is;
  if (flight.is != Is::Exchanging) {
    for (const auto &event : flight.copying)
      if (!event->ready() || !event->status().ok())
        return event->ready() ? event->status() : Status();
    if (flight.is == Is::ReadingOperands && !mayPost)
      return {};
    flight.copying.clear();
    if (flight.is == Is::WritingResults) {
      flight.plan = nullptr;
      return {};
    }
    flight.is = Is::Exchanging;
    return post(flight);
  }
  size_t before = flight.requests.size();
  Status s = transport_.progress(flight.requests, waits);
  moved_ += before - flight.requests.size();
  if (!s.ok()) {
    // A message of another size than expected has failed, too.
    Status other = checkHeaders(flight);
    return other.ok() ? s : other;
  }
  if (!flight.requests.empty())
    return {};
  int phase = flight.phase;
  s = flight.sum ? goOnWithSum(flight) : land(flight);
  if (!s.ok() || flight.phase != phase || flight.sum)
    return s;
  writeResults(flight);
  if (flight.copying.empty())
    flight.plan = nullptr;
  return {};
}

Status ExchangeCommunicator::progressAll(bool waits) {
  bool mayPost = true;
  for (size_t i = 0; i < active_.size();) {
    Flight &flight = flights_[active_[i]];
    if (Status s = progress(flight, mayPost, waits); !s.ok())
      return s;
    mayPost &= !flight.plan || flight.is != Flight::Is::ReadingOperands;
    if (flight.plan)
      ++i;
    else
      active_.erase(active_.begin() + static_cast<ptrdiff_t>(i));
  }
  return {};
}

Background::Party::State ExchangeCommunicator::advance() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock)
    return State::Waiting;
  if (active_.empty() || !failure_.ok())
    return State::Idle;
  if (waiting_.load(std::memory_order_relaxed))
    return State::Waiting;
  uint64_t before = moved_;
  try {
    failure_ = progressAll(/*waits=*/false);
  } catch (const std::bad_alloc &) {
    failure_ = {Code::ResourceExhausted, "out of memory"};
  }
  return moved_ == before ? State::Waiting : State::Moved;
}

device::Outcome ExchangeCommunicator::wait(Worker &worker, Task &task, uint32_t, uint32_t site) {
  using device::Outcome;
  // The session has one device here. Others may have one too, which a peer waits for: after some
  // turns it is theirs.
  constexpr int turns = 64;
  struct Counted { // the thread leaves it to whoever waits
    std::atomic<int> &count;
    explicit Counted(std::atomic<int> &c) : count(c) { ++count; }
    ~Counted() { --count; }
  };
  Counted counted(waiting_);
  for (int turn = 0;; ++turn) {
    {
      std::lock_guard lock(mutex_);
      if (!flights_[site].plan)
        return Outcome::Done;
      if (run_.failed())
        return Outcome::Failed;
      const CollectivePlan &plan = *flights_[site].plan;
      Status status = failure_.ok() ? progressAll(/*waits=*/true) : failure_;
      if (!status.ok()) {
        run_.fail({status.code(), status.message() + " (waiting for " + nameOf(plan) + " at " +
                                      program_.location(plan.location) + ")"});
        return Outcome::Failed;
      }
      if (!flights_[site].plan)
        return Outcome::Done;
    }
    if (turn == turns)
      break;
    worker.pool().fireTimers(); // copies may need it, and this be the only worker
    sched_yield();
  }
  run_.wake(&task);
  return Outcome::Parked;
}

std::string ExchangeCommunicator::describeWait(uint32_t, uint32_t) const { return "a collective"; }

} // namespace tessera::runtime
