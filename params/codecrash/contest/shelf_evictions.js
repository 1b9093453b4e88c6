class Shelf {
  constructor(room) {
    this.room = room;
    this.books = new Map();
  }

  get crowded() {
    return this.books.size > this.room;
  }

  fetch(title) {
    const count = (this.books.get(title) ?? 0) + 1;
    this.books.delete(title);
    this.books.set(title, count);
    while (this.crowded) {
      const [oldest, visits] = this.books.entries().next().value;
      this.books.delete(oldest);
      if (visits === 1) {
        return oldest;
      }
      this.books.set(oldest, visits - 1);
    }
    return null;
  }
}

function shelfEvictions(room, requests) {
  const shelf = new Shelf(room);
  const dropped = [];
  for (const title of requests) {
    const gone = shelf.fetch(title);
    if (gone !== null) {
      dropped.push(`${gone}<${title}`);
    }
  }
  return [dropped, [...shelf.books.keys()].join(" ")];
}
