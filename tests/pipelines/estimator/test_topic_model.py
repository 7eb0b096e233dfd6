"""The estimator: input, parameters, pipelines, and its store."""

import json
import pickle
import re
from base64 import b64decode
from datetime import UTC, datetime

import fake_learner
import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from beam_topics import ModelStore, TopicModel, read_mixtures
from beam_topics.model.errors import OptionError, RefusedInputError, StoreConflictError
from beam_topics.model.evaluation.held_out import evaluate
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.pipelines import report, show, topics, train
from beam_topics.pipelines.cli.groups import UsageError
from beam_topics.pipelines.estimator import documents, parameters, views

TEXTS = [
    "the ship sailed into the harbour",
    "a harbour full of ships",
    "the court heard the judge",
    "judges of the high court",
] * 20
KINDS = [0, 0, 1, 1] * 20


def made(**others):
    return TopicModel(**{"topics": 2, "births": "off", **others})


@pytest.fixture(scope="module")
def model():
    return made().fit(TEXTS)


def test_topics_and_mixtures(model):
    found = model.transform(TEXTS)
    assert found.shape == (80, 2) and np.allclose(found.sum(axis=1), 1)
    assert model.components_.shape == (2, len(model.vocabulary_))
    counts = model.snapshot_.rows(np.arange(len(model.vocabulary_))).T
    for topic, words in enumerate(model.top_words(3)):
        # The words are ordered by count, and counts may be equal.
        shown = [counts[topic, model.vocabulary_.index(word)] for word in words]
        assert shown == sorted(counts[topic], reverse=True)[:3]
    named = {row["topic"]: f"{row['topic']} {row['name']}" for row in model.topics_table()}
    assert list(model.get_feature_names_out()) == [named[0], named[1]]


def test_a_notebook_shows_topics(model, tmp_path):
    rows = model.topics_table(3)
    assert [row["topic"] for row in rows] == [0, 1] or [row["topic"] for row in rows] == [1, 0]
    assert rows[0]["share"] >= rows[1]["share"] and sum(row["share"] for row in rows) == 1
    by_topic = dict(zip(model.topics_.tolist(), model.top_words(3), strict=True))
    assert all(row["words"] == " ".join(by_topic[row["topic"]]) for row in rows)
    first, *others = repr(model).splitlines()
    assert first.startswith("TopicModel(") and len(others) == 2 and rows[0]["words"] in others[0]
    assert repr(made()).startswith("TopicModel(") and "\n" not in repr(made())


def test_what_is_hidden_or_merged_is_so_in_a_notebook(tmp_path):
    root = str(tmp_path / "models")
    model = made(model_store=root).fit(TEXTS)
    assert topics.main([f"--model_store={root}", "--topic_ids=1", "--hide=true"]) == 0
    assert [row["topic"] for row in model.topics_table()] == [0]
    assert len(repr(model).splitlines()) == 2


def test_many_topics_are_not_all_listed():
    rows = [{"topic": n, "share": 0.02, "words": "a b"} for n in range(50)]
    found = views.lines(rows)
    assert len(found) == 21 and found[-1].strip() == "and 30 smaller topics"


def test_a_notebook_shows_the_page_of_the_report(tmp_path):
    pytest.importorskip("jinja2")
    model = made(model_store=str(tmp_path / "models")).fit(TEXTS)
    page, output = model.explore(), tmp_path / "page.html"
    named = [f"--model_store={tmp_path / 'models'}", f"--output={output}", "--title=Topics"]
    assert report.main(named) == 0 and page.html == output.read_text(encoding="utf-8")
    before, data, _ = re.split(r"base64,([^\"]+)", page._repr_html_())
    assert before.startswith('<iframe src="data:text/html')
    assert b64decode(data.partition("#")[0]).decode() == page.html
    assert '#/time" sandbox=' in model.plot_over_time()._repr_html_()


