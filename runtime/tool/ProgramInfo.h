// What a program file says of itself, for people and for scripts: plain data, made into text or JSON.
#pragma once

#include "runtime/program/LoadedProgram.h"
#include "runtime/program/Moves.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::runtime {

struct ParameterInfo {
  std::string name, type; // "w", "f32"
  std::vector<int64_t> shape, tile;
  std::vector<std::vector<std::string>>
      sharding; // axes of each dimension, major to minor: "x", "y:(2)4"
  bool donated = false, onHost = false;
  std::string alias; // output: the input whose buffer it takes
};

struct ProgramInfo {
  std::string name;
  std::vector<std::pair<std::string, int64_t>> mesh;
  std::vector<std::pair<int64_t, int64_t>> devices; // ranges [begin, end)
  std::vector<ParameterInfo> inputs, outputs;
  // Bytes of a device. `outputs`: those that have buffers of their own.
  uint64_t inputBytes = 0, outputBytes = 0, arena = 0, scratch = 0, constants = 0, host = 0,
           file = 0;
  uint64_t instructions = 0;
  std::map<std::string, Moved> moves;
};

struct ImageInfo {
  std::string target, cpu;
  std::vector<std::string> features;
  bool isChosen = false; // what this machine would run
};

struct ChannelInfo {
  std::string name, from, to, type;
  std::vector<int64_t> shape;
};

// Seconds of a step, as the compiler expects them on a machine.
struct PredictionInfo {
  std::string topology;
  double seconds = 0, compute = 0, communication = 0, exposed = 0, overhead = 0;
  uint64_t peakBytes = 0;
};

struct FileInfo {
  std::string path, sha256;
  uint32_t version = 0;
  int64_t devices = 0;
  std::vector<ProgramInfo> programs;
  std::vector<ChannelInfo> channels;
  std::vector<ImageInfo> images;
  std::optional<PredictionInfo> predicted;
  uint64_t kernels = 0;
  std::vector<std::string> library,
      outside; // kernels that the runtime and the caller bring, by name
};

FileInfo describeFile(const LoadedProgram &file);

std::string infoText(const FileInfo &info);
std::string infoJson(const FileInfo &info);

} // namespace tessera::runtime
