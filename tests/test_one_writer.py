"""Law: nothing but `assay.base.files` opens a file for writing, copies, moves or links one, in all of the package.

So no name that others can guess is opened, nothing is written through a link, and nothing is there half-written. What
writes for us is given memory, or a folder that is new and private. The rest is listed, with the reason.
"""

import ast

import pytest

from tests.source_trees import FILES, PACKAGE, nodes_of

DOOR = {"base/files.py"}
WRITERS = {
    "write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "rename", "renames", "symlink", "link",
    "copy", "copy2", "copyfile", "copytree", "move", "mkstemp", "mktemp", "NamedTemporaryFile", "truncate", "ftruncate",
    "to_csv", "to_parquet", "to_json_file", "tofile", "savetxt", "save_file", "SummaryWriter", "make_archive", "extractall",
}  # fmt: skip
"""Names of functions that write where they are told to; `copy` and such only of modules that write."""
MODULES = {"shutil", "os", "tempfile", "tarfile", "zipfile"}
INTO_MEMORY = {"write_table", "savez", "savez_compressed", "savefig", "ParquetWriter", "save", "ZipFile", "GzipFile"}
"""Functions that take a path or an open file; they get an open file, or one in memory."""
MEMORY = {"buffer", "out", "file", "handle", "inner", "shrunk"}
MODES = set("wax+")
ALLOWED = {
    ("render/engines/blender_worker.py", "savez"): "runs in Blender's Python, in the temporary folder that we made",
    ("render/engines/blender_worker.py", "fdopen"): "the pipe to us",
    ("cli/commands.py", "fdopen"): "messages that go nowhere, where standard error is closed",
    ("runs/usage.py", "write_bytes"): "a switch of the kernel in /proc",
    ("models/core/logs.py", "SummaryWriter"): "TensorBoard writes its own files, in a run's folder out of which no link leads",
}  # fmt: skip


def calls(nodes):
    for node in nodes:
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            owner = (
                function.value.id
                if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
                else ""
            )
            yield node, name, owner


def constants(node):
    return [part.value for part in [*node.args, *(word.value for word in node.keywords)]
            if isinstance(part, ast.Constant) and isinstance(part.value, str)]  # fmt: skip


def writes(node, name, owner):
    """Return whether a call opens or names a file for writing."""
    if owner == "os" and name == "open":
        return "devnull" not in ast.unparse(node) and "O_RDONLY" not in ast.unparse(node)
    if name in ("open", "fdopen"):
        return any(len(text) <= 3 and MODES & set(text) for text in constants(node)) and owner not in (
            "zipfile",
            "tarfile",
        )
    if name in ("copy", "move", "link", "rename", "symlink", "truncate"):
        return owner in MODULES
    if name == "replace" and len(node.args) == 1 and not node.keywords:  # of a path; texts take two
        return True
    if name in INTO_MEMORY:
        places = {part.id for part in node.args if isinstance(part, ast.Name)}
        places |= {
            word.value.id for word in node.keywords if word.arg == "fileobj" and isinstance(word.value, ast.Name)
        }
        from_module = isinstance(node.func, ast.Name)  # safetensors' save gives bytes
        return bool(node.args) and not (name == "save" and (from_module or owner == "model")) and not places & MEMORY
    return name in WRITERS


def test_nothing_else_writes():
    found = []
    for path in FILES:
        inside = path.relative_to(PACKAGE).as_posix()
        if inside not in DOOR:
            found += [f"{inside}:{node.lineno} {name}" for node, name, owner in calls(nodes_of(path))
                      if writes(node, name, owner) and (inside, name) not in ALLOWED]  # fmt: skip
    assert found == []


@pytest.mark.parametrize(
    "text",
    ["open(p, 'w')", "p.open('ab')", "p.open(mode='x')", "Path(p).write_text(t)", "p.write_bytes(b)", "shutil.copyfile(a, b)",
     "shutil.copytree(a, b)", "pq.write_table(t, path)", "np.savez(folder / 'a', a)", "os.open(p, os.O_WRONLY)",
     "a.replace(b)", "os.rename(a, b)", "p.touch()", "gzip.open(p, 'wb')"],
)  # fmt: skip
def test_the_law_sees(text):
    assert writes(*next(calls(ast.walk(ast.parse(text)))))
