"""Exports are read by the programs that they are for, where these are on the machine."""

import shutil
import subprocess
from collections import Counter

import numpy as np
import pytest
from exported import learned
from runners import tools
from runners.conftest import HERE, or_skip

from beam_topics.model.reporting.exports import to_mallet

MALLET = "2.1.1"


def _mallet(place):
    shutil.copy(tools.ROOT / "benchmarks" / "mallet" / "pom.xml", place)
    goal = ("dependency:copy-dependencies", "-DoutputDirectory=.")
    tools.fetch(tools.program("mvn"), "-B", "-q", *goal, where=place)


@pytest.fixture
def jars(monkeypatch):
    monkeypatch.setitem(tools.RECIPES, "mallet-jars", tools.Recipe(MALLET, ".", _mallet))
    with or_skip():
        tools.program("java")
        return tools.tool("mallet-jars")


def test_mallet_reads_its_state(jars, tmp_path):
    """Its prior and all of its counts are those of the model."""
    exported = learned(tmp_path / "models", learner="batch-gibbs", births=None, sweeps=40)
    snapshot, state = exported.snapshot, tmp_path / "state.gz"
    state.write_bytes(to_mallet(exported))
    given = ["java", "-cp", f"{jars}/*", str(HERE / "mallet" / "ReadState.java"), str(state), "2"]
    said = subprocess.run(given, capture_output=True, text=True, check=True).stdout.splitlines()
    alpha, beta, *rows = (line.split(" ") for line in said)
    every = np.arange(len(snapshot.words))
    assert list(map(float, alpha[1:])) == snapshot.alpha.tolist()
    assert float(beta[1]) == float(np.mean(snapshot.prior.shares(every)))
    found = Counter({(word, int(topic)): int(count) for word, topic, count in rows})
    dense = snapshot.rows(every)
    wanted = {
        (word, topic): int(dense[row, topic])
        for row, word in enumerate(snapshot.words)
        for topic in range(snapshot.topic_count)
        if dense[row, topic]
    }
    assert dict(found) == wanted and sum(wanted.values()) == snapshot.counts.sum()
