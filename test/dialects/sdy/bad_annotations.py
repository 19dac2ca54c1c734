"""Annotations that can only be mistakes: each is one error, at its place in the program, that says what is wrong.

  bad_annotations.py TESSERA-OPT

A table of programs made from a few templates; `@@` marks the line of the error. All go through one run of tessera-opt up to reshard with
--verify-diagnostics, which fails for another error, a second one, or one at another line.
"""
import re, subprocess, sys

MESH = 'sdy.mesh @m = <["x"=2, "y"=4]>\n'
CASES = []  # (program, what the error says)


def argument(sharding, error, mesh=MESH, type="tensor<8x8xf32>"):
    CASES.append((f"{mesh}func.func @main(\n  %a: {type} {{sdy.sharding = {sharding}}} @@\n) -> {type} {{\n  return %a : {type}\n}}\n", error))


def on_argument(text, error, **more):
    argument(f"#sdy.sharding<{text}>", error, **more)


def mesh(text, error):
    CASES.append((f"sdy.mesh @m = {text} @@\nfunc.func @main() {{ return }}\n", error))


def body(lines, error, mesh=MESH, arguments="%a: tensor<8x8xf32>"):
    CASES.append((f"{mesh}func.func @main({arguments}) -> tensor<8x8xf32> {{\n{lines}\n  return %a : tensor<8x8xf32>\n}}\n", error))


def on_op(sharding, error):
    body(f"  %0 = stablehlo.tanh %a {{sdy.sharding = {sharding}}} : tensor<8x8xf32> @@", error)


def manual(ins, outs, axes, error, local="tensor<4x8xf32>", whole="tensor<8x8xf32>", mesh=MESH, inner=None, before=""):
    at, inner = (" @@", f"    sdy.return %l : {local}") if inner is None else ("", inner)
    CASES.append((f"""{mesh}func.func @main(%a: {whole}) -> {whole} {{
{before}  %0 = sdy.manual_computation(%a) in_shardings=[{ins}] out_shardings=[{outs}] manual_axes={{{axes}}} (%l: {local}) {{{at}
{inner}
  }} : ({whole}) -> {whole}
  return %0 : {whole}
}}
""", error))


def inside(line, error):
    manual(X, X, '"x"', error, inner=f"    %1 = {line} @@\n    sdy.return %1 : tensor<4x8xf32>")


def string(text, error, attributes="{mhlo.num_partitions = 8 : i32}", where="mhlo.sharding = "):
    CASES.append((f'module attributes {attributes} {{\nfunc.func @main(\n  %a: tensor<8x8xf32> {{{where}{text}}} @@\n'
                  ") -> tensor<8x8xf32> {\n  return %a : tensor<8x8xf32>\n}\n}\n", error))


def rule(text, error):
    body(f"  %0 = stablehlo.custom_call @foo(%a, %a) {{sdy.sharding_rule = {text}}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> @@", error)


def einsum(text, error):
    rule(f"#sdy.op_sharding_rule<{text}>", error)


# Axes and meshes.
for sharding in ('@m, [{"q"}, {}]', '@m, [{}, {}], replicated={"q"}', '@m, [{}, {}], unreduced={"q"}'):
    on_argument(sharding, 'sharding of argument 0: unknown axis "q"; the mesh has no axis of that name')
on_argument('mesh<["z"=2]>, [{"x"}, {}]', 'unknown axis "x"')
on_argument('@n, [{"x"}, {}]', "unknown mesh @n; define it by sdy.mesh")
for sharding in ('[{"x", "x"}, {}]', '[{"x"}, {"x"}]', '[{"x"}, {}], replicated={"x"}', '[{"x"}, {}], unreduced={"x"}',
                 '[{}, {}], replicated={"x"}, unreduced={"x"}'):
    on_argument("@m, " + sharding, 'axis "x" is used twice')
