"""Files of our writer in every encoding, type, compression and shape, and of the tree model, read by C++. See README.md."""
import json
import os
import pathlib
import subprocess
import tempfile

from judge import ROOT, fail, read_with_cpp, say

# C++ does not read these pairs of type and encoding, whoever writes them; `NOT_READ_BY_CPP` in samples.rs lists them.
JAVA_ONLY = "java_only"


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        command = ["cargo", "run", "--quiet", "--package", "tsloom-file", "--example", "write_samples", "--", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=os.environ)
        names = sorted(path.stem for path in folder.glob("*.tsfile"))
        judged = [name for name in names if not name.startswith(JAVA_ONLY)]
        row_count = 0
        for name in judged:
            expected = [json.loads(line) for line in (folder / (name + ".jsonl")).read_text(encoding="utf-8").splitlines()]
            got = [json.loads(line) for line in read_with_cpp(folder / (name + ".tsfile"))]
            for number, (g, e) in enumerate(zip(got, expected), 1):
                if g != e:
                    fail("%s: line %d differs\n     got %s\nexpected %s" % (name, number, g, e))
            if len(got) != len(expected):
                fail("%s: %d lines, expected %d" % (name, len(got), len(expected)))
            row_count += len(expected)
        if len(judged) < 60:
            fail("only %d files" % len(judged))
        say("%d files, %d lines, read by C++ to what was written; %d files of pairs that C++ does not know were not asked for"
            % (len(judged), row_count, len(names) - len(judged)))


if __name__ == "__main__":
    main()
