"""Every tablet of Java: `tablet dump --json` against its description, `tablet reencode` against a writer of our own. See README.md."""
import json
import pathlib
import subprocess
import tempfile

from judge import ROOT, TSLOOM, fail, say, tsloom
from tablet_wire import canonical, wire

TABLETS = ROOT / "fixtures" / "tablet"
# Keys of a description that do not stand in the bytes: what the object was called, and how large it was made.
NOT_ON_WIRE = {"name", "about", "max_rows", "sha256", "java_reserialized_sha256"}


def on_wire(tablet):
    """The description as far as the bytes tell."""
    tablet = {key: value for key, value in tablet.items() if key not in NOT_ON_WIRE}
    columns = []
    for column in tablet["columns"]:
        column = {key: value for key, value in column.items() if key != "bitmap"}
        column["props"] = column["props"] or None
        if column["slots"] is not None:
            column["slots"] = [canonical(column["type"], slot) for slot in column["slots"]]
        columns.append(column)
    return dict(tablet, columns=columns)


def dump(path):
    return json.loads(tsloom("tablet", "dump", path, "--json"))


def main():
    cut_count = 0
    names = sorted(path.stem for path in TABLETS.glob("*.bin"))
    if len(names) != 35:
        fail("%d tablets in %s" % (len(names), TABLETS))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in names:
            path = TABLETS / (name + ".bin")
            described = json.loads((TABLETS / (name + ".json")).read_text(encoding="utf-8"))
            printed, expected = dump(path), on_wire(described)
            if printed != expected:
                keys = [key for key in expected if printed.get(key) != expected[key]] + sorted(set(printed) - set(expected))
                fail("%s: the dump differs from the description in %s" % (name, keys))
            again = folder / "again.bin"
            tsloom("tablet", "reencode", path, "--out", again)
            if again.read_bytes() != wire(described):
                fail("%s: written again it has other bytes than the description gives" % name)

            data = path.read_bytes()
            for size in range(0, len(data), max(1, len(data) // 25)):
                cut = folder / "cut.bin"
                cut.write_bytes(data[:size])
                done = subprocess.run([TSLOOM, "tablet", "dump", str(cut), "--json"], capture_output=True)
                said = done.stderr.decode("utf-8")
                if done.returncode != 2 or done.stdout or said.count("\n") != 1 or ": tablet at offset " not in said:
                    fail("%s cut at %d: status %d, %r" % (name, size, done.returncode, said))
                cut_count += 1
    say("%d tablets: dumped to their descriptions, written again to the bytes of the descriptions; %d cuts refused in one line"
        % (len(names), cut_count))


if __name__ == "__main__":
    main()
