"""How well words are found in sentences whose words are known."""


def spans(words):
    """The (begin, end) of each word in the text without spaces."""
    found, at = set(), 0
    for word in words:
        found.add((at, at + len(word)))
        at += len(word)
    return found


def f1(cut, sentences):
    right = made = wanted = 0
    for sentence in sentences:
        gold, own = spans(sentence.split()), spans(cut(sentence.replace(" ", "")))
        right, made, wanted = right + len(gold & own), made + len(own), wanted + len(gold)
    return 2 * right / (made + wanted)
