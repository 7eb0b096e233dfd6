"""Profiles of inputs in the forms in which people's data come."""

import csv
import io
import json

import pytest

from beam_topics.model.profile.fields import fields_of, roles_of
from beam_topics.model.profile.profile import few_documents, profile_of
from beam_topics.model.profile.sampling import take_samples
from beam_topics.model.reading.settings import FieldNames, ReadSettings

WORDS = [
    "ship",
    "harbour",
    "captain",
    "sail",
    "wave",
    "anchor",
    "deck",
    "storm",
    "mast",
    "rope",
    "crew",
    "port",
]


def text(n, count=12):
    return " ".join(WORDS[(n * 5 + k * (1 + n % 7)) % len(WORDS)] for k in range(count)) + f" n{n}"


def day(n):
    return f"2024-{1 + n // 28 % 12:02}-{1 + n % 28:02}"


def as_csv(rows, delimiter=","):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


def profiled(tmp_path, given=(), settings=None, **files):
    paths = []
    for name, data in files.items():
        path = tmp_path / name.replace("__", ".")
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        paths.append(str(path))
    read = settings or ReadSettings()
    return profile_of(take_samples(paths, read, given), read, dict.fromkeys(given, ""))


def asked(profile):
    return [question.choices for question in profile.questions]


def test_fields_of_default_names_need_no_option(tmp_path):
    rows = [{"id": str(n), "timestamp": day(n), "text": text(n)} for n in range(60)]
    found = profiled(tmp_path, a__jsonl="".join(json.dumps(row) + "\n" for row in rows))
    assert (found.options, asked(found), found.remarks) == ({}, [], ())
    assert found.learning == {"window": "6h", "publish_every": "7d"}


def test_a_semicolon_table_of_windows_with_german_names(tmp_path):
    rows = [(n, f"{1 + n % 28:02}.{1 + n // 28:02}.2024", f"Größe {text(n)}") for n in range(60)]
    data = as_csv([("Nr.", "Datum", "Meldung"), *rows], ";").encode("cp1252")
    assert profiled(tmp_path, a__csv=data).options == {
        "encoding": "cp1252",
        "text_field": "Meldung",
        "timestamp_field": "Datum",
        "timestamp_format": "%d.%m.%Y",
        "id_from": "place",
    }


def test_a_table_without_names(tmp_path):
    rows = [(1 + n % 4, text(n, 4).title(), text(n)) for n in range(60)]
    assert profiled(tmp_path, a__csv=as_csv(rows)).options == {
        "columns": "column1,column2,column3",
        "text_field": "column2,column3",
        "time_from": "order",
        "id_from": "place",
    }


def test_a_title_is_joined_and_other_short_texts_are_not(tmp_path):
    def options(short):
        rows = [(short(n), day(n), text(n, 25)) for n in range(60)]
        found = profiled(tmp_path, a__csv=as_csv([("title", "date", "body"), *rows]))
        return found.options.get("text_field")

    assert options(lambda n: text(n, 3)) == "title,body"
    assert options(lambda n: f"Ada Lovelace{n}") == "body"
    assert options(lambda n: f"{n} Main Street Springfield") == "body"


def test_texts_of_about_one_length_are_asked_for(tmp_path):
    rows = [(text(n), day(n), text(n + 1)) for n in range(60)]
    found = profiled(tmp_path, a__csv=as_csv([("question", "date", "answer"), *rows]))
    assert len(asked(found)) == 1
    assert asked(found)[0][-1] == "--text_field=question,answer"


def test_of_several_times_the_first_is_taken_if_the_others_follow_soon(tmp_path):
    def options(other):
        rows = [(other(n), day(n), text(n)) for n in range(200)]
        return profiled(tmp_path, a__csv=as_csv([("other", "made", "text"), *rows]))

    assert options(lambda n: day(n + 1)).options["timestamp_field"] == "made"
    assert options(lambda n: 1_400_000_000 + n).options["timestamp_field"] == "made"
    assert asked(options(lambda n: f"19{10 + n % 80}-03-01")) == [
        ("--timestamp_field=other", "--timestamp_field=made")
    ]


def test_times_that_are_not_used_are_never_silently_an_order(tmp_path):
    def found(time):
        rows = [(time(n), text(n)) for n in range(60)]
        return profiled(tmp_path, a__csv=as_csv([("date", "text"), *rows]))

    for one in (found(lambda n: f"spring {2000 + n}"), found(lambda n: day(n) if n % 2 else "")):
        assert "time_from" not in one.options and len(one.questions) == 1
    either = found(lambda n: f"0{1 + n * 5 % 9}/0{1 + n * 7 % 9}/2023")
    assert asked(either) == [("--timestamp_format=%d/%m/%Y", "--timestamp_format=%m/%d/%Y")]


