#include "test/tools/fuzz-files/Manifest.h"
#include <bit>
#include <limits>

namespace tessera::fuzz {

namespace {

constexpr uint32_t kKernels = 4, kImages = 5; // fields of File

#define MESSAGE(name, ...)                                                                         \
  const MessageType *name() {                                                                      \
    static const MessageType type{{__VA_ARGS__}};                                                  \
    return &type;                                                                                  \
  }
constexpr FieldType number(uint32_t n) { return {n, Kind::Number}; }
constexpr FieldType text(uint32_t n) { return {n, Kind::Text}; }
constexpr FieldType numbers(uint32_t n) { return {n, Kind::Numbers}; }
constexpr FieldType message(uint32_t n, const MessageType *(*type)()) {
  return {n, Kind::Message, type};
}

// include/tessera/program.proto
const MessageType *instruction();
MESSAGE(meshAxis, text(1), number(2))
MESSAGE(mesh, message(1, meshAxis), numbers(2), number(3))
MESSAGE(axisRef, number(1), number(2), number(3))
MESSAGE(dimLayout, message(1, axisRef), number(2))
MESSAGE(parameter, text(1), number(2), numbers(3), message(4, dimLayout), number(5), number(6),
        number(7))
MESSAGE(buffer, number(1), number(2), number(3), number(4))
MESSAGE(kernelOperand, number(1), number(2), number(3), numbers(4))
MESSAGE(attribute, text(1), text(2))
MESSAGE(kernel, text(1), number(2), number(3), {4, Kind::Double}, text(5), numbers(6),
        message(7, kernelOperand), text(8), message(9, attribute))
MESSAGE(dispatch, number(1), message(2, buffer))
MESSAGE(shape, numbers(1))
MESSAGE(collective, number(1), message(2, axisRef), number(3), number(4), message(5, shape),
        number(6), number(7), numbers(8), number(9), number(10), message(11, buffer),
        message(12, buffer), message(13, shape))
MESSAGE(start, number(1), message(2, collective))
MESSAGE(wait, number(1))
MESSAGE(channel, text(1), number(2), number(3), number(4), numbers(5), numbers(6))
MESSAGE(transfer, number(1), number(2), message(3, buffer)) // Send, Receive
MESSAGE(copyStart, number(1), message(2, buffer), message(3, buffer), message(4, buffer), number(5))
MESSAGE(call, number(1), message(2, buffer))
MESSAGE(loop, number(1), message(2, instruction), message(3, buffer), message(4, instruction))
MESSAGE(block, message(1, instruction))
MESSAGE(branch, message(1, buffer), message(2, block))
MESSAGE(copy, message(1, buffer), message(2, buffer))
MESSAGE(coordinate, message(1, axisRef), message(2, buffer))
MESSAGE(instruction, number(1), message(2, dispatch), message(3, start), message(4, wait),
        message(5, loop), message(6, branch), message(7, copy), message(8, coordinate),
        message(9, transfer), message(10, transfer), message(11, copyStart), message(12, call))
MESSAGE(function, text(1), message(2, kernelOperand), message(3, instruction))
MESSAGE(program, text(1), message(2, mesh), message(3, parameter), message(4, parameter), number(5),
        number(6), number(7), number(8), number(9), message(10, function), message(11, instruction))
MESSAGE(image, text(1), text(2), text(3), text(4), numbers(5))
MESSAGE(file, number(1), message(2, program), message(3, channel), message(kKernels, kernel),
        message(kImages, image), text(6), text(7))
#undef MESSAGE

uint64_t readVarint(std::string_view &bytes) {
  uint64_t value = 0;
  for (int shift = 0; !bytes.empty() && shift < 64; shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80)
      break;
  }
  return value;
}

void writeVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

Message readMessage(std::string_view bytes, const MessageType *type) {
  Message read{type, {}};
  while (!bytes.empty()) {
    uint64_t tag = readVarint(bytes), value = 0;
    std::string_view contents;
    if ((tag & 7) == 0) {
      value = readVarint(bytes);
    } else {
      uint64_t size = (tag & 7) == 1 ? 8 : readVarint(bytes);
      contents = bytes.substr(0, size);
      bytes.remove_prefix(contents.size());
    }
    for (const FieldType &known : type->fields) {
      if (known.number != tag >> 3)
        continue;
      Field field{&known, value, {}, {}, nullptr};
      if (known.kind == Kind::Text)
        field.text = contents;
      else if (known.kind == Kind::Double)
        contents.copy(reinterpret_cast<char *>(&field.number), 8);
      else if (known.kind == Kind::Message)
        field.message = std::make_shared<Message>(readMessage(contents, known.message()));
      else if (known.kind == Kind::Numbers)
        while (!contents.empty())
          field.numbers.push_back(readVarint(contents));
      read.fields.push_back(std::move(field));
    }
  }
  return read;
}

void collect(Message &message, bool kernels, std::vector<Message *> &out) {
  out.push_back(&message);
  for (Field &field : message.fields)
    if (field.message && (kernels || message.type != file() ||
                          (field.type->number != kKernels && field.type->number != kImages)))
      collect(*field.message, kernels, out);
}

Field copyOf(const Field &field) {
  Field copy = field;
  if (field.message)
    copy.message = std::make_shared<Message>(fuzz::copyOf(*field.message));
  return copy;
}

// A number from somewhere else in the manifest: sizes, indices and offsets that mean something.
uint64_t numberElsewhere(Random &random, const std::vector<Message *> &messages) {
  for (int tries = 0; tries < 8; ++tries) {
    const Message &from = *random.of(messages);
    if (from.fields.empty())
      continue;
    const Field &field = random.of(from.fields);
    if (field.type->kind == Kind::Number)
      return field.number;
    if (!field.numbers.empty())
      return random.of(field.numbers);
  }
  return random.below(100);
}

uint64_t changed(Random &random, uint64_t old, const std::vector<Message *> &messages) {
  return random.below(3) ? interesting(random, old) : numberElsewhere(random, messages);
}

void changeNumbers(Random &random, Field &field, const std::vector<Message *> &messages) {
  std::vector<uint64_t> &list = field.numbers;
  size_t at = random.below(list.size() + 1);
  if (at < list.size() && random.below(3))
    list[at] = changed(random, list[at], messages);
  else if (at < list.size() && random.once(2))
    list.erase(list.begin() + static_cast<ptrdiff_t>(at));
  else
    list.insert(list.begin() + static_cast<ptrdiff_t>(at), random.once(16) ? 2000 : 1,
                changed(random, 1, messages));
}

void changeMessages(Random &random, Message &in, size_t at,
                    const std::vector<Message *> &messages) {
  auto place = in.fields.begin() + static_cast<ptrdiff_t>(at);
  switch (random.below(7)) {
  case 0:
    in.fields.erase(place);
    return;
  case 1:
    in.fields.insert(place, copyOf(in.fields[at]));
    return;
  case 2: // many of them
    for (size_t n = random.below(random.once(4) ? 3000 : 40); n > 0; --n)
      in.fields.push_back(copyOf(in.fields[at]));
    return;
  case 3:
    std::swap(in.fields[at], in.fields[random.below(in.fields.size())]);
    return;
  case 4: { // deep in each other
    if (in.fields[at].message->type != instruction())
      return;
    for (size_t n = random.below(random.once(4) ? 400 : 8); n > 0; --n) {
      Field outer = in.fields[at];
      auto inner = std::make_shared<Message>(Message{loop(), {}});
      inner->fields.push_back({&loop()->fields[0], random.below(3), {}, {}, nullptr});
      inner->fields.push_back({&loop()->fields[3], 0, {}, {}, outer.message});
      auto wrapped = std::make_shared<Message>(Message{instruction(), {}});
      wrapped->fields.push_back({&instruction()->fields[4], 0, {}, {}, inner});
      in.fields[at].message = wrapped;
    }
    return;
  }
  default: // what stands elsewhere
    for (int tries = 0; tries < 20; ++tries)
      if (const Message &other = *random.of(messages); other.type == in.fields[at].message->type) {
        in.fields[at].message = std::make_shared<Message>(fuzz::copyOf(other));
        return;
      }
  }
}

void changeField(Random &random, Message &in, const std::vector<Message *> &messages) {
  // Fields that are not written, because they are 0 or empty, too.
  const FieldType &type = in.type->fields[random.below(in.type->fields.size())];
  std::vector<size_t> places;
  for (size_t i = 0; i < in.fields.size(); ++i)
    if (in.fields[i].type == &type)
      places.push_back(i);
  if (places.empty()) {
    Field made{&type, 0, {}, {}, nullptr};
    if (type.kind == Kind::Message)
      made.message = std::make_shared<Message>(Message{type.message(), {}});
    places.push_back(in.fields.size());
    in.fields.push_back(std::move(made));
  }
  size_t at = random.of(places);
  Field &field = in.fields[at];
  static const std::vector<double> doubles = {0,
                                              -1,
                                              1e300,
                                              1,
                                              std::numeric_limits<double>::infinity(),
                                              std::numeric_limits<double>::quiet_NaN()};
  switch (field.type->kind) {
  case Kind::Number:
    field.number = changed(random, field.number, messages);
    return;
  case Kind::Double:
    field.number = std::bit_cast<uint64_t>(random.of(doubles));
    return;
  case Kind::Text:
    field.text = random.once(8) ? std::string(10000, 'x') : damaged(random, field.text);
    return;
  case Kind::Numbers:
    return changeNumbers(random, field, messages);
  case Kind::Message:
    return changeMessages(random, in, at, messages);
  }
}

} // namespace

