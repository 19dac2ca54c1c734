#include "runtime/program/CodeImages.h"
#include "runtime/program/CpuFeatures.h"
#include "runtime/program/Gpus.h"
#include <cstdlib>
#include <set>

namespace tessera::runtime {

static std::string joined(const std::vector<std::string> &names) {
  std::string list;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    list += (i ? ", " : "") + names[i].substr(0, 40);
  return names.size() > 8 ? list + ", .." : list;
}

// What keeps this machine from running an image; "" for nothing.
static std::string obstacle(const program::CodeImage &image) {
  if (image.target() == "cuda") // its driver knows what it can run
    return "";
  if (image.target() != "cpu" && image.target() != "shadow")
    return "the program was compiled for '" + image.target().substr(0, 40) +
           "', which this runtime has not: compile it for the cpu";
  std::vector<std::string> wanted(image.features().begin(), image.features().end());
  if (std::string unknown = joined(unknownCpuFeatures(wanted)); !unknown.empty())
    return "the program needs CPU features that this runtime does not know: " + unknown +
           ": run it with the runtime of its compiler's version";
  std::string cpu = image.cpu().empty() ? "another CPU" : "CPU '" + image.cpu() + "'";
  if (std::string missing = joined(missingCpuFeatures(wanted)); !missing.empty())
    return "the program was compiled for " + cpu + "; this one lacks " + missing +
           ": compile it here, or with a --target-cpu that every machine it shall run on has";
  if (std::string refused = refusedCpuFeatures(wanted); !refused.empty())
    return "the program was compiled for " + cpu + "; the operating system does not let this " +
           "process use " + refused +
           ": compile it here, or with a --target-cpu without it, such as x86-64-v4";
  return "";
}

// Of a file with code for several kinds of devices: what TESSERA_TARGET names, or a GPU where there
// is one. "": the file has one kind only.
static Result<std::string> wantedTarget(const program::File &file) {
  std::set<std::string> kinds;
  for (const auto &image : file.images())
    kinds.insert(image.target());
  if (kinds.size() < 2)
    return std::string();
  const char *named = std::getenv("TESSERA_TARGET");
  if (!named || !*named)
    return std::string(kinds.count("cuda") && hasGpu() ? "cuda" : "cpu");
  std::string wanted = std::string(named) == "shadow" ? "cpu" : named;
  if (!kinds.count(wanted))
    return Status(Code::FailedPrecondition, "TESSERA_TARGET=" + wanted +
                                                ": the program was compiled for " +
                                                joined({kinds.begin(), kinds.end()}));
  return wanted;
}

Result<const program::CodeImage *> chooseImage(const program::File &file) {
  auto wanted = wantedTarget(file);
  if (!wanted.ok())
    return wanted.status();
  const program::CodeImage *best = nullptr, *least = nullptr;
  std::string why;
  for (const auto &image : file.images()) {
    if (!wanted->empty() && image.target() != *wanted)
      continue;
    std::string problem = obstacle(image);
    if (problem.empty()) {
      if (!best || image.features_size() > best->features_size())
        best = &image;
    } else if (!least || image.features_size() < least->features_size()) {
      least = &image;
      why = std::move(problem);
    }
  }
  if (!best && least)
    return Status(Code::FailedPrecondition, why);
  return best;
}

} // namespace tessera::runtime
