"""Mistakes planted in what the runtime does with GPUs, which the tests over the stand-ins must find: a missing event between streams, a
table or a value that is written over too early, an order of the ranks that is another one (test/fuzz/mutants has those of the compiler).

  mutants.py check              every place is still there, once
  mutants.py list               names, and what is wrong
  mutants.py plant FOLDER       writes the sources with all of them into a copy of the tree, whose build holds them then
  mutants.py hunt BUILD [NAME]  runs the tests of that build for one after the other, until one fails; of those whose names begin so
"""
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "fuzz" / "mutants"))
from mutant import ROOT, SWITCH, mutant, planted

QUEUE, TABLE, GATHERING, WAITS, COMMAND = (f"runtime/device/cuda/{name}.cpp" for name in ("CudaQueue", "MoveTable", "Gathering", "GatheringWaits", "Command"))
VIRTUAL, VERSIONS = (f"runtime/comm/virtual/{name}.cpp" for name in ("VirtualCommunicator", "TableVersions"))
ORDER, EVENTS, EXECUTABLE = "runtime/comm/nccl/StartOrder.cpp", "runtime/comm/virtual/StreamEvents.cpp", "runtime/client/Executable.cpp"
WATCH, PATIENCE, PROGRESS = "runtime/comm/mpi/PeerWatch.cpp", *(f"runtime/device/cuda/{name}.cpp" for name in ("Patience", "Progress"))
ARENA, CALL, SESSION, BACKEND = "runtime/client/Arena.cpp", "runtime/client/Call.cpp", "runtime/session/Session.cpp", "runtime/device/cuda/CudaBackend.cpp"
CODE, PRODUCT = (f"runtime/device/cuda/{name}.cpp" for name in ("CudaCode", "LibraryProduct"))
NCCL, FAILURES, MESSAGES = (f"runtime/comm/nccl/{name}.cpp" for name in ("NcclCommunicator", "NcclFailures", "DeviceExchange"))