on_argument('@m, [{"x"}]', "the sharding has 1 dimensions, but the value has 2")
on_argument('@m, [{"x"}, {}, {}]', "the sharding has 3 dimensions, but the value has 2")
on_argument('@m, [{"x"}]', "the sharding has 1 dimensions, but the value has 0", type="tensor<f32>")
on_argument('@m, [{}, {}], replicated={"y", "x"}', "replicated axes must be in the order of the mesh")
on_argument('@m, [{}, {}], unreduced={"y", "x"}', "unreduced axes must be in the order of the mesh")
on_argument('@m, [{"x"}, {}', "unbalanced '[' character")
on_argument('@m, [{?, "x"}, {}]', "'?' must be the last element of a dimension sharding")
on_argument('@m, [{"x"}, {}p1]', "a closed dimension without axes has nothing to propagate, hence no priority")
on_argument('@m, [{"x"}p-1, {}]', "expected a priority")
MAXIMAL = MESH + "sdy.mesh @d = <[], device_ids=[{}]>\n"
on_argument('@d, [{"x"}, {}]', "a mesh of one device shards no dimension", mesh=MAXIMAL.format(0))
on_argument("@d, [{}, {}]", "a mesh of one device shards no dimension: write []", mesh=MAXIMAL.format(0))
on_argument("@d, []", "a value is to be on device 8 alone, but mesh @m has 8", mesh=MAXIMAL.format(8))
argument('"x"', "sharding of argument 0: must be a #sdy.sharding")
argument('#sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>', "must be a #sdy.sharding")
CASES.append((MESH + 'func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"q"}]>}) { @@\n  return %a : tensor<8xf32>\n}\n',
              'sharding of result 0: unknown axis "q"'))

# Parts of axes.
on_argument('@m, [{"y"}, {"y":(1)2}]', 'axes "y" and "y":(1)2 overlap')
EIGHT = 'sdy.mesh @m = <["x"=8, "y"=12]>\n'
on_argument('@m, [{"x":(1)4}, {"x":(2)4}]', 'axes "x":(1)4 and "x":(2)4 overlap', mesh=EIGHT)
on_argument('@m, [{"x":(1)2, "x":(2)2}, {}]', 'sub-axes "x":(1)2 and "x":(2)2 must be written as one', mesh=EIGHT)
on_argument('@m, [{"y":(1)2}, {"y":(3)2}]', 'sub-axes "y":(1)2 and "y":(3)2 are no parts of one splitting of "y"', mesh=EIGHT)
for part in ("(1)3", "(3)2", "(1)8", "(4)2"):
    on_argument('@m, [{"y":%s}, {}]' % part, f'sub-axis "y":{part} does not divide axis "y" of size 4')
on_argument('@m, [{"y":(1)4}, {}]', 'sub-axis "y":(1)4 is the whole axis; write "y"')
for part in ("(1)1", "(1)0", "(1)-2"):
    on_argument('@m, [{"y":%s}, {}]' % part, "the size of a sub-axis must be greater than 1")
on_argument('@m, [{"y":(0)2}, {}]', "the pre-size of a sub-axis must be at least 1")

# Meshes.
mesh('<["x"=0]>', 'axis "x" must have a positive size')
mesh('<["x"=-2]>', 'axis "x" must have a positive size')
mesh('<["x"=2, "x"=4]>', 'two axes are named "x"')
mesh('<["x"=4], device_ids=[0, 1, 2]>', "the axes make 4 devices, but there are 3 device ids")
mesh('<["x"=4], device_ids=[0, 1, 2, 2]>', "device ids must be a permutation of 0 to 3")
mesh('<["x"=4], device_ids=[0, 1, 2, 4]>', "device ids must be a permutation of 0 to 3")
mesh("<[], device_ids=[0, 1]>", "a mesh without axes has one device id at most")
mesh("<[], device_ids=[-1]>", "a device id must not be negative")
mesh('<["x"=4294967296, "y"=4294967296]>', "more devices than a 64-bit number can say")