def test_components_are_the_models_probabilities(model):
    shares = model.components_ / model.snapshot_.normalisers[:, None]
    unseen = 1 - shares.sum(axis=1)
    assert np.all(unseen > -1e-12)
    rows = np.arange(len(model.vocabulary_))
    counts = model.snapshot_.rows(rows).T
    assert np.all(model.components_ >= counts)


def test_score_and_perplexity_are_those_of_evaluate(model):
    tokeniser = Tokeniser(model.snapshot_.tokeniser)
    figures = evaluate(model.snapshot_, documents.to_label(TEXTS, None, tokeniser))
    assert model.perplexity(TEXTS) == figures["first_moment_perplexity"]
    assert model.score(TEXTS) == pytest.approx(
        -figures["scored_tokens"] * np.log(figures["first_moment_perplexity"])
    )


def test_tokens_are_left_as_they_are(model):
    tokeniser = Tokeniser(model.snapshot_.tokeniser)
    tokens = [tokeniser.words(text) for text in TEXTS]
    again = made().fit(iter(tokens))
    assert again.snapshot_.words == model.snapshot_.words
    assert np.array_equal(again.components_, model.components_)
    assert made().fit([["The", "THE", "the"]] * 30).vocabulary_ == ("The", "THE", "the")


def test_times_may_be_written_in_several_ways(model):
    times = [datetime(2020, 1, 1 + n // 8, tzinfo=UTC) for n in range(80)]
    found = {
        made(window="1d", publish_every="2d").fit(TEXTS, times=given).snapshot_.fingerprint
        for given in (
            times,
            (time.isoformat() for time in times),
            [time.timestamp() for time in times],
            np.array([time.timestamp() for time in times]),
        )
    }
    assert len(found) == 1
    assert found != {model.snapshot_.fingerprint}


def test_parameters_are_the_options():
    assert {"topics", "window", "schedule", "threads", "method", "stop_words"} <= set(
        parameters.names()
    )
    assert not {"add_documents", "resume_from", "events", "input"} & set(parameters.names())
    assert set(TopicModel().get_params()) == set(parameters.names())
    assert repr(made(window="1d")) == ("TopicModel(births='off', topics=2, window='1d')")
    assert clone(made(seed=7)).get_params() == made(seed=7).get_params()


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (
            {"topisc": 2},
            UsageError,
            "topisc: TopicModel has no such parameter. Did you mean topics?",
        ),
        (
            {"zzz": 2},
            UsageError,
            "zzz: TopicModel has no such parameter. help(TopicModel) lists them.",
        ),
        (
            {"topics": 0},
            OptionError,
            "--topics: 0 was given; allowed is 1 or more, or auto. Correct the value.",
        ),
        (
            {"sweeps": 9},
            OptionError,
            "--sweeps=9 belongs to --schedule=archive; --schedule=stream is chosen. Leave it out,"
            " or give --schedule=archive.",
        ),
        (
            {"method": "maxent"},
            OptionError,
            "--method: 'maxent' was given; allowed is a method that needs the model alone. Use"
            " gibbs3, or beam-topics infer.",
        ),
    ],
)
def test_a_wrong_parameter_is_named(wrong, error, said):
    with pytest.raises(error) as raised:
        made(**wrong).fit(TEXTS).transform(TEXTS)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            "a text",
            "X: 'a text' was given; allowed is an iterable of texts, or of lists of tokens. Give"
            " one document as [text].",
        ),
        (
            [3],
            "X[0]: 3 was given; allowed is texts, or lists of tokens. Give an iterable of one of"
            " the two.",
        ),
        (
            [["a", "b\nc"]],
            "X[0]: 'b\\nc' was given; allowed is a list of tokens that are texts without line"
            " breaks, and not empty. Correct the token.",
        ),
    ],
)
def test_wrong_documents_are_refused(wrong, said):
    with pytest.raises(OptionError) as raised:
        made().fit(wrong)
    assert str(raised.value) == said


