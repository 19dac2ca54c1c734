// Global arrays from and to files, in one of two formats, which the path's ending tells: .safetensors,
// and numpy's .npz for any other.
#pragma once

#include "lib/files/OutputFile.h"
#include "runtime/Status.h"
#include "runtime/array/HostArray.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

// What a file says of its elements. Some that numpy doesn't know it stores by their size alone.
struct StoredType {
  program::ElementType type = program::ELEMENT_INVALID;
  int64_t size = 0;
  std::string name; // for messages: "float32"
};

// The type of a name of ours, as a file may say it.
StoredType storedType(program::ElementType type);

// An array of a file: row-major, in this machine's byte order.
struct StoredArray {
  StoredType type;
  std::vector<int64_t> shape;
  std::string data;
};

// "(3, 5)", "(3,)", as numpy has it.
std::string shapeText(const std::vector<int64_t> &shape);

// The array as the program has it: of the parameter's type and shape, or, where that is a float that
// travels as float32 (ElementType.h), float32, which is rounded; integers of another width whose
// values it can hold. The message begins with `who`.
Result<HostArray> converted(StoredArray array, const program::Parameter &expected,
                            const std::string &who);

class ArrayFile {
public:
  static Result<std::unique_ptr<ArrayFile>> open(const std::string &path);
  virtual ~ArrayFile() = default;
  virtual std::vector<std::string> names() const = 0; // sorted

  // Array `name`, which must have the parameter's global shape and a type that `converted` takes.
  Result<HostArray> read(const std::string &name, const program::Parameter &expected) const;

  // Of an array that has one dimension more than the parameter, in front: its size; and one of the
  // arrays along it.
  Result<int64_t> countEntries(const std::string &name, const program::Parameter &expected);
  Result<HostArray> readEntry(const std::string &name, const program::Parameter &expected,
                              int64_t entry);

protected:
  explicit ArrayFile(std::string path) : path_(std::move(path)) {}
  ArrayFile(ArrayFile &&) = default;

  // The array, of which the caller needs no more elements than `expected` has; null: all.
  virtual Result<StoredArray> load(const std::string &name,
                                   const program::Parameter *expected) const = 0;
  // Type and shape of an array whose entries will be read.
  virtual Result<StoredArray> describe(const std::string &name);
  virtual Result<std::string> loadPart(const std::string &name, uint64_t begin, uint64_t bytes);

  std::string path_;

private:
  std::map<std::string, StoredArray> whole_; // whose entries are read
};

// What will be written of an array.
struct ArrayEntry {
  std::string name;
  program::ElementType type;
  std::vector<int64_t> shape;
};

class ArrayWriter {
public:
  // In the format of `path`, into a file that stays the caller's, who commits it. All `entries` are
  // then added, in their order.
  static Result<std::unique_ptr<ArrayWriter>> make(const std::string &path, files::OutputFile &file,
                                                   const std::vector<ArrayEntry> &entries);
  virtual ~ArrayWriter() = default;
  virtual Status add(const std::string &name, const HostArray &array) = 0;
  virtual Status finish() = 0;
};

} // namespace tessera::runtime
