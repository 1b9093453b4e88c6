import java.util.Arrays;

public class GridPath {
    private final String[] rows;
    private final int height;
    private final int width;
    private final int[] best;
    private final int[] steps;

    GridPath(String[] rows) {
        this.rows = rows;
        this.height = rows.length;
        this.width = rows[0].length();
        this.best = new int[height * width];
        this.steps = new int[height * width];
        Arrays.fill(best, Integer.MAX_VALUE);
    }

    int cost(int cell) {
        char mark = rows[cell / width].charAt(cell % width);
        if (mark >= '0' && mark <= '9') {
            return mark - '0';
        }
        return 1;
    }

    boolean open(int row, int column) {
        boolean inside = row >= 0 && row < height && column >= 0 && column < width;
        return inside && rows[row].charAt(column) != '#';
    }

    boolean relax(int from, int row, int column) {
        if (!open(row, column)) {
            return false;
        }
        int cell = row * width + column;
        int total = best[from] + cost(cell);
        if (total < best[cell]) {
            best[cell] = total;
            steps[cell] = steps[from] + 1;
            return true;
        }
        return false;
    }

    boolean sweep() {
        boolean changed = false;
        for (int cell = 0; cell < height * width; cell++) {
            if (best[cell] == Integer.MAX_VALUE) {
                continue;
            }
            int row = cell / width;
            int column = cell % width;
            changed = relax(cell, row - 1, column) || changed;
            changed = relax(cell, row + 1, column) || changed;
            changed = relax(cell, row, column - 1) || changed;
            changed = relax(cell, row, column + 1) || changed;
        }
        return changed;
    }

    String solve() {
        best[0] = 0;
        steps[0] = 1;
        while (sweep()) {
            continue;
        }
        int goal = height * width - 1;
        if (best[goal] == Integer.MAX_VALUE) {
            return "no way";
        }
        return "cost " + best[goal] + " over " + steps[goal] + " cells";
    }

    public static void main(String[] args) {
        System.out.println(new GridPath(args).solve());
    }
}