def test_lengths_have_to_agree():
    with pytest.raises(OptionError) as raised:
        made().fit(TEXTS, ids=["a"])
    assert str(raised.value) == (
        "ids: '1 values' was given; allowed is as many values as there are documents (80). Correct"
        " one of them."
    )


def test_documents_that_cannot_be_used_are_kept_with_reasons():
    found = made().fit([*TEXTS, " ", "a\0b"], ids=[*range(80), "blank", "nul"])
    assert [letter.reason for letter in found.dead_letters_] == ["empty_text", "nul"]
    assert [letter.source for letter in found.dead_letters_] == ["document 80", "document 81"]
    assert len(found.transform([" "])) == 1
    with pytest.raises(RefusedInputError) as raised:
        made().fit(["ship", "", " "])
    assert str(raised.value) == (
        "2 of 3 documents cannot be used, most of them for the reason empty_text (document 1: the"
        " field 'text' is empty). Nothing was learned. Correct the documents."
    )


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_text_is_named_by_its_place(missing, model):
    found = made().fit([*TEXTS[:7], missing, *TEXTS[7:]])
    (letter,) = found.dead_letters_
    assert (letter.source, letter.reason) == ("document 7", "missing_text")
    with pytest.warns(UserWarning, match=r"^X\[1\]: None in place of a text has no topic"):
        mixtures = model.transform([TEXTS[0], missing])
    assert mixtures.sum(axis=1).round(9).tolist() == [1, 0]


def test_without_times_all_documents_are_learned_at_once():
    found = TopicModel(topics=3).fit(TEXTS)
    assert found.found_ == {"schedule": "archive", "births": "off"}
    assert found.transform(TEXTS).shape == (80, 3)
    found.partial_fit(["a storm over the harbour"])
    assert found.found_ == {"schedule": "archive", "births": "off"}
    assert found.transform(TEXTS).shape == (80, 3)
    assert ModelStore(found._root()).manifest("").documents == 81


@pytest.mark.parametrize(
    "given",
    [{"births": "off"}, {"schedule": "stream"}, {"learner": "online-vb"}, {"topics": "auto"}],
)
def test_what_is_given_leaves_the_schedule(given):
    assert documents.bounded(100, given) == {}


def test_an_archive_of_many_documents_has_one_version():
    archive = {"schedule": "archive", "births": "off"}
    assert documents.bounded(200_000, {}) == {**archive, "publish_every": "3d"}
    assert documents.bounded(200_000, {"publish_every": "1d"}) == archive


def test_the_last_of_one_id_is_learned_where_that_is_asked_for():
    ids = [*range(79), 0]
    found = made(on_repeat="last").fit(TEXTS, ids=ids)
    assert [letter.reason for letter in found.dead_letters_] == ["replaced"]


def test_in_a_pipeline():
    found = make_pipeline(made(), LogisticRegression()).fit(TEXTS, KINDS)
    assert found.score(TEXTS, KINDS) > 0.9


def test_a_document_without_a_known_word_has_no_topic(model):
    found, ids = model.transform(["zzz", TEXTS[0], ""]), model.topics_.tolist()
    assert not found[[0, 2]].any() and found[1].sum() == pytest.approx(1)
    assert model.predict(["zzz", TEXTS[0], ""]).tolist() == [-1, ids[found[1].argmax()], -1]


def test_columns_are_named_by_the_ids_of_topics(model):
    copied = pickle.loads(pickle.dumps(model))
    copied.topics_ = np.array([7, 3])
    assert [name.split()[0] for name in copied.get_feature_names_out()] == ["7", "3"]
    assert set(copied.predict(TEXTS)) == {7, 3}
    with pytest.raises(NotFittedError):
        made().get_feature_names_out()


def test_frames_of_pandas():
    pytest.importorskip("pandas")
    model = made().set_output(transform="pandas")
    found = model.fit_transform(TEXTS)
    assert list(found.columns) == list(model.get_feature_names_out())


