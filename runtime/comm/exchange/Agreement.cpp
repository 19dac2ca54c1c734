#include "runtime/comm/exchange/Agreement.h"
#include "include/tessera/container.h"
#include "runtime/comm/exchange/Transport.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace tessera::runtime {

namespace {

constexpr size_t kLongest = 160, kMostFacts = 64; // of a value; of a rank
constexpr uint64_t kMark = 0x3145455247415354;    // "TSAGREE1"

// Before the bytes of a position, or of the outcome.
struct Announcement {
  uint64_t mark;
  uint64_t bytes;
};
constexpr uint64_t kMostBytes = 64 << 10;

std::string shortened(const std::string &value) {
  if (value.size() <= kLongest)
    return value;
  char hash[32];
  std::snprintf(hash, sizeof hash, ".. (%016llx)",
                static_cast<unsigned long long>(container::hash(value)));
  return value.substr(0, kLongest) + hash;
}

// "ranks 0-2, 5"
std::string nameRanks(const std::vector<size_t> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[i] + (end - i))
      ++end;
    text += (i ? ", " : "") + std::to_string(ranks[i]);
    if (end - i > 1)
      text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

std::string valueOf(const Position &position, const std::string &what) {
  for (const Fact &fact : position.facts)
    if (fact.what == what)
      return fact.value;
  return "none";
}

} // namespace

Status compare(const std::vector<Position> &ranks) {
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (const Status &status = ranks[rank].status; !status.ok())
      return {status.code(), "rank " + std::to_string(rank) + ": " + status.message()};
  std::vector<std::string> names;
  for (const Position &position : ranks)
    for (const Fact &fact : position.facts)
      if (std::find(names.begin(), names.end(), fact.what) == names.end())
        names.push_back(fact.what);
  std::string text;
  for (const std::string &name : names) {
    std::map<std::string, std::vector<size_t>> holders;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      holders[valueOf(ranks[rank], name)].push_back(rank);
    if (holders.size() == 1)
      continue;
    // Those that most have come first.
    std::vector<std::pair<std::string, std::vector<size_t>>> order(holders.begin(), holders.end());
    std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
      return a.second.size() > b.second.size();
    });
    text += (text.empty() ? ": " : "; ") + name;
    for (size_t i = 0; i < order.size() && i < 4; ++i)
      text += (i ? ", " : " ") + order[i].first + " on " + nameRanks(order[i].second);
    if (order.size() > 4)
      text += ", ..";
  }
  return text.empty() ? Status() : invalidArgument("the ranks differ" + text);
}

std::string toBytes(const Position &position) {
  std::string bytes(1, static_cast<char>('A' + static_cast<int>(position.status.code())));
  auto add = [&](const std::string &text) { (bytes += '\0') += text; };
  add(position.status.message().substr(0, 1000));
  for (size_t i = 0; i < position.facts.size() && i < kMostFacts; ++i) {
    add(position.facts[i].what);
    add(shortened(position.facts[i].value));
  }
  return bytes;
}

Result<Position> fromBytes(std::string_view bytes) {
  std::vector<std::string> parts(1);
  for (char c : bytes)
    if (c == '\0')
      parts.emplace_back();
    else
      parts.back() += c;
  if (parts.size() % 2 || parts[0].size() != 1 || parts[0][0] < 'A' ||
      parts[0][0] > 'A' + static_cast<int>(Code::DataLoss))
    return Status(Code::Internal, "what a rank tells of itself cannot be read");
  Position position;
  position.status = Status(static_cast<Code>(parts[0][0] - 'A'), parts[1]);
  for (size_t i = 2; i < parts.size(); i += 2)
    position.facts.push_back({parts[i], parts[i + 1]});
  return position;
}

static Status sendText(Transport &transport, int32_t peer, const std::string &text) {
  auto head = std::make_shared<Announcement>(Announcement{kMark, text.size()});
  auto body = std::make_shared<std::string>(text);
  if (Status s = transport.deliver(peer, kAgreementTag, head.get(), sizeof *head, head); !s.ok())
    return s;
  return transport.deliver(peer, kAgreementTag, body->data(), body->size(), body);
}

static Status receiveText(Transport &transport, int32_t peer, std::string &text) {
  Announcement announcement;
  auto head = transport.collect(peer, kAgreementTag, sizeof announcement);
  if (!head.ok())
    return head.status();
  std::memcpy(&announcement, (*head)->data(), sizeof announcement);
  if (announcement.mark != kMark || announcement.bytes > kMostBytes)
    return {Code::Internal, "rank " + std::to_string(peer) + " has another version of the runtime"};
  auto body = transport.collect(peer, kAgreementTag, announcement.bytes);
  if (!body.ok())
    return body.status();
  text.assign((*body)->begin(), (*body)->end());
  return {};
}

// Rank 0 hears all and tells all.
static Status exchange(Transport &transport, const Position &own) {
  if (Status s = transport.health(); !s.ok())
    return s;
  if (transport.rank() != 0) {
    std::string bytes;
    if (Status s = sendText(transport, 0, toBytes(own)); !s.ok())
      return s;
    if (Status s = receiveText(transport, 0, bytes); !s.ok())
      return s;
    auto outcome = fromBytes(bytes);
    return outcome.ok() ? outcome->status : outcome.status();
  }
  std::vector<Position> ranks;
  for (int32_t peer = 0; peer < transport.size(); ++peer) {
    std::string bytes = toBytes(own); // shortened as the others' are
    if (peer != 0)
      if (Status s = receiveText(transport, peer, bytes); !s.ok())
        return s;
    auto position = fromBytes(bytes);
    if (!position.ok())
      return position.status();
    ranks.push_back(std::move(*position));
  }
  Status outcome = compare(ranks);
  for (int32_t peer = 1; peer < transport.size(); ++peer)
    if (Status s = sendText(transport, peer, toBytes({outcome, {}})); !s.ok())
      return s;
  return outcome;
}

Status agree(Transport &transport, const Position &own) {
  Status outcome = exchange(transport, own);
  if (!outcome.ok() && own.status.ok() && !transport.health().ok())
    return {outcome.code(), outcome.message() + " (comparing what the ranks have)"};
  return own.status.ok() ? outcome : own.status;
}

} // namespace tessera::runtime
