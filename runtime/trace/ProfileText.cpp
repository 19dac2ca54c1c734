#include "lib/machines/Machines.h"
#include "lib/text/Json.h"
#include "lib/text/Quantity.h"
#include "runtime/program/LoadedProgram.h"
#include "runtime/trace/Profile.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tessera::runtime {

namespace {

const char *nameOf(ProfileRow::Kind kind) {
  switch (kind) {
  case ProfileRow::Kernel:
    return "kernel";
  case ProfileRow::Collective:
    return "collective";
  case ProfileRow::Copy:
    return "copy";
  case ProfileRow::Waiting:
    break;
  }
  return "waiting";
}

// The topology that the program was compiled for: "host (a preset)".
std::string topologyOf(const LoadedProgram &file) {
  const std::string &name = file.manifest().prediction().topology();
  bool isPreset = machines::topologyText(name) != name;
  return name + (isPreset ? " (a preset)" : " (from a file)");
}

template <class... Args> std::string print(const char *format, Args... args) {
  char text[128];
  std::snprintf(text, sizeof text, format, args...);
  return text;
}

// "3.4 G": in steps of a thousand.
std::string scaled(double number) {
  const char *units[] = {"", " k", " M", " G", " T", " P"};
  int unit = 0;
  for (; number >= 999.5 && unit < 5; ++unit)
    number /= 1000;
  return print(number < 99.95 && unit ? "%.1f%s" : "%.0f%s", number, units[unit]);
}

std::string share(double part, double whole) {
  return part > 0 && whole > 0 ? print("%.0f%%", 100 * part / whole) : "-";
}

// What stands in a row before the name.
std::string figuresOf(const ProfileRow &row, const Profile &profile) {
  auto any = [](bool is, const std::string &text) { return is ? text : std::string("-"); };
  return print("%9s %6.1f%% %8s %10s %8s %9s %9s  ", text::seconds(row.seconds).c_str(),
               profile.seconds > 0 ? 100 * row.seconds / profile.seconds : 0,
               any(row.calls > 0, std::to_string(row.calls)).c_str(),
               any(row.bytes > 0, text::bytes(static_cast<uint64_t>(row.bytes))).c_str(),
               any(row.flops > 0, scaled(row.flops)).c_str(),
               share(row.leastSeconds, row.seconds).c_str(),
               any(row.predictedSeconds > 0, text::seconds(row.predictedSeconds)).c_str());
}

std::string devicesOn(const Profile &profile) {
  return text::counted(profile.devices, "device") + " on " + text::counted(profile.cores, "core");
}

} // namespace

std::string profileJson(const Profile &profile, const LoadedProgram &file) {
  std::string json =
      print("{\"step\":%zu,\"seconds\":%.9g,\"devices\":%zu,\"cores\":%u,", profile.step,
            profile.seconds, profile.devices, profile.cores) +
      print("\"copied_bytes_per_second\":%.6g,\"f32_flops_per_second\":%.6g,\"bf16_flops_per_"
            "second\":%.6g,",
            profile.speed.copiedBytes, profile.speed.f32Flops, profile.speed.bf16Flops) +
      "\"topology\":" + text::quoted(file.manifest().prediction().topology()) + ",\"rows\":[";
  for (const ProfileRow &row : profile.rows) {
    json += (&row == profile.rows.data() ? "{\"kind\":\"" : ",{\"kind\":\"");
    json += nameOf(row.kind);
    json += "\",\"name\":" + text::quoted(row.name) +
            ",\"location\":" + text::quoted(row.location) +
            print(",\"seconds\":%.9g,\"calls\":%llu,\"bytes\":%.15g,\"flops\":%.15g", row.seconds,
                  static_cast<unsigned long long>(row.calls), row.bytes, row.flops);
    if (row.leastSeconds > 0)
      json += print(",\"roofline_seconds\":%.9g", row.leastSeconds);
    if (row.predictedSeconds > 0)
      json += print(",\"predicted_seconds\":%.9g", row.predictedSeconds);
    json += "}";
  }
  return json + "]}";
}

std::string profileText(const Profile &profile, const LoadedProgram &file, size_t steps,
                        size_t most) {
  std::string table = "profile of the quickest of " + text::counted(steps, "step") + ", " +
                      text::seconds(profile.seconds) + ": " + devicesOn(profile) +
                      "; calls, bytes and FLOPs of all devices\n" +
                      print("%9s %7s %8s %10s %8s %9s %9s  ", "time", "step", "calls", "bytes",
                            "FLOPs", "roofline", "predicted");
  size_t shown = std::min(most, profile.rows.size()), width = 0;
  for (size_t i = 0; i < shown; ++i)
    width = std::max(width, std::min<size_t>(profile.rows[i].name.size(), 40));
  auto padded = [&](std::string name) {
    name.append(width + 2 - std::min(width, name.size()), ' ');
    return name;
  };
  table += padded("what") + "where\n";
  ProfileRow others{ProfileRow::Waiting, "", ""};
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const ProfileRow &row = profile.rows[i];
    others.seconds += i < shown ? 0 : row.seconds;
    if (i < shown)
      table += figuresOf(row, profile) +
               (row.location.empty() ? row.name : padded(row.name) + row.location) + "\n";
  }
  if (shown < profile.rows.size())
    table +=
        figuresOf(others, profile) + text::counted(profile.rows.size() - shown, "other row") + "\n";
  const MachineSpeed &speed = profile.speed;
  if (speed.copiedBytes > 0 && speed.f32Flops > 0)
    table += "roofline: what the cores copy at most, " + print("%.1f", speed.copiedBytes / 1e9) +
             " GB/s, or multiply and add, " + print("%.0f", speed.f32Flops / 1e9) +
             " GFLOP/s of f32 and " + print("%.0f", speed.bf16Flops / 1e9) +
             " of bf16, both measured after the steps; above 100% where a cache held the bytes\n";
  if (file.manifest().has_prediction())
    table += "predicted: for " + topologyOf(file) + ", which the program was compiled for\n";
  return table;
}

} // namespace tessera::runtime
