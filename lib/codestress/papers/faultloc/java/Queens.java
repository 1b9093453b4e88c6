public class Queens {
    private final int size;
    private final int[] columns;
    private int solutions;
    private int looked;
    private String first = "none";

    Queens(int size) {
        this.size = size;
        this.columns = new int[size];
    }

    boolean attacks(int row, int column, int otherRow) {
        int other = columns[otherRow];
        int distance = row - otherRow;
        return other == column || other == column - distance || other == column + distance;
    }

    boolean safe(int row, int column) {
        for (int above = 0; above < row; above++) {
            if (attacks(row, column, above)) {
                return false;
            }
        }
        return true;
    }

    String shown() {
        StringBuilder text = new StringBuilder();
        for (int row = 0; row < size; row++) {
            text.append(columns[row] + 1);
        }
        return text.toString();
    }

    void place(int row, int fixed) {
        if (row == size) {
            solutions += 1;
            if (solutions == 1) {
                first = shown();
            }
            return;
        }
        for (int column = 0; column < size; column++) {
            boolean allowed = row > 0 || fixed == 0 || column == fixed - 1;
            looked += 1;
            if (allowed && safe(row, column)) {
                columns[row] = column;
                place(row + 1, fixed);
            }
        }
    }

    public static void main(String[] args) {
        Queens board = new Queens(Integer.parseInt(args[0]));
        board.place(0, Integer.parseInt(args[1]));
        System.out.println(board.solutions + " ways, first " + board.first + ", looked at " + board.looked);
    }
}
