// A manifest as a tree of fields, which can be changed one by one: protobuf's lite messages can't
// be walked.
#pragma once

#include "test/tools/fuzz-files/Random.h"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::fuzz {

enum class Kind { Number, Double, Text, Numbers, Message };

struct MessageType;
struct FieldType {
  uint32_t number;
  Kind kind;
  const MessageType *(*message)() = nullptr; // of Message
};
struct MessageType {
  std::vector<FieldType> fields;
};

struct Message;
struct Field {
  const FieldType *type;
  uint64_t number = 0; // of Number, and the bits of Double
  std::string text;
  std::vector<uint64_t> numbers;
  std::shared_ptr<Message> message;
};
struct Message {
  const MessageType *type;
  std::vector<Field> fields;
};

// Of a valid manifest (program.proto); unknown fields are dropped.
Message readManifest(std::string_view bytes);
std::string writeMessage(const Message &message);
Message copyOf(const Message &message);

// Changes 1 to 4 fields. What native code is called by (File.kernels, File.images) only where `kernels` says so.
void mutateManifest(Random &random, Message &manifest, bool kernels);

} // namespace tessera::fuzz
