import pytest

from beam_topics.model.reading.delimited import layout_of

SENTENCE = "the ship came into the harbour, at last"


def rows(form, count=20, **fields):
    return "".join(form.format(n=n, text=f"{SENTENCE} {n}", **fields) for n in range(count))


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("id,text\n1,a\n", ","),
        ("id;text\n" + rows("{n};{text}\n"), ";"),
        (rows("ham\t{text}\n"), "\t"),
        ("id|text\n" + rows("{n}|{text}\n"), "|"),
        ("text\n" + rows("{text}\n"), ","),
        ('id;"a, b, c, d"\n1;2\n', ";"),
        ("", ","),
    ],
)
def test_the_delimiter_cuts_most_rows_alike(text, delimiter):
    assert layout_of(text).delimiter == delimiter


def test_a_delimiter_that_is_given_is_taken():
    assert layout_of("a;b,c\n1;2,3\n", "comma").names == ("a;b", "c")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("id,text\n" + rows('{n},"{text}"\n'), True),
        (rows('{n},"{text}"\n'), False),
        (rows('2001-01-01,"{text}"\n'), False),
        ("date,text\n" + rows('2001-01-01,"{text}"\n'), True),
        (rows("ham\t{text}\n"), False),
        ("label\ttext\n" + rows("ham\t{text}\n"), True),
        (rows("{text}\n").replace(",", ""), False),
        ("text\n" + rows("{text}\n").replace(",", ""), True),
        ("a,a\n1,2\n", True),
        ("no,no,yes\n" + 9 * "yes,no,no\n", False),
        ("key,note,note\n" + rows('P-1,"{text}",x\n'), True),
        ("id,text\n", True),
    ],
)
def test_a_first_row_like_the_others_names_no_columns(text, header):
    assert layout_of(text).header is header


def test_columns_without_a_name_are_named_after_their_place():
    assert layout_of(",title,\n0,a ship,x\n1,a port,y\n").names == ("column1", "title", "column3")


def test_ragged_rows_are_counted():
    found = layout_of("text,date\n" + rows("{text},2001-01-01\n"))
    assert (found.width, len(found.names), found.others) == (3, 2, 1.0)


def test_quotes_of_a_table_with_tabs_are_characters_unless_fields_are_quoted():
    assert not layout_of('ham\t"so he said\nspam\twin "this" prize\n').quoted
    assert layout_of('id\ttext\n1\t"a ship"\n').quoted


def test_a_last_row_that_is_cut_does_not_count():
    whole = layout_of("id,text\n1,a\n2,b\n3", whole=False)
    assert whole.others == 0.0 and whole.width == 2
