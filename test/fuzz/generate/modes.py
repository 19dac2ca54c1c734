"""What is done with a program beside compiling and running it once: a mode is asked with a Checker, for the program that lies in its folder,
and says what is wrong, or None. Plain data, so that a program is shrunk in the mode in which it was found."""
import collections
import json
import re

LEAST = re.compile(r"does not fit into the memory of each device.* Allow --memory=(\d+)")


class Plain:
    def check(self, checker, program, thorough):
        return checker.compile("p.mlir", "p", thorough) or checker.run(program, "p", thorough)


class Bounds(collections.namedtuple("Bounds", "share")):
    """The program without a bound first, then with --memory at `share` of its peak. Where that is refused, the least bound that the error names
    must do, and so must one between that and the peak. What the devices hold stays within the bound."""

    def check(self, checker, program, thorough):
        if wrong := Plain().check(checker, program, False):
            return wrong
        peak = checker.counted("p")
        least, wrong = self.bounded(checker, program, int(self.share * peak), thorough)
        if least and not wrong:
            if least > peak:
                return f"bound: the error says that the least is {least} bytes, without a bound it is {peak}"
            for bound in [least] + [int(least + (peak - least) * self.share)] * (least < peak):
                again, wrong = self.bounded(checker, program, bound, thorough)
                if again and not wrong:
                    wrong = f"bound: the error says that the least is {least} bytes, --memory={bound} is refused and asks for {again}"
                if wrong:
                    break
        return wrong

    def bounded(self, checker, program, bound, thorough):
        """The least bound where this one is refused, and what is wrong."""
        wrong = checker.compile("p.mlir", "b", thorough, f"--memory={bound}")
        if least := LEAST.search(wrong or ""):
            checker.counts["refused bounds"] += 1
            return int(least[1]), None if int(least[1]) > bound else f"bound: --memory={bound} is refused and asks for {least[1]}"
        if not wrong:
            checker.counts["bounds"] += 1
            wrong = checker.run(program, "b", thorough)
        if not wrong and checker.counted("b") > bound:
            wrong = f"bound: {checker.counted('b')} bytes"
        return None, wrong and f"--memory={bound}: {wrong}"


class Plans(collections.namedtuple("Plans", "options")):
    """The program with the plan that is found with `options`: what `plan` writes compiles to what `compile --plan` gives, and what propagation
    makes of it lies as it does when it is propagated again."""

    def check(self, checker, program, thorough):
        wrong = checker.compile("p.mlir", "p", thorough, "--plan", *self.options) or checker.run(program, "p", thorough)
        wrong = wrong or checker.tessera("plan", "p.mlir", "-o", "planned.mlir", *self.options) or checker.compile("planned.mlir", "q", thorough)
        if wrong:
            return f"plan {' '.join(self.options)}: {wrong}"
        checker.counts["plans"] += 1
        if checker.report("p")["sha256"] != checker.report("q")["sha256"]:
            return f"plan {' '.join(self.options)}: compile --plan gives another program than compiling the plan"
        lies = []
        for source in ("planned.mlir", "propagated.mlir"):
            if wrong := checker.tessera("compile", source, "-o", "propagated.mlir", "--stop-after=propagate"):
                return f"plan {' '.join(self.options)}, propagated: {wrong}"
            text = without_marks(checker.path("propagated.mlir").read_text())
            if "comm." in text:
                return None  # collectives of manual computations are no program of the user's any more
            lies.append(how_it_lies(text))
            checker.path("propagated.mlir").write_text(text)
        if not lies[1] <= lies[0]:
            return f"plan {' '.join(self.options)}: propagated again it is another program"
        return None


def without_marks(text):
    """What propagation left, as a program of the user's."""
    return re.sub(r"(, )?tessera\.\w+ = [^,}]+", "", re.sub(r"^module attributes .*", "module {", text))


def how_it_lies(text):
    """The operations and their shardings, without names: on reading, equal ones become one, and what nobody uses goes."""
    return {re.sub(r"%\w+(#\d+)?", "%", line).strip() for line in text.splitlines()[1:] if "stablehlo.constant" not in line}


def some_plan(rng, program, placement):
    """Of devices or of a mesh, with more search or less. What is annotated or names its mesh itself is planned for that."""
    options = [f"--effort={rng.choice([1, 1, 2, 3])}"]
    if not placement:
        options.append(rng.choice([f"--devices={n}" for n in (2, 3, 4, 6, 8)] + [f"--mesh={mesh}" for mesh in ("x=2,y=2", "x=4,y=2", "a=3,b=2", "x=5")]))
    return Plans(tuple(options))
