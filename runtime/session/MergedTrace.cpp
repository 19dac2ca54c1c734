#include "runtime/session/MergedTrace.h"
#include "runtime/comm/exchange/Transport.h"
#include "runtime/pool/Pool.h"
#include <algorithm>
#include <cstring>
#include <memory>

namespace tessera::runtime {

namespace {

constexpr int kRoundTrips = 8;
constexpr uint64_t kPart = 64 << 20;

template <class T> Status send(Transport &transport, int32_t peer, T value) {
  auto owned = std::make_shared<T>(value);
  return transport.deliver(peer, kTraceTag, owned.get(), sizeof value, owned);
}

template <class T> Status receive(Transport &transport, int32_t peer, T &value) {
  auto bytes = transport.collect(peer, kTraceTag, sizeof value);
  if (!bytes.ok())
    return bytes.status();
  std::memcpy(&value, (*bytes)->data(), sizeof value);
  return {};
}

// How far the peer's clock is ahead of this one: of several answers the one that took least, which
// came half-way (Cristian, 1989). Clocks of one machine are the same: a difference that an answer's
// way explains is none.
Status compareClocks(Transport &transport, int32_t peer, int64_t &ahead) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < kRoundTrips; ++i) {
    int64_t begin = Pool::now(), there = 0;
    if (Status s = send(transport, peer, begin); !s.ok())
      return s;
    if (Status s = receive(transport, peer, there); !s.ok())
      return s;
    int64_t end = Pool::now();
    if (end - begin >= least)
      continue;
    least = end - begin;
    ahead = there - (begin + end) / 2;
  }
  if (ahead <= least / 2 && -ahead <= least / 2)
    ahead = 0;
  return {};
}

Status answerClocks(Transport &transport) {
  for (int i = 0; i < kRoundTrips; ++i) {
    int64_t ignored = 0;
    if (Status s = receive(transport, 0, ignored); !s.ok())
      return s;
    if (Status s = send(transport, 0, Pool::now()); !s.ok())
      return s;
  }
  return {};
}

// The peer's events, which it writes in this process's time.
Status collectFrom(Transport &transport, int32_t peer, int64_t start, const TraceSink &sink) {
  int64_t ahead = 0;
  if (Status s = compareClocks(transport, peer, ahead); !s.ok())
    return s;
  if (Status s = send(transport, peer, start + ahead); !s.ok())
    return s;
  uint64_t left = 0;
  if (Status s = receive(transport, peer, left); !s.ok())
    return s;
  while (left) {
    uint64_t bytes = std::min(left, kPart);
    auto part = transport.collect(peer, kTraceTag, bytes);
    if (!part.ok())
      return part.status();
    if (Status s = sink({(*part)->data(), bytes}); !s.ok())
      return s;
    left -= bytes;
  }
  return {};
}

Status deliverTo0(Transport &transport, Timeline timeline) {
  if (Status s = answerClocks(transport); !s.ok())
    return s;
  if (Status s = receive(transport, 0, timeline.start); !s.ok())
    return s;
  auto text = std::make_shared<std::string>();
  Status written = writeEvents(
      [&](std::string_view part) {
        text->append(part);
        return Status();
      },
      timeline, false);
  if (!written.ok())
    return written;
  if (Status s = send(transport, 0, static_cast<uint64_t>(text->size())); !s.ok())
    return s;
  for (uint64_t at = 0; at < text->size(); at += kPart)
    if (Status s = transport.deliver(0, kTraceTag, text->data() + at,
                                     std::min<uint64_t>(kPart, text->size() - at), text);
        !s.ok())
      return s;
  return {};
}

} // namespace

Status writeTrace(files::OutputFile &file, Timeline timeline, Transport *transport) {
  timeline.rank = transport ? transport->rank() : 0;
  if (timeline.rank != 0)
    return deliverTo0(*transport, std::move(timeline));
  TraceSink sink = [&](std::string_view text) {
    std::string wrong = file.write(text);
    return wrong.empty() ? Status() : Status(Code::Unavailable, wrong);
  };
  timeline.start = timeline.steps.empty() ? 0 : timeline.steps.front().begin;
  Status status = sink("[");
  if (status.ok())
    status = writeEvents(sink, timeline, true);
  for (int32_t peer = 1; status.ok() && transport && peer < transport->size(); ++peer)
    status = collectFrom(*transport, peer, timeline.start, sink);
  return status.ok() ? sink("\n]\n") : status;
}

} // namespace tessera::runtime
