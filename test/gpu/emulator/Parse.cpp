#include "test/gpu/emulator/Ptx.h"

#include <cctype>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace tessera::emulator {

unsigned bytesOf(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::B32:
  case Type::U32:
  case Type::S32:
  case Type::F32:
    return 4;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  default:
    return 1;
  }
}

namespace {

struct Wrong : std::runtime_error {
  using runtime_error::runtime_error;
};

using Words = std::vector<std::string_view>;

// Numbers, names and signs, one after the other; comments are left out.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text_(text) { advance(); }

  std::string_view now() const { return now_; }
  uint32_t line() const { return line_; }
  bool ended() const { return now_.empty(); }
  std::string_view take() {
    std::string_view token = now_;
    advance();
    return token;
  }
  bool takeIf(std::string_view token) {
    if (now_ != token)
      return false;
    advance();
    return true;
  }
  void expect(std::string_view token) {
    if (!takeIf(token))
      throw Wrong("'" + std::string(token) + "' is missing before '" + std::string(now_) + "'");
  }

private:
  static bool inName(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n')
        ++nextLine_, ++at_;
      else if (std::isspace(static_cast<unsigned char>(text_[at_])) || text_[at_] == '\0')
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      else
        break;
    }
  }
  void advance() {
    skip();
    line_ = nextLine_;
    size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '"')
      at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
    else if (at_ < text_.size() && inName(text_[at_]))
      while (at_ < text_.size() && inName(text_[at_]))
        ++at_;
    else if (at_ < text_.size())
      ++at_;
    now_ = text_.substr(begin, at_ - begin);
  }

  std::string_view text_, now_;
  size_t at_ = 0;
  uint32_t line_ = 1, nextLine_ = 1;
};

