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
from beam_topics import siblings

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow
CSV = "headline,date\n" + "".join(
    f"the ship of {n} came into the harbour,20{n:02d}-03-01\n" for n in range(1, 40)
)
FIT = """
import beam_topics
model = beam_topics.TopicModel(topics=2, initial="none").fit(["a ship", "a harbour"] * 20)
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
    packages = ("beam_topics", "model", "pipelines", "transforms")
    about = f"{wheel.name.partition('-py3')[0]}.dist-info"
    assert {name.partition("/")[0] for name in names} == {*packages, about}
    for package in packages:
        assert f"{package}/py.typed" in names
        sources = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py")}
        own = {name for name in names if name.startswith(f"{package}/") and name.endswith(".py")}
        assert own == sources
    assert {"pipelines/pages/static/main.js"} <= set(names)


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
    flags = ("--topics=2", "--initial=none")
    assert "posts.topics/models" in said(command, "train", "posts.csv", *flags, where=home).stderr
    assert "harbour" in said(command, "show", "posts.topics", where=home).stdout
    fitted = said(installed / "python", "-c", FIT, where=home).stdout
    assert fitted.startswith(str(installed.parent)) and "harbour" in fitted


@pytest.mark.parametrize("name", siblings.PACKAGES)
def test_a_folder_of_the_same_name_is_refused(installed, tmp_path, name):
    (tmp_path / "home" / name).mkdir(parents=True)
    (tmp_path / "home" / name / "__init__.py").write_text('"""Another one."""\n')
    done = said(installed / "python", "-m", "beam_topics", where=tmp_path / "home", status=1)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: beam-topics needs its own package '{name}' in ")
    assert f"Python finds it at {tmp_path / 'home' / name / '__init__.py'}" in last
    # The command looks into its environment first.
    assert said(installed / "beam-topics", where=tmp_path / "home").stdout


@pytest.mark.parametrize("name", siblings.PACKAGES)
def test_a_distribution_that_wrote_over_a_package_is_refused(installed, tmp_path, name):
    (place,) = installed.parent.glob(f"lib/*/site-packages/{name}/__init__.py")
    own = place.read_text()
    place.write_text('"""Another one."""\n')
    try:
        done = said(installed / "beam-topics", "--help", where=tmp_path, status=1)
    finally:
        place.write_text(own)
    assert f"another distribution has written its own to {place}" in done.stderr.splitlines()[-1]


def test_the_editable_environment_of_these_tests_is_accepted():
    siblings.check_siblings()