MUTANTS = [
    mutant("gpu.operands-not-awaited", VIRTUAL,
           "if (Status s = ⟦ready_.await(plan.site, set.member(group, rank), *gathering_, own.lane)⟧;", "Status()",
           "a collective begins before its operands are there"),
    mutant("gpu.own-operand-awaited-only", VIRTUAL,
           "for (uint32_t rank = 0; rank < ⟦plan.groupSize⟧; ++rank) if (Status s", "1u",
           "a collective waits for the operand of the first rank only"),
    mutant("gpu.results-not-awaited", VIRTUAL,
           "return ⟦done_.await(site, groupOf(position, site), *gathering_, lane)⟧;", "Status()",
           "what follows a wait comes before the collective is over"),
    mutant("gpu.done-not-recorded", VIRTUAL,
           "return ⟦done_.record(plan.site, group, *gathering_, own.lane)⟧;", "Status()",
           "nobody says that a collective is over"),
    mutant("gpu.value-read-early", QUEUE,
           "outcome = ⟦catchUp(tag, For::Value)⟧; } if (outcome == Outcome::Done) { value = 0;", "Outcome::Done",
           "what data decides is read before it is computed"),
    mutant("gpu.step-ends-early", WAITS,
           ": isGiving_ ? kNotReady : ⟦progress_.result()⟧;", "kSuccess",
           "a step is over before its streams are"),
    mutant("gpu.step-of-one-stream", WAITS,
           "ResultCode code = backend_->isGivenUp() ? kGivenUp : ⟦gatherTails()⟧;", "kSuccess",
           "a step is over when the first device's stream is"),
    mutant("gpu.copy-before-its-source", QUEUE,
           "⟦gathering_->await(beside_, beside.fork)⟧;", "(void)0",
           "a copy beside what follows begins before its source is written"),
    mutant("gpu.copy-not-landed", QUEUE,
           "⟦gathering_->await(compute_, started->second.landed)⟧;", "(void)0",
           "what reads a copy's target does not wait for it"),
    mutant("gpu.stale-graph", COMMAND,
           "for (Pointer operand : operands) ⟦mix(operand);⟧", ";",
           "a graph is given again though its kernels' operands lie elsewhere",
           also=[("bool Lane::isSame(const Lane &other) const { return commands == other.commands && ⟦operands == other.operands⟧;", "true")]),
    mutant("gpu.graph-without-events", GATHERING,
           "if (command.kind != Command::Await || ⟦command.record⟧)", "false",
           "in a graph nobody waits for what another stream records"),
    mutant("gpu.graph-before-the-streams", GATHERING,
           "ResultCode code = ⟦gatherTails()⟧; if (code == kSuccess) code = driver_.cuGraphLaunch(graph, origin_);", "kSuccess",
           "a graph begins before what was given to the streams one by one is over"),
    mutant("gpu.streams-before-the-graph", GATHERING,
           "if (⟦tail.behind == graphs_ || stream == origin_⟧) return kSuccess;", "true",
           "what is given to a stream behind a graph does not wait for it"),
    mutant("gpu.stale-table", VERSIONS,
           "auto isOfThem = [&](const auto &version) { return ⟦version->buffers == buffers⟧; };", "!version->buffers.empty()",
           "a collective on other buffers moves those of the first time"),
    mutant("gpu.table-written-over", VERSIONS,
           "return ⟦version->step < step && version.use_count() == 1⟧;", "true",
           "a table, and its copy on the host, are written over while a kernel may still read them", also=[("known_.size() < ⟦kKept⟧", "size_t{1}")]),
    mutant("gpu.zeros-left-out", VERSIONS,
           "for (const Fill &fill : table.zeros) ⟦moves.commands.push_back({.kind = Command::Zeros, .to = fill.address, .bytes = fill.bytes});⟧",
           ";", "a rank that receives nothing keeps what was there"),
    mutant("gpu.ranks-in-reverse", TABLE,
           "part.jobs = 1, part.sources = part.targets = g; for (uint32_t r = 0; r < g; ++r) from(⟦r⟧, 0);", "g - 1 - r",
           "sums are added in another order"),
    mutant("gpu.blocks-side-by-side", TABLE,
           "to(target, ⟦source⟧);", "target",
           "gathered blocks lie at the place of the one who gathers"),
    mutant("code.text-before-machine-code", CODE,
           "[](const DeviceText *image) { return ⟦image->isCubin⟧; });", "false && image->isCubin",
           "PTX is compiled though there is machine code"),
    mutant("code.machine-code-of-another", CODE,
           "return wanted <= version && (!image.isCubin || ⟦wanted / 10 == version / 10⟧);", "true",
           "machine code of an older generation is given to the driver"),
    mutant("code.no-way-is-a-way", PRODUCT,
           "if (⟦!isSet || count < 1 || found.state != lt::kSuccess⟧ || found.workspaceBytes > workspace)", "false",
           "a product that the library has no algorithm for is given to it"),
    mutant("product.factor-not-turned", PRODUCT,
           "int32_t b = p.x.isRowMajor() ? lt::AsItIs : ⟦lt::Transposed⟧;", "lt::AsItIs",
           "a factor that lies by columns is taken as it is"),
    mutant("product.bias-of-nobody", PRODUCT,
           "if (product_.bias >= 0 && ⟦!setBias(operands[product_.bias])⟧)", "false",
           "the bias is where the last product had it"),
    mutant("product.nothing-is-added", PRODUCT,
           "isAdded ? ⟦alpha⟧ : none, isAdded ?", "none",
           "the matrix that is added is left out"),
    mutant("product.batch-in-one-place", PRODUCT,
           "if (⟦product_.batch == 1⟧) return true; auto count", "true",
           "only the first product of a batch is computed"),
    mutant("product.function-left-out", PRODUCT,
           "uint32_t epilogue = (p.function == Product::Relu ? ⟦lt::Relu⟧", "0u",
           "ReLU behind a bias is not computed"),
    mutant("product.fewer-bits", PRODUCT,
           ": p.factors == Product::F32 ? ⟦lt::InPlainF32⟧", "lt::InF32",
           "f32 may be multiplied by fewer bits"),
    mutant("product.workspace-over-an-operand", QUEUE,
           ".to = hasScratch ? ⟦buffers[kernel.operands].number()⟧ :", "buffers[0].number()",
           "parts of sums are put over a factor"),
    mutant("nccl.operands-not-awaited", NCCL,
           "rank.backend->driver().status( ⟦rank.ready.await(plan.site, 0, rank.stream)⟧,", "kSuccess",
           "a collective begins before its operand is there"),
    mutant("nccl.results-not-awaited", NCCL,
           "return rank.backend->driver().status(⟦rank.done.await(site, 0, gathering.reach(lane))⟧,", "kSuccess",
           "what follows a wait comes before the collective is over"),
    mutant("nccl.ready-before-the-commands", GATHERING,
           "Stream Gathering::reach(uint64_t name) { std::lock_guard lock(mutex_); ⟦giveAll();⟧", ";",
           "what was gathered comes behind the event that says that operands are there"),
    mutant("nccl.received-into-its-own-place", MESSAGES,
           "scatter.receives.push_back({peer, ⟦staged(peer)⟧, bytesOf(rank)});", "staged(0)",
           "slices of all ranks come into one place"),
    mutant("nccl.slice-of-the-other", MESSAGES,
           "scatter.sends.push_back({peer, operand + ⟦beginOf(peer)⟧, bytesOf(peer)});", "beginOf(rank)",
           "a rank gets another's slice to reduce"),
    mutant("nccl.not-unpacked", MESSAGES,
           "uint64_t to = result + peer * static_cast<uint64_t>(transfer.toStep); if (peer == rank) { if (⟦plan.moves(rank, rank)⟧)", "false",
           "what a rank keeps for itself is not moved"),
    mutant("nccl.failure-not-asked-for", FAILURES,
           "rank->comm && ⟦library_.ncclCommGetAsyncError(rank->comm, &error) == nccl::kSuccess⟧)", "false",
           "a broken connection is taken for results"),
    mutant("nccl.nobody-asks-meanwhile", WAITS,
           "if (⟦health_ != nullptr⟧) if (Status status = health_();", "false",
           "while a step waits, nobody asks whether its messages still come"),
    mutant("nccl.not-aborted", FAILURES,
           "⟦library_.ncclCommAbort(rank->comm);⟧ rank->isAborted = true;", ";",
           "what waits for messages that do not come is not ended"),
    mutant("several.given-one-by-one", NCCL,
           "for (const DeviceMessage &message : ⟦turn.stages[stage].sends⟧)",
           "(&turn == &turns.front() ? 0 : (library_.ncclGroupEnd(), library_.ncclGroupStart())), turn.stages[stage].sends",
           "messages of a process's ranks are not given together"),
    mutant("several.last-start-first", ORDER,
           "⟦starts_[rank].push_back(std::move(start));⟧", "starts_[rank].push_front(std::move(start)); changed_.push_back(rank);",
           "a rank's collectives are not given in the order of their starts"),
    mutant("several.nobody-waits-for-others", NCCL,
           "if (⟦!order_.isPending(indexOf(position), site)⟧) return Outcome::Done;", "true",
           "a rank goes on though its collective is not given"),
    mutant("several.nobody-is-woken", NCCL,
           "if (isGiven) ⟦run_.wake(std::exchange(waiting_, nullptr));⟧", ";",
           "who waits for others of the process is not woken when they have come"),
    mutant("several.woken-by-the-next", ORDER,
           "starts_[member].pop_front(); ⟦changed_.push_back(member);⟧", ";",
           "what a rank has started behind a collective waits for another start"),
    mutant("several.gpu-not-entered", NCCL,
           "return {}; ⟦rank.backend->enter();⟧ auto &tables", ";",
           "a collective's kernels are launched while another GPU is current"),
    mutant("several.event-of-another-gpu", EVENTS,
           "return &event; ⟦backend_.enter();⟧ if", ";",
           "events are made on the GPU that happens to be current"),
    mutant("several.code-of-the-first", EXECUTABLE,
           "device.code = ⟦codes[device.backend]⟧;", "codes[devices_[0].backend]",
           "all devices have the kernels of the first GPU"),
    mutant("several.constants-of-the-first", EXECUTABLE,
           "auto &memory = constants[{⟦device.backend⟧, device.program}];", "devices_[0].backend",
           "constants lie on the first GPU"),
    mutant("several.outputs-on-the-first", EXECUTABLE,
           "while (end < range.end && ⟦devices_[end].backend == backend⟧)", "true",
           "results of all devices lie on the first GPU"),
    mutant("several.arenas-on-the-first", ARENA,
           "device::Backend &backend = client->backend(⟦d⟧);", "0",
           "arenas of all devices lie on the first GPU"),
    mutant("several.copies-on-the-first", CALL,
           "auto copy = ⟦tile->backend()⟧.allocate(tile->space(), tile->bytes());", "executable_->client()->backend(0)",
           "inputs that somebody else holds are copied to the first GPU"),
    mutant("several.inputs-on-the-first", SESSION,
           "auto tile = ⟦device.backend⟧->allocate(spaceOf(parameter), localBytes(parameter));", "executable.devices()[0].backend",
           "inputs of all devices lie on the first GPU"),
    mutant("several.first-tile-for-all", SESSION,
           "device::readable(array.tiles[everywhere && owner != own ? 0 : ⟦next⟧])", "size_t{0}",
           "results are put together from the first device's tile"),
    mutant("several.first-tile-is-sent", SESSION,
           "sendTile(array, array.tiles[⟦next⟧]);", "size_t{0}",
           "a process sends the tile of its first device for all"),
    mutant("several.ranks-do-not-connect", NCCL,
           "if (⟦!transport_ || ranks_.size() == 1⟧) return {};", "true",
           "processes of several devices connect when they first have messages"),
    mutant("several.group-of-the-first", NCCL,
           "return static_cast<int>(set.member(set.groupOf(⟦rank.position⟧), message.peer));", "ranks_[0]->position",
           "messages go to members of the first rank's group"),
    mutant("several.staging-of-the-first", NCCL,
           "stagesOf(plan, set.rankOf(rank->position), buffers, ⟦rank->staging⟧->address().number());", "ranks_[0]->staging",
           "all ranks stage on the first GPU"),
    mutant("several.rank-of-the-first", NCCL,
           "stagesOf(plan, ⟦set.rankOf(rank->position)⟧, buffers,", "set.rankOf(ranks_[0]->position)",
           "all ranks send what the first one sends"),
    mutant("several.errors-of-the-first", FAILURES,
           "if (status.ok() && ⟦rank->comm⟧ &&", "rank == ranks_[0] ? rank->comm : nullptr",
           "only the first rank's connection is asked for errors"),
    mutant("several.first-is-aborted", FAILURES,
           "if (⟦!rank->comm⟧ || rank->isAborted", "rank != ranks_[0]",
           "only the first rank's connection is aborted"),
    mutant("several.all-on-one", BACKEND,
           "(static_cast<uint32_t>(rank) * of + ⟦number⟧) % seen", "0u",
           "all devices are on the process's first GPU"),
    mutant("several.waits-for-its-own", FAILURES,
           "if (⟦!other->underWay.isIn() || other->underWay.first() != plan⟧) return false;", "false",
           "a process says that it waits for others, while a device of its own is stuck"),
    mutant("several.nobody-says-that-it-waits", FAILURES,
           "if (transport_) ⟦transport_->report(collectives, waits);⟧", ";",
           "peers do not hear where a process stands"),
    mutant("several.stuck-while-it-waits", WATCH,
           "if (⟦waiting > Clock::duration::zero()⟧ || of.collectives != collectives)", "false",
           "a rank that waits counts as one that is stuck"),
    mutant("hang.memory-given-back", BACKEND,
           "if (⟦cuda.isGivenUp()⟧) // a kernel may still use it", "false",
           "memory that a kernel may still use is given back"),
    mutant("hang.streams-waited-for", BACKEND,
           "return ⟦isGivenUp()⟧ ? cuda::kGivenUp : driver_.cuStreamSynchronize(stream);", "false",
           "a stream is waited for that never comes to its end"),
    mutant("hang.code-unloaded", CODE,
           "if (⟦backend_->isGivenUp()⟧) { // kernels may still run", "false",
           "code is unloaded, and the library closed, while a kernel runs"),
    mutant("hang.graph-destroyed", "runtime/device/cuda/Graphs.cpp",
           "if (known.graph && ⟦!backend_.isGivenUp()⟧)", "true",
           "a graph is destroyed that may still run"),
    mutant("hang.who-waits-is-blamed", PATIENCE,
           "if (!waits_ || ⟦!waits_()⟧)", "true",
           "a GPU that waits for another's messages is given up"),
    mutant("hang.limit-unheard", PATIENCE,
           "if (run.failed() && ⟦run.status().code() == Code::DeadlineExceeded⟧)", "false",
           "a GPU that stands beyond a step's time limit is waited for"),
    mutant("hang.first-always", PROGRESS,
           "if (⟦marks_.advance()⟧) patience_.moved();", "false",
           "the first command is named, not the one that the GPU stands at"),
    mutant("hang.graphs-not-marked", GATHERING,
           "if (⟦!isWatched_ && !progress_.isMarked()⟧)", "false",
           "a step of several graphs is given up though one after the other ends"),
    mutant("hang.time-without-work", PROGRESS,
           "if (⟦result() != kNotReady⟧) { // it had nothing to do", "false",
           "a GPU that had nothing to do for long is given up at its first command", also=[("void Progress::begin() { marks_.clear(); ⟦patience_.moved();⟧", ";")]),
    mutant("hang.all-given-at-once", GATHERING,
           "if (!isWatched_ && ⟦progress_.isFull()⟧)", "false",
           "who gives commands waits for ever in the driver"),
    mutant("hang.nobody-hears", WAITS,
           "ResultCode code = ⟦backend_->isGivenUp()⟧ ? kGivenUp : isGiving_", "false",
           "who waits for a GPU that was given up waits on"),
    mutant("hang.traced-for-ever", QUEUE,
           "if (⟦!patience.isOver(lane_.run)⟧) continue;", "true",
           "a command that is traced is waited for without end"),
    mutant("hang.connection-of-the-stuck", FAILURES,
           "|| !isMeant || ⟦rank->backend->isGivenUp()⟧) continue;", "false",
           "the connection of a GPU that was given up is aborted, which waits for it"),
    mutant("hang.kernels-for-messages", FAILURES,
           "rank.underWay.forgetEnded(); return ⟦rank.underWay.isAtMessages()⟧;", "rank.underWay.isIn()",
           "a kernel of a collective that never ends is taken for messages"),
    mutant("hang.all-aborted-at-once", FAILURES,
           "bool isMeant = ⟦those == Those::All || rank->underWay.isAtMessages()⟧;", "true",
           "the connection of a GPU that hangs elsewhere is aborted before that is known"),
]


