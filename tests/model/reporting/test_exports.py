"""Each form is read by the tool that it is for, and says the same as the model."""

import csv
import gzip
import io
import json
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from exported import documents, learned

from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.held_out import Score, first_moment
from beam_topics.model.learners.seeds import MOST_TOKENS, seeds_of
from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.escaping import cell
from beam_topics.model.reporting.exports import (
    rounding,
    to_csv,
    to_gensim,
    to_json,
    to_mallet,
    to_parquet,
    to_pyldavis,
    to_seeds,
    write_gensim,
)
from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.pipelines.cli.option_files import lines_of_text

WORDS = 5


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def exported(root):
    return learned(root)


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    """A model whose counts are whole."""
    given = {"learner": "batch-gibbs", "births": None, "sweeps": 40}
    return learned(tmp_path_factory.mktemp("flat"), **given)


def shown_by(exported, catalogue):
    """The same version with another catalogue."""
    plain = Shown(Catalogue(), exported.manifest, exported.snapshot)
    assert exported.ids == plain.ids, "the model of the groups is the model itself"
    return Shown(catalogue, exported.manifest, plain.snapshot)


def phi_of(snapshot):
    """P(w | z) among the known words, float64[T, W]."""
    every = np.arange(len(snapshot.words))
    found = (snapshot.rows(every) + snapshot.prior.shares(every)).T
    return found / found.sum(axis=1, keepdims=True)


def perplexity(snapshot):
    """By the estimate of beam-topics evaluate, over the documents that were learned."""
    total = sum(
        (first_moment(snapshot, one, unseen=False) for one in documents().documents()), Score()
    )
    return total.perplexity


def as_snapshot(phi, words, alpha):
    """A model with these probabilities and no prior, to evaluate what a tool gives."""
    size = 1e6
    return Snapshot.from_dense(
        phi.T * size,
        key="",
        sequence=1,
        event_time=0,
        fingerprint="",
        alpha=np.array(alpha),
        prior=TopicWordPrior(np.full(len(phi), 1e-300), np.full(len(words), 1.0 / len(words))),
        words=tuple(words),
    )


def known(snapshot):
    """The model without probability for words that it does not know."""
    return as_snapshot(phi_of(snapshot), snapshot.words, snapshot.alpha)


def check_rows(rows, exported):
    snapshot, shares = exported.snapshot, topic_shares(exported.snapshot)
    for topic, words in enumerate(snapshot.top_words(WORDS)):
        own = [row for row in rows if int(row["topic"]) == topic]
        assert [row["word"] for row in own[:WORDS]] == words
        assert [int(row["rank"]) for row in own] == list(range(1, len(own) + 1))
        assert {float(row["share"]) for row in own} == {shares[topic]}
        assert {row["name"] for row in own} == {exported.given.get(topic, "")}
        assert sum(float(row["count"]) for row in own) == pytest.approx(snapshot.totals[topic])
    every = np.arange(len(snapshot.words))
    expected = (snapshot.rows(every) + snapshot.prior.shares(every)) / snapshot.normalisers
    for row in rows:
        word = snapshot.numbers[row["word"]]
        assert float(row["probability"]) == pytest.approx(expected[word, int(row["topic"])])


def test_csv(exported):
    text = to_csv(exported).decode()
    check_rows(list(csv.DictReader(io.StringIO(text))), exported)


def test_csv_with_pandas(exported):
    pandas = pytest.importorskip("pandas")
    read = io.BytesIO(to_csv(exported))
    found = pandas.read_csv(read, keep_default_na=False, float_precision="round_trip")
    check_rows(found.to_dict("records"), exported)


def test_parquet(exported):
    import pyarrow.parquet as pq

    check_rows(pq.read_table(io.BytesIO(to_parquet(exported))).to_pylist(), exported)


def test_json(exported, root):
    history = ModelStore(str(root)).manifests("")
    found = json.loads(to_json(exported, history))
    rows = [
        {**word, "topic": one["topic"], "share": one["share"], "name": one["name"], "rank": rank}
        for one in found["topics"]
        for rank, word in enumerate(one["words"], 1)
    ]
    check_rows(rows, exported)
    assert found["version"] == exported.manifest.version and found["documents"] == 120
    assert len(found["periods"]) == len(history)
    for one in found["topics"]:
        assert len(one["course"]) == len(found["periods"])
        assert all(share is None or 0 <= share <= 1 for share in one["course"])


