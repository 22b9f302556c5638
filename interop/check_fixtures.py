"""Every C++ table fixture, to its .jsonl. See README.md."""
from judge import FIXTURES, SUSPECT, TREE_MODEL, cat, fail, fixtures, same, say


def main():
    read = [name for name in fixtures() if name not in SUSPECT and name not in TREE_MODEL]
    row_count = 0
    for name in read:
        expected = (FIXTURES / (name + ".jsonl")).read_text(encoding="utf-8").split("\n")[:-1]
        same(name, cat(FIXTURES / (name + ".tsfile")), expected)
        row_count += sum('"schema"' != line[1:9] for line in expected)
    if len(read) < 32:
        fail("only %d files" % len(read))
    say("%d files, %d rows: %s" % (len(read), row_count, " ".join(read)))


if __name__ == "__main__":
    main()
