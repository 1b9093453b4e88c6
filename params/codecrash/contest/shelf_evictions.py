from collections import OrderedDict

class Shelf:

    def __init__(self, room):
        self.room = room
        self.books = OrderedDict()

    @property
    def crowded(self):
        return len(self.books) > self.room

    def fetch(self, title):
        self.books[title] = self.books.pop(title, 0) + 1
        while self.crowded:
            oldest, visits = self.books.popitem(last=False)
            if visits == 1:
                return oldest
            self.books[oldest] = visits - 1
        return None

def shelfEvictions(room, requests):
    shelf = Shelf(room)
    dropped = []
    for title in requests:
        gone = shelf.fetch(title)
        if gone is not None:
            dropped.append(f'{gone}<{title}')
    return [dropped, ' '.join(shelf.books)]
