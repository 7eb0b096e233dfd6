"""The stages of the benchmark give the same minibatches from each form of a file."""

from benchmarks import ingest

RECORDS = [
    {"id": f"d{n}", "timestamp": f"2001-01-{n % 27 + 1:02}", "label": "a", "text": f"ship {n} sea"}
    for n in range(300)
]


def test_forms_of_a_file_give_the_same_minibatches(monkeypatch):
    monkeypatch.setattr(ingest, "records", lambda _: iter(RECORDS))
    found = [
        ingest.stages(ingest.file_of("news", form), name, ingest.SequenceSettings())
        for form, name in ingest.FORMS.items()
    ]
    assert {documents for _, documents, _ in found} == {300}
    assert len({digest for *_, digest in found}) == 1
    assert list(found[0][0]) == ["read", "tokenise", "blocks", "sequence", "parse"]
