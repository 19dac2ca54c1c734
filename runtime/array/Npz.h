// Global arrays from and to .npz files, by the names in0.., out0.. of the command line.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"
#include "runtime/array/Zip.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::runtime {

// A whole array on the host: dense, row-major, elements as in ElementType.h.
struct HostArray {
  program::ElementType type;
  std::vector<int64_t> shape;
  std::string bytes;
};

// One member of an .npz as numpy describes it, in row-major order and this machine's byte order.
struct NpyArray {
  std::string descr; // "<f4", "|b1", ..
  std::vector<int64_t> shape;
  std::string data;
};

Result<NpyArray> parseNpy(const std::string &name, std::string contents);

// The descr that arrays of a type travel as: bf16, f16 and the 8-bit floats as "<f4".
std::string npyDescr(program::ElementType type);

class NpzReader {
public:
  static Result<NpzReader> open(const std::string &path);
  std::vector<std::string> names() const;
  // Array `name`, which must have the parameter's global shape and the type that it travels as.
  Result<HostArray> read(const std::string &name, const program::Parameter &expected) const;

private:
  NpzReader(std::string path, ZipReader zip);
  std::string path_;
  ZipReader zip_;
  std::unordered_map<std::string, size_t> byName_; // members, without .npy; the last of a name
};

class NpzWriter {
public:
  // Into a file that stays the caller's, who commits it.
  explicit NpzWriter(files::OutputFile &file) : zip_(file) {}
  Status add(const std::string &name, const HostArray &array);
  Status finish() { return zip_.finish(); }

private:
  ZipWriter zip_;
};

} // namespace tessera::runtime
