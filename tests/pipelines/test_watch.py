"""``watch``: what it refuses before it begins, and with a real child, socket and signal."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from beam_topics.model.publishing.store import ModelStore  # noqa: E402
from beam_topics.pipelines import train, watch  # noqa: E402
from beam_topics.pipelines.__main__ import main  # noqa: E402
from beam_topics.pipelines.cli.arguments import arranged  # noqa: E402
from beam_topics.pipelines.cli.command import parse  # noqa: E402

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a file of documents."""
    words = ["ship sailed harbour", "judge court verdict", "flour oven bread"]
    rows = [f"{n},2024-01-{1 + n // 10:02d},{words[n % 3]} {words[n % 2]}" for n in range(300)]
    (tmp_path / "data.csv").write_text("\n".join(["id,timestamp,text", *rows, ""]))
    (tmp_path / "empty.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("data.csv --topisc=4", "Did you mean --topics?"),
        ("data.csv --top_words=4", "watch has no such option, only other commands have"),
        ("data.csv --port=0", "--port: 0 was given; allowed is"),
        ("empty.csv", "empty.csv"),
        ("", "--model_store is missing. Give it, for example --model_store=models, or beam-topics"
            " watch data.csv"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_before_anything_begins(folder, capsys, line, said):
    assert main(["watch", *line.split()]) == 2
    told = capsys.readouterr().err
    assert said in told and "http://" not in told and "Traceback" not in told
    assert not list(folder.glob("*.topics"))


@pytest.mark.parametrize("command", ["watch data.csv", "serve --model_store=models"])
def test_a_port_that_is_taken_is_told(folder, capsys, monkeypatch, command):
    monkeypatch.setattr("beam_topics.pipelines.service.models.Models.check_any", lambda self: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([*command.split(), f"--port={port}"]) == 2
    wanted = f"--port: {port} was given; allowed is a port that is free. Give another, such as "
    assert wanted in capsys.readouterr().err
    assert not list(folder.glob("*.topics"))


@pytest.mark.parametrize("host", ["256.0.0.1", "203.0.113.7"])
def test_an_address_of_another_machine_is_told(folder, capsys, host):
    assert main(["watch", "data.csv", f"--host={host}"]) == 2
    wanted = f"--host: '{host}' was given; allowed is an address of this machine. Give 127.0.0.1"
    assert wanted in capsys.readouterr().err


def line_of(given):
    """The command line of the child."""
    argv = arranged(given, "watch", watch.GROUPS).argv
    return watch.line_of(parse(argv, "watch", "", watch.GROUPS, train.REQUIRED, graph=False))


@pytest.mark.parametrize("store", ["gs://b/run/models", "elsewhere"])
def test_the_child_takes_the_options_of_train_without_those_of_the_service(store):
    given = [f"--model_store={store}", "--dead_letters=d", "--topics", "4", "--seed=3"]
    service = ["--port=1", "--host", "::1", "--rate=2"]
    kept = ["train", *given[:2], "--topics=4", "--seed=3"]
    assert line_of([*given[:2], *service, *given[2:]]) == kept


def test_the_child_labels_into_the_folder_of_the_run():
    given = ["--model_store=run/models", "--dead_letters=d", "--window=2d"]
    places = ["--output=run/mixtures", "--trends=run/trends", "--events=run/events"]
    window = "--trends_window=2d"
    assert line_of(given) == ["stream", *given, *places, window]
    # Shorter windows have no bursts.
    assert line_of([*given, "--window=1s"])[-1] == "--trends_window=1min"
    kafka = [*given, "--source=kafka", "--events=kafka:alarms"]
    assert line_of(kafka) == ["stream", *kafka, *places[:2], window, "--file_period=2d"]
    kafka.append("--file_period=1h")
    assert line_of(kafka) == ["stream", *kafka, *places[:2], window]


@contextmanager
def watching(*options):
    """Yield the process of ``watch``, its address, and the lines that it prints."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    line = [sys.executable, "-m", "beam_topics", "watch", "data.csv", f"--port={port}", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        line, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:  # fmt: skip
        try:
            yield process, f"http://127.0.0.1:{port}", process.stderr
        finally:
            process.send_signal(signal.SIGINT)


def told(lines, part):
    """Return the lines up to one with this part."""
    found = []
    for line in lines:
        found.append(line)
        if part in line:
            return "".join(found)
    raise AssertionError(f"{part!r} is not in {''.join(found)}")


@pytest.mark.slow
def test_the_page_is_there_from_the_first_version_on_until_an_interrupt(folder):
    with watching("--topics=3", "--publish_every=10d") as (process, address, lines):
        told(lines, f"beam-topics watch: {address}/ (Ctrl-C ends it)")
        with httpx.stream("GET", f"{address}/follow", timeout=300) as following:
            events = following.iter_lines()
            first = next(events)
            assert re.fullmatch("data: [0-9]{12}-[0-9a-f]{16}", first)
            assert "EventSource" in httpx.get(address, timeout=60).text
            said = told(lines, "the page stays until Ctrl-C")
            assert "beam-topics watch: training has ended" in said
            assert "Next: beam-topics show data.topics" in said
            # The programs that follow have what ``train`` would leave them.
            assert {path.name for path in (folder / "data.topics").iterdir()} >= {
                "models", "run.yaml", "profile.json", "mixtures", "trends"
            }  # fmt: skip
            newest = ModelStore("data.topics/models").latest("").version
            # The page has the windows that were labelled.
            next(one for one in events if one.startswith(f"data: {newest}."))
            assert '"judged":true' in httpx.get(address, timeout=60).text
            process.send_signal(signal.SIGINT)
            assert {one.partition(".")[0] for one in events} <= {"", f"data: {newest}"}
        assert "beam-topics watch: interrupted." in lines.read()
    assert process.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_training_ends_with_it(folder, number, status):
    # The child begins to import, or reads, or learns: each of them ends.
    with watching("--topics=3") as (process, address, lines):
        told(lines, address)
        (child,) = children_of(process.pid)
        process.send_signal(number)
        process.wait()
        assert "Traceback" not in lines.read()
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
    assert process.returncode == status


def children_of(process):
    """The numbers of the processes that a process has started, when there is one."""
    found = []
    while not found:
        found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return list(map(int, found))


@pytest.mark.slow
def test_an_interrupt_names_one_command_which_goes_on(folder):
    days = [f"{date(2025, 1, 1) + timedelta(day)}" for day in range(1000)]
    with (folder / "data.csv").open("a") as file:
        # Training takes minutes, and is interrupted soon.
        file.writelines(f"{day} {n},{day},flour oven bread\n" for day in days for n in range(10))
    with watching("--topics=3", "--publish_every=1d") as (process, address, lines):
        told(lines, address)
        with httpx.stream("GET", f"{address}/follow", timeout=300) as following:
            # The first version is there, and learning goes on.
            next(following.iter_lines())
            process.send_signal(signal.SIGINT)
        process.wait()
        said = lines.read()
    (command,) = re.findall("To go on: (.*)", said)
    assert command.startswith("beam-topics watch data.csv --port=")
    assert "beam-topics watch: interrupted. The page has ended with its training." in said
    assert process.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--topics=0", "--silent_after=1h"])
def test_training_that_fails_ends_it_with_its_message_and_status(folder, option):
    with watching(option) as (process, _, lines):
        process.wait()
        said = lines.read()
    assert process.returncode == 2 and "Traceback" not in said
    assert f"beam-topics stream: {option.partition('=')[0]}: " in said.splitlines()[-1]