def test_a_mixture_does_not_depend_on_its_neighbours(model):
    found = model.transform(TEXTS[:4])
    assert np.array_equal(model.transform(TEXTS[3::-1]), found[::-1])
    assert np.array_equal(model.transform(TEXTS[2:3]), found[2:3])


def test_pickled_it_goes_on(model):
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.transform(TEXTS), model.transform(TEXTS))
    copied.partial_fit(TEXTS[:8])
    assert copied.version_ > model.version_
    again = pickle.loads(pickle.dumps(model)).partial_fit(TEXTS[:8])
    assert again.version_ == copied.version_


def test_partial_fit_without_times_follows(model):
    found = made()
    for part in range(4):
        found.partial_fit(TEXTS[20 * part : 20 * part + 20])
    assert found.snapshot_.sequence == 4
    assert ModelStore(found._root()).manifest("").documents == 80


def test_what_is_saved_is_a_model_store(model, tmp_path, capsys):
    model.save(tmp_path / "models")
    assert show.main([f"--model_store={tmp_path / 'models'}"]) == 0
    assert "harbour" in capsys.readouterr().out
    loaded = TopicModel.load(tmp_path / "models")
    assert np.array_equal(loaded.transform(TEXTS), model.transform(TEXTS))
    assert loaded.partial_fit(TEXTS[:8]).version_ == (
        pickle.loads(pickle.dumps(model)).partial_fit(TEXTS[:8]).version_
    )
    with pytest.raises(OptionError, match="a folder that is empty, or can be made"):
        model.save(tmp_path / "models")


def test_loaded_parameters_are_those_that_were_given(tmp_path):
    given = {
        "learner": "o-lda",
        "topics": 3,
        "initial": "none",
        "window": "1d",
        "publish_every": "4windows",
        "stop_words_file": ("full", "high"),
    }
    TopicModel(**given, model_store=str(tmp_path)).fit(TEXTS)
    loaded = TopicModel.load(tmp_path).get_params()
    expected = {**given, "model_store": str(tmp_path), "stop_words": "file"}
    assert {name: value for name, value in loaded.items() if value is not None} == expected
    TopicModel(**loaded).fit(TEXTS)


def test_a_store_with_other_documents_is_refused(tmp_path):
    made(model_store=str(tmp_path)).fit(TEXTS)
    with pytest.raises(StoreConflictError):
        made(model_store=str(tmp_path)).fit(TEXTS[::-1])
    with pytest.raises(OptionError, match="a folder with a published model"):
        TopicModel.load(tmp_path / "absent")


def test_before_a_fit():
    for method in ("transform", "score", "perplexity"):
        with pytest.raises(NotFittedError):
            getattr(made(), method)(TEXTS)
    assert not hasattr(made(), "components_")


def test_progress_is_shown_where_it_is_asked_for(capsys):
    made(verbose=True).fit(TEXTS)
    assert "documents" in capsys.readouterr().err
    made().fit(TEXTS)
    assert capsys.readouterr().err == ""


def test_read_mixtures(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
    assert [row["id"] for row in read_mixtures(tmp_path)] == ["a", "b"]
    with pytest.raises(OptionError, match="a folder of mixtures"):
        next(read_mixtures(tmp_path / "absent"))


def test_a_table_of_one_column_is_its_texts(model):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame({"text": TEXTS})
    expected = model.transform(TEXTS)
    for given in (table, table["text"], table.to_numpy(), arrow.table(table)):
        assert np.array_equal(model.transform(given), expected)
    dated = pandas.DataFrame({"date": pandas.date_range("2024-01-01", periods=80)})
    assert np.array_equal(made().fit(table, times=dated).transform(table[:3]).shape, (3, 2))


def test_a_table_of_several_columns_is_refused(model):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"id": range(80), "text": TEXTS})
    for call in (made().fit, made().partial_fit, model.transform, made().fit_transform):
        with pytest.raises(OptionError) as raised:
            call(table)
        assert str(raised.value) == (
            "X: \"a table with the columns 'id', 'text'\" was given; allowed is one column. Give"
            " one of them, as in table['text']."
        )
    assert model.transform(table["text"]).shape == (80, 2)
    with pytest.raises(OptionError, match="X: 'dict' was given; .* Give its values"):
        made().fit({"text": TEXTS})


