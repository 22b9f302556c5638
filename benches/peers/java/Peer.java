// The Java peer of `cargo xtask bench`: the TsFile library from a jar that the user names, doing the work of one scenario.
//
//   java -cp TSFILE.jar Peer.java CASE DATA_FOLDER      CASE: w1 | r1 | r2
//
// It speaks the protocol of bench-worker: a line "round" on standard input is answered by one line of JSON about one
// batch of operations. Input follows the rules of benches/src/rules.rs; the read cases open the file that our side has
// written into DATA_FOLDER, so both sides read the same bytes. The checksum is that of the C++ peer.
//
// The jar holds what the library needs, as tsfile-VERSION-jar-with-dependencies.jar does; 2.1.0 or later.

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.tsfile.enums.ColumnCategory;
import org.apache.tsfile.enums.TSDataType;
import org.apache.tsfile.file.metadata.ColumnSchema;
import org.apache.tsfile.file.metadata.ColumnSchemaBuilder;
import org.apache.tsfile.file.metadata.TableSchema;
import org.apache.tsfile.read.query.dataset.ResultSet;
import org.apache.tsfile.read.v4.ITsFileReader;
import org.apache.tsfile.read.v4.TsFileReaderBuilder;
import org.apache.tsfile.write.record.Tablet;
import org.apache.tsfile.write.v4.ITsFileWriter;
import org.apache.tsfile.write.v4.TsFileWriterBuilder;

public class Peer {
    // ---- data rules

    static final long FIRST_TIME = 1_700_000_000_000L, TIME_STEP = 1_000, BATCH_NS = 20_000_000;
    static final int DEVICES = 10, ROWS = 100_000, TABLET_ROWS = 1_024;

    static long key(long device, long column, long row) {
        long x = (device << 48 | column << 40 | row) + 0x9E3779B97F4A7C15L;
        x = (x ^ (x >>> 30)) * 0xBF58476D1CE4E5B9L;
        x = (x ^ (x >>> 27)) * 0x94D049BB133111EBL;
        return x ^ (x >>> 31);
    }

    static long w1Int(long device, int column, long row) {
        switch (column) {
            case 0: return row;
            case 1: return 10 * row + Long.remainderUnsigned(key(device, 1, row), 10);
            case 2: return Long.remainderUnsigned(key(device, 2, row), 1_000);
            case 3: return row / 100 + device;
            default: return key(device, 4, row);
        }
    }

    static double w1Double(long device, int column, long row) {
        long phase = row % 2_000;
        switch (column) {
            case 0: return 0.25 * Math.min(phase, 2_000 - phase);
            case 1: return 20.0 + Long.remainderUnsigned(key(device, 6, row), 1_001) / 100.0;
            case 2: return (row / 100) * 0.1;
            case 3: return (key(device, 8, row) >>> 11) * (1.0 / 9007199254740992.0);
            default: return device + 0.5 * row;
        }
    }

    /** Names and types of the columns of W1, the tag first. */
    static List<String> names() {
        List<String> names = new ArrayList<>(List.of("dev"));
        for (int column = 0; column < 5; column++) names.add("i" + column);
        for (int column = 0; column < 5; column++) names.add("f" + column);
        return names;
    }

    static TSDataType type(String name) {
        return name.equals("dev") ? TSDataType.STRING : name.startsWith("i") ? TSDataType.INT64 : TSDataType.DOUBLE;
    }

    // ---- operations

    /** Bytes of the file that the case writes or reads. */
    static long fileBytes;

    static final class Device {
        final String name;
        final long[][] ints = new long[5][ROWS];
        final double[][] doubles = new double[5][ROWS];

        Device(int device) {
            name = String.format("d%04d", device);
            for (int row = 0; row < ROWS; row++) {
                for (int column = 0; column < 5; column++) {
                    ints[column][row] = w1Int(device, column, row);
                    doubles[column][row] = w1Double(device, column, row);
                }
            }
        }
    }