# Operations.
PER_VALUE = "#sdy.sharding_per_value<[{}]>"
on_op(PER_VALUE.format('<@m, [{"x"}]>'), "'sdy.sharding': the sharding has 1 dimensions, but the value has 2")
on_op(PER_VALUE.format('<@m, [{"x"}, {}]>, <@m, [{"x"}, {}]>'), "'sdy.sharding': 2 shardings for 1 values")
on_op(PER_VALUE.format(""), "'sdy.sharding': 0 shardings for 1 values")
on_op(PER_VALUE.format('<@m, [{"q"}, {}]>'), 'unknown axis "q"')
on_op('#sdy.sharding<@m, [{"x"}, {}]>', "must be a #sdy.sharding_per_value with a sharding for each result")
on_op('"x"', "must be a #sdy.sharding_per_value with a sharding for each result")
body('  %0 = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<8x8xf32> @@', "the sharding has 1 dimensions, but the value has 2")
body('  %0 = sdy.sharding_constraint %a <@m, [{"x"}, {"q"}]> : tensor<8x8xf32> @@', 'unknown axis "q"')
body('  %0 = sdy.reshard %a <@m, [{"x"}, {"x"}]> : tensor<8x8xf32> @@', 'axis "x" is used twice')
body("  %0 = sdy.propagation_barrier %a allowed_direction=BOTH : tensor<8x8xf32> @@", "lets everything through; remove it")
body("  %0 = sdy.propagation_barrier %a allowed_direction=UP : tensor<8x8xf32> @@", "[NONE, FORWARD, BACKWARD, BOTH]")
body('  %0:2 = "stablehlo.optimization_barrier"(%a, %a) {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}, {}]>]>} '
     ": (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) @@", "'sdy.sharding': 1 shardings for 2 values")
body('  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@m, [{}, {}]> : tensor<8x8xf32> @@', "needs an operand that has a sharding")
body('  %0 = sdy.all_slice [{"w"}, {}] %a out_sharding=<@m, [{}, {"x"}]> : tensor<8x8xf32> @@', "\"w\"")
body('  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@m, [{}, {"x"}]> : tensor<8x8xf32> @@', "out_sharding does not match")
for shardings, error in ((f"in_shardings=[{{0}}, {{0}}]", "2 shardings for 1 values"), ("out_shardings=[]", "0 shardings for 1 values"),
                         ('in_shardings=[<@m, [{{"q"}}, {{}}]>]', 'unknown axis "q"')):
    body(f'  %0 = sdy.named_computation<"f">(%a) {shardings.format("<@m, [{}, {}]>")} (%b: tensor<8x8xf32>) {{ @@\n    sdy.return %b : tensor<8x8xf32>\n'
         "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>", error)

X = '<@m, [{"x"}, {}]>'

# Groups.
body("  %1 = stablehlo.reshape %a : (tensor<8x8xf32>) -> tensor<64xf32>\n  sdy.sharding_group %a group_id=1 : tensor<8x8xf32>\n"
     "  sdy.sharding_group %1 group_id=1 : tensor<64xf32> @@", "sharding group 1 holds a value of rank 1 here and one of rank 2")
manual(X, X, '"x"', "sharding group 1 has members on both sides of the boundary of a manual computation",
       before="  sdy.sharding_group %a group_id=1 : tensor<8x8xf32>\n",
       inner="    sdy.sharding_group %l group_id=1 : tensor<4x8xf32> @@\n    sdy.return %l : tensor<4x8xf32>")

