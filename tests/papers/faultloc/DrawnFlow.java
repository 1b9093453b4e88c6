// Runs drawn methods many times, with conditions and exceptions drawn for each run; prints the marks that each reached.
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

public class DrawnFlow {
    public static void main(String[] args) {
        for (Runnable program : List.<Runnable>of(PROGRAMS)) {
            Base.seen.clear();
            for (int run = 0; run < 5000; run++) {
                Base.random = new Random(run * 31L + 7);
                Base.steps = 200;
                Base.quiet = run % 4;
                try {
                    program.run();
                } catch (RuntimeException | Over expected) {
                    continue;
                }
            }
            StringBuilder line = new StringBuilder();
            Base.seen.forEach(mark -> line.append(mark).append(' '));
            System.out.println(line);
        }
    }
}

class Over extends Error {
}

class Base {
    static final TreeSet<Integer> seen = new TreeSet<>();
    static Random random;
    static int steps;
    static int quiet;

    static void mark(int number) {
        seen.add(number);
        step();
    }

    static boolean c() {
        step();
        return random.nextBoolean();
    }

    static int n() {
        return random.nextInt(3);
    }

    static RuntimeException error() {
        return random.nextBoolean() ? new IllegalStateException() : new IllegalArgumentException();
    }

    private static void step() {
        if (--steps < 0) {
            throw new Over();
        }
        if (random.nextInt(10) < quiet) {
            throw error();
        }
    }
}