    /** W1 through one reused tablet. */
    static Callable<Long> write(File file) {
        List<Device> devices = new ArrayList<>();
        for (int device = 0; device < DEVICES; device++) devices.add(new Device(device));
        List<String> names = names();
        List<TSDataType> types = new ArrayList<>();
        List<ColumnSchema> columns = new ArrayList<>();
        for (String name : names) {
            types.add(type(name));
            ColumnCategory category = name.equals("dev") ? ColumnCategory.TAG : ColumnCategory.FIELD;
            columns.add(new ColumnSchemaBuilder().name(name).dataType(type(name)).category(category).build());
        }
        return () -> {
            long written = 0;
            TableSchema schema = new TableSchema("w1", columns);
            try (ITsFileWriter writer = new TsFileWriterBuilder().file(file).tableSchema(schema).build()) {
                Tablet tablet = new Tablet(names, types, TABLET_ROWS);
                for (Device device : devices) {
                    for (int start = 0; start < ROWS; start += TABLET_ROWS) {
                        int count = Math.min(TABLET_ROWS, ROWS - start);
                        tablet.reset();
                        for (int row = 0; row < count; row++) {
                            tablet.addTimestamp(row, FIRST_TIME + TIME_STEP * (start + row));
                            tablet.addValue(row, 0, device.name);
                            for (int column = 0; column < 5; column++) {
                                tablet.addValue(row, 1 + column, device.ints[column][start + row]);
                                tablet.addValue(row, 6 + column, device.doubles[column][start + row]);
                            }
                        }
                        writer.write(tablet);
                        written += count;
                    }
                }
            }
            fileBytes = file.length();
            Files.delete(file.toPath());
            return written;
        };
    }

    /** The file is opened for each query. */
    static Callable<Long> read(File file, List<String> names, long from, long to) {
        fileBytes = file.length();
        return () -> {
            long sum = 0;
            try (ITsFileReader reader = new TsFileReaderBuilder().file(file).build();
                    ResultSet result = reader.query("w1", names, from, to)) {
                while (result.next()) {
                    sum += result.getLong(1); // the time comes first, and columns count from 1
                    for (int column = 0; column < names.size(); column++) {
                        int place = 2 + column;
                        if (result.isNull(place)) continue;
                        switch (type(names.get(column))) {
                            case STRING: sum += result.getString(place).length(); break;
                            case INT64: sum += result.getLong(place); break;
                            default: sum += Double.doubleToRawLongBits(result.getDouble(place));
                        }
                    }
                }
            }
            return sum;
        };
    }

    static Callable<Long> operation(String name, File folder) {
        File w1 = new File(folder, "w1-" + ROWS + ".tsfile");
        switch (name) {
            case "w1": return write(new File(folder, "java-written-" + ProcessHandle.current().pid() + ".tsfile"));
            case "r1": return read(w1, names(), Long.MIN_VALUE, Long.MAX_VALUE);
            case "r2": return read(w1, List.of("i2", "f1"), FIRST_TIME + 50_000 * TIME_STEP, FIRST_TIME + 50_999 * TIME_STEP);
            default: throw new IllegalArgumentException("no case " + name);
        }
    }

    // ---- protocol

    /** Runs operations, says what they took, and returns the nanoseconds. */
    static long run(Callable<Long> operation, long opCount, boolean isAnswer) throws Exception {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long cpu = system.getProcessCpuTime(), wall = System.nanoTime(), checksum = 0;
        for (long done = 0; done < opCount; done++) checksum = operation.call();
        long ns = System.nanoTime() - wall, cpuNs = system.getProcessCpuTime() - cpu;
        if (isAnswer) {
            System.out.printf("{\"op_count\":%d,\"ns\":%d,\"cpu_ns\":%d,\"checksum\":%s,\"file_bytes\":%d}%n", opCount, ns, cpuNs,
                    Long.toUnsignedString(checksum), fileBytes);
            System.out.flush();
        }
        return ns;
    }

    public static void main(String[] arguments) throws Exception {
        Callable<Long> operation = operation(arguments[0], new File(arguments[1]));
        // The compiler of the virtual machine needs a few before it has seen what is hot.
        for (int warmUp = 0; warmUp < 3; warmUp++) run(operation, 1, false);
        long opCount = Math.max(1, BATCH_NS / Math.max(1, run(operation, 1, false)));
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            if (!line.equals("round")) throw new IllegalArgumentException("expected round, got " + line);
            run(operation, opCount, true);
        }
    }
}
