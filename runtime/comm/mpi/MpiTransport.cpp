// The transport plug-in over Open MPI. See runtime/comm/exchange/TransportPlugin.h.
#include "runtime/Environment.h"
#include "runtime/comm/exchange/TransportPlugin.h"
#include "runtime/comm/mpi/Connection.h"
#include <algorithm>
#include <sys/resource.h>

namespace {

using namespace tessera::comm;
using tessera::runtime::environmentNumber, tessera::runtime::progressTimeout;

Connection &of(void *state) { return *static_cast<Connection *>(state); }

const char *explain(const std::string &problem) {
  thread_local std::string kept;
  kept = problem;
  return kept.c_str();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const char *
tessera_transport_open(TesseraTransport *transport) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized)
    return "MPI is in use already in this process";
  Arrivals arrivals;
  auto fail = [&](const std::string &problem) {
    arrivals.end(problem);
    return explain(problem);
  };
  // With less, Open MPI would crash while it begins.
  constexpr rlim_t least = rlim_t{256} << 20;
  rlimit memory;
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least)
    return fail("MPI needs at least 256 MiB of address space (ulimit -v)");
  auto limit = environmentNumber("TESSERA_COMM_TIMEOUT", 0.5, 86400);
  double seconds = limit.ok() ? limit->value_or(30) : 30;
  // Processes start one after the other, and MPI takes its time to begin.
  auto start = environmentNumber("TESSERA_CONNECT_TIMEOUT", 0.5, 86400);
  double startSeconds = start.ok() ? start->value_or(std::max(seconds, 4.0)) : 30;
  auto stuck = progressTimeout();
  auto inClock = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  auto *connection = new Connection({.silent = inClock(seconds),
                                     .connect = inClock(startSeconds),
                                     .stuck = inClock(stuck.ok() ? *stuck : 0)});
  if (std::string problem = connection->connect(arrivals); !problem.empty())
    return fail(problem);
  for (const auto &status : {limit.status(), start.status(), stuck.status()})
    if (!status.ok()) // the other ranks must hear of it
      connection->announce((status.message() + " (seconds)").c_str());
  transport->abi = TESSERA_TRANSPORT_ABI;
  transport->rank = connection->rank();
  transport->size = connection->size();
  transport->largest_tag = connection->largestTag();
  transport->state = connection;
  transport->send = [](void *state, int32_t peer, int32_t tag, const void *data, size_t bytes) {
    return of(state).start(true, peer, tag, const_cast<void *>(data), bytes);
  };
  transport->receive = [](void *state, int32_t peer, int32_t tag, void *data, size_t bytes) {
    return of(state).start(false, peer, tag, data, bytes);
  };
  transport->test = [](void *state, void *request, int32_t waits) {
    return of(state).test(static_cast<Request *>(request), waits != 0);
  };
  transport->failure = [](void *state, char *text, size_t size) -> int32_t {
    return of(state).failure(text, size);
  };
  transport->report = [](void *state, uint64_t collectives, int32_t waits) {
    of(state).report(collectives, waits != 0);
  };
  transport->announce = [](void *state, const char *text) { of(state).announce(text); };
  transport->process = [](void *state, int32_t peer) { return of(state).process(peer); };
  transport->close = [](void *state) {
    if (of(state).close())
      delete &of(state);
  };
  return nullptr;
}
