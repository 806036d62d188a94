"""Settings from YAML files and `--set`, checked against a typed model, with the file and line in every error."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from assay.base.errors import ConfigError, cut, suggestion

M = TypeVar("M", bound=BaseModel)
DEPTH = 2
"""How deep lines are remembered: a key of an entry of a list. Aliases could nest without end."""

MOST_NODES, DEEPEST = 10_000, 100
"""How many values a file may unfold to by its aliases, and how deep they may nest."""
BOOLEAN, TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"


class Config(BaseModel):
    """Base of all typed settings: frozen, and no key that is not declared."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    came_later: ClassVar[tuple[str, ...]] = ()
    """Settings that came after fingerprints were pinned: a record has them only where they are not the default."""

    def recorded(self) -> dict[str, Any]:
        """Return the settings as plain data for a record."""
        fields = type(self).model_fields
        unset = {key for key in self.came_later if getattr(self, key) == fields[key].default}
        return self.model_dump(mode="json", exclude=unset)


@dataclass(frozen=True)
class Settings:
    """Values by key, and for each key where it was written; `tasks.1.k` is a key inside the second of `tasks`."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    def place(self, key: str) -> str:
        """Return "file line 3: " for a key from a file, "--set: " for one from the command line, else nothing."""
        return f"{self.places[key]}: " if key in self.places else ""

    def merge(self, other: "Settings") -> "Settings":
        """Return these settings with the other's on top."""
        return Settings({**self.values, **other.values}, {**self.places, **other.places})

    def rename_keys(self, names: Mapping[str, str]) -> "Settings":
        """Return the settings with keys of another system under our names; giving both is an error."""
        for old, new in names.items():
            if old in self.values and new in self.values and old != new:
                raise ConfigError(f"{self.place(old)}{old!r} and {new!r} mean the same; give one of them")
        return Settings(
            {names.get(key, key): value for key, value in self.values.items()},
            {names.get(key, key): place for key, place in self.places.items()},
        )

    def replace_words(self, words: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> "Settings":
        """Return the settings with another system's words in ours; `words` gives by key and word the settings meant."""
        ours = self
        for key, meanings in words.items():
            word = ours.values.get(key)
            if isinstance(word, str) and word in meanings:
                ours = ours.without({key}).merge(Settings(meanings[word]))
        return ours

    def without(self, keys: Iterable[str]) -> "Settings":
        """Return the settings but for these keys."""
        dropped = set(keys)
        return replace(self, values={key: value for key, value in self.values.items() if key not in dropped})

    def only(self, keys: Iterable[str]) -> "Settings":
        """Return the settings of these keys."""
        wanted = set(keys)
        return replace(self, values={key: value for key, value in self.values.items() if key in wanted})


def from_pairs(pairs: Iterable[str], flag: str = "--set") -> Settings:
    """Read `KEY=VALUE` texts, each value as YAML would read it.

    >>> from_pairs(["k=3", "names=[a, b]"]).values
    {'k': 3, 'names': ['a', 'b']}
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"{flag} {pair!r}: expected KEY=VALUE")
        try:
            values[key.strip()] = _value_of(text) if text.strip() else ""
        except (yaml.YAMLError, ValueError):  # a ValueError from what looks like a date and is none
            values[key.strip()] = text
        except ConfigError as error:
            raise ConfigError(f"{flag} {key}: {error}") from None
    return Settings(values, dict.fromkeys(values, flag))


def _value_of(text: str) -> Any:
    """Return the value that a text means."""
    loader = yaml.SafeLoader(text)
    tree = _tree_of(loader)
    return None if tree is None else loader.construct_document(tree)


def _tree_of(loader: yaml.SafeLoader) -> yaml.Node | None:
    """Return the nodes of a text, refusing one that nests deeply, or whose aliases make much of little."""
    try:
        tree: yaml.Node | None = loader.get_single_node()
    except RecursionError:
        raise ConfigError(f"values nest deeper than {DEEPEST}") from None
    sizes: dict[int, int] = {}
    if tree is not None and _unfolded(tree, sizes, 0) - len(sizes) > MOST_NODES:
        raise ConfigError(f"its aliases unfold to more than {MOST_NODES:,} values; write fewer")
    return tree


def _unfolded(node: yaml.Node, sizes: dict[int, int], depth: int) -> int:
    """Return how many values a node holds, those of its aliases counted each time; `sizes` has those of its parts."""
    if depth > DEEPEST:
        raise ConfigError(f"values nest deeper than {DEEPEST}")
    if id(node) not in sizes:
        sizes[id(node)] = 1  # as long as it is open: an alias of itself is no more
        parts = [] if isinstance(node, yaml.ScalarNode) else node.value
        inside = [part for pair in parts for part in pair] if isinstance(node, yaml.MappingNode) else parts
        sizes[id(node)] = 1 + sum(_unfolded(part, sizes, depth + 1) for part in inside)
    return sizes[id(node)]


def load_yaml(path: Path) -> Settings:
    """Read a YAML mapping by the safe loader, remembering the line of each key."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"settings file {str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"settings file {str(path)!r} is not UTF-8 text") from None
    try:
        loader = yaml.SafeLoader(text)
        tree = _tree_of(loader)
        _keep_words(tree)
        values = {} if tree is None else loader.construct_document(tree)  # parsed once: parsing takes long
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not YAML"
        raise ConfigError(f"{path.name}{line}: {problem}") from None
    except (ValueError, ConfigError) as error:
        raise ConfigError(f"{path.name}: {error}") from None
    if tree is None:
        return Settings()
    if not isinstance(tree, yaml.MappingNode) or not all(isinstance(key, str) for key in values):
        raise ConfigError(f"{path.name}: expected 'key: value' lines with text keys")
    return Settings(values, dict(_places(tree, path.name)))


def _keep_words(tree: yaml.Node | None) -> None:
    """Let keys such as `on` be the words they are; YAML 1.1 takes them for true and false."""
    left, seen = [tree], set()
    while left:
        node = left.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            left += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.tag == BOOLEAN and key.value.lower() not in ("true", "false"):
                    key.tag = TEXT
                left.append(value)


def _places(tree: yaml.Node, name: str, above: str = "") -> Iterator[tuple[str, str]]:
    """Give each key and each list entry with the line it stands on."""
    inside = tree.value if isinstance(tree, yaml.MappingNode) else []
    if isinstance(tree, yaml.SequenceNode):
        inside = [(yaml.ScalarNode("", str(i), part.start_mark), part) for i, part in enumerate(tree.value)]
    keys = set()
    for key, value in inside:
        line = f"{name} line {key.start_mark.line + 1}"
        if str(key.value) in keys:
            raise ConfigError(f"{line}: {key.value!r} is given twice")
        keys.add(str(key.value))
        yield f"{above}{key.value}", line
        if above.count(".") < DEPTH:
            yield from _places(value, name, f"{above}{key.value}.")


def describe_settings(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return each setting's default and the text written below it in the class."""
    texts: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if issubclass(kind, BaseModel) and kind is not BaseModel:
            texts.update(_field_texts(kind))
    return {
        name: {
            "default": None if info.is_required() else info.get_default(call_default_factory=True),
            "help": texts.get(name, ""),
        }
        for name, info in model.model_fields.items()
    }


def _field_texts(kind: type) -> dict[str, str]:
    """Return the string that follows each annotated name in a class's source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    except (OSError, SyntaxError):
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    return {
        field.target.id: " ".join(str(text.value.value).split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def check_names(names: list[str], known: Iterable[str], kind: str) -> list[str]:
    """Return names if each is known and none occurs twice; for the validator of a field.

    Parameters
    ----------
    names
        What a setting lists.
    known
        The names that there are.
    kind
        What they name, as the refusal says it.
    """
    for name in names:
        if name not in known:
            raise ValueError(f"no {kind} named {name!r}{suggestion(name, known)}")
    if not names or len(set(names)) < len(names):
        raise ValueError("one or more different names")
    return names


def validate(model: type[M], settings: Settings) -> M:
    """Return the typed settings, or raise with the place, the key, the fault and a suggestion."""
    try:
        return model(**settings.values)
    except ValidationError as error:
        fault = error.errors()[0]
        path = [str(part) for part in fault["loc"]]
        key = path[0] if path else ""
        place = settings.place(key)
        if fault["type"] == "extra_forbidden":
            known = set(model.model_fields)
            raise ConfigError(f"{place}unknown key {'.'.join(path)!r}{suggestion(key, known)}") from None
        message = str(fault["msg"]).removeprefix("Value error, ")
        value = f" (given: {cut(repr(fault['input']))})" if path and not isinstance(fault["input"], Mapping) else ""
        raise ConfigError(f"{place}{'.'.join(path)}{': ' if path else ''}{message}{value}") from None