def tests(build, name):
    """What is run for a mutant until something fails, by name: the command."""
    python = sys.executable
    runtime = [python, HERE / "runtime.py"]
    if name.startswith("several."):
        return {"unit.runtime": [build / "test" / "unit" / "runtime" / "test-runtime", "--gtest_filter=StartOrderTest.*:PeerWatchTest.*"], "gpu.several": [python, HERE / "several.py"]}
    if name.startswith("hang."):
        return {"gpu.runtime, hangs": [*runtime, "a_kernel_that_never_ends_is_named", "a_gpu_that_hangs_is_not_used_again", "a_gpu_that_hangs_while_commands_are_given"],
                "gpu.several, hangs": [python, HERE / "several.py", "a_gpu_that_hangs_beside_others", "a_process_whose_gpu_hangs",
                                     "a_step_of_several_graphs_takes_long", "time_without_work_does_not_count", "what_hangs_within_a_collective"]}
    if name.startswith("nccl."):
        return {"gpu.runtime, processes": [*runtime, "two_processes_by_nccl", "a_sum_of_two_processes_by_nccl"]}
    if name.startswith(("code.", "product.")):
        return {"gpu.runtime, code": [*runtime, "products_by_cublaslt", "own_kernels_where_cublaslt_is_not", "workspace_of_cublaslt_lies_in_the_arena", "machine_code_is_taken_first"]}
    return {"gpu.runtime, streams": [*runtime, "collectives_stay_on_the_gpu", "late_streams_change_nothing", "a_straight_part_is_one_command", "graphs_know_addresses",
                                    "a_decision_of_the_host_ends_a_graph", "long_steps_are_given_in_parts"],
            "placement@cuda": [python, HERE.parent / "numerics" / "placement.py", "checkpointed_scan", "updated", "twice"],
            "gpu.move_kernels": [build / "test" / "gpu" / "test-move-kernels"],
            "collectives@cuda": [python, HERE.parent / "numerics" / "single_ops" / "collectives.py", "--count=25"]}


