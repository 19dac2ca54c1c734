// Collectives of one device a process, by messages: the same results to the bit as in one process.
//
// A collective is one exchange among the ranks of its group, or two (Exchange.h). A send or a receive
// on a channel is one message. What a rank gives another begins with (session, sequence, site), so
// that ranks that start different collectives find out; large pieces are messages of their own behind
// that, from the operand itself and into the result. A thread goes on with large collectives while the
// device computes (Background.h); who waits does so itself. Large sums of ranks on one machine are made
// in each other's memory (PeerSum.h), with messages before and after.
//
// Messages lie on the host. Where it has no view of a device's buffers, operands are copied to it
// before the first message, and results to the device after the last.
#pragma once

#include "runtime/comm/exchange/Exchange.h"
#include "runtime/comm/exchange/PeerSum.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/device/Device.h"
#include "runtime/pool/Run.h"
#include "runtime/program/DeviceProgram.h"
#include <mutex>
#include <vector>

namespace tessera::runtime {

class ExchangeCommunicator : public Communicator, private Background::Party {
public:
  // `session`: its number among those of the transport, so that messages of one are not taken for
  // another's.
  ExchangeCommunicator(const DeviceProgram &program, Run &run, Transport &transport,
                       device::Backend &backend, uint32_t session);
  ~ExchangeCommunicator() override;

  bool inPlace() const override { return false; }
  Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
               const device::Address *buffers) override;
  device::Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) override;
  void wakeAll() override {}
  std::string describeWait(uint32_t position, uint32_t site) const override;
  void reset() override;
  bool mayStillWrite() const override;
  void announceFailure(const std::string &text) override { transport_.announce(text); }

private:
  struct Header {
    uint32_t session, sequence, site, zero; // 16 bytes: what follows is aligned
  };
  // A collective in flight.
  struct Flight {
    const CollectivePlan *plan = nullptr; // null: none
    const device::Address *addresses = nullptr;
    std::vector<void *> buffers; // the host's view of them, or its copies
    uint32_t sequence = 0;
    enum class Is { ReadingOperands, Exchanging, WritingResults } is = Is::Exchanging;
    int phase = 0; // of the exchange
    // Where ranks reach each other's memory. Its phases: where buffers lie; the sum; all are done.
    std::unique_ptr<PeerSum> sum;
    std::vector<std::vector<char>> copies; // by buffer, where the host has no view
    std::vector<std::shared_ptr<device::Event>> copying;
    std::vector<std::vector<char>> out, in; // staged messages by rank
    std::vector<void *> requests;
  };

  const GroupSet &groupsOf(const CollectivePlan &plan) const {
    return program_.decoded().groupSets[plan.groupSet];
  }
  Exchange exchangeOf(const Flight &flight) const {
    return {*flight.plan, groupsOf(*flight.plan).rankOf(position_), flight.phase,
            flight.buffers.data()};
  }
  int32_t peerOf(const CollectivePlan &plan, uint32_t rank) const;
  static size_t stagingOf(const Exchange &exchange, uint32_t from, uint32_t to);
  void readOperands(Flight &flight);
  void writeResults(Flight &flight);
  Status post(Flight &flight);
  void postReceive(Flight &flight, const Exchange &exchange, uint32_t from, int32_t tag);
  void postSend(Flight &flight, const Exchange &exchange, uint32_t to, int32_t tag);
  Status postTransfer(Flight &flight);
  void postSum(Flight &flight, const Exchange &exchange);
  Status goOnWithSum(Flight &flight); // whose messages of the phase are here
  int32_t tagOf(const Flight &flight) const;
  Status checkHeaders(const Flight &flight) const; // of the messages that are here
  Status land(Flight &flight);                     // all messages of a phase are here
  Status landTransfer(Flight &flight);
  Status progress(Flight &flight, bool mayPost, bool waits);
  Status progressAll(bool waits);
  State advance() override;

  const DeviceProgram &program_;
  Run &run_;
  Transport &transport_;
  device::Backend &backend_;
  const uint32_t session_, position_;

  mutable std::mutex mutex_;          // of what follows, and of flights' memory
  std::atomic<int> waiting_{0};       // of threads that go on with flights themselves
  Status failure_;                    // of the thread, for whoever waits
  uint64_t moved_ = 0;                // messages that have come or gone
  std::vector<Flight> flights_;       // by site
  std::vector<uint32_t> sequences_;   // by group set
  std::vector<PeerSum::Views> views_; // by group set
  std::vector<uint32_t> active_;      // sites in flight, oldest first
};

} // namespace tessera::runtime
