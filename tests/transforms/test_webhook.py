"""Events reach a receiver of this machine, or the dead letters with the reason."""

import hashlib
import hmac
import json

import apache_beam as beam
import pytest
from collecting import run
from receiving import receiver

from beam_topics.model.errors import OptionError
from beam_topics.model.reporting.webhook import SECRET, Post
from beam_topics.model.stored import wire
from beam_topics.transforms import send
from beam_topics.transforms.send import PAUSES, PostDoFn, PostEvents, opener_of, refusal_of

RECORD = {
    "key": "k",
    "version": "v1",
    "time": "2026-01-05T00:00:00Z",
    "kind": "birth",
    "documents": 12,
    "topics": [3],
    "names": [],
    "stories": [],
    "by": "wagers",
    "figures": {},
    "words": [["sea", "ship"]],
    "words_before": [],
}


def event(number):
    return wire.canonical_json({**RECORD, "number": number}).encode()


def posted(answers, numbers=(0,)):
    """Return what the receiver got, the reasons of dead letters, and the pauses."""
    pauses = []
    with receiver(answers) as (url, got):
        fn = PostDoFn(url, pauses.append)
        fn.setup()
        fn.start_bundle()
        letters = [json.loads(out.value) for n in numbers for out in fn.process(event(n))]
    for letter in letters:
        assert letter["reason"] == "event_not_delivered" and json.loads(letter["record"])
    return got, [letter["detail"] for letter in letters], pauses


def test_events_are_posted_with_their_names_and_signatures(monkeypatch):
    monkeypatch.setenv(SECRET, "shared")
    sent = [event(n) for n in range(3)]
    with receiver([]) as (url, got):
        found, counters = run(
            lambda pipeline: {"dead": pipeline | beam.Create(sent) | PostEvents(url)}
        )
    assert not found["dead"] and counters["events_written"] == 3
    assert sorted(body for _, body, _ in got) == sent
    for path, body, headers in got:
        assert path == "/events" and headers["Content-Type"] == "application/json"
        signature = hmac.new(b"shared", body, hashlib.sha256).hexdigest()
        assert headers["X-Hub-Signature-256"] == f"sha256={signature}"
        name = f'["k","v1",{json.loads(body)["number"]}]'
        assert headers["Idempotency-Key"] == hashlib.sha256(name.encode()).hexdigest()


@pytest.mark.parametrize("answer", [None, 429, 500, 503])
def test_what_may_pass_is_repeated_under_the_same_name(answer):
    got, why, pauses = posted([answer, answer])
    assert not why and pauses == list(PAUSES[:2])
    assert len({headers["Idempotency-Key"] for _, _, headers in got}) == 1 and len(got) == 3


@pytest.mark.parametrize("status", [301, 302, 307, 308, 400, 401, 404, 410])
def test_what_is_refused_is_a_dead_letter_at_once(status):
    got, why, pauses = posted([status])
    assert why == [f"HTTP status {status}"] and not pauses
    assert [path for path, _, _ in got] == ["/events"]


def test_a_receiver_that_is_down_holds_a_bundle_up_once():
    most = 1 + len(PAUSES)
    got, why, pauses = posted([503] * (most + 1), range(4))
    assert why == ["HTTP status 503"] * 2 and pauses == list(PAUSES)
    assert len(got) == most + 1 + 2


def test_a_receiver_that_came_back_is_asked_again():
    most = 1 + len(PAUSES)
    _, why, pauses = posted([503] * most + [204, 503], range(3))
    assert len(why) == 1 and pauses == [*PAUSES, PAUSES[0]]


def test_no_receiver_is_a_dead_letter_and_the_job_goes_on():
    with receiver([]) as (url, _):
        pass
    found, counters = run(
        lambda pipeline: {"dead": pipeline | beam.Create([event(0)]) | PostEvents(url, _none)}
    )
    ((_, letter),) = found["dead"]
    assert json.loads(letter)["source"] == 'event ["k","v1",0]'
    assert json.loads(letter)["detail"].startswith("no answer: ConnectionRefusedError")
    assert counters["dead_event_not_delivered"] == 1 and "events_written" not in counters


def _none(seconds):
    pass


def test_a_receiver_that_says_nothing_is_left(monkeypatch):
    monkeypatch.setattr(send, "TIMEOUT", 0.05)
    with receiver([]) as (url, _):
        # The receiver waits for a body that does not come.
        post = Post(url, b"{}", {"Content-Length": "3"})
        why, again = refusal_of(opener_of(url), post)
    assert again and why.startswith("no answer: TimeoutError")


def test_a_worker_without_the_secret_says_so(monkeypatch):
    monkeypatch.delenv(SECRET, raising=False)
    with pytest.raises(
        OptionError, match=rf"^--events: 'https://a' .* whose secret is in .*{SECRET}"
    ):
        PostDoFn("https://a").setup()