def fails(command, build, name, collectives):
    environment = os.environ | {"LD_LIBRARY_PATH": str(build / "lib" / "emulator"), "TESSERA_BIN": str(build / "bin"), "TESSERA_MUTANT": name,
                                "TESSERA_COMM_TIMEOUT": "5", "PYTHONDONTWRITEBYTECODE": "1"}
    if collectives:
        environment["TESSERA_COMPILE_FOR"] = "cuda"
    try:
        return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def hunt(build, name):
    found = 0
    hunted = [each for each in MUTANTS if each.name.startswith(name)]
    for each in hunted:
        begin = time.monotonic()
        by = next((test for test, command in tests(build, each.name).items() if fails(command, build, each.name, "@cuda" in test)), None)
        found += by is not None
        print(f"{each.name:36} {by or 'NOT FOUND'} ({time.monotonic() - begin:.0f} s): {each.why}", flush=True)
    print(f"{found} of {len(hunted)} found")
    return found < len(hunted)


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else "check"
    texts, errors = planted(MUTANTS)
    if errors and command != "hunt":  # whose tree has them
        sys.exit("\n".join(errors))
    if command == "check":
        print(f"{len(MUTANTS)} mutants have their places")
    elif command == "list":
        print("\n".join(f"{each.name:36} {each.why}" for each in MUTANTS))
    elif command == "plant":
        folder = pathlib.Path(sys.argv[2])
        for name, text in {"mutant_switch.h": SWITCH, **texts}.items():
            (folder / name).write_text(text)
    elif command == "hunt":
        sys.exit(hunt(pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:4] or [""]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
