"""`import --store --ack`, killed with signal 9 after acknowledgements chosen at random. See README.md."""
import json
import pathlib
import subprocess
import tempfile
import threading
import time

from csv_rows import Table
from judge import CSVS, DATA, TSLOOM, fail, same, say, seeded, tsloom

KILLS = 10
KILLS_BETWEEN_MIN = 8
NAME = "wind_farm_10min"
BATCH_ROWS = 512
PIECE_ROWS = 180
PAUSE_SECONDS = 0.004


def feed(pipe, lines, stop):
    """The CSV in small pieces with pauses, so that the importer is never ahead of the kill."""
    try:
        for start in range(0, len(lines), PIECE_ROWS):
            if stop.is_set():
                break
            pipe.write(b"".join(lines[start:start + PIECE_ROWS]))
            pipe.flush()
            time.sleep(PAUSE_SECONDS)
        pipe.close()
    except (BrokenPipeError, ValueError):
        pass


def acknowledged(line):
    return json.loads(line)["acknowledged_rows"]


def killed_run(table, lines, command, after, delay):
    """Kills the importer `delay` seconds after `after` acknowledgements are in. The last number it had given, and whether it had ended."""
    importer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stop = threading.Event()
    feeder = threading.Thread(target=feed, args=(importer.stdin, lines, stop))
    feeder.start()
    seen = []
    for line in importer.stdout:
        seen.append(acknowledged(line))
        if len(seen) == after:
            break
    time.sleep(delay)
    importer.kill()
    stop.set()
    # What it had already said when the signal came counts, too. A torn last line was not said.
    seen += [acknowledged(line) for line in importer.stdout if line.endswith(b"\n")]
    status = importer.wait()
    feeder.join()
    if not seen:
        fail("no acknowledgement at all: %s" % importer.stderr.read().decode(errors="replace"))
    if any(a >= b for a, b in zip(seen, seen[1:])) or any(n % BATCH_ROWS for n in seen[:-1]):
        fail("acknowledgements do not rise by whole batches: %s" % seen)
    return seen[-1], status == -9 and seen[-1] < len(table.rows)


def main():
    random = seeded()
    source = DATA / (NAME + ".csv")
    table = Table(source, CSVS[NAME])
    lines = source.read_bytes().splitlines(keepends=True)
    distinct = table.distinct_counts()
    whole_lines = table.row_lines()
    ack_count = -(-len(table.rows) // BATCH_ROWS)
    # With every type told there is no sample to wait for: the first batch is written as soon as it is there.
    flags = ["--table", NAME, "--tag", "turbine"]
    flags += [w for n in table.columns if n != "turbine" for w in ("--type", n + "=DOUBLE")]
    between = 0
    for number in range(1, KILLS + 1):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "lab.tsloom"
            command = [TSLOOM, "import", "-", "--store", str(store), "--ack", "--batch-rows", str(BATCH_ROWS), *flags]
            after = random.randrange(1, ack_count - 4)
            delay = random.choice([0, random.uniform(0, 0.02)])  # in the middle of a batch, too
            acked, is_between = killed_run(table, lines, command, after, delay)
            between += is_between
            rows = tsloom("cat", "--store", store, "-f", "ndjson").decode("utf-8").split("\n")[:-1]
            # Whole batches beyond the last acknowledgement: none, or as many as were on their way.
            batches = range(acked, len(table.rows) + BATCH_ROWS, BATCH_ROWS)
            kept = [min(n, len(table.rows)) for n in batches if distinct[min(n, len(table.rows))] == len(rows)]
            same("after kill %d at %d acknowledged rows" % (number, acked), rows, table.row_lines((kept or [acked])[0]))
            same("opened again", tsloom("cat", "--store", store, "-f", "ndjson").decode("utf-8").split("\n")[:-1], rows)
            # The import goes on where it was stopped.
            rest = b"".join([lines[0], *lines[1 + acked:]])
            tsloom("import", "-", "--store", store, *flags, input=rest)
            whole = tsloom("cat", "--store", store, "-f", "ndjson").decode("utf-8").split("\n")[:-1]
            same("after the rest was imported", whole, whole_lines)
            say("kill %2d after %3d of %d acknowledgements: %5d rows acknowledged, %5d kept, 0 lost"
                % (number, after, ack_count, acked, kept[0]))
    if between < KILLS_BETWEEN_MIN:
        fail("only %d kills fell between the first and the last acknowledgement" % between)
    say("%d of %d kills fell between the first and the last acknowledgement" % (between, KILLS))


if __name__ == "__main__":
    main()
