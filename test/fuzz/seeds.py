"""What mutants are made of: the modules of this tree's tests and examples, or of folders that are named."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"func\.func (?:public )?@(\w+)")


def modules(path):
    """(entry function, text) of each module of a file."""
    for part in re.split(r"^// -----.*$", path.read_text(), flags=re.M):
        code = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("//")).strip() + "\n"
        if entry := ENTRY.search(code):
            yield entry[1], code


def texts(corpora, most_bytes):
    """(entry, text) of all seeds, in the same order everywhere. Larger ones take long to compile."""
    own = sorted(ROOT.glob("test/**/*.mlir")) + sorted(ROOT.glob("examples/**/train_step.mlir"))
    paths = [] if corpora else own
    for folder in corpora:
        paths += sorted(folder.glob("*.mlir"))
    return [module for path in paths for module in modules(path) if len(module[1]) <= most_bytes]
