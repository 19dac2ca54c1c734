#include "test/gpu/emulator/Names.h"

#include <map>

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

namespace {

using Words = std::vector<std::string_view>;

std::optional<Code> codeNamed(std::string_view name) {
  static const std::map<std::string_view, Code> codes = {
      {"mov", Code::Mov},           {"ld", Code::Ld},       {"st", Code::St},
      {"cvta", Code::CvtaFrom},     {"cvt", Code::Cvt},     {"add", Code::Add},
      {"sub", Code::Sub},           {"mul", Code::Mul},     {"mad", Code::Mad},
      {"fma", Code::Fma},           {"rcp", Code::Rcp},     {"div", Code::Div},
      {"rem", Code::Rem},           {"neg", Code::Neg},     {"abs", Code::Abs},
      {"min", Code::Min},           {"max", Code::Max},     {"sqrt", Code::Sqrt},
      {"copysign", Code::Copysign}, {"and", Code::And},     {"or", Code::Or},
      {"xor", Code::Xor},           {"not", Code::Not},     {"shl", Code::Shl},
      {"shr", Code::Shr},           {"shf", Code::Shf},     {"prmt", Code::Prmt},
      {"bfe", Code::Bfe},           {"bfi", Code::Bfi},     {"popc", Code::Popc},
      {"clz", Code::Clz},           {"brev", Code::Brev},   {"setp", Code::Setp},
      {"set", Code::Set},           {"selp", Code::Selp},   {"testp", Code::Testp},
      {"bra", Code::Bra},           {"brx", Code::BrxIdx},  {"bar", Code::Bar},
      {"barrier", Code::Bar},       {"shfl", Code::Shfl},   {"ret", Code::Ret},
      {"exit", Code::Ret},          {"trap", Code::Trap},   {"ldmatrix", Code::LdMatrix},
      {"mma", Code::Mma},           {"cp", Code::CpAsync},  {"mbarrier", Code::MBarrierInit},
      {"fence", Code::FenceProxy},  {"wgmma", Code::Wgmma}, {"rsqrt", Code::Rsqrt}};
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

Words split(std::string_view name) {
  Words words;
  while (!name.empty()) {
    size_t dot = name.find('.');
    words.push_back(name.substr(0, dot));
    name = dot == name.npos ? "" : name.substr(dot + 1);
  }
  return words;
}

// Of two matrices that are multiplied, after the result.
void factorType(Type type, Instruction &made) {
  if (made.type == Type::None)
    made.type = type;
  else if (made.from == Type::None)
    made.from = type;
  else if (type != made.from && type != made.type)
    throw NotKnown("a product of matrices of several types");
  if (made.type != Type::F32 ||
      (made.from != Type::None && made.from != Type::F16 && made.from != Type::BF16))
    throw NotKnown("a product of matrices of types that are not known");
}

// The same of integers of 8 bits.
void integerFactor(Type type, Instruction &made) {
  bool isSum = type == Type::S32, isFactor = type == Type::S8 || type == Type::U8;
  if (isSum && (made.type == Type::None || made.fromB != Type::None))
    made.type = type;
  else if (isFactor && made.type != Type::None && made.fromB == Type::None)
    (made.from == Type::None ? made.from : made.fromB) = type;
  else
    throw NotKnown("a product of matrices of types that are not known");
}

// .mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
bool productModifier(std::string_view word, Instruction &made) {
  if (word == "fence")
    made.code = Code::WgmmaFence;
  else if (word == "commit_group")
    made.code = Code::WgmmaCommit;
  else if (word == "wait_group")
    made.code = Code::WgmmaWait;
  else if (auto type = typeNamed(word))
    factorType(*type, made);
  else if (word.starts_with("m64n") && word.ends_with("k16")) {
    int columns = std::stoi(std::string(word.substr(4)));
    if (columns < 8 || columns > 256 || columns % 8)
      throw NotKnown("a product of a warpgroup of a shape that there is not");
    made.width = static_cast<uint8_t>(columns / 8);
  } else
    return word == "mma_async";
  return true;
}

// .try_wait.parity.acquire.cta.shared::cta.b64
bool barrierModifier(std::string_view word, Instruction &made) {
  if (word == "arrive")
    made.code = Code::MBarrierArrive;
  else if (word == "expect_tx" && made.code == Code::MBarrierArrive)
    made.expectsBytes = true;
  else if (word == "try_wait" || word == "test_wait")
    made.code = Code::MBarrierTryWait;
  else
    return word == "init" || word == "parity" || word == "release" || word == "acquire";
  return true;
}

// .bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
bool tensorModifier(std::string_view word, Instruction &made) {
  if (word.size() == 2 && word[0] >= '1' && word[0] <= '5' && word[1] == 'd')
    made.width = static_cast<uint8_t>(word[0] - '0');
  else
    return word == "tensor" || word == "tile" || word == "mbarrier::complete_tx::bytes";
  return true;
}

// Of what a warp, a warpgroup or nobody but a copy itself does; whether it is one that is known.
bool warpModifier(std::string_view word, Instruction &made) {
  if (made.code == Code::Wgmma)
    return productModifier(word, made);
  if (made.code == Code::CopyTensor)
    return tensorModifier(word, made);
  if (made.code == Code::MBarrierInit || made.code == Code::MBarrierArrive ||
      made.code == Code::MBarrierTryWait)
    return barrierModifier(word, made);
  if (made.code == Code::FenceProxy && word == "mbarrier_init")
    return made.code = Code::FenceBarriers, true;
  if (made.code == Code::FenceBarriers || made.code == Code::FenceProxy)
    return word == "proxy" || word == "async" || word == "release" || word == "cluster";
  if (made.code == Code::Mma) { // .m16n8k16.row.col.f32.bf16.bf16.f32: of the result, a, b, c
    if (word == "m16n8k16" || word == "m16n8k32")
      made.isOfIntegers = word == "m16n8k32";
    else if (auto type = typeNamed(word))
      made.isOfIntegers ? integerFactor(*type, made) : factorType(*type, made);
    else
      return word == "row" || word == "col";
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
  if (word == "bulk")
    made.code = Code::CopyTensor;
  else if (word == "commit_group")
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
  if (made.code == Code::Cvt && made.type == Type::None && word == "bf16x2") {
    made.type = Type::BF16, made.width = 2;
    return;
  }
  bool isPair = word == "s16x2" || word == "u16x2";
  if (isPair && (made.code == Code::Add || made.code == Code::Min || made.code == Code::Max)) {
    made.type = word == "s16x2" ? Type::S16 : Type::U16, made.isOfPairs = true;
    return;
  }
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
      {"param", Space::Param},        {"global", Space::Global},
      {"shared", Space::Shared},      {"local", Space::Local},
      {"const", Space::Global},       {"generic", Space::Generic},
      {"shared::cta", Space::Shared}, {"shared::cluster", Space::Shared}};
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
  else if (word == "approx" && (made.code == Code::Rcp || made.code == Code::Rsqrt))
    made.round = Round::About;
  else if (word == "ftz")
    made.flushes = true;
  else if (word == "sat")
    made.saturates = true;
  else if (word == "NaN")
    made.propagatesNan = true;
  else if (word == "wide")
    made.code = made.code == Code::Mad ? Code::MadWide : Code::MulWide;
  else if (word == "cc" && (made.code == Code::Add || made.code == Code::Sub))
    made.givesCarry = true;
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
  else if (word != "lo" && word != "uni" && word != "sync" && word != "aligned" && word != "wrap" &&
           word != "nc" && word != "idx" && word != "all" && word != "cta")
    throw NotKnown("'." + std::string(word) + "' of '" + std::string(name) + "' is not known");
}

} // namespace

bool isOfWarpgroups(Code code) { return code >= Code::MBarrierInit && code <= Code::WgmmaWait; }

void readName(std::string_view name, Instruction &made) {
  Words words = split(name);
  made.takesCarry = words[0] == "addc" || words[0] == "subc";
  if (made.takesCarry)
    words[0].remove_suffix(1);
  auto code = codeNamed(words[0]);
  if (!code)
    throw NotKnown("instruction '" + std::string(name) + "' is not known");
  made.code = *code;
  for (size_t i = 1; i < words.size(); ++i)
    modifier(words[i], made, name);
}

} // namespace tessera::emulator
