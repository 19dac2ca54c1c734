// Collectives of one device a process, by messages: the same results to the bit as in one process.
//
// A collective is one exchange among the ranks of its group, or two: an all-reduce gives slice q of
// the operand to rank q, which reduces what it got in rank order, and then gives the reduced slice
// to all. A send or a receive on a channel is one message. Each message begins with (session, sequence, site), so that ranks that start different
// collectives find out.
//
// Messages lie on the host. Where it has no view of a device's buffers, operands are copied to it
// before the first message, and results to the device after the last.
#pragma once

#include "runtime/comm/Reduce.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/device/Device.h"
#include "runtime/pool/Run.h"
#include "runtime/program/DeviceProgram.h"
#include <vector>

namespace tessera::runtime {

class ExchangeCommunicator : public Communicator {
public:
  // `session`: its number among those of the transport, so that messages of one are not taken for
  // another's.
  ExchangeCommunicator(const DeviceProgram &program, Run &run, Transport &transport,
                       device::Backend &backend, uint32_t session);
  ~ExchangeCommunicator() override { reset(); }

  bool inPlace() const override { return false; }
  Status start(Worker &worker, uint32_t position, const CollectivePlan &plan,
               const device::Address *buffers) override;
  device::Outcome wait(Worker &worker, Task &task, uint32_t position, uint32_t site) override;
  void wakeAll() override {}
  std::string describeWait(uint32_t position, uint32_t site) const override;
  void reset() override;
  void announceFailure(const std::string &text) override { transport_.announce(text); }

private:
  struct Header {
    uint32_t session, sequence, site, zero; // 16 bytes: what follows is aligned
  };
  struct Range {
    int64_t begin, end;
  };
  // A collective in flight.
  struct Flight {
    const CollectivePlan *plan = nullptr; // null: none
    const device::Address *addresses = nullptr;
    std::vector<void *> buffers; // the host's view of them, or its copies
    uint32_t sequence = 0;
    enum class Is { ReadingOperands, Exchanging, WritingResults } is = Is::Exchanging;
    int phase = 0;                         // of the exchange
    std::vector<std::vector<char>> copies; // by buffer, where the host has no view
    std::vector<std::shared_ptr<device::Event>> copying;
    std::vector<std::vector<char>> out, in; // staged messages by rank
    std::vector<void *> requests;
  };

  const GroupSet &groupsOf(const CollectivePlan &plan) const {
    return program_.decoded().groupSets[plan.groupSet];
  }
  static Range sliceOf(const CollectivePlan &plan, const Transfer &transfer, uint32_t rank);
  bool sends(const Flight &flight, uint32_t from, uint32_t to) const;
  int64_t messageBytes(const Flight &flight, uint32_t from, uint32_t to) const;
  void pack(const Flight &flight, uint32_t to, char *message) const;
  void readOperands(Flight &flight);
  void writeResults(Flight &flight);
  Status post(Flight &flight);
  Status postTransfer(Flight &flight);
  Status land(Flight &flight); // all messages of a phase are here
  Status landTransfer(Flight &flight);
  void reduceArrived(Flight &flight);
  Status progress(Flight &flight, bool mayPost);
  Status progressAll();

  const DeviceProgram &program_;
  Run &run_;
  Transport &transport_;
  device::Backend &backend_;
  const uint32_t session_, position_;
  std::vector<Flight> flights_;     // by site
  std::vector<uint32_t> sequences_; // by group set
  std::vector<uint32_t> active_;    // sites in flight, oldest first
};

} // namespace tessera::runtime