# pandas 3 and pyLDAvis warn of each other.
@pytest.mark.filterwarnings("ignore")
def test_pyldavis(exported):
    tool = pytest.importorskip("pyLDAvis")
    arguments = json.loads(to_pyldavis(exported))
    prepared = tool.prepare(**arguments, n_jobs=1, R=len(arguments["vocab"]))
    snapshot, shares = exported.snapshot, topic_shares(exported.snapshot)
    coordinates = prepared.topic_coordinates
    assert list(coordinates.index) == list(range(snapshot.topic_count))
    assert list(coordinates["Freq"] / 100) == pytest.approx(shares.tolist())
    info, expected = prepared.topic_info, phi_of(snapshot)
    for topic in range(snapshot.topic_count):
        own = info[info["Category"] == f"Topic{topic + 1}"].sort_values("logprob", ascending=False)
        # pyLDAvis rounds to four digits, so words of almost equal probability may change places.
        shown = [expected[topic, snapshot.numbers[word]] for word in own["Term"][:WORDS]]
        assert shown == pytest.approx(sorted(expected[topic])[::-1][:WORDS], rel=1e-3)
        assert np.exp(own["logprob"].iloc[0]) == pytest.approx(expected[topic].max(), rel=1e-3)
    given = np.array(arguments["topic_term_dists"])
    again = as_snapshot(given, arguments["vocab"], snapshot.alpha)
    assert perplexity(again) == pytest.approx(perplexity(known(snapshot)), rel=1e-9)


def test_gensim(exported, tmp_path):
    models = pytest.importorskip("gensim.models")
    write_gensim(exported, tmp_path / "of" / "lda")
    found = models.LdaModel.load(str(tmp_path / "of" / "lda"))
    snapshot, expected = exported.snapshot, phi_of(exported.snapshot)
    assert found.get_topics() == pytest.approx(expected, rel=1e-9)
    for topic in range(snapshot.topic_count):
        best = np.argsort(-expected[topic], kind="stable")[:WORDS]
        shown = [word for word, _ in found.show_topic(topic, WORDS)]
        assert shown == [snapshot.words[w] for w in best]
    assert found.alpha == pytest.approx(snapshot.alpha)
    totals = found.state.sstats.sum(axis=1)
    assert totals / totals.sum() == pytest.approx(topic_shares(snapshot))
    words = [found.id2word[row] for row in range(found.num_terms)]
    again = as_snapshot(found.get_topics(), words, found.alpha)
    assert perplexity(again) == pytest.approx(perplexity(known(snapshot)), rel=1e-9)
    bag = found.id2word.doc2bow(["ship", "harbour", "storm", "captain"])
    sea = max(range(2), key=lambda topic: expected[topic, snapshot.numbers["ship"]])
    assert max(found.get_document_topics(bag), key=lambda pair: pair[1])[0] == sea


def state_of(data):
    """(alpha, beta, counts by (topic, word)), as readers of MALLET's states take them."""
    head, alpha, beta, *lines = gzip.decompress(data).decode().splitlines()
    assert head == "#doc source pos typeindex type topic"
    rows = [line.split(" ") for line in lines]
    assert all(len(row) == 6 for row in rows)
    # A type has the number of its first token, and places of a document count up.
    assert dict.fromkeys((row[3], row[4]) for row in rows) == {
        (str(number), word): None for number, word in enumerate(dict.fromkeys(r[4] for r in rows))
    }
    counts = Counter((int(row[5]), row[4]) for row in rows)
    for document in {row[0] for row in rows}:
        places = [int(row[2]) for row in rows if row[0] == document]
        assert places == list(range(len(places)))
    return [float(one) for one in alpha.split(" : ")[1].split()], float(beta[8:]), counts


