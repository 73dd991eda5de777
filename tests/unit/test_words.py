"""One thing has one name (docs/glossary.md), and sentences are the field's: the
words and phrases below were private ones of this project. No identifier, file
name, comment, text or document has one any more."""
import os
import re
import unittest

SOURCE = os.environ.get("SRCDIR") or os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("agent", "backends", "docs", "scripts", "src", "tests", "themes", "ui")
KINDS = (".1.in", ".am", ".c", ".def", ".h", ".md", ".py", ".sh")
# Inputs of fuzz targets and recordings are data; this file has the lists.
DATA = ("tests/fuzz/corpus/", "tests/fuzz/agent-http/", "tests/recordings/",
        "tests/unit/test_words.py")

# A word of an identifier, a file name, a comment or a text, and the name of the
# same thing in gdb, DAP, CPython, Linux, torch or tmux.
WORDS = {
    "asynciosection": "asyncio-section",
    "backlog": "scrollback",
    "breakplace": "break-place",
    "camp": "wait group",
    "camps": "wait groups",
    "carrier": "http_client",
    "crowd": "slot multiplex",
    "dialogue": "eval history",
    "elffile": "elf-file",
    "errand": "remote call",
    "farewell": "linger",
    "halts": "stopped threads",
    "haystack": "search text",
    "inquiry": "agent requests",
    "jobout": "job output",
    "keeper": "job supervisor",
    "numberformat": "number-format",
    "offspring": "job child",
    "outflow": "output stream",
    "parcel": "staging dir",
    "patience": "timeout extension",
    "perfwatch": "perf breakpoint",
    "roster": "process table",
    "standstill": "stall",
    "survey": "rank query",
    "tapefile": "recording file",
    "wish": "query, request",
    "wishes": "queries, requests",
}
# A module is a noun.
VERBS = ("arming", "asking", "binding", "breaking", "evaluating", "filtering",
         "finding", "going", "listing", "looking", "reading", "refusing",
         "sampling", "starting", "stopping", "telling", "valuing", "wanting")
# What the program said, and a stranger did not understand.
PHRASES = (
    "by a signal or by another debugger",
    "do what costs something",
    "goes where its standard output goes",
    "how manieth",
    "is none of the ranks found",
    "is not in this pane",
    "none of them is the odd one",
    "nothing has stopped it",
    "nothing is to stop a rank;",
    "on without us",
    "program opened none",
    "puts one into it",
    "says so himself",
    "so far without moving",
    "there is no command",
    "they wake now and then",
    "was made without a file",
    "what can be set, and its values",
    "would say for how long",
)
# Their own meaning: listen(2)'s argument.
ALLOWED = {
    ("agent/probetui/endpoints.py", "backlog"),
    ("tests/backend/test_pdb_guard.py", "backlog"),
    ("tests/jobs/site-packages/peers.py", "backlog"),
}


def files():
    """The sources and documents, relative to the source folder."""
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(SOURCE, folder)):
            for name in names:
                path = os.path.relpath(os.path.join(place, name), SOURCE)
                if path.endswith(KINDS) and not path.startswith(DATA):
                    yield path
    yield "README.md"


def words(text):
    """Each word in lower case: "node_roster" and "rosterNode" have two."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)
    return set(re.findall(r"[a-z]+", text.lower()))


class TestWords(unittest.TestCase):
    maxDiff = None

    def test_no_word_is_private(self):
        found = []
        count = 0
        for path in files():
            count += 1
            with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
                of_file = words(path + " " + file.read())
            found += ["%s: %s (%s)" % (path, word, WORDS[word])
                      for word in sorted(of_file & set(WORDS))
                      if (path, word) not in ALLOWED]
        self.assertGreater(count, 900)
        self.assertEqual(found, [])

    def test_no_phrase_is_private(self):
        found = []
        for path in files():
            with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
                text = re.sub(r"[\s*#]+", " ", file.read())
            found += ["%s: %s" % (path, phrase) for phrase in PHRASES
                      if phrase in text]
        self.assertEqual(found, [])

    def test_modules_are_nouns(self):
        names = [os.path.basename(path).rsplit(".", 1)[0] for path in files()
                 if path.endswith((".c", ".h")) and not path.startswith("tests/")]
        self.assertEqual([name for name in names if name in VERBS], [])


if __name__ == "__main__":
    unittest.main()
