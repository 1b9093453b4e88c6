import java.util.ArrayList;
import java.util.List;

public class ShiftPlan {
    static class Person {
        final String name;
        int left;
        final String free;
        final List<Integer> days = new ArrayList<>();

        Person(String text) {
            String[] parts = text.split(":", -1);
            name = parts[0];
            left = Integer.parseInt(parts[1]);
            free = parts[2];
        }

        boolean tired(int day) {
            return days.contains(day - 1) && days.contains(day - 2);
        }

        boolean available(int day) {
            boolean off = free.indexOf((char) ('a' + day)) >= 0;
            return left > 0 && !off && !tired(day) && !days.contains(day);
        }

        void work(int day) {
            days.add(day);
            left -= 1;
        }
    }

    private final List<Person> people = new ArrayList<>();
    private int turn;
    private int open;

    Person next(int day) {
        for (int i = 0; i < people.size(); i++) {
            int place = (turn + i) % people.size();
            Person person = people.get(place);
            if (person.available(day)) {
                turn = place + 1;
                return person;
            }
        }
        return null;
    }

    String plan(int day, int needed) {
        StringBuilder names = new StringBuilder();
        for (int i = 0; i < needed; i++) {
            Person person = next(day);
            if (person == null) {
                open += needed - i;
                break;
            }
            person.work(day);
            names.append(person.name);
        }
        return names.toString();
    }

    public static void main(String[] args) {
        ShiftPlan plan = new ShiftPlan();
        for (int i = 2; i < args.length; i++) {
            plan.people.add(new Person(args[i]));
        }
        int days = Integer.parseInt(args[0]);
        int needed = Integer.parseInt(args[1]);
        StringBuilder text = new StringBuilder();
        for (int day = 0; day < days; day++) {
            text.append(plan.plan(day, needed)).append(' ');
        }
        System.out.println(text + "open " + plan.open);
    }
}
