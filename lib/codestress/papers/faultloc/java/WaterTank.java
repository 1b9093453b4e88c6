public class WaterTank {
    private final int capacity;
    private final int inflow;
    private final int low;
    private final int high;
    private int level;
    private int spilled;
    private int lacking;
    private int openings;
    private boolean open;

    WaterTank(int capacity, int level, int inflow, int low, int high) {
        this.capacity = capacity;
        this.level = level;
        this.inflow = inflow;
        this.low = low;
        this.high = high;
    }

    void control() {
        if (!open && level < low) {
            open = true;
            openings += 1;
        } else if (open && level > high) {
            open = false;
        }
    }

    void fill() {
        if (!open) {
            return;
        }
        level += inflow;
        if (level > capacity) {
            spilled += level - capacity;
            level = capacity;
        }
    }

    void draw(int wanted) {
        int taken = Math.min(wanted, level);
        level -= taken;
        lacking += wanted - taken;
    }

    void minute(int wanted) {
        control();
        fill();
        draw(wanted);
    }

    int percent() {
        return capacity > 0 ? 100 * level / capacity : 0;
    }

    static int[] numbers(String[] args) {
        int[] found = new int[args.length];
        for (int i = 0; i < args.length; i++) {
            found[i] = Integer.parseInt(args[i]);
        }
        return found;
    }

    public static void main(String[] args) {
        int[] given = numbers(args);
        WaterTank tank = new WaterTank(given[0], given[1], given[2], given[3], given[4]);
        for (int i = 5; i < given.length; i++) {
            tank.minute(given[i]);
        }
        String end = tank.level + " (" + tank.percent() + " %)";
        System.out.println(end + " spilled " + tank.spilled + " lacking " + tank.lacking + " opened " + tank.openings);
    }
}
