#include "lib/command/Commands.h"

namespace tessera::command {

namespace {

constexpr std::string_view kPhases =
    "import|propagate|reshard|localize|communicate|fuse|order|memory|codegen|package";

constexpr Option kEntry{"--entry", "NAME",
                        "the function to take; without it main, or the only public one"};
constexpr Option kInputShapes{"--input-shapes", "LIST",
                              "shapes of arguments that have dynamic ones: in0:8x128xf32,in1:4"};
constexpr Option kMachine{
    "--topology", "FILE",
    "the machine that costs are predicted for, or the name of one: a100, h100, tpu-v4, ..; a "
    "default is built in"};
constexpr Option kOverlap{"--overlap", "auto|on|off",
                          "collectives beside computation: where it is worth its memory, wherever "
                          "it saves time, or not at all"};
constexpr Option kMemory{"--memory", "SIZE",
                         "what each device has for the program: 80GB, 1.5GiB, or bytes; the "
                         "topology says without it"};
constexpr Option kDevices{"--devices", "N",
                          "plan for N devices, on the best mesh of up to three axes"};
constexpr Option kMesh{"--mesh", "AXES", "plan for this mesh: data=2,model=4"};
constexpr Option kEffort{"--effort", "N", "how long to search for a plan: 1 to 5; 3 without it",
                         "1|2|3|4|5"};
constexpr Option kSwitchOfQuiet{"--quiet", "", "no progress and no line at the end"};

constexpr Option kCompile[] = {
    {"-o", "FILE", "the program; with --stop-after, the module's text; - is standard output"},
    kEntry,
    kInputShapes,
    {"--target", "cpu|shadow|cuda",
     "what kernels are generated for; shadow is the cpu with a device that runs behind; cuda may "
     "name GPUs: cuda:sm_80,sm_90a; cpu,cuda is both in one file"},
    {"--target-cpu", "NAME",
     "the processor: native (this one), x86-64-v3, x86-64-v4, ..; help lists all; several with "
     "commas between",
     "native|x86-64-v3|x86-64-v4|help"},
    kMachine,
    kOverlap,
    kMemory,
    {"--stop-after", "PHASE", "stop there and write the module as text", kPhases},
    {"--print-after", "PHASE", "print the module after that phase, and go on", kPhases},
    {"--report", "FILE", "write times, collectives and memory as JSON; - is standard output"},
    {"--predicted-trace", "FILE",
     "write the predicted step as a timeline, as run --trace writes one; - is standard output"},
    {"--verify-each", "", "check the module after every pass"},
    {"--plan", "", "find shardings first, as plan does, and compile the program with them"},
    kDevices,
    kMesh,
    kEffort,
    kSwitchOfQuiet,
};

constexpr Option kPlan[] = {
    {"-o", "FILE", "the program with the annotations that were found; - is standard output"},
    kDevices,
    kMesh,
    kEffort,
    kEntry,
    kInputShapes,
    kMachine,
    kOverlap,
    kMemory,
    {"--all", "",
     "what other choices would cost of every decision, not only of the ten that matter most"},
    {"--report", "FILE", "write the plan as JSON; - is standard output"},
    kSwitchOfQuiet,
};

constexpr Option kExplain[] = {
    {"--all", "",
     "every reason, collective, conflict and sharding, not only the ten reasons worth most"},
    {"--mended", "FILE",
     "write the program with the change that saves most, or as it is where none does"},
    {"--memory", "",
     "what a device holds over a step, what is there at the peak, and what less memory costs"},
    {"--value", "NAME",
     "only this value: %12 as in IN.mlir, an argument's name, or a scope or a part of one"},
    {"--line", "FILE:N", "only what this line of your source made"},
    {"--html", "FILE",
     "write one page with the program as a graph, and print nothing; - is standard output"},
    {"--plan", "",
     "find shardings first, as plan does, and say what each choice is worth; annotations that are "
     "there are choices, too"},
    kDevices,
    kMesh,
    kEffort,
    kEntry,
    kInputShapes,
    kMachine,
    kOverlap,
};

constexpr Option kRun[] = {
    {"--inputs", "FILE", "the inputs, .npz or .safetensors; random small ones without it"},
    {"--batches", "FILE",
     "inputs with one dimension more in front: step i takes entry i of each, the first again after "
     "the last"},
    {"--outputs", "FILE", "the outputs of the last step, .npz or .safetensors"},
    {"--named", "", "outputs under the program's names, not out0, out1, .."},
    {"--repeat", "N",
     "run N steps; with --batches as many as there are; without --carry each on the same inputs"},
    {"--carry", "LIST",
     "feed outputs of a step to inputs of the next: OUT:IN,.. by number, name or tree "
     "(result[0]:state); auto finds them",
     "auto"},
    {"--resume", "FILE",
     "go on from the outputs that an earlier run wrote: they are the carried inputs of the first "
     "step; with --carry=auto where there is no --carry"},
    {"--show", "LIST", "print these outputs, one number each, after a step; all shows all such",
     "all"},
    {"--every", "N", "with --show: after each Nth step only, and the first and the last"},
    {"--comm", "local|mpi|nccl",
     "all devices in this process, one a process (mpirun -n N tessera run ..), or a GPU each, in "
     "one process or several; without it a GPU each where there are as many"},
    {"--topology", "FILE",
     "simulate the links of this machine, or of one by its name: a100, h100, ..; with "
     "--comm=local"},
    {"--report", "FILE", "write times, collectives and memory as JSON; - is standard output"},
    {"--trace", "FILE",
     "write what each device did when, for ui.perfetto.dev or chrome://tracing; - is standard "
     "output"},
    {"--profile", "N",
     "print the N kernels that take longest, with their bytes, FLOPs, share of what the machine "
     "can "
     "do and lines of your source; all, or 20 without a number",
     "all", "20"},
    {"--time-limit", "SECONDS", "end a step that takes longer, with the loop that it was in"},
    {"--sha256", "HEX", "run no other file than the one that the compiler printed this for"},
    kSwitchOfQuiet,
};

constexpr Option kInfo[] = {{"--json", "", "the same for scripts"}};

constexpr Option kCalibrate[] = {
    {"-o", "FILE", "the topology file; - is standard output"},
    {"--quick", "", "a few programs only, for a rough result in some seconds"},
    {"--comm", "local|mpi",
     "devices of one process, or one a process, with the links between them (mpirun -n N tessera "
     "calibrate --comm=mpi ..)"},
    {"--target", "cpu|cuda[:sm_80]",
     "what is measured: this machine's cores, or its GPU by the code of an architecture"},
    {"--report", "FILE",
     "write what each program took and what the rates say as JSON; - is standard output"},
    kSwitchOfQuiet,
};

constexpr Command kCommands[] = {
    {"compile", "IN.mlir|IN.mlirbc -o OUT.tsr [options]", "input file", ".mlir|.mlirbc",
     "turns a StableHLO module with Shardy annotations into a program for many devices",
     "Compiles a StableHLO module with Shardy annotations into a program for the devices of its "
     "mesh.",
     kCompile},
    {"plan", "IN.mlir|IN.mlirbc -o OUT.mlir [--devices=N] [options]", "input file", ".mlir|.mlirbc",
     "finds the shardings with which a module's step takes least time",
     "Finds out how to divide a program among devices: writes it with Shardy annotations of its "
     "arguments, results and the few values that decide the rest, and says what a step of it will "
     "take, how far that is from the least possible, and what other ways would take. Annotations "
     "that are there hold.",
     kPlan},
    {"explain", "IN.mlir|IN.mlirbc [options]", "input file", ".mlir|.mlirbc",
     "says what such a module spends time on and why, and what would mend it",
     "Says what a program spends time on and why, and which changes of it save some: each was "
     "compiled. Says of every sharding where it comes from, and of every collective what it moves "
     "and why it is there.",
     kExplain},
    {"run", "P.tsr [--inputs=IN.npz] [--outputs=OUT.npz] [options]", "program", ".tsr",
     "executes a compiled program",
     "Runs a compiled program. Arrays are global values by the program's names (`tessera info`) or "
     "in0.., out0...",
     kRun},
    {"info", "P.tsr [--json]", "program", ".tsr",
     "says what a compiled program takes, gives, needs and moves",
     "Says what a compiled program takes and gives, by name, type, shape and sharding; its "
     "devices, targets and memory; and what it moves between devices. Nothing of it is run, and no "
     "machine is wrong for it.",
     kInfo},
    {"calibrate", "-o machine.json [--quick] [--comm=mpi] [--target=cuda]", "", "",
     "measures this machine and writes a topology file for --topology",
     "Measures how long this machine takes for each kind of work, with small programs that are "
     "compiled and run, and writes what predictions need to know of it as a topology file.",
     kCalibrate},
    {"completion",
     "bash|zsh|fish",
     "shell",
     "bash|zsh|fish",
     "prints what makes a shell complete these commands",
     "Prints a script that makes the shell complete subcommands, options and files: source "
     "<(tessera completion bash).",
     {}},
};

} // namespace

std::span<const Command> commands() { return kCommands; }

const Command *findCommand(std::string_view name) {
  for (const Command &command : kCommands)
    if (command.name == name)
      return &command;
  return nullptr;
}

const Option *findOption(const Command &command, std::string_view name) {
  for (const Option &option : command.options)
    if (option.name == name)
      return &option;
  return nullptr;
}

} // namespace tessera::command
