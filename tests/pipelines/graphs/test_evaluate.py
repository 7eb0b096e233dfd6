import pytest

from beam_topics.model.errors import OptionError
from beam_topics.pipelines import evaluate
from beam_topics.pipelines.cli.command import parse
from beam_topics.pipelines.graphs.evaluate import run_for_figures


def test_figures_of_workers_elsewhere_need_a_file_that_they_can_write():
    given = ["--model_store=m", "--held_out=a", "--dead_letters=d", "--runner=PrismRunner"]
    with pytest.raises(OptionError) as error:
        run_for_figures(
            lambda pipeline, options: None,
            parse(given, "evaluate", "", evaluate.GROUPS, {}),
            print,
        )
    allowed = (
        "a file that the runner's workers can write. Give for example"
        " --json=gs://bucket/figures.jsonl."
    )
    assert str(error.value) == f"--json: None was given; allowed is {allowed}"


def test_a_job_that_was_only_submitted_has_no_figures_yet(monkeypatch, tmp_path):
    monkeypatch.setattr(
        "beam_topics.pipelines.graphs.evaluate.run", lambda build, options, then: None
    )
    given = [
        "--held_out=x",
        "--model_store=x",
        "--dead_letters=x",
        f"--json={tmp_path / 'later.jsonl'}",
    ]
    shown = []
    run_for_figures(
        lambda pipeline, options: None,
        parse(given, "evaluate", "", evaluate.GROUPS, {}),
        shown.append,
    )
    assert shown == []
