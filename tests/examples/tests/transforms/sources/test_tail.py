"""``--source=tail``: the laws of a log."""

import json

from log_battery import check_laws

from beam_topics.model.reading.settings import ParseSettings
from beam_topics.pipelines.graphs.sources.tail import TailDoFn


def test_the_laws_of_a_log(tmp_path):
    file, size = tmp_path / "posts.jsonl", 0
    for id in ("a", None, "b", "c"):
        row = json.dumps({"id": id, "timestamp": 0, "text": "ship"}) if id else "no JSON"
        size += file.open("a").write(f"{row}\n")
    file.open("a").write('{"id": "behind the end"')
    check_laws(lambda: TailDoFn(str(file), size, ParseSettings(), None), b"", ["a", None, "b", "c"])
