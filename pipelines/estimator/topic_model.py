"""Topic models as a scikit-learn estimator, :class:`TopicModel`, and the model store behind it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.held_out import Score, first_moment, main_topics
from beam_topics.model.inference import PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixtures import inferred
from beam_topics.model.learner_log.local import learn_documents
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learners import LEARNER, LearnerSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.options import record_from_json
from beam_topics.model.words.functions import allow
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.pipelines.cli.progress import progress
from beam_topics.pipelines.estimator import documents, parameters, views
from beam_topics.pipelines.pages.page import check_installed, page_of_store


class OwnFolder:
    """A folder that is removed with the object, or at the end of the process."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="beam-topics-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def learning_in(root: str, trust: str = "") -> LearnOptions:
    """Return the options that the model "" of a store was learned with.

    Raises:
        OptionError: the store has no such model.
        DamagedDataError: its settings cannot be read.
    """
    store = ModelStore(root, trust)
    settings, newest = store.settings(""), store.manifest("")
    learner = record_from_json(LEARNER.kinds, settings["learner"], "learner")
    return LearnOptions(
        settings=cast(LearnerSettings, learner),
        tokeniser=TokeniserSettings.from_json(settings["tokeniser"], "tokeniser"),
        sequence=SequenceSettings.from_json(settings["sequence"], "sequence"),
        store=root,
        run=RunSettings(publish_every=newest.rhythm) if newest.rhythm else RunSettings(),
    )


