import java.util.ArrayList;
import java.util.List;

public class Elevator {
    private int floor;
    private final int capacity;
    private int direction = 1;
    private int travelled;
    private int stops;
    private int most;
    private final List<int[]> waiting = new ArrayList<>();
    private final List<int[]> aboard = new ArrayList<>();

    Elevator(int floor, int capacity) {
        this.floor = floor;
        this.capacity = capacity;
    }

    boolean wanted(int way) {
        for (int[] person : aboard) {
            if ((person[1] - floor) * way > 0) {
                return true;
            }
        }
        for (int[] person : waiting) {
            if ((person[0] - floor) * way > 0 && aboard.size() < capacity) {
                return true;
            }
        }
        return false;
    }

    int leave() {
        int before = aboard.size();
        aboard.removeIf(person -> person[1] == floor);
        return before - aboard.size();
    }

    int enter() {
        int entered = 0;
        for (int i = 0; i < waiting.size(); i++) {
            int[] person = waiting.get(i);
            if (person[0] == floor && aboard.size() < capacity) {
                aboard.add(person);
                waiting.remove(i);
                i -= 1;
                entered += 1;
            }
        }
        return entered;
    }

    void serve() {
        int moved = leave() + enter();
        if (moved > 0) {
            stops += 1;
        }
        most = Math.max(most, aboard.size());
    }

    void run() {
        serve();
        while (!waiting.isEmpty() || !aboard.isEmpty()) {
            if (!wanted(direction)) {
                direction = -direction;
            }
            if (!wanted(direction)) {
                break;
            }
            floor += direction;
            travelled += 1;
            serve();
        }
    }

    public static void main(String[] args) {
        Elevator elevator = new Elevator(Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        for (int i = 2; i < args.length; i++) {
            String[] parts = args[i].split(":");
            elevator.waiting.add(new int[] {Integer.parseInt(parts[0]), Integer.parseInt(parts[1])});
        }
        elevator.run();
        System.out.println(elevator.travelled + " floors " + elevator.stops + " stops " + elevator.most + " aboard");
    }
}
