"""The source distribution of ``--setup_file`` loads every step outside of the project."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import dataflow_jobs
import pytest
from dataflow_jobs import GRAPHS, job_of, pickles
from fake_gcs import FakeGcs
from runners.conftest import or_skip
from runners.tools import ROOT, fetch

from beam_topics.model.publishing import gcs

PARTS = (
    "setup.py",
    "pyproject.toml",
    "requirements.txt",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "model",
    "transforms",
    "pipelines",
    # It holds links to the three folders above.
    "beam_topics",
)
LOAD = """
import sys
from pathlib import Path
from apache_beam.internal import pickler
from beam_topics import model, pipelines, transforms
for package in (model, pipelines, transforms):
    assert package.__file__.startswith(sys.prefix), package.__file__
for path in sorted(Path(sys.argv[1]).glob("*.pickle")):
    pickler.loads(path.read_bytes())
    print(path.name)
"""


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """A folder with the pickles of all steps of all graphs."""
    folder = tmp_path_factory.mktemp("steps")
    with FakeGcs("bucket") as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv("STORAGE_EMULATOR_HOST", server.address)
        gcs._client.cache_clear()
        dataflow_jobs.prepare(folder)
        found = {data for name in GRAPHS for _, data in pickles(job_of(name, folder))}
    gcs._client.cache_clear()
    for number, data in enumerate(sorted(found)):
        (folder / f"{number:03}.pickle").write_bytes(data)
    return folder


def distribution(folder):
    """The source distribution of the project as it is now."""
    source = folder / "source"
    source.mkdir()
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(
                ROOT / part,
                source / part,
                symlinks=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )
        else:
            shutil.copy(ROOT / part, source / part)
    subprocess.run(
        [sys.executable, "setup.py", "-q", "sdist", "--dist-dir", folder],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (found,) = folder.glob("*.tar.gz")
    return found


def clean_python(folder):
    """A new environment with what the project needs, but without the project."""
    subprocess.run([sys.executable, "-m", "venv", folder / "clean"], check=True)
    python = folder / "clean" / "bin" / "python"
    where = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    # Packages are found there, but .pth files in it, such as that of an editable installation, are
    # not followed.
    Path(where.stdout.strip(), "needed.pth").write_text(
        sysconfig.get_path("purelib") + "\n", encoding="utf-8"
    )
    return python


def test_the_source_distribution_loads_every_step_of_every_graph(steps, tmp_path):
    archive, python = distribution(tmp_path), clean_python(tmp_path)
    before = subprocess.run(
        [python, "-c", LOAD, steps], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "No module named 'beam_topics'" in before.stderr
    with or_skip():
        fetch(str(python), "-m", "pip", "install", "--no-deps", str(archive), where=tmp_path)
    for package in ("model", "pipelines", "transforms"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    load = subprocess.run(
        [python, "-c", LOAD, steps], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert not load.returncode, load.stderr
    loaded = load.stdout.split()
    assert loaded == sorted(path.name for path in steps.glob("*.pickle"))
    assert len(loaded) > 40
