#include "compiler/explanation/Decision.h"

#include "lib/text/Quantity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace tessera::explain {
namespace {

constexpr size_t kShown = 10;

std::string moreOrLess(double by) { return by < 0 ? "less" : "more"; }

// "8 all-reduces more (0.5 ms)", "all-reduces 0.5 ms shorter"
std::string partText(const Decision::Part &part) {
  std::string time = text::seconds(std::abs(part.seconds));
  auto count = uint64_t(std::llround(std::abs(part.count)));
  if (count == 0)
    return part.kind + "s " + time + (part.seconds < 0 ? " shorter" : " longer");
  return text::counted(count, part.kind) + (part.count < 0 ? " fewer" : " more") + " (" +
         (part.seconds < 0 ? "-" : "") + time + ")";
}

// Next to which the rest of a sum does not matter.
bool matters(double seconds, double of) { return std::abs(seconds) >= 0.02 * std::abs(of); }

std::string costText(const Decision &decision) {
  std::string text =
      llvm::formatv("{0}{1}{2:F1}% ({3})", decision.isBest ? "" : "at most ",
                    decision.seconds < 0 ? "-" : "+", 100 * std::abs(decision.fraction),
                    text::seconds(std::abs(decision.seconds)))
          .str();
  std::vector<std::string> reasons;
  double largest = std::max(std::abs(decision.computing), std::abs(decision.seconds));
  for (const Decision::Part &part : decision.parts)
    largest = std::max(largest, std::abs(part.seconds));
  for (const Decision::Part &part : llvm::ArrayRef(decision.parts).take_front(3))
    if (matters(part.seconds, largest))
      reasons.push_back(partText(part));
  if (matters(decision.computing, largest))
    reasons.push_back(text::seconds(std::abs(decision.computing)) + " " +
                      moreOrLess(decision.computing) + " computing");
  for (auto [i, reason] : llvm::enumerate(reasons))
    text += (i ? ", " : ": ") + reason;
  if (!decision.place.empty())
    text += "; most around " + decision.place;
  return text;
}

} // namespace

std::string otherwiseText(const Decision &decision) {
  std::string text;
  if (!decision.next.empty())
    text = "next best " + decision.next + ", " + costText(decision);
  else if (decision.asLong.empty())
    text = decision.isBest ? "nothing else fits into the memory" : "nothing else was found";
  for (auto [i, spec] : llvm::enumerate(decision.asLong))
    text += (i ? ", " : decision.next.empty() ? "" : "; ") + spec;
  if (!decision.asLong.empty())
    text += decision.asLong.size() == 1 ? " takes as long" : " take as long";
  return text;
}

std::string decisionsText(llvm::ArrayRef<Decision> decisions, bool all) {
  std::string text;
  for (const Decision &each : all ? decisions : decisions.take_front(kShown))
    text += "  " + each.what + "  " + each.spec + ": " + otherwiseText(each) + "\n";
  if (!all && decisions.size() > kShown)
    text += "  " + text::counted(decisions.size() - kShown, "more decision") + " with --all\n";
  return text;
}

llvm::json::Array decisionsJson(llvm::ArrayRef<Decision> decisions) {
  llvm::json::Array list;
  for (const Decision &each : decisions) {
    llvm::json::Array parts, asLong;
    for (const Decision::Part &part : each.parts)
      parts.push_back(llvm::json::Object{
          {"kind", part.kind}, {"count", part.count}, {"seconds", part.seconds}});
    for (const std::string &spec : each.asLong)
      asLong.push_back(llvm::json::fixUTF8(spec));
    list.push_back(llvm::json::Object{
        {"what", llvm::json::fixUTF8(each.what)},
        {"spec", llvm::json::fixUTF8(each.spec)},
        {"next", each.next.empty() ? llvm::json::Value(nullptr)
                                   : llvm::json::Value(llvm::json::fixUTF8(each.next))},
        {"as_long", std::move(asLong)},
        {"seconds", each.seconds},
        {"fraction", each.fraction},
        {"bytes", each.bytes},
        {"proven", each.isBest},
        {"computing", each.computing},
        {"collectives", std::move(parts)},
        {"location", llvm::json::fixUTF8(each.place)}});
  }
  return list;
}

} // namespace tessera::explain
