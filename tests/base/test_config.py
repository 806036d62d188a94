"""Settings from files and flags, and errors that say where."""

from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field

from assay.base import Config, ConfigError, Settings, check_names, describe_settings, from_pairs, load_yaml, validate


class Ship(Config):
    masts: int = Field(3, ge=1)
    name: str = "Argo"
    crew: list[str] = []


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "ship.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_gives_values_and_their_lines(tmp_path: Path) -> None:
    settings = load_yaml(written(tmp_path, "masts: 2\n\ncrew:\n  - Ann\n  - Bo\nname: Wayfarer\n"))
    assert settings.values == {"masts": 2, "crew": ["Ann", "Bo"], "name": "Wayfarer"}
    assert settings.place("name") == "ship.yaml line 6: " and settings.place("crew") == "ship.yaml line 3: "
    assert settings.place("sails") == ""
    assert validate(Ship, settings) == Ship(masts=2, crew=["Ann", "Bo"], name="Wayfarer")


def test_an_empty_file_gives_nothing(tmp_path: Path) -> None:
    assert load_yaml(written(tmp_path, "# nothing\n")) == Settings()


def test_flags_are_read_as_yaml_would() -> None:
    pairs = ["a=3", "b=[1, x]", "c=a & b | ~c", "d=", "e=1=2", "f={k: 0.5}", "g=2024-99-99", 'h="07"', "i=[", "j=true"]
    assert from_pairs(pairs).values == {
        **{"a": 3, "b": [1, "x"], "c": "a & b | ~c", "d": "", "e": "1=2", "f": {"k": 0.5}, "g": "2024-99-99"},
        **{"h": "07", "i": "[", "j": True},
    }
    assert from_pairs(["a=3"]).place("a") == "--set: "


@pytest.mark.parametrize("pair", ["a", "=3", ""])
def test_flags_need_a_key_and_a_value(pair: str) -> None:
    with pytest.raises(ConfigError, match="expected KEY=VALUE"):
        from_pairs([pair])


def test_flags_go_on_top_of_files(tmp_path: Path) -> None:
    merged = load_yaml(written(tmp_path, "masts: 2\nname: Wayfarer")).merge(from_pairs(["masts=0"]))
    assert merged.values == {"masts": 0, "name": "Wayfarer"}
    with pytest.raises(ConfigError, match=r"^--set: masts: Input should be .* 1 \(given: 0\)$"):
        validate(Ship, merged)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mast: 2", "^ship.yaml line 1: unknown key 'mast'; did you mean 'masts'"),
        ("name: Argo\nmasts: 0", "^ship.yaml line 2: masts: .*greater than or equal to 1"),
        ("masts: many", "^ship.yaml line 1: masts: .*valid integer"),
        ("\ncrew: [Ann, 3]", "^ship.yaml line 2: crew.1: .*valid string"),
        ("masts: 1\nmasts: 2", "^ship.yaml line 2: 'masts' is given twice"),
        ("masts: [1\nname: x", "^ship.yaml line 2: "),
        ("- 1\n- 2", "expected 'key: value' lines"),
        ("masts", "expected 'key: value' lines"),
        ("3: 4", "with text keys"),
        ("? [a]\n: 4", "unhashable key"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("a: 2024-99-99", "^ship.yaml: month must be"),
        (b"a: \x00", "not YAML"),
        (b"\xff\xfe\xff", "is not UTF-8 text"),
    ],
)
def test_files_that_do_not_fit_are_refused(text: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        validate(Ship, load_yaml(written(tmp_path, text)))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"ship.yaml' cannot be read: No such file"):
        load_yaml(tmp_path / "ship.yaml")
    with pytest.raises(ConfigError, match="Is a directory"):
        load_yaml(tmp_path)


def test_words_that_yaml_takes_for_truth_values_are_words_as_keys(tmp_path: Path) -> None:
    text = "on: [a]\nmodels:\n  - {on: yes, no: 1}\n  - &same {off: [x]}\n  - *same\n"
    values = load_yaml(written(tmp_path, text)).values
    assert values["on"] == ["a"] and values["models"] == [{"on": True, "no": 1}, {"off": ["x"]}, {"off": ["x"]}]
    load_yaml(written(tmp_path, "a: &loop [*loop]"))  # an alias of itself ends


