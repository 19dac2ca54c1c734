#include "lib/machines/Machines.h"

#include <algorithm>
#include <cctype>

namespace tessera::machines {
namespace {

constexpr Machine kMachines[] = {
    // What is assumed where no topology is given: all its figures are the defaults.
    {"host", R"({"name": "host", "about": "the default: a few cores of a CPU"})"},
    {"a100", R"({"name": "a100",
 "about": "hosts of 8 A100 SXM4 80GB over NVSwitch, a 200 Gb/s InfiniBand port each; data sheet, latencies estimated",
 "flops": 1.95e13, "flops_by_type": {"bf16": 3.12e14, "f16": 3.12e14, "f64": 1.95e13, "i8": 6.24e14},
 "memory": 2.039e12, "launch": 2e-6, "processors": 108,
 "levels": [{"name": "host", "devices": 8, "alpha": 3e-6, "beta": 3e11},
            {"name": "cluster", "alpha": 5e-6, "beta": 2.5e10}],
 "spaces": {"device": {"bytes": 8e10}, "host": {"to_device": 3.2e10, "from_device": 3.2e10}}})"},
    {"h100", R"({"name": "h100",
 "about": "hosts of 8 H100 SXM5 80GB over NVSwitch, a 400 Gb/s InfiniBand port each; data sheet, latencies estimated",
 "flops": 6.7e13, "flops_by_type": {"bf16": 9.89e14, "f16": 9.89e14, "f64": 6.7e13, "i8": 1.979e15,
  "f8E4M3FN": 1.979e15, "f8E5M2": 1.979e15},
 "memory": 3.35e12, "launch": 2e-6, "processors": 132,
 "levels": [{"name": "host", "devices": 8, "alpha": 3e-6, "beta": 4.5e11},
            {"name": "cluster", "alpha": 5e-6, "beta": 5e10}],
 "spaces": {"device": {"bytes": 8e10}, "host": {"to_device": 6.4e10, "from_device": 6.4e10}}})"},
    {"h200", R"({"name": "h200",
 "about": "hosts of 8 H200 SXM5 141GB over NVSwitch, a 400 Gb/s InfiniBand port each; data sheet, latencies estimated",
 "flops": 6.7e13, "flops_by_type": {"bf16": 9.89e14, "f16": 9.89e14, "f64": 6.7e13, "i8": 1.979e15,
  "f8E4M3FN": 1.979e15, "f8E5M2": 1.979e15},
 "memory": 4.8e12, "launch": 2e-6, "processors": 132,
 "levels": [{"name": "host", "devices": 8, "alpha": 3e-6, "beta": 4.5e11},
            {"name": "cluster", "alpha": 5e-6, "beta": 5e10}],
 "spaces": {"device": {"bytes": 1.41e11}, "host": {"to_device": 6.4e10, "from_device": 6.4e10}}})"},
    {"b200", R"({"name": "b200",
 "about": "hosts of 8 B200 180GB over NVSwitch, a 400 Gb/s InfiniBand port each; data sheet, latencies estimated",
 "flops": 7.5e13, "flops_by_type": {"bf16": 2.25e15, "f16": 2.25e15, "f64": 3.7e13, "i8": 4.5e15,
  "f8E4M3FN": 4.5e15, "f8E5M2": 4.5e15, "f4E2M1FN": 9e15},
 "memory": 8e12, "launch": 2e-6, "processors": 148,
 "levels": [{"name": "host", "devices": 8, "alpha": 3e-6, "beta": 9e11},
            {"name": "cluster", "alpha": 5e-6, "beta": 5e10}],
 "spaces": {"device": {"bytes": 1.8e11}, "host": {"to_device": 6.4e10, "from_device": 6.4e10}}})"},
    {"tpu-v4", R"({"name": "tpu-v4",
 "about": "3D torus of TPU v4, a mesh axis a ring of it; Google's documentation and paper, latencies estimated",
 "flops": 4.6e13, "flops_by_type": {"bf16": 2.75e14, "i8": 2.75e14},
 "memory": 1.228e12, "alpha": 1e-6, "beta": 5e10, "directions": 2,
 "spaces": {"device": {"bytes": 34359738368}, "host": {"to_device": 1.6e10, "from_device": 1.6e10}}})"},
    {"tpu-v5e", R"({"name": "tpu-v5e",
 "about": "2D torus of TPU v5e, a mesh axis a ring of it; Google's documentation, latencies estimated",
 "flops": 3.3e13, "flops_by_type": {"bf16": 1.97e14, "i8": 3.93e14},
 "memory": 8.19e11, "alpha": 1e-6, "beta": 5e10, "directions": 2,
 "spaces": {"device": {"bytes": 1.6e10}, "host": {"to_device": 1.6e10, "from_device": 1.6e10}}})"},
    {"tpu-v5p", R"({"name": "tpu-v5p",
 "about": "3D torus of TPU v5p, a mesh axis a ring of it; Google's documentation, latencies estimated",
 "flops": 7.6e13, "flops_by_type": {"bf16": 4.59e14},
 "memory": 2.765e12, "alpha": 1e-6, "beta": 1e11, "directions": 2,
 "spaces": {"device": {"bytes": 102005473280}, "host": {"to_device": 1.6e10, "from_device": 1.6e10}}})"},
};

} // namespace

std::span<const Machine> all() { return kMachines; }

std::string_view topologyText(std::string_view nameOrText) {
  for (const Machine &machine : kMachines)
    if (machine.name == nameOrText)
      return machine.text;
  return nameOrText;
}

std::string orMachine(std::string_view given) {
  if (!std::ranges::all_of(given, [](unsigned char c) { return std::isalnum(c) || c == '-'; }))
    return "";
  std::string names;
  for (const Machine &machine : kMachines)
    names += (names.empty() ? "; machines are " : ", ") + std::string(machine.name);
  return names;
}

} // namespace tessera::machines
