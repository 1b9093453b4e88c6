function narrowestShelf(books, rows) {
  function layout(width) {
    const shelves = [[]];
    let used = -1;
    for (const book of books) {
      if (used + 1 + book > width) {
        shelves.push([]);
        used = -1;
      }
      used += 1 + book;
      shelves[shelves.length - 1].push(book);
    }
    return shelves;
  }

  let low = Math.max(...books);
  let high = books.reduce((sum, book) => sum + book, 0) + books.length - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (layout(middle).length <= rows) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return [low, layout(low)];
}
