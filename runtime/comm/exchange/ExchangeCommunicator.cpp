#include "runtime/comm/exchange/ExchangeCommunicator.h"
#include "runtime/array/ElementType.h"
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
      sequences_(program.decoded().groupSets.size()) {}

void ExchangeCommunicator::reset() {
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

// The part of an all-reduce that a rank reduces.
ExchangeCommunicator::Range ExchangeCommunicator::sliceOf(const CollectivePlan &plan,
                                                          const Transfer &transfer, uint32_t rank) {
  int64_t element = byteSize(plan.type), count = transfer.operandBytes / element,
          g = plan.groupSize;
  return {count * rank / g * element, count * (rank + 1) / g * element};
}

bool ExchangeCommunicator::sends(const Flight &flight, uint32_t from, uint32_t to) const {
  return from != to && flight.plan->moves(from, to);
}

int64_t ExchangeCommunicator::messageBytes(const Flight &flight, uint32_t from, uint32_t to) const {
  int64_t bytes = sizeof(Header);
  for (const Transfer &transfer : flight.plan->transfers) {
    if (flight.plan->kind == Collective::ALL_REDUCE) {
      Range slice = sliceOf(*flight.plan, transfer, flight.phase == 0 ? to : from);
      bytes += slice.end - slice.begin;
    } else {
      bytes += transfer.block.bytes();
    }
  }
  return bytes;
}

void ExchangeCommunicator::pack(const Flight &flight, uint32_t to, char *message) const {
  const CollectivePlan &plan = *flight.plan;
  uint32_t rank = groupsOf(plan).rankOf(position_);
  Header header{session_, flight.sequence, plan.site, 0};
  std::memcpy(message, &header, sizeof header);
  message += sizeof header;
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const Transfer &transfer = plan.transfers[i];
    auto *operand = static_cast<const char *>(flight.buffers[i]);
    if (plan.kind == Collective::ALL_REDUCE) {
      bool second = flight.phase == 1;
      Range slice = sliceOf(plan, transfer, second ? rank : to);
      auto *from =
          second ? static_cast<const char *>(flight.buffers[plan.transfers.size() + i]) : operand;
      std::memcpy(message, from + slice.begin, slice.end - slice.begin);
      message += slice.end - slice.begin;
    } else {
      forEachRun(transfer.block, 0, transfer.block.bytes(),
                 [&](int64_t from, int64_t, int64_t bytes) {
                   std::memcpy(message, operand + to * transfer.fromStep + from, bytes);
                   message += bytes;
                 });
    }
  }
}

