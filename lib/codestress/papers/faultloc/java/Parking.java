public class Parking {
    static final int FREE = 15;
    static final int HALF_HOUR = 120;
    static final int HOUR = 100;
    static final int MOST = 2000;
    static final int EVENING = 18 * 60;
    static final int EVENING_MOST = 600;

    private final int[] entries;
    private final int[] exits;

    Parking(String[] stays) {
        entries = new int[stays.length];
        exits = new int[stays.length];
        for (int i = 0; i < stays.length; i++) {
            String[] parts = stays[i].split("-");
            entries[i] = Integer.parseInt(parts[0]);
            exits[i] = Integer.parseInt(parts[1]);
        }
    }

    int minutes(int stay) {
        return exits[stay] - entries[stay];
    }

    static int begun(int minutes, int unit) {
        return (minutes + unit - 1) / unit;
    }

    int fee(int stay) {
        int time = minutes(stay);
        if (time <= FREE) {
            return 0;
        }
        int fee = begun(Math.min(time, 360), 30) * HALF_HOUR;
        if (time > 360) {
            fee += begun(time - 360, 60) * HOUR;
        }
        boolean evening = entries[stay] >= EVENING && exits[stay] > entries[stay];
        if (evening && fee > EVENING_MOST) {
            return EVENING_MOST;
        }
        return Math.min(fee, MOST);
    }

    int total() {
        int sum = 0;
        for (int i = 0; i < entries.length; i++) {
            sum += fee(i);
        }
        return sum;
    }

    int longest() {
        int longest = 0;
        for (int i = 0; i < entries.length; i++) {
            if (minutes(i) > longest) {
                longest = minutes(i);
            }
        }
        return longest;
    }

    public static void main(String[] args) {
        Parking parking = new Parking(args);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < args.length; i++) {
            text.append(parking.fee(i)).append(' ');
        }
        System.out.println(text + "sum " + parking.total() + " longest " + parking.longest());
    }
}
