// Errors as values: a code and a message for the person at the other end. Nothing in the runtime
// throws.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tessera::runtime {

// The canonical codes of gRPC, which are those of tessera_code in c_api.h.
enum class Code {
  Ok = 0,
  Cancelled = 1,         // given up by the caller
  Unknown = 2,           // not used
  InvalidArgument = 3,   // what the caller gave does not fit: shapes, types, names, options
  DeadlineExceeded = 4,  // a step took longer than its limit
  NotFound = 5,          // a file, or something of a name, is not there
  AlreadyExists = 6,     // something of the name is there already
  PermissionDenied = 7,  // a file may not be read or written
  ResourceExhausted = 8, // memory, threads
  FailedPrecondition =
      9,        // the object is in no state for it; the program is for another machine or version
  Aborted = 10, // not used
  OutOfRange = 11,    // an index past the end
  Unimplemented = 12, // this build or machine cannot do it
  Internal = 13,      // a device failed while running
  Unavailable = 14,   // another process is gone; a file cannot be written
  DataLoss = 15,      // a file is damaged
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  bool ok() const { return code_ == Code::Ok; }
  Code code() const { return code_; }
  const std::string &message() const { return message_; }

private:
  Code code_ = Code::Ok;
  std::string message_;
};

inline Status invalidArgument(std::string message) {
  return {Code::InvalidArgument, std::move(message)};
}
inline Status invalidProgram(std::string message) { return {Code::DataLoss, std::move(message)}; }

// A value or the reason why there is none.
template <class T> class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return value_.has_value(); }
  const Status &status() const { return status_; }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }

private:
  std::optional<T> value_;
  Status status_;
};

} // namespace tessera::runtime
