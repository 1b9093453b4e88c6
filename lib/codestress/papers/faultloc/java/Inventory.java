import java.util.LinkedHashMap;
import java.util.Map;

public class Inventory {
    static class Item {
        int stock;
        int level;
        boolean ordered;

        Item(int stock, int level) {
            this.stock = stock;
            this.level = level;
        }
    }

    private final Map<String, Item> items = new LinkedHashMap<>();
    private int missed;
    private int orders;

    void declare(String name, String rest) {
        String[] parts = rest.split(":");
        items.put(name, new Item(Integer.parseInt(parts[0]), Integer.parseInt(parts[1])));
    }

    void sell(String name, int count) {
        Item item = items.get(name);
        int sold = Math.min(count, item.stock);
        item.stock -= sold;
        missed += count - sold;
        if (item.stock < item.level && !item.ordered) {
            item.ordered = true;
            orders += 1;
        }
    }

    void deliver(String name, int count) {
        Item item = items.get(name);
        item.stock += count;
        item.ordered = false;
    }

    static int sign(String text) {
        for (int i = 0; i < text.length(); i++) {
            char mark = text.charAt(i);
            if (mark == '=' || mark == '-' || mark == '+') {
                return i;
            }
        }
        return -1;
    }

    void apply(String text) {
        int at = sign(text);
        String name = text.substring(0, at);
        String rest = text.substring(at + 1);
        if (text.charAt(at) == '=') {
            declare(name, rest);
        } else if (text.charAt(at) == '-') {
            sell(name, Integer.parseInt(rest));
        } else {
            deliver(name, Integer.parseInt(rest));
        }
    }

    public static void main(String[] args) {
        Inventory store = new Inventory();
        for (int i = 0; i < args.length; i++) {
            store.apply(args[i]);
        }
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, Item> entry : store.items.entrySet()) {
            text.append(entry.getKey()).append('=').append(entry.getValue().stock).append(' ');
        }
        System.out.println(text + "missed " + store.missed + " orders " + store.orders);
    }
}
