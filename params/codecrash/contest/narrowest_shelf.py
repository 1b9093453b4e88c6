def narrowestShelf(books, rows):

    def layout(width):
        shelves = [[]]
        used = -1
        for book in books:
            if used + 1 + book > width:
                shelves.append([])
                used = -1
            used += 1 + book
            shelves[-1].append(book)
        return shelves
    low = max(books)
    high = sum(books) + len(books) - 1
    while low < high:
        middle = (low + high) // 2
        if len(layout(middle)) <= rows:
            high = middle
        else:
            low = middle + 1
    return [low, layout(low)]
