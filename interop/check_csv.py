"""The four CSVs: into files and stores by tsloom, read by C++; and the reverse. See README.md."""
import pathlib
import tempfile

from csv_rows import Table
from judge import CSVS, DATA, cat, read_with_cpp, same, say, tsloom, write_with_cpp

# Settings of the C++ writer: its defaults, and pages and chunks that are small and written otherwise.
CPP_OPTIONS = [
    [],
    "--page-points 500 --flush-rows 7000 --compression SNAPPY --encoding DOUBLE=PLAIN --encoding INT64=GORILLA".split(),
    "--page-points 333 --compression UNCOMPRESSED --time-compression UNCOMPRESSED --encoding INT64=PLAIN".split(),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, tags in CSVS.items():
            source = DATA / (name + ".csv")
            table = Table(source, tags)
            expected = table.lines()
            flags = [word for tag in tags for word in ("--tag", tag)]

            ours = folder / (name + ".tsfile")
            tsloom("import", source, "--out", ours, *flags)
            same("C++ reads our file of " + name, read_with_cpp(ours), expected)
            same("cat of our file of " + name, cat(ours), expected)

            piped = folder / (name + "_piped.tsfile")
            with open(source, "rb") as stdin:
                tsloom("import", "-", "--table", name, "--out", piped, *flags, stdin=stdin)
            same("C++ reads our file from a pipe of " + name, read_with_cpp(piped), expected)

            store = folder / (name + ".tsloom")
            tsloom("import", source, "--store", store, *flags)
            same("cat of our store of " + name, cat("--store", store), expected)

            for options in CPP_OPTIONS:
                theirs = folder / (name + "_cpp.tsfile")
                write_with_cpp(theirs, expected, *options)
                same("cat of the file of C++ of %s %s" % (name, options), cat(theirs), expected)
            say("%s: %d rows of the CSV, %d after duplicates; our file %d bytes, read by C++ and by us to the same "
                "lines; from a pipe and from a store too; %d files of C++ read to the same lines"
                % (name, len(table.rows), len(expected) - 1, ours.stat().st_size, len(CPP_OPTIONS)))


if __name__ == "__main__":
    main()
