"""Parts of a test run, by the tests' node ids alone.

A part is every n-th test in the order of the ids, so the cases of one test are spread over the
parts.
"""

import argparse


def parsed(text):
    """``k/n`` as (k, n)."""
    number, slash, of = text.partition("/")
    if not slash or not number.isdecimal() or not of.isdecimal() or not 1 <= int(number) <= int(of):
        raise argparse.ArgumentTypeError(
            f"{text!r} was given; allowed is k/n with 1 <= k <= n, for example 1/4"
        )
    return int(number), int(of)


def part_of(names, number, of):
    """The names of part ``number`` of ``of``, counted from 1, whatever the order of the names."""
    return sorted(set(names))[number - 1 :: of]
