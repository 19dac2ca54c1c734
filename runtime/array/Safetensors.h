// Global arrays from and to .safetensors files: eight bytes with the size of a header
// (SafetensorsHeader.h), the header, then the arrays' bytes, dense and row-major.
//
// Types that the format has are stored as they are: bf16, f16, f8E4M3FN and f8E5M2 too. Other small
// floats travel as float32, integers of 2 and 4 bits as bytes.
#pragma once

#include "lib/files/InputFile.h"
#include "runtime/array/ArrayFile.h"
#include <unordered_map>

namespace tessera::runtime {

class SafetensorsReader final : public ArrayFile {
public:
  static Result<SafetensorsReader> open(const std::string &path);
  std::vector<std::string> names() const override;

private:
  struct Place {
    StoredType type;
    std::vector<int64_t> shape;
    uint64_t at, bytes; // in the file
  };
  SafetensorsReader(std::string path, files::InputFile file)
      : ArrayFile(std::move(path)), file_(std::move(file)) {}
  Status readHeader();
  Status keep(const std::string &name, const std::string &dtype, const std::vector<int64_t> &shape,
              uint64_t begin, uint64_t end, uint64_t start);
  Result<StoredArray> load(const std::string &name,
                           const program::Parameter *expected) const override;
  Result<StoredArray> describe(const std::string &name) override;
  Result<std::string> loadPart(const std::string &name, uint64_t begin, uint64_t bytes) override;
  Result<const Place *> find(const std::string &name) const;
  Result<std::string> readBytes(const std::string &name, uint64_t at, uint64_t bytes) const;

  files::InputFile file_;
  std::unordered_map<std::string, Place> places_;
};

class SafetensorsWriter final : public ArrayWriter {
public:
  // Writes the header. Fails where an array has a type that the format has no room for.
  static Result<std::unique_ptr<ArrayWriter>> make(files::OutputFile &file,
                                                   const std::vector<ArrayEntry> &entries);
  Status add(const std::string &name, const HostArray &array) override;
  Status finish() override { return {}; }

private:
  explicit SafetensorsWriter(files::OutputFile &file) : file_(file) {}
  files::OutputFile &file_;
};

} // namespace tessera::runtime