# Manual computations that lie about their axes.
manual(X, X, '"x", "q"', 'unknown manual axis "q"; the mesh has no axis of that name')
manual(X, X, '"x", "x"', 'manual axis "x" is listed twice')
manual(X, X, '"x"', "operand 0: has type 'tensor<8x8xf32>' inside, but the sharding makes it 'tensor<4x8xf32>'", local="tensor<8x8xf32>")
manual(X, X, '"x"', "operand 0: has type 'tensor<4x8xf64>' inside, but the sharding makes it 'tensor<4x8xf32>'", local="tensor<4x8xf64>")
manual(X, "<@m, [{}, {}]>", '"x"', "result 0: has type 'tensor<4x8xf32>' inside, but the sharding makes it 'tensor<8x8xf32>'")
manual(X, X, '"x"', "operand 0: dimension 0 of size 7 does not divide by its manual axes", whole="tensor<7x8xf32>")
manual('<@m, [{"y", "x"}, {}]>', X, '"x"', 'operand 0: manual axis "x" must come before the free axes of its dimension')
manual('<@m, [{"x"}]>', X, '"x"', "the sharding has 1 dimensions, but the value has 2")
manual(f"{X}, {X}", X, '"x"', "2 shardings for 1 values")
manual(X, f"{X}, {X}", '"x"', "2 shardings for 1 values")
manual('<@q, [{"x"}, {}]>', X, '"x"', "unknown mesh @q")
manual(X, '<@n, [{"x"}, {}]>', '"x"', "must be on one mesh", mesh=MESH + 'sdy.mesh @n = <["x"=2, "z"=4]>\n')
manual("<@e, [{}, {}]>", "<@e, [{}, {}]>", '"x"', 'unknown manual axis "x"', mesh=MESH + "sdy.mesh @e = <[]>\n", local="tensor<8x8xf32>")
body("""  %0 = sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={"q"} () { @@
    sdy.return
  } : () -> ()""".replace("%0 = ", ""), 'unknown manual axis "q"; no mesh has an axis of that name')
NESTED = """sdy.manual_computation(%l) in_shardings=[IN] out_shardings=[IN] manual_axes={AXES} (%k: tensor<LOCAL>) { @@
      sdy.return %k : tensor<LOCAL>
    } : (tensor<4x8xf32>) -> tensor<4x8xf32>"""
LOCAL = 'axis "x" is manual here: values inside the manual computation are local in it; leave it out'
for sharding, axes, local, error in ((X, '"x"', "2x8xf32", 'axis "x" is manual already in an enclosing computation'),
                                     ('<@m, [{"y"}, {"x"}]>', '"y"', "1x8xf32", LOCAL),
                                     ('<@m, [{"y"}, {}], replicated={"x"}>', '"y"', "1x8xf32", LOCAL)):
    nested = NESTED.replace("IN", sharding).replace("AXES", axes).replace("LOCAL", local)
    manual(X, X, '"x"', error, inner=f"    %1 = {nested}\n    sdy.return %1 : tensor<4x8xf32>")
inside(f"sdy.sharding_constraint %l {X} : tensor<4x8xf32>", LOCAL)
for sharding in (X, '<@m, [{}, {}], replicated={"x"}>', '<@m, [{}, {}], unreduced={"x"}>'):
    inside(f"stablehlo.tanh %l {{sdy.sharding = {PER_VALUE.format(sharding)}}} : tensor<4x8xf32>", LOCAL)

# What names devices inside may only tell them apart along manual axes.
FREE = 'tells devices apart along axis "y", which is free here; add it to manual_axes'
for groups, type in (("[[0, 1, 2, 3], [4, 5, 6, 7]]", "2x4xi64"), ("[[0, 1, 2, 3, 4, 5, 6, 7]]", "1x8xi64"), ("[[0, 1], [2, 3], [4, 5], [6, 7]]", "4x2xi64")):
    inside(f'"stablehlo.all_to_all"(%l) {{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = {type[2]} : i64, replica_groups = dense<{groups}>'
           f" : tensor<{type}>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}} : (tensor<4x8xf32>) -> tensor<4x8xf32>"
           if type[2] != "8" else
           '"stablehlo.collective_permute"(%l) {source_target_pairs = dense<[[0, 7], [7, 0]]> : tensor<2x2xi64>, '
           "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>", FREE)
