"""The wheel and the source distribution, in an environment of their own."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from runners.conftest import or_skip
from runners.test_sdist import clean_python, distribution
from runners.tools import fetch

import beam_topics

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow
CSV = "headline,date\n" + "".join(
    f"the ship of {n} came into the harbour,20{n:02d}-03-01\n" for n in range(1, 40)
)
FIT = """
import beam_topics
model = beam_topics.TopicModel(topics=2).fit(["a ship", "a harbour"] * 20)
print(beam_topics.__file__, model.top_words(1))
"""


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return distribution(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """The wheel, built from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    with or_skip():
        fetch(sys.executable, "-m", "pip", "wheel", "--no-deps", str(sdist), where=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of the programs of an environment that has the wheel."""
    python = clean_python(tmp_path_factory.mktemp("environment"))
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel], check=True
    )
    return python.parent


def said(*command, where, status=0):
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def test_the_wheel_has_everything_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    about = f"{wheel.name.partition('-py3')[0]}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"beam_topics", about}
    folders = (
        "beam_topics",
        "beam_topics/model",
        "beam_topics/pipelines",
        "beam_topics/transforms",
    )
    sources = {
        str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.py")
    }
    assert {name for name in names if name.endswith(".py")} == sources
    assert {"beam_topics/py.typed", "beam_topics/pipelines/pages/static/main.js"} <= set(names)


def test_the_metadata(wheel, sdist):
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith("/METADATA"))
        found = Parser().parsestr(file.read(name).decode())
    assert found["Name"] == "beam-topics" and found["Version"] == beam_topics.__version__
    assert set(found["Requires-Python"].split(",")) == {">=3.11", "<3.14"}
    assert {"sklearn", "exports", "report"} <= set(found.get_all("Provides-Extra"))
    assert "Typing :: Typed" in found.get_all("Classifier")
    assert "pypi" not in str(found.get_all("Project-URL"))
    with tarfile.open(sdist) as archive:
        assert any(one.name.endswith("/requirements.txt") for one in archive)


def test_a_newcomer_comes_from_a_csv_to_topics(installed, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "posts.csv").write_text(CSV)
    command = installed / "beam-topics"
    assert "beam-topics train" in said(command, "--help", where=home).stdout
    flags = ("--topics=2",)
    assert "posts.topics/models" in said(command, "train", "posts.csv", *flags, where=home).stderr
    assert "harbour" in said(command, "show", "posts.topics", where=home).stdout
    fitted = said(installed / "python", "-c", FIT, where=home).stdout
    assert fitted.startswith(str(installed.parent)) and "harbour" in fitted


@pytest.mark.parametrize("initial", [True, False], ids=["packages", "folders"])
def test_it_works_beside_folders_of_the_same_names(installed, tmp_path, initial):
    home = tmp_path / "home"
    for name in ("model", "pipelines", "transforms"):
        (home / name).mkdir(parents=True)
        if initial:
            (home / name / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    (home / "posts.csv").write_text(CSV)
    for start in ([installed / "beam-topics"], [installed / "python", "-m", "beam_topics"]):
        assert "beam-topics train" in said(*start, "--help", where=home).stdout
    # Excel, Avro and Parquet are read in a child.
    flags = ("--topics=2",)
    command = [installed / "python", "-m", "beam_topics", "train", "posts.csv", *flags]
    assert "posts.topics/models" in said(*command, where=home).stderr
