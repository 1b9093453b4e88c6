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
const forms = new Map();
for (const form of document.querySelectorAll("form[data-filters]")) {
  const group = document.getElementById(form.dataset.filters);
  const told = form.querySelector("output");
  const rows = [...group.querySelectorAll(":scope > article, :scope > tbody > tr")];
  const texts = new Map();
  const textOf = (row) => {
    if (!texts.has(row)) {
      const text = (row.dataset.text || row.textContent).toLowerCase();
      texts.set(row, text.replace(/(\d),(?=\d{3})/g, "$1").replace(/−/g, "-"));
    }
    return texts.get(row);
  };
  const update = () => {
    const words = form.elements.search.value.toLowerCase().replace(/(\d)\s+%/g, "$1%").split(/\s+/).filter(Boolean).map(matches);
    const chosen = [...form.querySelectorAll("select")].filter((select) => select.value);
    let count = 0;
    for (const row of rows) {
      const shown = chosen.every((select) => select.name === "figure" ?
        row.dataset.figure.split(" ").includes(select.value) : row.dataset[select.name] === select.value) &&
        (!words.length || words.every((match) => match(textOf(row))));
      row.hidden = !shown;
      count += shown;
    }
    told.value = `${count} of ${rows.length}`;
  };
  const keep = () => {
    const set = [...new FormData(form)].filter(([, value]) => value);
    history.replaceState(null, "", set.length ? `#${group.id}?${new URLSearchParams(set)}` : `#${group.id}`);
  };
  form.addEventListener("input", () => { update(); keep(); });
  form.addEventListener("submit", (event) => event.preventDefault());
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
    const goal = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (goal && goal.matches("article[hidden]")) {
      const { form, update } = forms.get("cards");
      form.reset();
      update();
      goal.scrollIntoView();
    }
  }
};
addEventListener("hashchange", follow);
follow();
// Spots: left, top, width, height in thousandths of the picture, and the anchor on the page of answers.
for (const picture of document.querySelectorAll(".picture[data-spots]")) {
  const spots = JSON.parse(picture.dataset.spots || "[]");
  const at = (event) => {
    const box = picture.querySelector("img").getBoundingClientRect();
    const x = 1000 * (event.clientX - box.left) / box.width, y = 1000 * (event.clientY - box.top) / box.height;
    const found = spots.filter(([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height);
    const away = ([left, top, width, height]) => Math.hypot(x - left - width / 2, y - top - height / 2);
    return found.sort((one, other) => away(one) - away(other))[0];
  };
  picture.addEventListener("mousemove", (event) => { picture.style.cursor = at(event) ? "pointer" : ""; });
  picture.addEventListener("click", (event) => {
    const spot = at(event);
    if (spot) location.href = `${picture.dataset.answers}#${spot[4]}`;
  });
}
