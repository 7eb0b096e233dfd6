import pytest
from runners import tools
from runners.processes import Server, free_port, listening, run_until
from runners.tools import Recipe, Unavailable, tool


@pytest.fixture(autouse=True)
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("BEAM_TOPICS_TOOLS", str(tmp_path / "tools"))
    monkeypatch.setattr(tools, "_FAILED", {})


def recipe(monkeypatch, make):
    monkeypatch.setitem(tools.RECIPES, "hammer", Recipe("1", "head", make))


def test_a_tool_is_made_once(monkeypatch):
    made = []

    def make(place):
        made.append(place)
        (place / "head").write_text("iron")

    recipe(monkeypatch, make)
    assert tool("hammer").read_text() == "iron"
    assert tool("hammer") == tools.folder() / "hammer-1" / "head"
    assert len(made) == 1


def test_what_cannot_be_had_is_said_in_one_line_and_not_tried_again(monkeypatch):
    tried = []

    def make(place):
        tried.append(place)
        (place / "half").write_text("")
        tools.fetch("sh", "-c", "echo first; echo no such package; exit 3", where=place)

    recipe(monkeypatch, make)
    for _ in range(2):
        with pytest.raises(Unavailable, match="^sh could not fetch it: no such package$"):
            tool("hammer")
    assert len(tried) == 1
    assert sorted(path.name for path in tools.folder().iterdir()) == ["hammer.lock"]


def test_a_missing_program_is_named():
    with pytest.raises(Unavailable, match="^no-such-program is not installed on this machine$"):
        tools.program("no-such-program")


def test_a_server_is_stopped_with_what_it_started(tmp_path):
    with Server("parent", ["sh", "-c", "sleep 600 & echo $! ; wait"], tmp_path) as parent:
        child = int(run_until(parent.output, 10, "the child", parent))
    run_until(lambda: not _alive(child), 10, "the child's end")
    assert not parent.running


def _alive(pid):
    stat = tools.Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().split()[2] != "Z"


def test_a_server_that_ends_early_is_reported_with_what_it_said(tmp_path):
    early = pytest.raises(AssertionError, match="short ended with 4 before its start:\nno memory")
    with Server("short", ["sh", "-c", "echo no memory; exit 4"], tmp_path) as short, early:
        run_until(lambda: False, 10, "its start", short)


def test_waiting_has_an_end():
    port = free_port()
    with pytest.raises(AssertionError, match=r"a listener did not come within 0.2 s"):
        run_until(lambda: listening(port), 0.2, "a listener")