Message readManifest(std::string_view bytes) { return readMessage(bytes, file()); }

std::string writeMessage(const Message &message) {
  std::string out;
  for (const Field &field : message.fields) {
    Kind kind = field.type->kind;
    uint32_t wire = kind == Kind::Number ? 0 : kind == Kind::Double ? 1 : 2;
    writeVarint(out, field.type->number << 3 | wire);
    std::string contents;
    switch (kind) {
    case Kind::Number:
      writeVarint(out, field.number);
      continue;
    case Kind::Double:
      out.append(reinterpret_cast<const char *>(&field.number), 8);
      continue;
    case Kind::Text:
      contents = field.text;
      break;
    case Kind::Numbers:
      for (uint64_t value : field.numbers)
        writeVarint(contents, value);
      break;
    case Kind::Message:
      contents = writeMessage(*field.message);
      break;
    }
    writeVarint(out, contents.size());
    out += contents;
  }
  return out;
}

Message copyOf(const Message &message) {
  Message copy{message.type, {}};
  for (const Field &field : message.fields)
    copy.fields.push_back(copyOf(field));
  return copy;
}

void mutateManifest(Random &random, Message &manifest, bool kernels) {
  for (size_t n = 1 + random.below(random.once(3) ? 4 : 1); n > 0; --n) {
    std::vector<Message *> messages;
    collect(manifest, kernels, messages);
    Message *in = random.of(messages);
    if (!kernels && in == &manifest) // its table of kernels is a field like the others
      in = messages[messages.size() - 1];
    changeField(random, *in, messages);
  }
}

} // namespace tessera::fuzz
