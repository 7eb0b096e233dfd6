import json
import pickle

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue
from blocks import joined, mixtures_of_documents
from collecting import run
from fake_learner import fake_settings
from learner_options import inferring
from streams import document, documents, learn_options, shuffled, train
from tallies import count

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.inference import PublishedModel, inference_for
from beam_topics.model.inference.features import Tally
from beam_topics.model.inference.mixtures import MixtureBlock
from beam_topics.model.inference.serving import (
    ModelCache,
    ServedModel,
    Serving,
    held_bytes,
)
from beam_topics.model.publishing.snapshots import ModelFile
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms import infer
from beam_topics.transforms.coverage import sums
from beam_topics.transforms.infer import EachMixture, InferByKey, InferLabelled, InferTogether

SETTINGS = inferring(sweeps=3)
DAY = 86_400_000_000
KEYS = ("", "a/b", "é")
ITEMS = [item for key in KEYS for item in documents(15, key)]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store")
    train(ITEMS, learn_options(path, fake_settings(), publish_every=("windows", 4)))
    return ModelStore(str(path))


def test_a_model_crosses_with_all_of_its_fields():
    served = ServedModel("é", "1", "d", ModelFile("s", (1, 0), (2, 1)))
    crossed = pickle.loads(pickle.dumps(served))
    assert crossed == served and crossed.file == served.file
    # The file does not tell two models apart.
    assert crossed == ServedModel("é", "1", "d")


def serving(store, settings=SETTINGS, cache_mb=64):
    return Serving(store.root, settings, topics=2, window=DAY, cache_mb=cache_mb)


def models_of(store):
    newest = {key: store.latest(key) for key in KEYS}
    return {key: ServedModel(key, manifest.version) for key, manifest in newest.items()}


def published(store, key, version, learned=()):
    snapshot = store.get_snapshot(store.manifest(key, version))
    return PublishedModel(snapshot, version, None, joined(learned))


def expected(store, items, settings=SETTINGS, learned=()):
    """Each document's mixture, from a call of the method for each key."""
    found = {}
    for key in {item.key for item in items}:
        of_key = [item for item in items if item.key == key]
        model = published(
            store, key, store.latest(key).version, [item for item in learned if item.key == key]
        )
        for mixture in mixtures_of_documents(settings, model, of_key):
            found[key, mixture.id] = mixture.to_bytes()
    return found


def inferred(items, transform, *flags):
    """(mixtures by key and id, outputs by name, counters)."""

    def build(pipeline):
        given = pipeline | beam.Create(
            [(int(item.timestamps[0]), item.to_bytes()) for item in items]
        )
        timed = given | beam.MapTuple(
            lambda time, data: beam.window.TimestampedValue(data, time / 1e6)
        ).with_output_types(bytes)
        found = timed | transform(pipeline)
        return found._asdict()

    held, counters = run(build, *flags)
    mixtures = [
        mixture
        for _, block in held["blocks"]
        for mixture in MixtureBlock.from_bytes(block).mixtures()
    ]
    return {(one.key, one.id): one.to_bytes() for one in mixtures}, held, counters


def by_key(store, **others):
    return lambda pipeline: InferByKey(serving(store, **others), models_of(store))


def test_each_document_has_the_mixture_that_the_model_of_its_key_gives_it(store):
    unknown = [document("x", 5, key="other")]
    found, held, counters = inferred(shuffled(ITEMS + unknown, "i"), by_key(store))
    assert found == expected(store, ITEMS)
    (letter,) = [json.loads(data) for _, data in held["dead_letters"]]
    assert letter["reason"] == "unknown_key" and "'other'" in letter["detail"]
    assert counters["dead_unknown_key"] == 1


@pytest.mark.parametrize("bound", ["FLUSH_DOCUMENTS", "MODEL_DOCUMENTS"])
@pytest.mark.parametrize(("flush", "cache_mb"), [(1, 64), (7, 0)])
def test_batches_order_and_a_full_cache_change_nothing(store, flush, cache_mb, bound, monkeypatch):
    whole, held, _ = inferred(ITEMS, by_key(store))
    monkeypatch.setattr(infer, bound, flush)
    flags = ["--direct_runner_bundle_repeat=2"]
    again, others, _ = inferred(shuffled(ITEMS, "j"), by_key(store, cache_mb=cache_mb), *flags)
    assert again == whole
    # The repeated bundles tally the documents again.
    counted = {name: len(tally.known) for name, tally in tallies(held).items()}
    assert counted == {name: len(tally.known) for name, tally in tallies(others).items()}


