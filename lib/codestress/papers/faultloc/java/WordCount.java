import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

public class WordCount {
    private final Map<String, Integer> counts = new TreeMap<>();
    private int words;
    private int letters;

    static String clean(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && !Character.isLetter(text.charAt(start))) {
            start += 1;
        }
        while (end > start && !Character.isLetter(text.charAt(end - 1))) {
            end -= 1;
        }
        return text.substring(start, end).toLowerCase();
    }

    void add(String text) {
        String word = clean(text);
        if (word.isEmpty()) {
            return;
        }
        int before = counts.containsKey(word) ? counts.get(word) : 0;
        counts.put(word, before + 1);
        words += 1;
        letters += word.length();
    }

    List<String> top(int most) {
        List<String> found = new ArrayList<>();
        TreeSet<String> left = new TreeSet<>(counts.keySet());
        while (found.size() < most && !left.isEmpty()) {
            String best = left.first();
            for (String word : left) {
                if (counts.get(word) > counts.get(best)) {
                    best = word;
                }
            }
            found.add(best + ":" + counts.get(best));
            left.remove(best);
        }
        return found;
    }

    static String sorted(String word) {
        char[] marks = word.toCharArray();
        Arrays.sort(marks);
        return new String(marks);
    }

    List<String> groups() {
        Map<String, List<String>> found = new TreeMap<>();
        for (String word : counts.keySet()) {
            found.computeIfAbsent(sorted(word), key -> new ArrayList<>()).add(word);
        }
        List<String> groups = new ArrayList<>();
        for (List<String> group : found.values()) {
            if (group.size() > 1) {
                groups.add(String.join("=", group));
            }
        }
        return groups;
    }

    int meanTenths() {
        return words == 0 ? 0 : 10 * letters / words;
    }

    public static void main(String[] args) {
        WordCount text = new WordCount();
        for (int i = 0; i < args.length; i++) {
            text.add(args[i]);
        }
        System.out.println(text.top(3) + " " + text.groups() + " " + text.meanTenths());
    }
}
