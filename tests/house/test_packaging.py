"""Installed packages and their sources: bounds, the locked versions, and a source distribution that lacks nothing."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = {"dependencies": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
LOCKED = dict(
    line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line
)


def plain(name: str) -> str:
    """The name of a package as every index knows it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(extra: str) -> list[tuple[str, str]]:
    """The names of an extra's packages, each with its bounds."""
    found = []
    for text in NEEDED[extra]:
        match = re.match(r"([\w.-]+)(?:\[[\w,-]+\])?([^;]*)", text)
        assert match, text
        found.append((plain(match[1]), match[2]))
    return found


@pytest.mark.parametrize("extra", ["dependencies", "dev"])
def test_every_version_is_bounded_on_both_sides(extra: str) -> None:
    for name, bounds in requirements(extra):
        assert ">=" in bounds, name
        assert "<" in bounds.replace("<=", "").replace(">=", ""), name


@pytest.mark.parametrize("extra", ["dependencies", "dev"])
def test_the_locked_versions_are_within_the_bounds(extra: str) -> None:
    requirement = pytest.importorskip("packaging.requirements").Requirement
    locked = {plain(name): version for name, version in LOCKED.items()}
    for name, bounds in requirements(extra):
        assert requirement(f"{name}{bounds}").specifier.contains(locked[name]), name


def test_the_tests_install_every_extra() -> None:
    dev = {name for name, _ in requirements("dev")}
    for extra in ("zstd", "pytest"):
        assert {name for name, _ in requirements(extra)} <= dev, extra


def test_the_source_distribution_has_every_file_of_the_repository() -> None:
    taken = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    named = {word for line in taken if line.startswith(("graft ", "include ")) for word in line.split()[1:]}
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no git repository: this is a source distribution")
    tracked = {path.partition("/")[0] for path in done.stdout.splitlines()}
    assert tracked - named <= {"pyproject.toml"}


def test_ci_installs_the_locked_versions() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "LOCKED := --constraint constraints.txt" in makefile
    assert re.search(r"\$\(LOCKED\) --editable '\.\[dev\]'", makefile)
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert ".venv/.installed-dev" in ci
    assert "test-all" in ci


def test_the_citation_names_the_project_and_its_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["title"] == PROJECT["name"]
    assert citation["license"] == PROJECT["license"]
    assert PROJECT["version"].partition(".dev")[0] == str(citation["version"])