def test_what_waits_does_not_grow_with_the_bundle(store, monkeypatch):
    monkeypatch.setattr(infer, "MODEL_DOCUMENTS", 32)
    step = infer._InferByKey(serving(store), models_of(store))
    step.start_bundle()
    held, out = [], []
    items = documents(600)
    for n in range(0, len(items), 8):
        out += step.process(joined(items[n : n + 8]).to_bytes())
        held.append(held_bytes({**vars(step), "_serving": None, "_models": None}))
    assert max(held) == pytest.approx(max(held[:8]), rel=0.1)
    out += step.finish_bundle()
    blocks = [one.value for one in out if isinstance(one, WindowedValue)]
    found = {
        one.id: one.to_bytes()
        for block in blocks
        for one in MixtureBlock.from_bytes(block).mixtures()
    }
    assert found == {name: data for (_, name), data in expected(store, items).items()}
    counted = sums(one.value.value[1] for one in out if not isinstance(one, WindowedValue))
    assert sum(tally.documents for _, tally in counted) == len(items)
    assert (step._count, step._size, step._waiting) == (0, 0, {})


def test_blocks_of_several_keys(store):
    step = infer._InferByKey(serving(store), models_of(store))
    step.start_bundle()
    for key in KEYS:
        assert not list(step.process(joined([one for one in ITEMS if one.key == key]).to_bytes()))
    (dead,) = step.process(document("x", 5, key="other").to_bytes())
    assert json.loads(dead.value)["reason"] == "unknown_key"
    blocks = [one.value for one in step.finish_bundle() if isinstance(one, WindowedValue)]
    found = {
        (one.key, one.id): one.to_bytes()
        for block in blocks
        for one in MixtureBlock.from_bytes(block).mixtures()
    }
    assert found == expected(store, ITEMS)


def tallies(held):
    return dict(sums(data for _, (_, data) in held["tallies"]))


def test_documents_are_tallied_by_key_version_and_window(store):
    _, held, _ = inferred(ITEMS, by_key(store))
    for name, tally in tallies(held).items():
        key, version = json.loads(name)
        wanted = Tally()
        for item in ITEMS:
            if item.key == key:
                count(wanted, published(store, key, version).snapshot, item)
        assert tally == wanted
    assert len(tallies(held)) == len(KEYS)


def test_a_model_is_read_once_while_there_is_room(store, monkeypatch):
    reads = []
    read = ModelStore.get_model
    monkeypatch.setattr(
        ModelStore,
        "get_model",
        lambda self, key, *rest: reads.append(key) or read(self, key, *rest),
    )
    monkeypatch.setattr(infer, "FLUSH_DOCUMENTS", 5)
    kept = Serving(store.root, SETTINGS, 2, DAY, cache_mb=64, cache=ModelCache())
    dropped = Serving(store.root, SETTINGS, 2, DAY, cache_mb=0, cache=ModelCache())
    for settings, least, most in ((kept, 3, 3), (dropped, 9, 99)):
        reads.clear()
        step = infer._InferByKey(settings, models_of(store))
        step.start_bundle()
        for item in shuffled(ITEMS, "k"):
            list(step.process(item.to_bytes()))
        list(step.finish_bundle())
        assert least <= len(reads) <= most
        assert settings.loads == len(reads)


def test_a_manifest_that_was_read_before_the_run_is_not_read_again(store, monkeypatch):
    manifest = store.latest("é")
    monkeypatch.setattr(ModelStore, "manifest", None)
    serving_now = Serving(store.root, SETTINGS, 2, DAY, cache_mb=64, cache=ModelCache())
    item = next(item for item in ITEMS if item.key == "é")
    for version, order in ((manifest.version, ()), ("other", (2, 0, 1))):
        served = ServedModel("é", version, None, ModelFile(manifest.snapshot, order))
        block = next(serving_now.label(served, item, np.zeros(1, np.int64), {}))
        assert next(block.mixtures()).model_version == version
    turned = serving_now._model(ServedModel("é", "other"))[1]
    snapshot = store.get_candidate("é", manifest.snapshot)
    assert (turned.totals == snapshot.totals[[2, 0, 1]]).all()


