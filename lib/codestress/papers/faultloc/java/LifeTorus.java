public class LifeTorus {
    private boolean[][] cells;
    private final int height;
    private final int width;
    private int generation;

    LifeTorus(String[] args) {
        height = args.length - 1;
        width = args[1].length();
        cells = new boolean[height][width];
        for (int row = 0; row < height; row++) {
            for (int column = 0; column < width; column++) {
                cells[row][column] = args[row + 1].charAt(column) == '#';
            }
        }
    }

    int neighbours(int row, int column) {
        int count = 0;
        for (int down = -1; down <= 1; down++) {
            for (int right = -1; right <= 1; right++) {
                int r = (row + down + height) % height;
                int c = (column + right + width) % width;
                if ((down != 0 || right != 0) && cells[r][c]) {
                    count += 1;
                }
            }
        }
        return count;
    }

    boolean step() {
        boolean changed = false;
        boolean[][] next = new boolean[height][width];
        for (int row = 0; row < height; row++) {
            for (int column = 0; column < width; column++) {
                int count = neighbours(row, column);
                next[row][column] = count == 3 || cells[row][column] && count == 2;
                changed = changed || next[row][column] != cells[row][column];
            }
        }
        cells = next;
        return changed;
    }

    int alive() {
        int count = 0;
        for (boolean[] row : cells) {
            for (boolean cell : row) {
                count += cell ? 1 : 0;
            }
        }
        return count;
    }

    String shown() {
        StringBuilder text = new StringBuilder();
        for (boolean[] row : cells) {
            for (boolean cell : row) {
                text.append(cell ? '#' : '.');
            }
            text.append(' ');
        }
        return text.toString();
    }

    public static void main(String[] args) {
        LifeTorus board = new LifeTorus(args);
        int wanted = Integer.parseInt(args[0]);
        while (board.generation < wanted && board.step()) {
            board.generation += 1;
        }
        System.out.println(board.shown() + board.alive() + " alive after " + board.generation);
    }
}
