// Global arrays from and to .npz files.
#pragma once

#include "runtime/array/ArrayFile.h"
#include "runtime/array/Zip.h"
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::runtime {

// One member of an .npz as numpy describes it, in row-major order and this machine's byte order.
struct NpyArray {
  std::string descr; // "<f4", "|b1", ..
  std::vector<int64_t> shape;
  std::string data;
};

Result<NpyArray> parseNpy(const std::string &name, std::string contents);

// The descr that arrays of a type travel as: bf16, f16 and the 8-bit floats as "<f4".
std::string npyDescr(program::ElementType type);

class NpzReader final : public ArrayFile {
public:
  static Result<NpzReader> open(const std::string &path);
  std::vector<std::string> names() const override;

private:
  NpzReader(std::string path, ZipReader zip);
  Result<StoredArray> load(const std::string &name,
                           const program::Parameter *expected) const override;

  ZipReader zip_;
  std::unordered_map<std::string, size_t> byName_; // members, without .npy; the last of a name
};

class NpzWriter final : public ArrayWriter {
public:
  explicit NpzWriter(files::OutputFile &file) : zip_(file) {}
  Status add(const std::string &name, const HostArray &array) override;
  Status finish() override { return zip_.finish(); }

private:
  ZipWriter zip_;
};

} // namespace tessera::runtime