std::optional<Type> typeNamed(std::string_view name) {
  static const std::map<std::string_view, Type> types = {
      {"pred", Type::Pred}, {"b8", Type::B8},   {"b16", Type::B16},   {"b32", Type::B32},
      {"b64", Type::B64},   {"u8", Type::U8},   {"u16", Type::U16},   {"u32", Type::U32},
      {"u64", Type::U64},   {"s8", Type::S8},   {"s16", Type::S16},   {"s32", Type::S32},
      {"s64", Type::S64},   {"f16", Type::F16}, {"bf16", Type::BF16}, {"f32", Type::F32},
      {"f64", Type::F64}};
  auto it = types.find(name);
  return it == types.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Code> codeNamed(std::string_view name) {
  static const std::map<std::string_view, Code> codes = {
      {"mov", Code::Mov},           {"ld", Code::Ld},      {"st", Code::St},
      {"cvta", Code::CvtaFrom},     {"cvt", Code::Cvt},    {"add", Code::Add},
      {"sub", Code::Sub},           {"mul", Code::Mul},    {"mad", Code::Mad},
      {"fma", Code::Fma},           {"rcp", Code::Rcp},    {"div", Code::Div},
      {"rem", Code::Rem},           {"neg", Code::Neg},    {"abs", Code::Abs},
      {"min", Code::Min},           {"max", Code::Max},    {"sqrt", Code::Sqrt},
      {"copysign", Code::Copysign}, {"and", Code::And},    {"or", Code::Or},
      {"xor", Code::Xor},           {"not", Code::Not},    {"shl", Code::Shl},
      {"shr", Code::Shr},           {"shf", Code::Shf},    {"prmt", Code::Prmt},
      {"bfe", Code::Bfe},           {"bfi", Code::Bfi},    {"popc", Code::Popc},
      {"clz", Code::Clz},           {"brev", Code::Brev},  {"setp", Code::Setp},
      {"set", Code::Set},           {"selp", Code::Selp},  {"testp", Code::Testp},
      {"bra", Code::Bra},           {"brx", Code::BrxIdx}, {"bar", Code::Bar},
      {"barrier", Code::Bar},       {"shfl", Code::Shfl},  {"ret", Code::Ret},
      {"exit", Code::Ret},          {"trap", Code::Trap},  {"ldmatrix", Code::LdMatrix},
      {"mma", Code::Mma},           {"cp", Code::CpAsync}};
  auto it = codes.find(name);
  return it == codes.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Compare> compareNamed(std::string_view name) {
  static const std::map<std::string_view, Compare> names = {
      {"eq", Compare::Eq},   {"ne", Compare::Ne},   {"lt", Compare::Lt},   {"le", Compare::Le},
      {"gt", Compare::Gt},   {"ge", Compare::Ge},   {"lo", Compare::Lt},   {"ls", Compare::Le},
      {"hi", Compare::Gt},   {"hs", Compare::Ge},   {"equ", Compare::Equ}, {"neu", Compare::Neu},
      {"ltu", Compare::Ltu}, {"leu", Compare::Leu}, {"gtu", Compare::Gtu}, {"geu", Compare::Geu},
      {"num", Compare::Num}, {"nan", Compare::Nan}};
  auto it = names.find(name);
  return it == names.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Special> specialNamed(std::string_view name) {
  static const std::map<std::string_view, Special> names = {
      {"%tid.x", Special::TidX},       {"%tid.y", Special::TidY},
      {"%tid.z", Special::TidZ},       {"%ntid.x", Special::NtidX},
      {"%ntid.y", Special::NtidY},     {"%ntid.z", Special::NtidZ},
      {"%ctaid.x", Special::CtaidX},   {"%ctaid.y", Special::CtaidY},
      {"%ctaid.z", Special::CtaidZ},   {"%nctaid.x", Special::NctaidX},
      {"%nctaid.y", Special::NctaidY}, {"%nctaid.z", Special::NctaidZ},
      {"%laneid", Special::LaneId},    {"WARP_SZ", Special::WarpSize}};
  auto it = names.find(name);
  return it == names.end() ? std::nullopt : std::optional(it->second);
}

Words split(std::string_view name) {
  Words words;
  while (!name.empty()) {
    size_t dot = name.find('.');
    words.push_back(name.substr(0, dot));
    name = dot == name.npos ? "" : name.substr(dot + 1);
  }
  return words;
}

// Integers, and floats as their bits: 0f3F800000, 0d3FF0000000000000.
std::optional<int64_t> numberIn(std::string_view token) {
  if (token.empty() || !std::isdigit(static_cast<unsigned char>(token[0])))
    return std::nullopt;
  std::string digits(token);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && std::strchr("xXfFdD", digits[1]))
    digits = digits.substr(2), base = 16;
  while (!digits.empty() && base == 10 && (digits.back() == 'U' || digits.back() == 'u'))
    digits.pop_back();
  return static_cast<int64_t>(std::stoull(digits, nullptr, base));
}

class Parser {
public:
  Parser(std::string_view text, Module &module) : t_(text), module_(module) {}

  uint32_t line() const { return t_.line(); }
  void run() {
    while (!t_.ended())
      statement();
  }

private:
  void statement() {
    std::string_view word = t_.take();
    if (word == ".version" || word == ".address_size") {
      t_.take();
    } else if (word == ".target") {
      module_.target = t_.take();
      while (t_.takeIf(","))
        t_.take();
    } else if (word == ".visible" || word == ".weak") {
      return;
    } else if (word == ".extern") {
      throw Wrong("something that is not there is called: .extern");
    } else if (word == ".entry") {
      entry();
    } else if (word == ".global" || word == ".const") {
      variable(Space::Global);
    } else if (word == ".shared") {
      variable(Space::Shared);
    } else {
      throw Wrong("'" + std::string(word) + "' is not known here");
    }
  }

  // .align 8 .b8 name[16] = {1, 2};
  void variable(Space space) {
    Variable made{space, 0, 1, 0, {}};
    Type type = Type::None;
    std::string_view word;
    while ((word = t_.take()).starts_with(".")) {
      if (word == ".align")
        made.align = static_cast<uint64_t>(number());
      else if (auto known = typeNamed(word.substr(1)))
        type = *known;
    }
    std::string name(word);
    uint64_t count = 1;
    while (t_.takeIf("[")) {
      count *= static_cast<uint64_t>(number());
      t_.expect("]");
    }
    made.bytes = count * bytesOf(type);
    if (t_.takeIf("="))
      contents(made, bytesOf(type));
    t_.expect(";");
    if (space == Space::Global)
      made.contents.resize(made.bytes);
    declare(name, std::move(made));
  }

  void contents(Variable &made, unsigned each) {
    bool isList = t_.takeIf("{");
    do {
      int64_t value = number();
      for (unsigned i = 0; i < each; ++i)
        made.contents.push_back(static_cast<uint8_t>(value >> 8 * i));
    } while (t_.takeIf(","));
    if (isList)
      t_.expect("}");
  }

  // Those of a kernel have places of their own, and are aligned there.
  void declare(const std::string &name, Variable variable) {
    if (variable.space == Space::Global) {
      module_.globals[name] = std::move(variable);
      return;
    }
    uint64_t &size = variable.space == Space::Shared
                         ? (kernel_ ? kernel_->sharedBytes : moduleShared_)
                         : kernel_->localBytes;
    size = (size + variable.align - 1) / variable.align * variable.align;
    variable.offset = size;
    size += variable.bytes;
    locals_[name] = std::move(variable);
  }

  int64_t number() {
    bool negative = t_.takeIf("-");
    auto value = numberIn(t_.now());
    if (!value)
      throw Wrong("a number is missing before '" + std::string(t_.now()) + "'");
    t_.take();
    return negative ? -*value : *value;
  }

  void entry() {
    std::string name(t_.take());
    kernel_ = &module_.kernels[name];
    kernel_->name = name;
    kernel_->sharedBytes = moduleShared_;
    registers_.clear(), labels_.clear(), jumps_.clear(), parameters_.clear(), tables_.clear();
    if (t_.takeIf("(") && !t_.takeIf(")")) {
      do
        parameter();
      while (t_.takeIf(","));
      t_.expect(")");
    }
    while (!t_.takeIf("{")) {
      std::string_view word = t_.take();
      if (word != ".maxntid" && word != ".reqntid" && word != ".minnctapersm")
        throw Wrong("'" + std::string(word) + "' is not known before a body");
      int64_t threads = number();
      while (t_.takeIf(","))
        threads *= number();
      if (word != ".minnctapersm")
        kernel_->mostThreads = static_cast<uint32_t>(threads);
    }
    while (!t_.takeIf("}"))
      bodyStatement();
    for (auto [instruction, label] : jumps_)
      kernel_->instructions[instruction].target = place(label);
    kernel_->registers = nextRegister_;
    nextRegister_ = 0;
    kernel_ = nullptr;
  }

  uint32_t place(std::string_view label) {
    auto it = labels_.find(std::string(label));
    if (it == labels_.end())
      throw Wrong("label " + std::string(label) + " is not there");
    return it->second;
  }

  void parameter() {
    t_.expect(".param");
    Variable made{Space::Param, 0, 1, 0, {}};
    std::string_view word;
    Type type = Type::None;
    while ((word = t_.take()).starts_with(".")) {
      if (word == ".align")
        number();
      else if (auto known = typeNamed(word.substr(1)))
        type = *known;
    }
    made.bytes = bytesOf(type);
    if (t_.takeIf("[")) {
      made.bytes *= static_cast<uint64_t>(number());
      t_.expect("]");
    }
    made.align = bytesOf(type);
    uint64_t &size = kernel_->parameterBytes;
    size = (size + made.align - 1) / made.align * made.align;
    made.offset = size;
    size += made.bytes;
    parameters_[std::string(word)] = made.offset;
    kernel_->parameters.push_back(made);
  }

  void bodyStatement() {
    if (t_.now() == ".reg") {
      t_.take();
      t_.take(); // the type: each instruction says its own
      do {
        std::string name(t_.take());
        if (t_.takeIf("<")) {
          int64_t count = number();
          t_.expect(">");
          for (int64_t i = 0; i < count; ++i)
            registers_[name + std::to_string(i)] = nextRegister_++;
        } else {
          registers_[name] = nextRegister_++;
        }
      } while (t_.takeIf(","));
      t_.expect(";");
      return;
    }
    if (t_.now() == ".local" || t_.now() == ".shared") {
      Space space = t_.take() == ".local" ? Space::Local : Space::Shared;
      return variable(space);
    }
    if (t_.takeIf(".pragma")) {
      while (!t_.takeIf(";"))
        t_.take();
      return;
    }
    Instruction made{};
    made.line = t_.line();
    if (t_.takeIf("@")) {
      made.guardNegated = t_.takeIf("!");
      made.guard = static_cast<int32_t>(registerNamed(t_.take()));
    } else if (t_.takeIf("{") || t_.takeIf("}")) {
      throw Wrong("a scope within a body");
    }
    std::string_view word = t_.take();
    if (t_.now() == ":") {
      t_.take();
      labels_[std::string(word)] = static_cast<uint32_t>(kernel_->instructions.size());
      return branchTargets(word);
    }
    instruction(word, made);
    kernel_->instructions.push_back(made);
  }

  // $L_brx_0: .branchtargets $A, $B;
  void branchTargets(std::string_view label) {
    if (!t_.takeIf(".branchtargets"))
      return;
    std::vector<std::string> &list = tables_[std::string(label)];
    do
      list.emplace_back(t_.take());
    while (t_.takeIf(","));
    t_.expect(";");
  }

  uint32_t registerNamed(std::string_view name) {
    auto it = registers_.find(name);
    if (it == registers_.end())
      throw Wrong("register " + std::string(name) + " is not declared");
    return it->second;
  }

  void instruction(std::string_view name, Instruction &made) {
    Words words = split(name);
    auto code = codeNamed(words[0]);
    if (!code)
      throw Wrong("instruction '" + std::string(name) + "' is not known");
    made.code = *code;
    for (size_t i = 1; i < words.size(); ++i)
      modifier(words[i], made, name);
    if (made.code == Code::Mov)
      return move(made);
    if (made.code == Code::Bra) {
      jumps_.emplace_back(kernel_->instructions.size(), std::string(t_.take()));
      return t_.expect(";");
    }
    if (made.code == Code::BrxIdx)
      throw Wrong("indexed jumps are not known yet");
    operands(made);
  }

  // Of matrices and of copies that go on by themselves; whether it is one that is known.
  bool warpModifier(std::string_view word, Instruction &made) {
    if (made.code == Code::Mma) { // .m16n8k16.row.col.f32.bf16.bf16.f32: of the result, a, b, c
      if (word == "m16n8k16" || word == "row" || word == "col")
        return true;
      auto type = typeNamed(word);
      if (!type)
        return false;
      if (made.type == Type::None)
        made.type = *type;
      else if (made.from == Type::None)
        made.from = *type;
      else if (*type != made.from && *type != made.type)
        throw Wrong("a product of matrices of several types");
      if (made.type != Type::F32 ||
          (made.from != Type::None && made.from != Type::F16 && made.from != Type::BF16))
        throw Wrong("a product of matrices of types that are not known");
      return true;
    }
    if (made.code == Code::LdMatrix) {
      if (word == "x1" || word == "x2" || word == "x4")
        made.width = static_cast<uint8_t>(word[1] - '0');
      else if (word == "trans")
        made.transposes = true;
      else
        return word == "m8n8";
      return true;
    }
    if (made.code != Code::CpAsync)
      return false;
    if (word == "commit_group")
      made.code = Code::CpAsyncCommit;
    else if (word == "wait_group" || word == "wait_all")
      made.code = Code::CpAsyncWait, made.waitsForAll = word == "wait_all";
    else
      return word == "async" || word == "ca" || word == "cg";
    return true;
  }

  void modifier(std::string_view word, Instruction &made, std::string_view name) {
    if (warpModifier(word, made))
      return;
    if (auto type = typeNamed(word)) {
      // cvt.to.from, setp.compare.type; mul.wide has the operands' type
      (made.type == Type::None ? made.type : made.from) = *type;
      return;
    }
    bool compares = made.code == Code::Setp || made.code == Code::Set;
    if (auto compare = compareNamed(word); compare && compares && made.type == Type::None) {
      made.compare = *compare;
      return;
    }
    static const std::map<std::string_view, Space> spaces = {
        {"param", Space::Param}, {"global", Space::Global}, {"shared", Space::Shared},
        {"local", Space::Local}, {"const", Space::Global},  {"generic", Space::Generic}};
    if (auto space = spaces.find(word); space != spaces.end()) {
      made.space = space->second;
      return;
    }
    if (word == "rn")
      made.round = Round::Nearest;
    else if (word == "rz")
      made.round = Round::Zero;
    else if (word == "rm")
      made.round = Round::Down;
    else if (word == "rp")
      made.round = Round::Up;
    else if (word == "rni")
      made.round = Round::Nearest, made.toInteger = true;
    else if (word == "rzi")
      made.round = Round::Zero, made.toInteger = true;
    else if (word == "rmi")
      made.round = Round::Down, made.toInteger = true;
    else if (word == "rpi")
      made.round = Round::Up, made.toInteger = true;
    else if (word == "ftz")
      made.flushes = true;
    else if (word == "sat")
      made.saturates = true;
    else if (word == "NaN")
      made.propagatesNan = true;
    else if (word == "wide")
      made.code = made.code == Code::Mad ? Code::MadWide : Code::MulWide;
    else if (word == "hi" && made.code == Code::Mul)
      made.code = Code::MulHi;
    else if (word == "to")
      made.code = Code::CvtaTo;
    else if (word == "v2")
      made.width = 2;
    else if (word == "v4")
      made.width = 4;
    else if (word == "l")
      made.left = true;
    else if (word == "r")
      made.left = false;
    else if (word == "clamp")
      made.clamps = true;
    else if (word == "up")
      made.shuffle = Shuffle::Up;
    else if (word == "down")
      made.shuffle = Shuffle::Down;
    else if (word == "bfly")
      made.shuffle = Shuffle::Bfly;
    else if (word == "idx" && made.code == Code::Shfl)
      made.shuffle = Shuffle::Idx;
    else if (word != "lo" && word != "uni" && word != "sync" && word != "aligned" &&
             word != "wrap" && word != "nc" && word != "idx" && word != "all" && word != "cta")
      throw Wrong("'." + std::string(word) + "' of '" + std::string(name) + "' is not known");
  }

  // Also of the halves of 64 bits: mov.b64 {%lo, %hi}, %r; and back.
  void move(Instruction &made) {
    made.to = operand();
    t_.expect(",");
    made.a = operand();
    t_.expect(";");
    if (made.to.kind == Operand::Vector)
      made.code = Code::Unpack, made.width = static_cast<uint8_t>(made.to.count);
    else if (made.a.kind == Operand::Vector)
      made.code = Code::Pack, made.width = static_cast<uint8_t>(made.a.count);
  }

  void operands(Instruction &made) {
    std::vector<Operand> list;
    if (!t_.takeIf(";")) {
      do {
        list.push_back(operand());
        if (t_.takeIf("|"))
          made.also = operand();
      } while (t_.takeIf(","));
      t_.expect(";");
    }
    size_t next = 0;
    bool hasResult = made.code != Code::St && made.code != Code::Bar && made.code != Code::Ret &&
                     made.code != Code::Trap && made.code != Code::CpAsync &&
                     made.code != Code::CpAsyncCommit && made.code != Code::CpAsyncWait;
    auto take = [&] { return next < list.size() ? list[next++] : Operand{}; };
    if (hasResult)
      made.to = take();
    made.a = take(), made.b = take(), made.c = take(), made.d = take();
    if (next != list.size())
      throw Wrong("more operands than are known");
  }

  Operand operand() {
    if (t_.takeIf("[")) {
      Operand inside = operand();
      if (t_.takeIf("+"))
        inside.value += number();
      else if (t_.now() == "-")
        inside.value += number();
      t_.expect("]");
      return inside;
    }
    if (t_.takeIf("{")) {
      std::vector<Operand> parts;
      do
        parts.push_back(operand());
      while (t_.takeIf(","));
      t_.expect("}");
      Operand made;
      made.kind = Operand::Vector;
      made.index = static_cast<uint32_t>(kernel_->vectors.size());
      made.count = static_cast<uint32_t>(parts.size());
      kernel_->vectors.insert(kernel_->vectors.end(), parts.begin(), parts.end());
      return made;
    }
    Operand made;
    made.negated = t_.takeIf("!");
    bool minus = t_.takeIf("-");
    std::string_view word = t_.take();
    if (auto value = numberIn(word)) {
      made.kind = Operand::Immediate;
      made.value = minus ? -*value : *value;
    } else if (word == "_") {
      made.kind = Operand::None;
    } else if (auto special = specialNamed(word)) {
      made.kind = Operand::SpecialRegister;
      made.index = static_cast<uint32_t>(*special);
    } else if (word.starts_with("%")) {
      made.kind = Operand::Register;
      made.index = registerNamed(word);
    } else {
      symbol(word, made);
    }
    return made;
  }

  void symbol(std::string_view word, Operand &made) {
    std::string name(word);
    made.kind = Operand::Symbol;
    if (auto it = parameters_.find(name); it != parameters_.end()) {
      made.space = Space::Param;
      made.value = static_cast<int64_t>(it->second);
    } else if (auto local = locals_.find(name); local != locals_.end()) {
      made.space = local->second.space;
      made.value = static_cast<int64_t>(local->second.offset);
    } else if (module_.globals.count(name)) {
      made.space = Space::Global;
      made.index = static_cast<uint32_t>(module_.globalNames.size());
      module_.globalNames.push_back(name);
    } else {
      throw Wrong("'" + name + "' is not declared");
    }
  }

  Tokens t_;
  Module &module_;
  Kernel *kernel_ = nullptr;
  uint64_t moduleShared_ = 0;
  uint32_t nextRegister_ = 0;
  std::map<std::string, uint32_t, std::less<>> registers_;
  std::map<std::string, uint32_t> labels_;
  std::map<std::string, uint64_t> parameters_;
  std::map<std::string, Variable> locals_;
  std::map<std::string, std::vector<std::string>> tables_;
  std::vector<std::pair<size_t, std::string>> jumps_;
};

} // namespace

std::string parse(std::string_view text, Module &module) {
  Parser parser(text, module);
  try {
    parser.run();
  } catch (const std::exception &wrong) {
    return "line " + std::to_string(parser.line()) + ": " + wrong.what();
  }
  return "";
}

} // namespace tessera::emulator
