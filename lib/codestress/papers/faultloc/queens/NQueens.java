import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class NQueens {
    private final int size;
    private final boolean[][] board;
    private final List<int[]> found = new ArrayList<>();

    NQueens(int size) {
        this.size = size;
        this.board = new boolean[size][size];
    }

    boolean attacked(int row, int column) {
        // The row to the left of the field
        for (int before = 0; before < column; before++) {
            if (board[row][before]) {
                return true;
            }
        }
        // The upper diagonal to the left
        for (int above = 0; above < row; above++) {
            int left = column - (row - above);
            if (left >= 0 && board[above][left]) {
                return true;
            }
        }
        // The lower diagonal to the left
        for (int below = row + 1; below <= size - 1; below++) {
            int left = column - (below - row);
            if (left >= 0 && board[below][left]) {
                return true;
            }
        }
        return false;
    }

    int[] rows() {
        int[] rows = new int[size];
        for (int column = 0; column < size; column++) {
            for (int row = 0; row < size; row++) {
                if (board[row][column]) {
                    rows[column] = row;
                }
            }
        }
        return rows;
    }

    void fill(int column) {
        // All columns have their queen
        if (column == size) {
            found.add(rows());
        } else {
            for (int row = 0; row < size; row++) {
                if (!attacked(row, column)) {
                    board[row][column] = true;
                    fill(column + 1);
                    // Take the queen away again and try the next row
                    board[row][column] = false;
                }
            }
        }
    }

    public static void main(String[] args) {
        NQueens queens = new NQueens(Integer.parseInt(args[0]));
        queens.fill(0);
        for (int[] arrangement : queens.found) {
            System.out.println(Arrays.toString(arrangement));
        }
    }
}
