"""1,000 mutations of two small files: one line and status 2, or well-formed rows and status 0. See README.md."""
import json
import pathlib
import re
import resource
import subprocess
import tempfile

from judge import FIXTURES, TSLOOM, fail, say, seeded, tsloom

MUTATIONS = 1000
SECONDS_MAX = 20
ADDRESS_SPACE_MAX = 2 << 30
# A table whose name in the footer is another one has no schema there: its rows are read as those of a tree's devices.
ROW_FORMS = [{"table", "time", "tags", "fields"}, {"device", "time", "fields"}]


def mutate(random, data):
    """A copy with one thing wrong, and what it is."""
    data = bytearray(data)
    kind = random.choice(["bit", "bit", "byte", "byte", "cut", "zeros", "swap", "insert", "remove", "magic"])
    # Half of them hit the last quarter, where the index and the metadata are.
    at = random.randrange(len(data) * 3 // 4, len(data)) if random.random() < 0.5 else random.randrange(len(data))
    if kind == "bit":
        data[at] ^= 1 << random.randrange(8)
    elif kind == "byte":
        data[at] = random.choice([0, 1, 0x7F, 0x80, 0xFE, 0xFF, random.randrange(256)])
    elif kind == "cut":
        del data[at:]
    elif kind == "zeros":
        end = min(at + random.randrange(1, 64), len(data))
        data[at:end] = bytes(end - at)
    elif kind == "swap":
        other = random.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    elif kind == "insert":
        data[at:at] = random.randbytes(random.randrange(1, 8))
    elif kind == "remove":
        del data[at:at + random.randrange(1, 8)]
    else:
        at = random.choice([0, 5, 6, len(data) - 1])
        data[at] ^= 0x20
    return bytes(data), "%s at %d" % (kind, at)


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_MAX, ADDRESS_SPACE_MAX))


def judge(path, what):
    """Runs `cat` on a mutation; its status."""
    done = subprocess.run([TSLOOM, "cat", str(path), "-f", "ndjson", "--schema"], capture_output=True,
                          timeout=SECONDS_MAX, preexec_fn=limit)
    said = done.stderr.decode("utf-8", errors="replace")
    try:
        rows = [json.loads(line) for line in done.stdout.decode("utf-8").split("\n")[:-1]]
        well_formed = all("schema" in row or set(row) in ROW_FORMS for row in rows)
    except ValueError:
        well_formed = False
    if not well_formed:
        fail("%s: the output is not well-formed" % what)
    if done.returncode == 0:
        if said:
            fail("%s: status 0, but it says %s" % (what, said))
    elif done.returncode == 2:
        if said.count("\n") != 1 or not re.match(re.escape(str(path)) + r": .*offset [0-9,]+.*: .+\n\Z", said):
            fail("%s: not one line with file, offset and cause: %r" % (what, said))
    else:
        fail("%s: status %d: %s" % (what, done.returncode, said))
    return done.returncode


def main():
    random = seeded()
    counts = {0: 0, 2: 0}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source = folder / "own.csv"
        source.write_text("time,site,n,v,on,note\n" + "".join(
            "%d,%s,%d,%r,%s,%s\n" % (i // 3 * 10, "abc"[i % 3], i * i, i / 7, "true" if i % 2 else "", "n%d" % i)
            for i in range(240)))
        tsloom("import", source, "--out", folder / "own.tsfile")
        files = [FIXTURES / "tag1_all_types.tsfile", folder / "own.tsfile"]
        for file in files:
            data = file.read_bytes()
            for number in range(MUTATIONS // len(files)):
                mutated, what = mutate(random, data)
                path = folder / "mutated.tsfile"
                path.write_bytes(mutated)
                counts[judge(path, "%s, mutation %d, %s" % (file.name, number, what))] += 1
        truncated = folder / "truncated.tsfile"
        truncated.write_bytes(files[0].read_bytes()[:1000])
        empty = folder / "empty.tsfile"
        empty.write_bytes(b"")
        magic = folder / "magic.tsfile"
        magic.write_bytes(b"PAR1" + files[0].read_bytes()[4:])
        for path in [truncated, empty, magic]:
            if judge(path, path.name) != 2:
                fail(path.name + " was read")
    say("%d mutations of two files: %d refused in one line, %d read to well-formed rows, no panic; "
        "truncated, empty and of another magic: refused" % (sum(counts.values()), counts[2], counts[0]))


if __name__ == "__main__":
    main()
