import java.util.ArrayList;
import java.util.List;

public class PageCache {
    private final int size;
    private final boolean byUse;
    private final List<String> pages = new ArrayList<>();
    private final List<String> written = new ArrayList<>();
    private int hits;
    private int misses;
    private int saved;

    PageCache(int size, boolean byUse) {
        this.size = size;
        this.byUse = byUse;
    }

    int find(String page) {
        for (int i = 0; i < pages.size(); i++) {
            if (pages.get(i).equals(page)) {
                return i;
            }
        }
        return -1;
    }

    void drop() {
        String page = pages.remove(0);
        if (written.contains(page)) {
            written.remove(page);
            saved += 1;
        }
    }

    void load(String page) {
        misses += 1;
        while (pages.size() >= size && !pages.isEmpty()) {
            drop();
        }
        pages.add(page);
    }

    void use(String text) {
        boolean writes = text.endsWith("!");
        String page = writes ? text.substring(0, text.length() - 1) : text;
        int place = find(page);
        if (place < 0) {
            load(page);
        } else {
            hits += 1;
            if (byUse && place < pages.size() - 1) {
                pages.remove(place);
                pages.add(page);
            }
        }
        if (writes && !written.contains(page)) {
            written.add(page);
        }
    }

    int percent() {
        int all = hits + misses;
        return all == 0 ? 0 : 100 * hits / all;
    }

    public static void main(String[] args) {
        PageCache cache = new PageCache(Integer.parseInt(args[0]), args[1].equals("lru"));
        for (int i = 2; i < args.length; i++) {
            cache.use(args[i]);
        }
        String counts = cache.hits + " hits " + cache.misses + " misses " + cache.percent() + " %";
        System.out.println(counts + " saved " + cache.saved + " " + cache.pages);
    }
}
