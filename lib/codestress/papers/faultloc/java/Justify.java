import java.util.ArrayList;
import java.util.List;

public class Justify {
    private final int width;
    private final List<String> lines = new ArrayList<>();

    Justify(int width) {
        this.width = width;
    }

    static int letters(List<String> words) {
        int sum = 0;
        for (int i = 0; i < words.size(); i++) {
            sum += words.get(i).length();
        }
        return sum;
    }

    boolean fits(List<String> words, String next) {
        return letters(words) + words.size() + next.length() <= width;
    }

    static String blanks(int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(' ');
        }
        return text.toString();
    }

    String spread(List<String> words) {
        int gaps = words.size() - 1;
        int free = width - letters(words);
        StringBuilder text = new StringBuilder(words.get(0));
        for (int i = 1; i <= gaps; i++) {
            int size = free / gaps;
            if (i <= free % gaps) {
                size += 1;
            }
            text.append(blanks(size)).append(words.get(i));
        }
        return text.toString();
    }

    void flush(List<String> words, boolean last) {
        if (words.isEmpty()) {
            return;
        }
        boolean plain = last || words.size() == 1;
        lines.add(plain ? String.join(" ", words) : spread(words));
        words.clear();
    }

    void set(String[] args) {
        List<String> words = new ArrayList<>();
        for (int i = 1; i < args.length; i++) {
            String word = args[i];
            while (word.length() > width) {
                flush(words, false);
                lines.add(word.substring(0, width));
                word = word.substring(width);
            }
            if (!words.isEmpty() && !fits(words, word)) {
                flush(words, false);
            }
            words.add(word);
        }
        flush(words, true);
    }

    int spaces() {
        int count = 0;
        for (String line : lines) {
            for (int i = 0; i < line.length(); i++) {
                count += line.charAt(i) == ' ' ? 1 : 0;
            }
        }
        return count;
    }

    public static void main(String[] args) {
        Justify page = new Justify(Integer.parseInt(args[0]));
        page.set(args);
        System.out.println(String.join("|", page.lines) + " " + page.lines.size() + " " + page.spaces());
    }
}
