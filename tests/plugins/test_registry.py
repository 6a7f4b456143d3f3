"""The registry: what is found, how a mistake is answered, and that a user's own file needs no registration."""

from __future__ import annotations

import inspect

import pytest

from bench.model.errors import SpecError
from bench.plugins import registry
from bench.plugins.registry import KINDS, Kind, Plugin, build, entries, entry, register


@pytest.fixture(autouse=True)
def same_registry_afterwards(monkeypatch):
    """Removes the plugins that a test registered."""
    for found in KINDS:
        entries(found)
    monkeypatch.setattr(registry, "_entries", {kind: dict(known) for kind, known in registry._entries.items()})


def write(folder, text, name="mine.py"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_misspelled_name_gets_the_nearest_names():
    register("store", "full_of_care")(lambda result: None)
    with pytest.raises(SpecError, match=r"unknown store 'full_of_car' — did you mean full_of_care\?"):
        entry("store", "full_of_car")
    with pytest.raises(SpecError, match="number"):
        register("numbers", "x")


def test_a_name_taken_by_something_else_is_refused_and_the_same_target_is_not():
    def one(result): ...
    def two(result): ...

    register("store", "taken")(one)
    register("store", "taken")(one)
    with pytest.raises(SpecError, match=r"store 'taken' is registered twice: .*one and .*two"):
        register("store", "taken")(two)


def test_the_description_of_an_entry_is_its_docstring():
    def documented(result, *, limit: int = 3, name: str):
        """First sentence.

        Source: 000 §3
        """

    item = Plugin("store", "documented", documented)
    assert item.doc.splitlines()[0] == "First sentence."
    assert item.source == "000 §3"
    settings = [(each.name, each.annotation, each.default) for each in item.parameters.values()]
    assert settings == [("limit", int, 3), ("name", str, inspect.Parameter.empty)]
    assert Plugin("store", "bare", lambda result: None).doc == ""
    assert Plugin("store", "bare", lambda result: None).source == ""
    assert Plugin("store", "bare", object).parameters == {}


# ---------------------------------------------------------------- the folder scan


@pytest.fixture
def scanned(tmp_path, monkeypatch):
    """A function that makes a kind of plug-in live in two new packages, one with a file of this text."""

    def make(name, text):
        for package in (name, f"{name}_too"):
            (tmp_path / package).mkdir()
            write(tmp_path / package, "", "__init__.py")
        write(tmp_path / name, text, "anything.py")
        write(tmp_path / name, "raise RuntimeError('private, not imported')", "_private.py")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(KINDS, "store", Kind((f"{name}_too", name)))

    return make


def test_a_new_file_in_a_plugin_folder_is_registered(scanned):
    scanned(
        "found_by_scan",
        "from bench.plugins.registry import register\n\n@register('store', 'new')\ndef new(result): ...\n",
    )
    assert entry("store", "new").target.__module__ == "found_by_scan.anything"


def test_a_file_that_cannot_be_imported_is_an_error_and_never_skipped(scanned):
    scanned("broken_by_scan", "import no_such_module_anywhere\n")
    with pytest.raises(SpecError, match=r"broken_by_scan\.anything.*no_such_module_anywhere"):
        entries("store")


# ---------------------------------------------------------------- parameters

SETTINGS = """
from __future__ import annotations


def typed(result, *, count: int = 3, share: float = 0.5, on: bool = False, name: str = "x", words: list[str] = [],
          most: int | None = None):
    return [count, share, on, name, words, most]


def for_the_checker(window: OnlyForTheTypeChecker, *, count: int = 3):
    return count


def by_default(result, *, count=3, share=0.5, on=False, name="x", free=None):
    return [count, share, on, name, free]


def needs(result, *, count: int):
    return count


def odd(result, *, count: list[int] | tuple[int, ...] = ()):
    return count



class Held:
    def __init__(self, *, limit: int = 3) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        self.limit, self.seen = limit, 0

    def put(self, result):
        self.seen += 1
        return [self.limit, self.seen]


constant = 3
"""


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path, SETTINGS)


@pytest.mark.parametrize(
    ("spec", "gives"),
    [
        ("typed", [3, 0.5, False, "x", [], None]),
        ("typed:count=7,share=1,on=true", [7, 1.0, True, "x", [], None]),
        ('typed:name="a,b",words=[p,"q r"],most=9', [3, 0.5, False, "a,b", ["p", "q r"], 9]),
        ("typed:most=null", [3, 0.5, False, "x", [], None]),
        ("by_default:count=7,share=1,on=false,name=3,free=4", [7, 1.0, False, "3", "4"]),
        ("for_the_checker:count=4", 4),
        ("needs:count=2", 2),
        ("Held:limit=5", [5, 1]),
    ],
)
def test_settings_become_values_of_their_type(folder, spec, gives):
    _, work = build("store", f"mine.py:{spec}", folder).start()
    assert work(None) == gives


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("typed:cuont=7", "has no parameter 'cuont' — did you mean count"),
        ("typed:count=many", "parameter count=many: Expected `int"),
        ("typed:count=1.5", "parameter count=1.5: Expected `int"),
        ("typed:on=perhaps", "parameter on=perhaps: Expected `bool"),
        ("typed:words=p", "parameter words=p: Expected `array"),
        ("typed:count=[1]", "parameter count=['1']: Expected `int"),
        ("by_default:count=many", "parameter count=many: Expected `int"),
        ("needs", "needs parameter count"),
        ("Held:limit=0", "limit must be at least 1, got 0"),
        ("odd:count=4", "parameter count has an annotation that cannot be read"),
        ("constant", "has no function 'constant'"),
        ("tyepd", "has no function 'tyepd' — did you mean typed?"),
    ],
)
def test_the_error_names_a_setting_of_the_wrong_type(folder, spec, says):
    with pytest.raises(SpecError) as caught:
        build("store", f"mine.py:{spec}", folder)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- by path and by module


@pytest.mark.parametrize(
    ("text", "spec", "says"),
    [
        (None, "none.py:f", "none.py: No such file or directory — paths are relative to"),
        ("def f(:\n", "bad.py:f", "bad.py:1: cannot be imported: SyntaxError"),
        ("import nothing_like_it\n", "bad.py:f", "bad.py:1: cannot be imported: ModuleNotFoundError"),
        ("raise SystemExit(9)\n", "bad.py:f", "bad.py:1: cannot be imported: SystemExit"),
        ("def f(r): ...\n", "bad.py", "name the function after a colon — known: f"),
        ("", "no_such_module_anywhere:f", "module 'no_such_module_anywhere' cannot be imported: ModuleNotFoundError"),
    ],
)
def test_the_error_names_a_broken_file_or_module(tmp_path, text, spec, says):
    if text is not None:
        write(tmp_path, text, "bad.py")
    with pytest.raises(SpecError) as caught:
        build("store", spec, tmp_path)
    assert says in str(caught.value)
