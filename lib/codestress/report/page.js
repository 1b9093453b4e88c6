// Search and filter of the ledger, and of the figures, without a server. Every control has data-filters="ID of a group".
for (const form of document.querySelectorAll("form[data-filters]")) {
  const group = document.getElementById(form.dataset.filters);
  const told = form.querySelector("output");
  const rows = [...group.querySelectorAll("[data-text]")];
  const update = () => {
    const words = form.elements.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [...form.querySelectorAll("select")].filter((select) => select.value);
    let count = 0;
    for (const row of rows) {
      const shown = words.every((word) => row.dataset.text.includes(word)) &&
        chosen.every((select) => row.dataset[select.name] === select.value);
      row.hidden = !shown;
      count += shown;
    }
    told.value = `${count} of ${rows.length}`;
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
}