manual(X, X, '"x"', FREE, inner="    %p = stablehlo.partition_id : tensor<ui32> @@\n    %f = stablehlo.convert %p : (tensor<ui32>) -> tensor<f32>\n"
       "    %1 = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x8xf32>\n    sdy.return %1 : tensor<4x8xf32>")

# GSPMD's strings.
for text, error in (("{devices=[4,1]<=[4]}", "mhlo.sharding is for 4 devices, but the program's mhlo.num_partitions is 8"),
                    ("{devices=[16,1]<=[16]}", "mhlo.sharding is for 16 devices, but the program's mhlo.num_partitions is 8"),
                    ("{devices=[4,1]<=[8]}", "8 devices for 4 tiles"),
                    ("{devices=[2,2]0,1,2}", "3 devices for 4 tiles"),
                    ("{devices=[2,2]0,1,2,2}", "the devices of 4 tiles must be 0 to 3, each once"),
                    ("{devices=[2,2]0,1,2,9}", "the devices of 4 tiles must be 0 to 3, each once"),
                    ("{devices=[8]<=[8]}", "mhlo.sharding has tiles of 1 dimensions for a value of rank 2"),
                    ("{devices=[4,2]<=[8] last_tile_dim_replicate}", "tiles of 1 dimensions for a value of rank 2"),
                    ("devices=[8,1]<=[8]", "a sharding stands in braces"),
                    ("{devices=[8,1]<=[8]", "a sharding stands in braces"),
                    ("{devices=[8,a]<=[8]}", "after 'devices=' must come the number of tiles of each dimension"),
                    ("{devices=[8,1]}", "after the tiles must come their devices"),
                    ("{devices=[8,1]<=8}", "after the tiles must come their devices"),
                    ("{devices=[8,1]<=[8x]}", "after '<=' must come the shape of all devices"),
                    ("", "a sharding stands in braces"),
                    ("{}", "it is none of replicated, manual, unreduced, unknown"),
                    ("{devices=[4,2]<=[2,4]T(0,0)}", "after 'T' must come a permutation of the 2 dimensions before it"),
                    ("{devices=[4,2]<=[2,4]T(1)}", "after 'T' must come a permutation of the 2 dimensions before it"),
                    ("{devices=[4,2]<=[2,4]T(1,2)}", "after 'T' must come a permutation of the 2 dimensions before it"),
                    ("{devices=[4,1,2]<=[8] last_tile_dims={sometimes}}", "'sometimes' is none of replicated, manual and unreduced"),
                    ("{devices=[4,1,2]<=[8] last_tile_dims={manual,manual,manual,manual}}", "4 kinds of last tile dimensions, but 3 tile dimensions"),
                    ("{devices=[4,1,2]<=[8] last_tile_dim_replicate last_tile_dims={manual}}", "'last_tile_dims={manual}' has no meaning here"),
                    ("{devices=[8,1]<=[8] hello}", "'hello' has no meaning here"),
                    ("{replicated shard_as x}", "shard_as and shard_like take the number of a group"),
                    ("{maximal}", "maximal names one device"),
                    ("{maximal device=9}", "mhlo.sharding names device 9, but the program has 8"),
                    ("{maximal device=-1}", "maximal names one device"),
                    ("{{replicated}, {replicated}}", "2 shardings for 1 values"),
                    ("{{replicated}", "a sharding stands in braces"),
                    ("{devices=[0,1]<=[0]}", "numbers of tiles must be positive"),
                    ("{mesh['a'=2,'a'=4], [{'a'}, {}]}", "a mesh is written as mesh['a'=2,'b'=4]"),
                    ("{mesh['a'=8], device_ids=(1,2), [{'a'}, {}]}", "with each device once"),
                    ("{mesh['a'=8], [{'b'}, {}]}", "after the mesh must come the axes of each dimension"),
                    ("{mesh['a'=8], [{'a'}, {'a'}]}", "axis 'a' is used twice"),
                    ("{mesh['a'=8], [{'a'}, {}], partial={'a'}}", "after the dimensions can come manual={..}"),
                    ("{mesh['a'=8], [{'a'}]}", "mhlo.sharding has tiles of 1 dimensions for a value of rank 2"),
                    ("{manual}", "mhlo.sharding is manual at the boundary of the program")):
    string(f'"{text}"', error)
