// Search and filters of the ledger and of the figures, kept in the address (#ledger?search=23.2&verdict=differs); a bar
// that is clicked leads to its answers. Without a server. Every form has data-filters="ID of a group".
const matches = (word) => {
  const number = word.match(/^([-−+]?\d[\d,]*(?:\.\d+)?)(%?)$/);
  if (!number) return (text) => text.includes(word);
  const digits = number[1].replace(/,/g, "").replace("−", "-");
  const more = digits.includes(".") ? "\\d*" : "(?:\\.\\d+)?";
  const found = new RegExp(`(?<![\\d.])${digits.replace(/[.+]/g, "\\$&")}${more}(?!\\d)${number[2] && " ?%"}`);
  return (text) => found.test(text);
};
const held = (script) => { // rows that are text until they are needed
  const template = document.createElement("template");
  template.innerHTML = script.textContent;
  return [...template.content.children];
};
addEventListener("toggle", ({ target }) => {
  const script = target.open && target.querySelector(":scope > script");
  if (script) script.replaceWith(...held(script));
}, true);
const forms = new Map();
for (const form of document.querySelectorAll("form[data-filters]")) {
  const group = document.getElementById(form.dataset.filters);
  const told = form.querySelector("output"), nothing = form.querySelector(".nothing");
  const rows = [...group.querySelectorAll(":scope > article, :scope > tbody > tr")];
  const texts = new Map(), folds = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) {
      const text = (row.dataset.text || row.textContent).toLowerCase();
      texts.set(row, text.replace(/(\d),(?=\d{3})/g, "$1").replace(/−/g, "-"));
    }
    return texts.get(row);
  };
  const inside = (fold) => {
    if (!folds.has(fold)) folds.set(fold, held(fold.querySelector("script")));
    return folds.get(fold);
  };
  // A fold opens by its button, and for words that few of its rows have; returns its number of rows that fit.
  const unfold = (fold, fits, filtered, searched) => {
    const all = Number(fold.dataset.numbers);
    for (const row of folds.get(fold) || []) row.remove();
    const found = filtered || fold.dataset.open ? inside(fold).filter(fits) : null;
    const count = found ? found.length : all;
    const open = fold.dataset.open ? fold.dataset.open === "true" : searched && count <= 25;
    if (open) fold.after(...found);
    fold.hidden = !count;
    fold.querySelector("button").setAttribute("aria-expanded", open);
    fold.querySelector(".many").textContent = count === all ? all : `${count} of ${all}`;
    return count;
  };
  const update = () => {
    const words = form.elements.search.value.toLowerCase().replace(/(\d)\s+%/g, "$1%").split(/\s+/).filter(Boolean).map(matches);
    const chosen = [...form.querySelectorAll("select")].filter((select) => select.selectedIndex); // -1: what none of them has
    const fits = (row) => chosen.every((select) => select.name === "figure" ?
      row.dataset.figure.split(" ").includes(select.value) : row.dataset[select.name] === select.value) &&
      words.every((match) => match(textOf(row)));
    let count = 0, all = 0;
    for (const row of rows) {
      const folded = row.matches(".fold");
      if (!folded) row.hidden = !fits(row);
      count += folded ? unfold(row, fits, words.length + chosen.length > 0, words.length > 0) : !row.hidden;
      all += folded ? Number(row.dataset.numbers) : 1;
    }
    told.value = `${count.toLocaleString("en")} of ${all.toLocaleString("en")}`;
    nothing.hidden = count > 0;
  };
  const keep = () => {
    const set = [...new FormData(form)].filter(([, value]) => value);
    history.replaceState(null, "", set.length ? `#${group.id}?${new URLSearchParams(set)}` : `#${group.id}`);
  };
  form.addEventListener("input", () => { update(); keep(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  nothing.addEventListener("click", (event) => {
    if (!event.target.matches("button")) return;
    event.preventDefault();
    form.reset();
    update();
    keep();
    form.elements.search.focus();
  });
  group.addEventListener("click", ({ target }) => {
    const button = target.closest(".fold button");
    if (!button) return;
    button.closest("tr").dataset.open = button.getAttribute("aria-expanded") !== "true";
    update();
  });
  forms.set(group.id, { form, update });
  update();
}
const follow = () => {
  const [, id, query] = location.hash.match(/^#(\w+)\?(.*)$/) || [];
  if (forms.has(id)) {
    const { form, update } = forms.get(id);
    form.reset();
    for (const [name, value] of new URLSearchParams(query)) if (form.elements[name]) form.elements[name].value = value;
    update();
    history.scrollRestoration = "manual"; // of a page that was longer
    form.scrollIntoView();
  } else if (location.hash.length > 1) {
    const goal = document.querySelector("article[hidden]:target");
    if (goal) {
      const { form, update } = forms.get("cards");
      form.reset();
      update();
      goal.scrollIntoView();
    }
  }
};
addEventListener("hashchange", follow);
follow();
// Spots: left, top, width, height in thousandths of the picture, the anchor on the page of answers, and its words. The
// one that the mouse or the keyboard is at is a link; arrows lead to the others.
for (const picture of document.querySelectorAll(".picture[data-spots]")) {
  const spots = JSON.parse(picture.dataset.spots || "[]");
  if (!spots.length) continue;
  const link = document.createElement("a"), told = document.createElement("p");
  link.className = "spot";
  told.className = "note told";
  told.ariaLive = "polite";
  picture.append(link);
  picture.after(told);
  let here = 0;
  const go = (number) => {
    here = (number + spots.length) % spots.length;
    const [left, top, width, height, cell, words] = spots[here];
    Object.assign(link.style, { left: `${left / 10}%`, top: `${top / 10}%`, width: `${width / 10}%`, height: `${height / 10}%` });
    link.href = `${picture.dataset.answers}#${cell}`;
    link.ariaLabel = `${words || cell}, mark ${here + 1} of ${spots.length}`;
    link.title = link.ariaLabel;
  };
  go(0);
  const say = () => { told.textContent = link.ariaLabel; };
  link.addEventListener("focus", say);
  link.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -here, End: -1 - here }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    go(here + step);
    link.scrollIntoView({ block: "nearest" });
    say();
  });
  const at = (event) => {
    const box = picture.querySelector("img").getBoundingClientRect();
    const x = 1000 * (event.clientX - box.left) / box.width, y = 1000 * (event.clientY - box.top) / box.height;
    const within = ([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height;
    const away = ([left, top, width, height]) => Math.hypot(x - left - width / 2, y - top - height / 2);
    return spots.filter(within).sort((one, other) => away(one) - away(other))[0];
  };
  picture.addEventListener("mousemove", (event) => {
    const spot = at(event);
    if (spot && spots[here] !== spot) go(spots.indexOf(spot));
    if (spot) say();
    picture.style.cursor = spot ? "pointer" : "";
  });
  picture.addEventListener("click", (event) => {
    const spot = at(event);
    if (spot && event.target !== link) location.href = `${picture.dataset.answers}#${spot[4]}`;
  });
}
// Sortable tables: numbers from the highest on first, names from A on; what is empty stays last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("th:has(> button)")];
  const rows = [...table.tBodies[0].rows];
  heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
    const first = column ? "descending" : "ascending";
    const order = head.ariaSort !== first ? first : column ? "ascending" : "descending";
    for (const other of heads) other.ariaSort = other === head ? order : null;
    const sign = order === "ascending" ? 1 : -1;
    const valueOf = (row) => parseFloat(row.cells[column].dataset.value);
    const compare = (one, other) => {
      if (!column) return sign * one.cells[0].textContent.localeCompare(other.cells[0].textContent, "en");
      const [a, b] = [valueOf(one), valueOf(other)];
      return isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) : sign * (a - b);
    };
    table.tBodies[0].append(...rows.sort(compare));
  }));
}