def copy(root: str, target: Path) -> None:
    """Copy a model store to an empty folder, or one that is made.

    Raises:
        OptionError: the folder is not empty, or the store is not on this machine.
    """
    if not Path(root).is_dir():
        raise OptionError("model_store", root, "a folder of this machine", "Copy it by its tools.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError("folder", str(target), "a folder that is empty, or can be made", "")
    shutil.copytree(root, target, dirs_exist_ok=True)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, by their path in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write what :func:`files_of` returned."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class TopicModel(TransformerMixin, BaseEstimator):
    """Topics of documents, by the learners of the command line and to the same bits.

    The parameters are the options of ``train`` and ``infer`` by their names, for example
    ``TopicModel(topics=20, window="1d", stop_words="de")``; values that the command line writes in
    a form of their own (lengths of time) are written so here. None is the default of an option.

    A document is a text, or a list of tokens, which the tokeniser leaves as they are. Documents
    without times are a second apart, in their order.

    Args:
        model_store: folder of the model store; without it, a folder that is removed with the
            estimator. A store that holds other documents is refused by ``fit`` and continued by
            ``partial_fit``.
        verbose: whether progress is shown on standard error.
        **others: options of ``train`` and ``infer``.

    Attributes:
        components_: float64[T, W], pseudo-counts of each word in each topic. The rows, divided by
            the sums of :attr:`Snapshot.normalisers`, are P(word | topic).
        vocabulary_: the W words.
        topics_: the ids of the T topics, in the order of rows and columns.
        snapshot_: the model.
        version_: the name of the newest version in the store.
        versions_: the names of the versions that the last fit made.
        dead_letters_: the documents that the last fit could not use, with reasons.
        found_: the parameters that were not given and follow from the documents of :meth:`fit`:
            lengths of time by their times, stop words and segmenter by their language, what is
            stripped of their texts, and without times ``schedule="archive"`` and
            ``births="off"``, which learn all documents at once.
    """

    def __init__(self, **others: Any) -> None:
        parameters.check_names(others)
        for name in parameters.names():
            setattr(self, name, others.get(name))

    __init__.__signature__ = parameters.signature()  # type: ignore[attr-defined]

    def fit(
        self,
        X: Iterable[Any],
        y: object = None,
        *,
        times: Iterable[Any] | None = None,
        ids: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
    ) -> Self:
        """Learn documents.

        Args:
            X: texts, or lists of tokens.
            y: not used.
            times: the time of each document: a datetime, a text, or a number. The form of texts
                and the unit of numbers are found.
            ids: the id of each document; without them, its number.
            labels: the known class of each document, for evaluation only.

        Raises:
            OptionError: a parameter or an argument is not allowed.
            RefusedInputError: less than half of the documents can be used.
            StoreConflictError: ``model_store`` holds what was learned from other documents or with
                other settings.
        """
        return self._learn(X, {"times": times, "ids": ids, "labels": labels}, adds=False)

    def partial_fit(
        self,
        X: Iterable[Any],
        y: object = None,
        *,
        times: Iterable[Any] | None = None,
        ids: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
    ) -> Self:
        """Learn documents that came after those that were learned, as ``--add_documents`` does.

        The arguments and errors are those of :meth:`fit`. Documents without times come in windows
        of their own, after the last one that was learned.
        """
        return self._learn(X, {"times": times, "ids": ids, "labels": labels}, adds=True)

    def transform(self, X: Iterable[Any], ids: Iterable[Any] | None = None) -> FloatArray:
        """Return the topic proportions of documents, float64[documents, T].

        A document without a word that the model knows has no topic: its row is 0, as in
        scikit-learn's vectorisers. All other rows sum to 1.

        Args:
            X: texts, or lists of tokens.
            ids: the id of each document, which names its draws; without them, a digest of it.
        """
        check_is_fitted(self, "version_")
        settings = parameters.inference_of(self.get_params(deep=False))
        method = inference_for(settings)
        if method.needs:
            raise OptionError(
                "--method",
                settings.kind,
                "a method that needs the model alone",
                "Use gibbs3, or beam-topics infer.",
            )
        read = documents.to_label(documents.listed(X), ids, self._tokeniser())
        if not len(read):
            return np.empty((0, self.snapshot_.topic_count))
        prepared = method.prepare(settings, PublishedModel(self.snapshot_, self.version_))
        found = numbered(self.snapshot_, read)
        return inferred(settings, prepared, found, self.version_).proportions

    def predict(self, X: Iterable[Any], ids: Iterable[Any] | None = None) -> LongArray:
        """Return the id of the largest topic of each document.

        It is -1 for a document without a topic, as scikit-learn's clusterings label noise. The
        arguments are those of :meth:`transform`.
        """
        check_is_fitted(self, "version_")
        return np.append(self.topics_, -1)[main_topics(self.transform(X, ids))]

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[Any]:
        """Return the names of the columns of :meth:`transform`: ids and names of topics."""
        check_is_fitted(self, "version_")
        shown = self._shown()
        named = zip(self.topics_, shown.of, strict=True)
        return np.array([f"{topic} {shown.names[group]}" for topic, group in named], object)

    def fit_transform(
        self, X: Iterable[Any], y: object = None, ids: Iterable[Any] | None = None, **others: Any
    ) -> FloatArray:
        """Return the topic proportions of the documents that :meth:`fit` learns."""
        read, names = documents.listed(X), None if ids is None else list(ids)
        return self.fit(read, ids=names, **others).transform(read, ids=names)

    def score(self, X: Iterable[Any], y: object = None) -> float:
        """Return the logarithm of the probability of documents, by the first-moment estimate."""
        return self._scored(X).log_probability

    def perplexity(self, X: Iterable[Any]) -> float:
        """Return the perplexity of documents, as ``beam-topics evaluate`` reports it.

        Raises:
            OptionError: no token of the documents can be scored.
        """
        found = self._scored(X).perplexity
        if found is None:
            raise OptionError("X", [], "documents with a word that the model scores", "Give some.")
        return found

    @property
    def components_(self) -> FloatArray:
        """float64[T, W], pseudo-counts of each word in each topic."""
        check_is_fitted(self, "version_")
        rows = np.arange(len(self.snapshot_.words))
        found: FloatArray = (self.snapshot_.rows(rows) + self.snapshot_.prior.shares(rows)).T
        return found

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The words of the model, in the order of the columns of ``components_``."""
        check_is_fitted(self, "version_")
        return tuple(self.snapshot_.words)

    def top_words(self, count: int = 10) -> list[list[str]]:
        """Return the most frequent words of each topic."""
        check_is_fitted(self, "version_")
        return self.snapshot_.top_words(count)

    def topics_table(self, words: int = 10) -> list[dict[str, Any]]:
        """Return the topics in use as rows, the largest first; ``pandas.DataFrame`` takes them.

        A row has ``topic`` (its id), ``name``, ``share`` of the tokens, and ``words``. Topics that
        are merged or hidden in the catalogue of the store are as ``beam-topics show`` has them.

        Args:
            words: How many words of each topic.
        """
        check_is_fitted(self, "version_")
        return views.topics_table(self._shown(), words)

    def explore(self) -> views.Page:
        """Return the page of ``beam-topics report``, which a notebook shows.

        Raises:
            BeamTopicsError: Jinja2 is not installed.
        """
        check_is_fitted(self, "version_")
        check_installed()
        return views.Page(page_of_store(self._store(), self._shown()))

    def plot_over_time(self) -> views.Page:
        """Return the page of :meth:`explore`, which begins with the topics over time."""
        return replace(self.explore(), view="time")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        parameters = str(super().__repr__(N_CHAR_MAX))
        if not hasattr(self, "version_"):
            return parameters
        return "\n".join([parameters, *views.lines(self.topics_table())])

    def save(self, folder: str | Path) -> None:
        """Copy the model store into a folder, which the command line reads as ``--model_store``.

        Raises:
            OptionError: the folder is not empty, or the store is not on this machine.
        """
        check_is_fitted(self, "version_")
        copy(self._root(), Path(folder))

    @classmethod
    def load(
        cls,
        folder: str | Path,
        version: str = "latest",
        tokeniser: str | None = None,
        trust: str | Path | None = None,
    ) -> Self:
        """Return the estimator of a model store, whoever made it.

        It keeps its model there, so ``partial_fit`` continues the store.

        Args:
            folder: the model store.
            version: the version that ``transform`` uses.
            tokeniser: the function that cuts the texts of the model, if it names one. Its module is
                imported only if it is named here.
            trust: the file of the public keys of who may have signed the version.

        Raises:
            OptionError: there is no such version.
            UntrustedError: none of the keys has signed it.
        """
        allow(tokeniser)
        learning = learning_in(str(folder), str(trust or ""))
        own = {"model_store": str(folder), "trust": trust}
        found = cls(**{**parameters.parameters_of(learning), **own})
        return found._use(version)

    def _learn(self, given_documents: Iterable[Any], given: dict[str, Any], adds: bool) -> Self:
        if self.model_store is None and not (adds and hasattr(self, "_folder")):
            self._folder = OwnFolder()
        X = documents.listed(given_documents)
        if not X:
            raise OptionError("X", X, "one document or more", "Give texts, or lists of tokens.")
        if isinstance(given["times"], Iterator):
            given["times"] = list(given["times"])
        store = self._store()
        is_whole, adds = not adds, adds and store.has_versions("")
        options = {
            name: one for name, one in self.get_params(deep=False).items() if one is not None
        }
        if not adds:
            self.found_, self._form = documents.found_in(X, given["times"], options)
        if is_whole and given["times"] is None:
            self.found_ |= documents.bounded(len(X), options)
        learning = parameters.learning_of({**getattr(self, "found_", {}), **options}, self._root())
        parameters.inference_of(options)
        learning = replace(learning, run=replace(learning.run, add_documents=adds))
        form = getattr(self, "_form", "iso")
        read, letters = _read(X, given, form, learning, store if adds else None)
        with progress() if self.verbose else nullcontext():
            made = learn_documents(read, learning, letters.append)
        self.dead_letters_, self.versions_ = letters, [one.version for one in made]
        return self._use("latest")

    def _use(self, version: str) -> Self:
        store = self._store()
        manifest = store.manifest("", version)
        self.version_, self.snapshot_ = manifest.version, store.get_snapshot(manifest)
        self.topics_ = np.array(manifest.ids(self.snapshot_.topic_count), np.int64)
        return self

    def _shown(self) -> Shown:
        store = self._store()
        manifest = store.manifest("", self.version_)
        return Shown.stored(store, manifest, self.snapshot_)

    def _store(self) -> ModelStore:
        return ModelStore(self._root(), str(self.trust or ""))

    def _root(self) -> str:
        return str(self._folder.name if self.model_store is None else self.model_store)

    def _tokeniser(self) -> Tokeniser:
        allow(self.tokeniser)
        return Tokeniser(self.snapshot_.tokeniser)

    def _scored(self, X: Iterable[Any]) -> Score:
        check_is_fitted(self, "version_")
        read = documents.to_label(documents.listed(X), None, self._tokeniser())
        joined = self.snapshot_.joined(read).documents()
        return sum((first_moment(self.snapshot_, document) for document in joined), Score())

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("snapshot_", None)
        if "_folder" in state:
            state["_folder"] = files_of(Path(state["_folder"].name))
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = state.pop("_folder", None)
        super().__setstate__(state)
        if files is not None:
            self._folder = OwnFolder()
            write_files(Path(self._folder.name), files)
        if "version_" in state:
            self._use(state["version_"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = False, True
        tags.input_tags.string = tags.no_validation = True
        return tags


def _read(
    X: list[Any],
    given: dict[str, Any],
    form: str,
    learning: LearnOptions,
    store: ModelStore | None,
) -> tuple[Block, list[DeadLetter]]:
    """Return the documents to learn; with a store they come after those that it has learned."""
    start = first = 0
    if store is not None:
        start = store.resume_point("", "latest", learning.settings.islands)[0].window_end
        newest = store.latest("")
        first = newest.documents if newest else 0
    columns = documents.columns(len(X), start, first, given)
    how = ParseSettings(timestamp_format=form, time_zone=learning.sequence.time_zone)
    return documents.to_learn(X, columns, Tokeniser(learning.tokeniser), how)
