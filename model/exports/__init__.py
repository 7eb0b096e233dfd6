"""Models in the forms of other tools: one file for each form.

=============  ======================================================================
csv, parquet   a table of topics and their words (:mod:`model.exports.tables`)
json           topics, words and course for a page of the web (:mod:`model.exports.web`)
pyldavis       what ``pyLDAvis.prepare`` takes (:mod:`model.exports.pyldavis`)
gensim         a ``gensim.models.LdaModel`` (:mod:`model.exports.gensim_model`)
mallet         a Gibbs state of MALLET (:mod:`model.exports.mallet`)
seeds          frozen topics, for ``--seeds`` (:mod:`model.exports.seeds`)
dot            the course of topics, for GraphViz (:mod:`model.exports.lineage`)
=============  ======================================================================

Each form has the topics that the catalogue shows: a merged topic is the sum of its group, a part
has its counts and its share of alpha (:mod:`model.reporting.shown`), and ids of parts are below
0. Forms that number topics from 0 have them in this order. Hidden topics are there, so shares have
sum 1; ``json`` marks them.

tomotopy has no form: it makes a model of documents only, and reads only files that it wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.publishing.manifest import Manifest
from model.reporting.shown import Shown
from model.snapshot import Snapshot


@dataclass(frozen=True)
class Exported:
    """What is exported.

    Attributes:
        shown: the version with the groups and the parts of its catalogue.
        history: the versions up to it, the oldest first.
    """

    shown: Shown
    history: Sequence[Manifest] = ()

    @property
    def manifest(self) -> Manifest:
        """The version."""
        return self.shown.manifest

    @property
    def snapshot(self) -> Snapshot:
        """The model of the groups; the places of topics are those of groups."""
        return self.shown.snapshot

    @property
    def names(self) -> Mapping[int, str]:
        """The names of topics that have one, by id."""
        return self.shown.given

    @property
    def ids(self) -> list[int]:
        """The id of the topic or part in each place."""
        return self.shown.ids
