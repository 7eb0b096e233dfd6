"""Addresses of webhooks: which are taken, and what is sent."""

import hashlib
import hmac
import json

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.reporting.webhook import SECRET, is_own, post_of, secret_of

FULL = "https://hooks.slack.com/services/T0/B0/x"


def test_secrets_that_are_missing_are_refused(monkeypatch):
    monkeypatch.delenv(SECRET, raising=False)
    assert secret_of("--events", "http://localhost:1/x") == ""
    for url in ("https://a/x", "https://hooks.slack.com"):
        with pytest.raises(OptionError, match=rf"{SECRET}\. Set it.* all workers\."):
            secret_of("--events", url)
    monkeypatch.setenv(SECRET, "s")
    assert secret_of("--events", "https://a/x") == "s"
    with pytest.raises(OptionError, match="Slack with the address of its webhook in"):
        secret_of("--events", "https://hooks.slack.com")
    monkeypatch.setenv(SECRET, FULL)
    assert secret_of("--events", "https://hooks.slack.com") == FULL
    assert is_own("http://LOCALHOST/x") and not is_own("http://localhost.example")


def test_what_is_sent_is_signed_and_named():
    post = post_of("https://a/x", "s", "é", b'{"a":1}', "text")
    assert post[:2] == ("https://a/x", b'{"a":1}')
    wanted = hmac.new(b"s", b'{"a":1}', hashlib.sha256).hexdigest()
    assert post.headers["X-Hub-Signature-256"] == f"sha256={wanted}"
    assert post.headers["Idempotency-Key"] == hashlib.sha256("é".encode()).hexdigest()
    assert "X-Hub-Signature-256" not in post_of("http://localhost", "", "n", b"", "").headers


def test_slack_gets_a_text_without_its_marks():
    post = post_of("https://hooks.slack.com", FULL, "n", b"{}", "<!channel> a & b")
    assert post.url == FULL and "X-Hub-Signature-256" not in post.headers
    assert json.loads(post.body) == {"text": "&lt;!channel&gt; a &amp; b"}