Status ExchangeCommunicator::start(Worker &, uint32_t position, const CollectivePlan &plan,
                                   const device::Address *buffers) {
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
  readOperands(flight);
  return flight.is == Flight::Is::ReadingOperands ? Status() : post(flight);
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

Status ExchangeCommunicator::post(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  if (plan.route)
    return postTransfer(flight);
  const GroupSet &set = groupsOf(plan);
  uint32_t group = set.groupOf(position_);
  uint32_t g = plan.groupSize, rank = set.rankOf(position_);
  int32_t tag = transport_.tagOf(
      session_, flight.phase == 0 ? kFirstGroupTag + static_cast<int32_t>(plan.groupSet)
                                  : kFirstSiteTag + static_cast<int32_t>(plan.site));
  flight.in.resize(g);
  flight.out.resize(g);
  for (uint32_t r = 0; r < g; ++r)
    if (sends(flight, r, rank)) {
      flight.in[r].resize(messageBytes(flight, r, rank));
      auto peer = static_cast<int32_t>(program_.mesh().deviceAt(set.member(group, r)));
      flight.requests.push_back(
          transport_.receive(peer, tag, flight.in[r].data(), flight.in[r].size()));
    }
  for (uint32_t r = 0; r < g; ++r)
    if (sends(flight, rank, r)) {
      flight.out[r].resize(messageBytes(flight, rank, r));
      pack(flight, r, flight.out[r].data());
      auto peer = static_cast<int32_t>(program_.mesh().deviceAt(set.member(group, r)));
      flight.requests.push_back(
          transport_.send(peer, tag, flight.out[r].data(), flight.out[r].size()));
    }
  return {};
}

// Reduces what the ranks gave to this one, in rank order, with its own part read where it is.
void ExchangeCommunicator::reduceArrived(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  uint32_t g = plan.groupSize, rank = groupsOf(plan).rankOf(position_);
  ReduceFunction reduce = reduceFunction(plan.type, plan.reduction);
  int64_t element = byteSize(plan.type), at = sizeof(Header);
  std::vector<const char *> sources(g);
  std::vector<char> own;
  for (size_t i = 0; i < plan.transfers.size(); ++i) {
    const Transfer &transfer = plan.transfers[i];
    auto *operand = static_cast<const char *>(flight.buffers[i]);
    auto *result = static_cast<char *>(flight.buffers[plan.transfers.size() + i]);
    int64_t bytes = transfer.block.bytes();
    const char *mine;
    if (plan.kind == Collective::ALL_REDUCE) {
      Range slice = sliceOf(plan, transfer, rank);
      bytes = slice.end - slice.begin;
      mine = operand + slice.begin;
      result += slice.begin;
    } else {
      own.resize(bytes);
      char *to = own.data();
      forEachRun(transfer.block, 0, bytes, [&](int64_t from, int64_t, int64_t run) {
        std::memcpy(to, operand + rank * transfer.fromStep + from, run);
        to += run;
      });
      mine = own.data();
    }
    for (uint32_t r = 0; r < g; ++r)
      sources[r] = r == rank ? mine : flight.in[r].data() + at;
    reduce(sources.data(), g, &result, 1, bytes / element);
    at += bytes;
  }
}

Status ExchangeCommunicator::land(Flight &flight) {
  const CollectivePlan &plan = *flight.plan;
  if (plan.route)
    return landTransfer(flight);
  const GroupSet &set = groupsOf(plan);
  uint32_t g = plan.groupSize, rank = set.rankOf(position_);
  for (uint32_t r = 0; r < g; ++r) {
    if (!sends(flight, r, rank))
      continue;
    Header header;
    std::memcpy(&header, flight.in[r].data(), sizeof header);
    if (header.session != session_)
      return {Code::Internal,
              nameOf(plan.kind) + std::string(" at ") + program_.location(plan.location) +
                  ": rank " +
                  std::to_string(program_.mesh().deviceAt(set.member(set.groupOf(position_), r))) +
                  " runs another session"};
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
  if (plan.reduces() && flight.phase == 0) {
    reduceArrived(flight);
    if (plan.kind == Collective::ALL_REDUCE) {
      flight.phase = 1;
      return post(flight);
    }
    return {};
  }
  size_t count = plan.transfers.size();
  std::vector<int64_t> at(g, sizeof(Header));
  for (size_t i = 0; i < count; ++i) {
    const Transfer &transfer = plan.transfers[i];
    auto *operand = static_cast<const char *>(flight.buffers[i]);
    auto *result = static_cast<char *>(flight.buffers[count + i]);
    int64_t bytes = transfer.block.bytes();
    for (uint32_t r = 0; r < g; ++r) {
      if (plan.kind == Collective::ALL_REDUCE) {
        Range slice = sliceOf(plan, transfer, r);
        if (r != rank)
          std::memcpy(result + slice.begin, flight.in[r].data() + at[r], slice.end - slice.begin);
        at[r] += slice.end - slice.begin;
      } else if (r == rank && plan.moves(r, r)) {
        copyBlock(transfer.block, operand + r * transfer.fromStep, result + r * transfer.toStep, 0,
                  bytes);
      } else if (sends(flight, r, rank)) {
        const char *from = flight.in[r].data() + at[r];
        char *to = result + r * transfer.toStep;
        forEachRun(transfer.block, 0, bytes, [&](int64_t, int64_t target, int64_t run) {
          std::memcpy(to + target, from, run);
          from += run;
        });
        at[r] += bytes;
      }
    }
    if (plan.kind == Collective::PERMUTE && plan.permutation.sourceOf(rank) < 0)
      std::memset(result, 0, transfer.resultBytes);
  }
  return {};
}

// Goes on with a collective as far as it can; it is over when its plan is null. `mayPost`: the
// messages of all earlier ones are on their way, in the order that the peers expect.
Status ExchangeCommunicator::progress(Flight &flight, bool mayPost) {
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
  if (Status s = transport_.progress(flight.requests); !s.ok() || !flight.requests.empty())
    return s;
  int phase = flight.phase;
  if (Status s = land(flight); !s.ok() || flight.phase != phase)
    return s;
  writeResults(flight);
  if (flight.copying.empty())
    flight.plan = nullptr;
  return {};
}

Status ExchangeCommunicator::progressAll() {
  bool mayPost = true;
  for (size_t i = 0; i < active_.size();) {
    Flight &flight = flights_[active_[i]];
    if (Status s = progress(flight, mayPost); !s.ok())
      return s;
    mayPost &= !flight.plan || flight.is != Flight::Is::ReadingOperands;
    if (flight.plan)
      ++i;
    else
      active_.erase(active_.begin() + static_cast<ptrdiff_t>(i));
  }
  return {};
}

device::Outcome ExchangeCommunicator::wait(Worker &worker, Task &task, uint32_t, uint32_t site) {
  using device::Outcome;
  // The session has one device here. Others may have one too, which a peer waits for: after some
  // turns it is theirs.
  constexpr int turns = 64;
  for (int turn = 0; flights_[site].plan; ++turn) {
    if (turn == turns) {
      run_.wake(&task);
      return Outcome::Parked;
    }
    if (run_.failed())
      return Outcome::Failed;
    const CollectivePlan &plan = *flights_[site].plan;
    if (Status s = progressAll(); !s.ok()) {
      run_.fail({s.code(), s.message() + " (waiting for " + nameOf(plan) + " at " +
                               program_.location(plan.location) + ")"});
      return Outcome::Failed;
    }
    if (!flights_[site].plan)
      break;
    worker.pool().fireTimers(); // copies may need it, and this be the only worker
    sched_yield();
  }
  return Outcome::Done;
}

std::string ExchangeCommunicator::describeWait(uint32_t, uint32_t) const { return "a collective"; }

} // namespace tessera::runtime
