"""The pipelines of docs/yaml.md on Prism: the same versions and mixtures as locally."""

import json
import re
import sys

import pytest
from runners.processes import Server
from runners.replays import finish
from runners.tools import ROOT

from beam_topics.model.publishing.store import ModelStore

pytest.importorskip("quickjs")
pytest.importorskip("docstring_parser")

THEMES = (("ship", "sea", "harbour", "sail"), ("court", "judge", "law", "jury"))


def run(folder, text, *flags):
    """Run a pipeline in a folder by the command of the page."""
    command = [sys.executable, "-m", "apache_beam.yaml.main", f"--yaml_pipeline={text}", *flags]
    with Server("pipeline", command, folder, {"PYTHONPATH": str(ROOT)}, folder) as pipeline:
        finish(pipeline, 300)


def outcome(folder, *flags):
    """Train and label in a folder, and return the versions and the mixtures."""
    folder.mkdir()
    rows = [
        {
            "id": f"d{n}",
            "timestamp": f"2020-01-{1 + n // 4:02d}T{n % 4:02d}:00:00Z",
            "text": " ".join(THEMES[n % 2][(n + k) % 4] for k in range(6)),
        }
        for n in range(60)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "documents.jsonl").write_text(lines)
    page = (ROOT / "docs" / "yaml.md").read_text()
    for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        run(folder, text, *flags)
    store = ModelStore(str(folder / "models"))
    mixtures = [line for path in folder.glob("mixtures*") for line in path.read_text().splitlines()]
    return [manifest.version for manifest in store.manifests("")], sorted(mixtures)


def test_a_yaml_pipeline_on_prism(prism, tmp_path):
    local = outcome(tmp_path / "local", "--runner=DirectRunner")
    flags = ["--runner=PrismRunner", f"--prism_location={prism}"]
    assert outcome(tmp_path / "prism", *flags) == local and len(local[1]) == 60
