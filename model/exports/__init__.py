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

tomotopy has no form: it makes a model of documents only, and reads only files that it wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from model.publishing.manifest import Manifest
from model.snapshot import Snapshot


@dataclass(frozen=True)
class Exported:
    """What is exported.

    Attributes:
        manifest: the version.
        snapshot: its model.
        history: the versions up to it, the oldest first.
        names: the names of topics that have one, by id.
    """

    manifest: Manifest
    snapshot: Snapshot
    history: Sequence[Manifest] = ()
    names: Mapping[int, str] = field(default_factory=dict)

    @property
    def ids(self) -> list[int]:
        """The id of the topic in each place."""
        return self.manifest.ids(self.snapshot.topic_count)