def test_rows_with_unquoted_delimiters_are_asked_for_and_the_answer_works(tmp_path):
    rows = "".join(f"{text(n, 5)}, {text(n, 5)},{day(n)}\n" for n in range(60))
    data = "text,date\n" + rows
    (question,) = profiled(tmp_path, a__csv=data).questions
    assert "most rows have 3 fields, the header 2" in str(question)
    assert question.choices[0] == "--unquoted_field=text"
    settings = ReadSettings(unquoted_field="text")
    found = profiled(tmp_path, ("unquoted_field",), settings, a__csv=data)
    assert found.questions == () and found.options["timestamp_field"] == "date"
    assert found.samples.documents == 60


def test_an_outlier_is_named(tmp_path):
    rows = [{"timestamp": day(n), "text": text(n)} for n in range(60)]
    rows[7]["timestamp"] = "1970-01-01"
    found = profiled(tmp_path, a__jsonl="".join(json.dumps(row) + "\n" for row in rows))
    assert "1 of 60 times are far from all others: 1970-01-01." in found.remarks[0]
    assert found.learning["window"] == "6h"


def test_ids_of_several_files_that_repeat_are_named_with_what_becomes_of_them(tmp_path):
    rows = [{"id": str(n), "timestamp": day(n), "text": text(n)} for n in range(20)]
    data = "".join(json.dumps(row) + "\n" for row in rows)
    found = profiled(tmp_path, a__jsonl=data, b__jsonl=data)
    assert found.repeated == 20 and found.options == {}
    assert found.remarks[0].startswith("20 ids occur more than once, for example '0' in ")
    assert "the others become dead letters. --id_from=place" in found.remarks[0]


def test_files_of_several_encodings_are_asked_for(tmp_path):
    table = as_csv([("date", "text"), *((day(n), f"Größe für Straße {n}") for n in range(30))])
    found = profiled(tmp_path, a__csv=table, b__csv=table.encode("cp1252"))
    assert "the files have several encodings" in str(found.questions[0])
    ascii_file = as_csv([("date", "text"), (day(1), "a ship came"), (day(2), "a ship left")])
    alike = profiled(tmp_path, a__csv=ascii_file, b__csv=table.encode("cp1252"))
    assert alike.questions == () and alike.options["encoding"] == "cp1252"


def test_an_id_has_its_name_and_a_value_for_each_record(tmp_path):
    def options(values):
        rows = [(value, day(n), text(n)) for n, value in enumerate(values)]
        return profiled(tmp_path, a__csv=as_csv([("Ticket ID", "date", "text"), *rows])).options

    assert options(range(100, 160))["id_field"] == "Ticket ID"
    assert options([*range(59), 0])["id_from"] == "place"


def test_records_without_a_text_and_times_of_another_form_are_counted(tmp_path):
    rows = [{"timestamp": day(n), "text": text(n) if n else " "} for n in range(60)]
    rows[9]["timestamp"] = "soon"
    found = profiled(tmp_path, a__jsonl="".join(json.dumps(row) + "\n" for row in rows))
    assert found.remarks == (
        "1 of 60 records have no text. They become dead letters.",
        "1 of 60 times of 'timestamp' have another form, for example 'soon'. They become dead"
        " letters.",
    )


def test_candidates_are_listed_and_not_used():
    records = [
        {"text": text(n), "class": "ab"[n % 2], "user": f"user{n % 60}", "n": n} for n in range(400)
    ]
    found = roles_of(fields_of(records, {}), records, FieldNames(), set())
    assert found.roles == {"text": "text", "class": "label?", "user": "author?"}
    assert found.options == {"time_from": "order", "id_from": "place"}


def test_options_that_are_given_settle_their_question():
    records = [{"a": text(n), "b": text(n + 1), "x": day(n), "y": day(300 - n)} for n in range(60)]
    fields, names = fields_of(records, {}), FieldNames(text="a", timestamp="y")
    assert len(roles_of(fields, records, FieldNames(), set()).questions) == 2
    found = roles_of(fields, records, names, {"text_field", "timestamp_field", "id_from"})
    assert found.questions == [] and found.options == {}


@pytest.mark.parametrize("documents, topics, said", [(12, 50, True), (600, 50, False)])
def test_too_many_topics_get_a_remark(documents, topics, said):
    found = few_documents(documents, topics)
    assert bool(found) is said
    if said:
        assert found.startswith("12 documents are few for 50 topics") and "--topics=2 " in found
