public class Determinant {
    private final long[][] rows;
    private final int size;

    Determinant(String[] args) {
        size = args.length - 1;
        rows = new long[size][size];
        for (int i = 0; i < size; i++) {
            rows[i] = numbers(args[i]);
        }
    }

    static long[] numbers(String text) {
        String[] parts = text.split(",");
        long[] found = new long[parts.length];
        for (int i = 0; i < parts.length; i++) {
            found[i] = Long.parseLong(parts[i]);
        }
        return found;
    }

    static long determinant(long[][] matrix) {
        int size = matrix.length;
        if (size == 1) {
            return matrix[0][0];
        }
        long sum = 0;
        for (int column = 0; column < size; column++) {
            long part = matrix[0][column] * determinant(minor(matrix, column));
            sum += column % 2 == 0 ? part : -part;
        }
        return sum;
    }

    static long[][] minor(long[][] matrix, int column) {
        int size = matrix.length - 1;
        long[][] small = new long[size][size];
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                small[i][j] = matrix[i + 1][j < column ? j : j + 1];
            }
        }
        return small;
    }

    long trace() {
        long sum = 0;
        for (int i = 0; i < size; i++) {
            sum += rows[i][i];
        }
        return sum;
    }

    static long gcd(long a, long b) {
        while (b != 0) {
            long rest = a % b;
            a = b;
            b = rest;
        }
        return Math.abs(a);
    }

    static String fraction(long top, long bottom) {
        long common = gcd(top, bottom);
        long sign = bottom < 0 ? -1 : 1;
        long above = sign * top / common;
        long below = sign * bottom / common;
        return below == 1 ? String.valueOf(above) : above + "/" + below;
    }

    String solve(long[] right) {
        long whole = determinant(rows);
        if (whole == 0) {
            return "singular";
        }
        StringBuilder text = new StringBuilder();
        for (int column = 0; column < size; column++) {
            long[][] changed = new long[size][];
            for (int i = 0; i < size; i++) {
                changed[i] = rows[i].clone();
                changed[i][column] = right[i];
            }
            text.append(fraction(determinant(changed), whole)).append(' ');
        }
        return text.toString().trim();
    }

    public static void main(String[] args) {
        Determinant system = new Determinant(args);
        String solution = system.solve(numbers(args[args.length - 1]));
        System.out.println(determinant(system.rows) + " " + system.trace() + " " + solution);
    }
}