def test_keys_are_renamed_with_their_places_and_a_key_may_keep_its_name() -> None:
    settings = Settings({"n": 1, "k": 2, "z": None}, {"n": "file line 1", "k": "file line 2"})
    assert settings.rename_keys({"n": "n", "k": "size", "x": "y"}) == Settings(
        {"n": 1, "size": 2, "z": None}, {"n": "file line 1", "size": "file line 2"}
    )
    assert settings.without(["z", "x"]).values == {"n": 1, "k": 2} and settings.only(["z"]).values == {"z": None}
    assert settings.without(["n"]).place("k") == settings.only(["k"]).place("k") == "file line 2: "
    with pytest.raises(ConfigError, match="^file line 1: 'n' and 'k' mean the same; give one of them$"):
        settings.rename_keys({"n": "k"})
    assert settings.merge(Settings({"n": 5, "q": 6}, {"n": "--set"})) == Settings(
        {"n": 5, "k": 2, "z": None, "q": 6}, {"n": "--set", "k": "file line 2"}
    )


def test_settings_that_came_later_are_recorded_where_they_are_not_the_default() -> None:
    class Old(Config):
        came_later: ClassVar[tuple[str, ...]] = ("new",)
        old: int = 1
        new: int = 2

    assert Old().recorded() == {"old": 1} and Old(new=3).recorded() == {"old": 1, "new": 3}


def test_entries_of_a_list_have_places_too(tmp_path: Path) -> None:
    places = load_yaml(written(tmp_path, "x:\n  - p: 1\n    q:\n      r: 2\n  - 7\n")).places
    lines = {"x": 1, "x.0": 2, "x.0.p": 2, "x.0.q": 3, "x.1": 5}
    assert places == {place: f"ship.yaml line {line}" for place, line in lines.items()}


def test_only_words_that_are_known_are_replaced() -> None:
    words = {"mode": {"fast": {"epochs": 1, "way": "b"}}, "way": {"b": {"lr": 0.5}}}
    for kept in ({"mode": ["fast"]}, {"mode": {"fast": 1}}, {"mode": None}, {"way": "c"}, {"other": "fast"}):
        assert Settings(kept).replace_words(words).values == kept
    assert Settings({"mode": "fast", "k": 1}).replace_words(words).values == {"epochs": 1, "lr": 0.5, "k": 1}


def test_words_are_kept_in_every_part_of_a_file(tmp_path: Path) -> None:
    text = "first: {on: {no: 1}}\nmiddle: [{off: 2}, [{yes: 3}]]\nlast: 4\ny: on\nYes: {true: 5}\n"
    with pytest.raises(ConfigError, match="with text keys"):
        load_yaml(written(tmp_path, "true: 5\n"))
    assert load_yaml(written(tmp_path, text)).values == {
        "first": {"on": {"no": 1}}, "middle": [{"off": 2}, [{"yes": 3}]], "last": 4, "y": True, "Yes": {True: 5},
    }  # fmt: skip


def test_the_first_of_several_faults_is_told() -> None:
    with pytest.raises(ConfigError, match=r"^masts: .* 1 \(given: 0\)$"):
        validate(Ship, Settings({"masts": 0, "name": 3}))
    with pytest.raises(ConfigError, match=r"^here: crew.1: .*\(given: 7\)$"):
        validate(Ship, Settings({"crew": ["a", 7]}, {"crew": "here", "1": "there"}))


def test_texts_below_settings_are_those_of_the_last_class() -> None:
    class First(Config):
        deep: int = 1
        """Old."""
        wide: int = 2
        """Wide."""

    class Second(First):
        deep: int = 3
        """New."""

    assert describe_settings(Second) == {
        "deep": {"default": 3, "help": "New."},
        "wide": {"default": 2, "help": "Wide."},
    }


def test_names_are_compared_as_they_are() -> None:
    assert check_names(["A", "b"], ["b", "A", "c"], "thing") == ["A", "b"]
    with pytest.raises(ValueError, match="no thing named 'a'"):
        check_names(["a"], ["A"], "thing")
    for names in (["b", "b"], []):
        with pytest.raises(ValueError, match="one or more different names"):
            check_names(names, ["b"], "thing")


def test_keys_of_flags_are_stripped_however_their_values_are_read() -> None:
    found = from_pairs([" a = 3", " i =[", "b= x y ", "a=4"], "--with")
    assert found.values == {"a": 4, "i": "[", "b": "x y"} and found.place("i") == "--with: "
