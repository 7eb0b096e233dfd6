"""A publisher that is killed at each line of the code that writes to the store.

``died_at(line)`` forks. The child is killed when it comes to its n-th line in the modules that
write. Nothing is cleaned up, and nothing is flushed.
"""

import os
import signal
import sys

from made import manifest_of, random_snapshot

from beam_topics.model.publishing import gcs, local_files, store
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import Binding, ModelStore

WATCHED = {module.__file__ for module in (local_files, gcs, store)}


def publish_one(root, sequence):
    """Write a version as a worker does: settings, checkpoint, snapshot, manifest, LATEST."""
    models = ModelStore(root)
    models.bind("", Binding("digest", {"learner": {"topics": 3}}))
    entry = CheckpointEntry("", 0, sequence, f"c{sequence}", sequence * 10, 0, "digest")
    models.put_checkpoint(entry, b"state %d" % sequence)
    snapshot = models.put_snapshot(random_snapshot(sequence, sequence=sequence))
    newest = models.latest("")
    parent = newest.parent if newest and newest.sequence == sequence else newest and newest.version
    models.publish(manifest_of(sequence, parent, snapshot=snapshot))


def died_at(line, root, sequence):
    """Publish in a process that is killed at its ``line``-th line; whether it came so far."""
    child = os.fork()
    if child == 0:
        _die_at(line)
        try:
            publish_one(root, sequence)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _die_at(line):
    left = line

    def watch(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename not in WATCHED:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return watch

    sys.settrace(watch)


def check_consistent(root, before, sequence):
    """Check that a reader finds the version before or the new one, with all that it refers to."""
    models = ModelStore(root)
    newest = models.latest("")
    at = newest.sequence if newest else 0
    assert at in (before, sequence)
    for manifest in models.manifests(""):
        assert models.get_snapshot(manifest).sequence == manifest.sequence
    for entry in models.checkpoints(""):
        assert models.get_checkpoint("", entry.digest) == b"state %d" % entry.sequence
    return at