def test_no_document_is_refused():
    for call in (made().fit, made().partial_fit):
        with pytest.raises(
            OptionError, match=r"^X: \[\] was given; allowed is one document or more"
        ):
            call([])


def test_documents_without_words_are_told(tmp_path):
    found = made(model_store=str(tmp_path / "m"))
    with pytest.raises(RefusedInputError, match=r"none of 80 documents .* \(--stop_words=none"):
        found.fit(["we are here"] * 80)
    assert not ModelStore(str(tmp_path / "m")).keys()
    assert found.set_params(stop_words="none").fit(["we are here"] * 80).vocabulary_
    with pytest.warns(UserWarning, match="78 of 80 documents have no word: 100 % of the words are"):
        made().fit(["we are here"] * 78 + TEXTS[:2])


def test_lengths_of_time_follow_from_the_times_that_are_given():
    days = [f"{1 + n % 28:02}/{1 + n // 28 % 12:02}/{2000 + n // 336}" for n in range(700)]
    model = TopicModel(learner=fake_learner.Fake.kind, topics=2)
    model.fit([f"a ship came into the harbour {n}" for n in range(700)], times=days)
    assert model.found_ == {"window": "7d", "publish_every": "30d"}
    assert len(model.versions_) < 40 and not model.dead_letters_
    given = TopicModel(learner=fake_learner.Fake.kind, topics=2, window="1d")
    given.fit(["a ship came", "a port"], times=["2024-01-01", "2024-01-02"])
    assert given.found_ == {}


REPLIES = [f"<p>a ship <b>{n}</b></p>\n> the harbour?" for n in range(20)]


def test_both_doors_strip_markup_alone_and_say_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = "--strip=html removes 44 % of the words: tags of HTML. --strip=none keeps them."
    model = TopicModel(learner=fake_learner.Fake.kind, topics=2)
    with pytest.warns(UserWarning, match=said):
        model.fit(REPLIES)
    assert model.found_ == {"strip": "html"} and "harbour" in model.vocabulary_
    rows = "".join(json.dumps({"id": str(n), "text": one}) + "\n" for n, one in enumerate(REPLIES))
    (tmp_path / "posts.jsonl").write_text(rows)
    argv = ["posts.jsonl", f"--learner={fake_learner.Fake.kind}", "--topics=2"]
    assert train.main(argv) == 0
    told = capsys.readouterr().err
    assert "--strip=html (what the texts are)" in told and said in told
    assert "--strip=html,quotes would remove 67 % of the words" in told
    snapshot = ModelStore("posts.topics/models").get_snapshot(
        ModelStore("posts.topics/models").manifest("")
    )
    assert list(snapshot.words) == list(model.vocabulary_)


@pytest.mark.parametrize("strip", [(), [], "none", ("none",)])
def test_nothing_is_stripped_where_that_is_asked_for(strip, recwarn):
    model = TopicModel(learner=fake_learner.Fake.kind, topics=2, min_word_length=1, strip=strip)
    model.fit(["<p>ship</p>"] * 20)
    assert model.found_ == {} and model.snapshot_.tokeniser.strip == ()
    assert not [one for one in recwarn if "--strip" in str(one.message)]


def test_times_that_can_be_read_in_two_ways_are_refused():
    model = TopicModel(learner=fake_learner.Fake.kind, topics=2)
    with pytest.raises(OptionError, match=r"these have one of %d/%m/%Y, %m/%d/%Y\. Give datetimes"):
        model.fit(["a ship", "a port"], times=["01/02/2024", "02/01/2024"])