def test_mallet(flat):
    snapshot = flat.snapshot
    alpha, beta, counts = state_of(to_mallet(flat))
    assert alpha == snapshot.alpha.tolist()
    dense = snapshot.rows(np.arange(len(snapshot.words)))
    for topic in range(snapshot.topic_count):
        for row, word in enumerate(snapshot.words):
            assert counts[topic, word] == dense[row, topic]
    assert rounding(flat) == (snapshot.counts.sum(), sum(counts.values()))
    found = np.array([[counts[z, word] for word in snapshot.words] for z in range(2)]) + beta
    again = as_snapshot(found / found.sum(axis=1, keepdims=True), snapshot.words, alpha)
    assert perplexity(again) == pytest.approx(perplexity(known(snapshot)), rel=1e-9)
    assert to_mallet(flat) == to_mallet(flat)


def test_other_counts_are_rounded_for_mallet(exported):
    snapshot = replace(exported.snapshot, counts=exported.snapshot.counts * 1.013)
    exported = Shown(exported.catalogue, exported.manifest, snapshot)
    tokens, whole = rounding(exported)
    counts = state_of(to_mallet(exported))[2]
    assert sum(counts.values()) == whole and 0 < abs(tokens - whole) < 0.05 * tokens
    for topic, words in enumerate(exported.snapshot.top_words(1)):
        most = max(counts[topic, word] for word in exported.snapshot.words)
        assert counts[topic, words[0]] == most


def test_a_word_with_a_comma_or_a_quote_survives(exported):
    words = ('a,"b"', *exported.snapshot.words[1:])
    model = replace(exported.snapshot, words=words)
    odd = Shown(exported.catalogue, exported.manifest, model)
    rows = list(csv.DictReader(io.StringIO(to_csv(odd).decode())))
    assert 'a,"b"' in {row["word"] for row in rows}


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
def test_no_cell_is_a_formula_or_moves_a_terminal(exported, sign):
    words = (f"{sign}1+1", *exported.snapshot.words[1:])
    topic = exported.ids[0]
    catalogue = Catalogue().with_entries([topic], name=f"{sign}A\x1b[2J\n\u202e")
    shown = Shown(catalogue, exported.manifest, replace(exported.snapshot, words=words))
    rows = list(csv.DictReader(io.StringIO(to_csv(shown).decode())))
    assert f"'{sign}1+1" in {row["word"] for row in rows}
    assert {row["name"] for row in rows} == {f"'{sign}A\ufffd[2J\ufffd\ufffd", ""}
    assert cell(-1) == -1 and cell(-0.5) == -0.5 and cell("a-b") == "a-b"


def test_gensim_is_needed_for_its_form(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.corpora", None)
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(OptionError) as raised:
        to_gensim(exported)
    assert str(raised.value) == (
        "--format: 'gensim' was given; allowed is nothing unless gensim is installed. Run: pip"
        " install 'beam-topics[exports]'."
    )


def test_seeds_hold_the_topics_in_proportion(exported):
    """Tokens of each word are P(w | z) times the tokens of a topic, within one token."""
    tokeniser = Tokeniser(exported.snapshot.tokeniser)
    ids = exported.ids[1::-1]
    lines = lines_of_text(to_seeds(exported, ids).decode(), "--seeds", "f", tokeniser)
    shares = phi_of(exported.snapshot)[1::-1]
    for seed, share in zip(seeds_of(lines), shares, strict=True):
        rows = [exported.snapshot.words.index(word) for word in seed.tokens]
        found = np.array(list(seed.tokens.values()))
        assert found == pytest.approx(share[rows] * (MOST_TOKENS // 2), abs=1.0)
        assert share[rows].sum() > 0.99 and (np.diff(found) <= 0).all()
    names = [exported.given.get(topic, f"topic {topic}") for topic in ids]
    assert [seed.name for seed in seeds_of(lines)] == names


def test_seeds_of_all_topics_and_of_topics_that_are_not_there(exported):
    text = to_seeds(exported).decode()
    assert len(text.splitlines()) == len(exported.ids)
    with pytest.raises(OptionError, match=r"--topic_ids: 99 .*beam-topics show lists them"):
        to_seeds(exported, [99])
    with pytest.raises(OptionError, match="each once"):
        to_seeds(exported, [0, 0])
    with pytest.raises(OptionError, match="topics with names of their own. Rename one"):
        to_seeds(shown_by(exported, Catalogue().with_entries([0, 1], name="a")), [0, 1])