string("3 : i32", "mhlo.sharding must be a string")
string('"{devices=[4,1]<=[4]}"}, %b: tensor<8x8xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"',
       "mhlo.sharding is for 8 devices, but others of the program are for 4", attributes="{}")
body('  %0 = stablehlo.custom_call @Sharding(%a) {backend_config = "unspecified_dims=[5]", mhlo.sharding = "{devices=[8,1]<=[8]}"} '
     ": (tensor<8x8xf32>) -> tensor<8x8xf32> @@", "names unspecified dimension 5 of a value of rank 2", mesh="")

# Sharding rules.
for text, error in (("([i, j])->([i, j]) {i=8, j=8}", "the rule has 1 operands, but the op has 2"),
                    ("([i, j], [i, j])->([i, j], [i, j]) {i=8, j=8}", "the rule has 2 results, but the op has 1"),
                    ("([i, j], [i])->([i, j]) {i=8, j=8}", "the rule's operand 1 must have 2 dimensions"),
                    ("([i, j], [i, j])->([i, j]) {i=4, j=8}", "the rule gives a factor size 4, but no dimension that is this factor has that size"),
                    ("([ij, k], [ij, k])->([ij, k]) {i=4, j=4, k=8}", "the factors of dimension 0 of the rule's operand 0 make 16, but its size is 8"),
                    ("([i, j], [i, k])->([i, j]) {i=8, j=8}", "the rule uses a factor that has no size"),
                    ("([i, j], [i, j])->([i, j]) {i=8, j=8, k=8}", "the rule gives a size to a factor that no dimension has"),
                    ("([i, i], [i, j])->([i, j]) {i=8, j=8}", "the rule uses a factor twice in operand 0"),
                    ("([i, ?], [i, j])->([i, j]) {i=8, j=8}", "expected valid keyword"),
                    ("([i, j], [i, j])->([i, j]) {i=8, j=8} reduction={k}", "the rule names a factor that has no size"),
                    ("([i, j], [i, j])->([i, j]) {i=8, j=8} reduction={i} permutation={i}", "a factor of the rule is of two kinds"),
                    ("([i, j], [i, j])->([i, j]) {i=0, j=8}", "the rule gives a factor size 0, but no dimension that is this factor has that size"),
                    ("([i, j], [i, j])->([i, j]) {i=8, j=8} reduction={i}", "the rule reduces a factor that a result has still"),
                    ("([i, j], [i, j])->([i, j]) {i=8, j=8} blocked_propagation={k}", "the rule blocks a factor that has no size")):
    einsum(text, error)
rule('"x"', "must be a #sdy.op_sharding_rule")


def expecting(program, error):
    lines = []
    for line in program.splitlines():
        if "@@" in line:
            lines.append("// expected-error @+1 {{%s}}" % error.replace("{{", "{{[{][{]}}"))
        if "!!" in line:
            lines.append("// expected-note @+1 {{the other value}}")
        lines.append(line.replace("@@", "").replace("!!", ""))
    return "\n".join(lines)


def main():
    text = "\n// -----\n".join(expecting(*case) for case in CASES)
    run = subprocess.run([sys.argv[1], "-", "--split-input-file", "--verify-diagnostics", "--tessera-import", "--tessera-propagate", "--tessera-reshard"],
                         input=text, capture_output=True, text=True)
    print(f"{len(CASES)} cases, exit code {run.returncode}")
    if run.returncode:
        print(run.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
