"""File sizes: no larger than those of the C++ writer from the same rows, and smaller when the data chooses the encodings.
See README.md.

Both writers work with their defaults, which are the same encodings, LZ4, and pages of 10,000 rows. W1 is one device of the
benchmark's data (100,000 rows), so its bounds are a tenth of those of the ten.
"""
import math
import pathlib
import tempfile

from judge import CSVS, DATA, cat, fail, read_with_cpp, same, say, tsloom, write_with_cpp

# Our size by that of C++, at most.
RATIO_MAX = 1.005

# Bytes of a file with `--encoding auto`, at most, by compression.
AUTO_MAX = {
    "w1": {"LZ4": 2_100_000, "ZSTD": 2_000_000},
    "wind_farm_10min": {"LZ4": 550_000, "ZSTD": 550_000},
}

# Every value of these is the shortest decimal of a 32-bit float.
FLOATS = {
    "wind_farm_10min": ["pitch_deg", "power_kw", "wind_speed_ms", "vane_deg", "outdoor_temp_c", "nacelle_deg", "wind_dir_deg"],
}

MASK = 2**64 - 1


def key(device, column, row):
    x = ((device << 48 | column << 40 | row) + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def w1_rows(device, count):
    for r in range(count):
        random, triangle = key(device, 4, r), r % 2000
        yield [
            1_700_000_000_000 + 1000 * r, "d%04d" % device,
            r, 10 * r + key(device, 1, r) % 10, key(device, 2, r) % 1000, r // 100 + device, random - (random >> 63 << 64),
            0.25 * min(triangle, 2000 - triangle), 20.0 + key(device, 6, r) % 1001 / 100.0, (r // 100) * 0.1,
            math.ldexp(key(device, 8, r) >> 11, -53), device + 0.5 * r,
        ]


def write_w1(path):
    with open(path, "w") as csv:
        csv.write("time,dev,i0,i1,i2,i3,i4,f0,f1,f2,f3,f4\n")
        for row in w1_rows(0, 100_000):
            csv.write(",".join(cell if isinstance(cell, str) else repr(cell) for cell in row) + "\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_w1(folder / "w1.csv")
        sources = [(DATA / (name + ".csv"), tags) for name, tags in CSVS.items()] + [(folder / "w1.csv", ["dev"])]
        for source, tags in sources:
            name = source.stem
            flags = [word for tag in tags for word in ("--tag", tag)]
            flags += [word for column in FLOATS.get(name, []) for word in ("--type", column + "=FLOAT")]
            ours, theirs, auto = (folder / (name + end) for end in (".tsfile", "_cpp.tsfile", "_auto.tsfile"))
            tsloom("import", source, "--out", ours, *flags)
            lines = cat(ours)
            write_with_cpp(theirs, lines)
            size, cpp_size = ours.stat().st_size, theirs.stat().st_size
            if size > cpp_size * RATIO_MAX:
                fail("%s: %d bytes, C++ writes %d" % (name, size, cpp_size))

            auto_sizes = []
            for compression in ("LZ4", "ZSTD"):
                auto.unlink(missing_ok=True)
                tsloom("import", source, "--out", auto, *flags, "--encoding", "auto", "--compression", compression)
                auto_size = auto.stat().st_size
                bound = AUTO_MAX.get(name, {}).get(compression, size)
                if auto_size > bound:
                    fail("%s with auto and %s: %d bytes, %d at most" % (name, compression, auto_size, bound))
                same("C++ reads %s with auto and %s" % (name, compression), read_with_cpp(auto), lines)
                auto_sizes.append(auto_size)
            say("%s: %d bytes, C++ %d (%.4f); auto with LZ4 %d, with ZSTD %d, read by C++ to the same lines"
                % (name, size, cpp_size, size / cpp_size, *auto_sizes))


if __name__ == "__main__":
    main()
