"""The lock file of the worker image has what the project requires, and nothing unchecked."""

import ast
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
ENTRY = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+) \\\n((?:    --hash=\S+(?: \\)?\n)+)", re.MULTILINE
)
LOCKED = {canonicalize_name(name): version for name, version, _ in ENTRY.findall(LOCK)}


def wanted():
    """The lines of requirements.txt, and those of the extras that the image has."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    setup = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (extras,) = (
        node.value
        for node in ast.walk(setup)
        if isinstance(node, ast.keyword) and node.arg == "extras_require"
    )
    found = ast.literal_eval(extras)
    return (
        [line for line in lines if line and not line.startswith("#")]
        + found["gcp"]
        + found["kafka"]
        + ["setuptools>=68"]
    )


@pytest.mark.parametrize("line", wanted())
def test_every_requirement_is_locked_within_its_bounds(line):
    requirement = Requirement(line)
    assert requirement.specifier.contains(LOCKED[canonicalize_name(requirement.name)]), (
        "run: make lock"
    )


def test_every_entry_has_a_version_and_hashes_and_nothing_else_is_there():
    rest = ENTRY.sub("", LOCK)
    assert len(LOCKED) > 50
    assert [
        line for line in rest.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ] == []
    for _, _, hashes in ENTRY.findall(LOCK):
        assert all(
            re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", part)
            for part in hashes.replace("\\", "").split()
        )


def test_no_registry_is_named():
    assert not re.search(r"://|index|trusted|find-links", LOCK)


def test_the_image_installs_from_the_lock_as_a_user_of_its_own_on_a_base_by_digest():
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    lines = [
        line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")
    ]
    installs = [line for line in lines if "pip install" in line]
    assert "--require-hashes -r /src/requirements.lock" in installs[0]
    assert all("--require-hashes" in line or "--no-index --no-deps" in line for line in installs)
    assert [line for line in lines if line.startswith("USER")] == ["USER topics"]
    assert re.search(r"^FROM \S+@\$\{BASE_DIGEST\} AS worker$", text, re.MULTILINE)
    assert "ARG BASE_DIGEST" in lines