def test_each_mixture_has_its_time(store):
    def build(pipeline):
        items = ITEMS[:9]
        timed = (
            pipeline
            | beam.Create([(int(item.timestamps[0]), item.to_bytes()) for item in items])
            | beam.MapTuple(
                lambda time, data: beam.window.TimestampedValue(data, time / 1e6)
            ).with_output_types(bytes)
        )
        found = timed | InferByKey(serving(store), models_of(store))
        return {"mixtures": found.blocks | EachMixture()}

    held, _ = run(build)
    wanted = sorted(
        (int(item.timestamps[0]), expected(store, [item])["", item.ids[0]]) for item in ITEMS[:9]
    )
    assert held["mixtures"] == wanted


def test_labelled_documents_by_versions_of_their_own(store):
    inference_for(SETTINGS)
    names = [manifest.version for manifest in store.manifests("")]
    assert len(names) > 1

    def build(pipeline):
        pairs = [(ITEMS[0].to_bytes(), version) for version in [*names, ""]]
        given = pipeline | beam.Create(pairs).with_output_types(tuple[bytes, str])
        return {"blocks": (given | InferLabelled(serving(store))).blocks}

    held, _ = run(build)
    found = {
        one.model_version: one
        for _, block in held["blocks"]
        for one in MixtureBlock.from_bytes(block).mixtures()
    }
    for version in names:
        model = published(store, "", version)
        (wanted,) = mixtures_of_documents(SETTINGS, model, ITEMS[:1])
        assert found[version].to_bytes() == wanted.to_bytes()
    prior = found[""]
    assert (prior.method, prior.words_known, prior.proportions.tolist()) == ("prior", 0, [0.0, 0.0])


def test_a_mixture_of_a_stream_has_the_time_of_its_element(store):
    step = infer._InferLabelled(serving(store))
    step.start_bundle()
    for item, time in zip(ITEMS[:3], (7, 5, 9), strict=True):
        given = item.to_bytes(), store.latest("").version
        assert not list(step.process(given, Timestamp(micros=time * DAY)))
    block, *counted = step.finish_bundle()
    found = MixtureBlock.from_bytes(block.value)
    assert found.times.tolist() == [7 * DAY, 5 * DAY, 9 * DAY]
    assert found.timestamps.tolist() == [item.timestamps[0] for item in ITEMS[:3]]
    assert len(counted) == 3


def test_a_damaged_model_is_refused(tmp_path):
    train(ITEMS[:15], learn_options(tmp_path, fake_settings()))
    store = ModelStore(str(tmp_path))
    version = store.latest("")
    (path,) = (tmp_path / "_" / "snapshots").glob(f"{version.snapshot}*")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedDataError, match=version.snapshot):
        list(
            serving(store).label(
                ServedModel("", version.version),
                ITEMS[0],
                np.zeros(1, np.int64),
                {},
            )
        )


@pytest.mark.parametrize("name", ["gibbs1", "gibbs2", "gibbs3"])
def test_all_documents_of_a_key_together(store, name):
    new, learned = ITEMS[::2], ITEMS[1::2] if name == "gibbs1" else []
    settings = inferring(name, sweeps=3)

    def transform(pipeline):
        again = None
        if learned:
            again = pipeline | "Again" >> beam.Create(
                [item.to_bytes() for item in shuffled(learned, "u")]
            ).with_output_types(bytes)
        return InferTogether(serving(store, settings), models_of(store), again)

    found, held, _ = inferred(shuffled(new, "t"), transform)
    assert found == expected(store, new, settings, learned)
    counted = {json.loads(key)[0]: tally.documents for key, tally in tallies(held).items()}
    assert counted == {key: sum(item.key == key for item in new) for key in KEYS}


def test_methods_where_they_do_not_belong(store):
    for name, training, message in (
        (
            "gibbs1",
            None,
            "--training: None was given; allowed is with gibbs1, the files that the model was"
            " learned from. Name them.",
        ),
        (
            "gibbs2",
            beam.Pipeline() | beam.Create([b""]),
            "--training: 'files' was given; allowed is with gibbs2, nothing. Leave it out, or use"
            " gibbs1.",
        ),
    ):
        with pytest.raises(OptionError) as error:
            InferTogether(serving(store, inferring(name)), models_of(store), training)
        assert str(error.value) == message
    with pytest.raises(
        OptionError,
        match="--method: 'maxent' was given; allowed is in a stream that learns, one of gibbs3, ",
    ):
        InferLabelled(serving(store, inferring("maxent")))
