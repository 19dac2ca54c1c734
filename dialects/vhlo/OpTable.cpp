// Each row: name, versions with the releases that have them, attributes as
// `name[:kind][=default][@first version][!last version]`.
#include "dialects/vhlo/OpTable.h"
#include "dialects/vhlo/Structures.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace tessera::vhlo {
namespace {

// Operations that never changed and have no attributes.
constexpr StringRef bare =
    "abs add after_all and atan2 bitcast_convert case ceil clamp complex convert "
    "count_leading_zeros "
    "create_token divide dynamic_pad dynamic_reshape dynamic_update_slice floor if imag is_finite "
    "maximum minimum multiply negate not optimization_barrier or partition_id popcnt power real "
    "real_dynamic_slice remainder replica_id reshape return round_nearest_even round_nearest_afz "
    "select shift_left shift_right_arithmetic shift_right_logical sign subtract tuple "
    "uniform_dequantize uniform_quantize while xor";

struct Row {
  StringRef name, versions, attrs;
};

constexpr Row rows[] = {
    {"all_gather", "1:0.9-1.4 2:1.5",
     "all_gather_dim replica_groups channel_handle:channel_id use_global_device_ids:unit=false"},
    {"all_reduce", "1:0.9-1.4 2:1.5",
     "replica_groups channel_handle:channel_id use_global_device_ids:unit=false"},
    {"all_to_all", "1:0.9-1.4 2:1.5",
     "split_dimension concat_dimension split_count replica_groups channel_handle:channel_id"},
    {"async_done", "1:1.15", ""},
    {"async_start", "1:1.15", ""},
    {"batch_norm_grad", "1:0.9", "epsilon feature_index"},
    {"batch_norm_inference", "1:0.9", "epsilon feature_index"},
    {"batch_norm_training", "1:0.9", "epsilon feature_index"},
    {"broadcast", "1:0.9", "broadcast_sizes:dims"},
    {"broadcast_in_dim", "1:0.9", "broadcast_dimensions:dims"},
    {"call", "1:0.9", "callee:symbol"},
    {"cbrt", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"cholesky", "1:0.9", "lower=false"},
    {"collective_broadcast", "1:0.16-1.19 2:1.20",
     "replica_groups channel_handle:channel_id has_dynamic_root:unit=false@2"},
    {"collective_permute", "1:0.9", "source_target_pairs channel_handle:channel_id"},
    {"collective_reduce", "1:1.19",
     "replica_groups channel_handle:channel_id use_global_device_ids:unit=false "
     "has_dynamic_root:unit=false"},
    {"compare", "1:0.9", "comparison_direction compare_type=no_type"},
    {"composite", "1:0.19-1.13 2:1.14",
     "name composite_attributes=dictionary decomposition:symbol version=0"},
    {"concatenate", "1:0.9", "dimension"},
    {"constant", "1:0.9", "value"},
    {"convolution", "1:0.9",
     "window_strides:dims=ones padding=zero_pairs lhs_dilation:dims=ones rhs_dilation:dims=ones "
     "window_reversal:bools=falses dimension_numbers:conv feature_group_count batch_group_count "
     "precision_config=precision"},
    {"cosine", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"cross-replica-sum", "1:0.9", "replica_groups"},
    {"custom_call", "1:0.9-1.17 2:1.18",
     "call_target_name has_side_effect=false backend_config=config api_version:api=original "
     "called_computations:symbols=list operand_layouts=list result_layouts=list "
     "output_operand_aliases=list result_tilings=list@2"},
    {"dot", "1:0.9", "precision_config=precision"},
    {"dot_general", "1:0.9-1.5 2:1.6",
     "dot_dimension_numbers:dot precision_config=precision algorithm:algorithm@2"},
    {"dynamic_broadcast_in_dim", "1:0.9",
     "broadcast_dimensions:dims known_expanding_dimensions:dims=tensor "
     "known_nonexpanding_dimensions:dims=tensor"},
    {"dynamic_conv", "1:0.9-0.19 2:0.20",
     "window_strides:dims=ones padding=zero_pairs!1 lhs_dilation:dims=ones rhs_dilation:dims=ones "
     "window_reversal:bools=falses dimension_numbers:conv feature_group_count batch_group_count "
     "precision_config=precision"},
    {"dynamic_gather", "1:0.9-1.0 2:1.1", "dimension_numbers:gather indices_are_sorted=false"},
    {"dynamic_iota", "1:0.9", "iota_dimension"},
    {"dynamic_slice", "1:0.9", "slice_sizes:dims"},
    {"einsum", "1:0.9", "einsum_config"},
    {"exponential", "1:0.9-1.8 2:1.9", "result_accuracy=accuracy@2"},
    {"exponential_minus_one", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"fft", "1:0.9", "fft_type fft_length:dims"},
    {"func", "1:0.9", "sym_name function_type sym_visibility=string arg_attrs=list res_attrs=list"},
    {"gather", "1:0.9-1.0 2:1.1",
     "dimension_numbers:gather slice_sizes:dims indices_are_sorted=false"},
    {"get_dimension_size", "1:0.9", "dimension"},
    {"get_tuple_element", "1:0.9", "index"},
    {"infeed", "1:0.9", "infeed_config=written_string layout=list"},
    {"iota", "1:0.9", "iota_dimension"},
    {"log", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"log_plus_one", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"logistic", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"map", "1:0.9", "dimensions:dims"},
    {"outfeed", "1:0.9", "outfeed_config=written_string"},
    {"pad", "1:0.9", "edge_padding_low:dims edge_padding_high:dims interior_padding:dims"},
    {"recv", "1:0.9-1.11 2:1.12",
     "channel_handle:channel is_host_transfer=false source_target_pairs=tensor@2"},
    {"reduce", "1:0.9", "dimensions:dims"},
    {"reduce_precision", "1:0.9", "exponent_bits mantissa_bits"},
    {"reduce_scatter", "1:0.9",
     "scatter_dimension replica_groups channel_handle:channel_id use_global_device_ids:unit=false"},
    {"reduce_window", "1:0.9",
     "window_dimensions:dims window_strides:dims=ones base_dilations:dims=ones "
     "window_dilations:dims=ones padding=zero_pairs"},
    {"reverse", "1:0.9", "dimensions:dims"},
    {"rng", "1:0.9", "rng_distribution"},
    {"rng_bit_generator", "1:0.9", "rng_algorithm"},
    {"rsqrt", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"scatter", "1:0.9-1.0 2:1.1",
     "scatter_dimension_numbers:scatter indices_are_sorted=false unique_indices=false"},
    {"select_and_scatter", "1:0.9",
     "window_dimensions:dims window_strides:dims=ones padding=zero_pairs"},
    {"send", "1:0.9-1.11 2:1.12",
     "channel_handle:channel is_host_transfer=false source_target_pairs=tensor@2"},
    {"set_dimension_size", "1:0.9", "dimension"},
    {"sine", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"slice", "1:0.9", "start_indices:dims limit_indices:dims strides:dims"},
    {"sort", "1:0.9", "dimension=-1 is_stable=false"},
    {"sqrt", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"tan", "1:1.4-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"tanh", "1:0.9-1.9 2:1.10", "result_accuracy=accuracy@2"},
    {"torch_index_select", "1:0.9", "dim batch_dims"},
    {"transpose", "1:0.9", "permutation:dims"},
    {"triangular_solve", "1:0.9", "left_side lower unit_diagonal transpose_a"},
    {"unary_einsum", "1:0.9", "einsum_config"},
};

Kind kindFrom(StringRef word) {
  return llvm::StringSwitch<Kind>(word)
      .Case("", Kind::Same)
      .Case("dims", Kind::Dims)
      .Case("bools", Kind::Bools)
      .Case("symbol", Kind::Symbol)
      .Case("symbols", Kind::Symbols)
      .Case("unit", Kind::Unit)
      .Case("api", Kind::Api)
      .Case("dot", Kind::Dot)
      .Case("algorithm", Kind::Algorithm)
      .Case("gather", Kind::Gather)
      .Case("scatter", Kind::Scatter)
      .Case("conv", Kind::Conv)
      .Case("channel", Kind::Channel)
      .Case("channel_id", Kind::ChannelId);
}

Default defaultFrom(StringRef word) {
  return llvm::StringSwitch<Default>(word)
      .Case("", Default::Required)
      .Case("false", Default::False)
      .Case("0", Default::Zero)
      .Case("-1", Default::MinusOne)
      .Case("string", Default::EmptyString)
      .Case("written_string", Default::WrittenEmptyString)
      .Case("list", Default::EmptyList)
      .Case("dictionary", Default::EmptyDictionary)
      .Case("tensor", Default::EmptyTensor)
      .Case("no_type", Default::NoType)
      .Case("precision", Default::DefaultPrecision)
      .Case("accuracy", Default::DefaultAccuracy)
      .Case("original", Default::OriginalApi)
      .Case("config", Default::BackendConfig)
      .Case("ones", Default::Ones)
      .Case("falses", Default::Falses)
      .Case("zero_pairs", Default::ZeroPairs)
      .Case("none", Default::None);
}

Version release(StringRef text) {
  Version version;
  auto [major, minor] = text.split('.');
  major.getAsInteger(10, version.major);
  minor.getAsInteger(10, version.minor);
  return version;
}

OpSpec specFrom(const Row &row) {
  OpSpec op;
  op.name = row.name;
  bool isFunc = row.name == "func" || row.name == "call";
  op.plainName = ((isFunc ? "func." : "stablehlo.") + row.name).str();
  for (StringRef rest = row.versions; !rest.empty();) {
    auto [word, after] = rest.split(' ');
    rest = after;
    auto [number, range] = word.split(':');
    auto [from, to] = range.split('-');
    OpVersion &version = op.versions.emplace_back();
    number.getAsInteger(10, version.number);
    version.from = release(from);
    version.to = to.empty() ? current : release(to);
  }
  op.attrs = parseAttrSpecs(row.attrs);
  return op;
}

struct Table {
  std::vector<OpSpec> ops;
  llvm::StringMap<const OpSpec *> byPlainName;
  llvm::StringMap<std::pair<const OpSpec *, unsigned>> byVersionedName;

  Table() {
    for (const Row &row : rows)
      ops.push_back(specFrom(row));
    for (StringRef rest = bare; !rest.empty();) {
      auto [name, after] = rest.split(' ');
      rest = after;
      ops.push_back(specFrom({name, "1:0.9", ""}));
    }
    for (const OpSpec &op : ops) {
      byPlainName[op.plainName] = &op;
      for (const OpVersion &version : op.versions)
        byVersionedName[op.versionedName(version.number)] = {&op, version.number};
    }
    // Both dialects' returns are written alike; which one it is shows in the parent.
    byPlainName["func.return"] = byPlainName["stablehlo.return"];
  }
};

const Table &table() {
  static const Table table;
  return table;
}

} // namespace

llvm::SmallVector<AttrSpec, 4> parseAttrSpecs(StringRef text) {
  llvm::SmallVector<AttrSpec, 4> specs;
  while (!text.empty()) {
    auto [word, after] = text.split(' ');
    text = after;
    AttrSpec &spec = specs.emplace_back();
    auto cut = [&word = word](char mark) {
      auto [before, value] = word.split(mark);
      word = before;
      return value;
    };
    cut('!').getAsInteger(10, spec.until);
    cut('@').getAsInteger(10, spec.since);
    spec.absent = defaultFrom(cut('='));
    spec.kind = kindFrom(cut(':'));
    spec.name = word;
  }
  return specs;
}

std::string OpSpec::versionedName(unsigned number) const {
  return ("vhlo." + name + "_v").str() + std::to_string(number);
}

const OpVersion *OpSpec::in(Version release) const {
  for (const OpVersion &version : versions)
    if (version.from <= release && release <= version.to)
      return &version;
  return nullptr;
}

llvm::SmallVector<AttrSpec> OpSpec::fields(unsigned number) const {
  llvm::SmallVector<AttrSpec> all;
  auto add = [&](const AttrSpec &spec) {
    if (spec.since <= number && number <= spec.until)
      all.push_back(spec);
  };
  for (const AttrSpec &spec : attrs) {
    if (spec.since > number || number > spec.until)
      continue;
    llvm::ArrayRef<AttrSpec> parts = structureFields(spec.kind);
    if (parts.empty())
      add(spec);
    for (const AttrSpec &part : parts)
      add(part);
  }
  llvm::sort(all, [](const AttrSpec &a, const AttrSpec &b) { return a.name < b.name; });
  return all;
}

llvm::ArrayRef<OpSpec> opTable() { return table().ops; }

const OpSpec *findByPlainName(StringRef plainName) { return table().byPlainName.lookup(plainName); }

std::pair<const OpSpec *, unsigned> findByVersionedName(StringRef versionedName) {
  return table().byVersionedName.lookup(versionedName);
}

} // namespace tessera::vhlo
