// Points of a curve to drag with the mouse, or to move with the arrow keys. Draws itself; asks nothing from outside.
const SVG = "http://www.w3.org/2000/svg";
const TOP = 30, BOTTOM = 260, MIDDLE = 345, REACH = 40, HEIGHT = 424;
const BLUE = "#0072B2", RED = "#D55E00";

function put(parent, name, attributes, text = "") {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  parent.append(node);
  return node;
}

function render({ model, el }) {
  const WIDTH = window.innerWidth < 600 ? 380 : 680, LEFT = 54, RIGHT = WIDTH - 16;
  const svg = put(el, "svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: "100%", "font-size": 13, fill: "currentColor",
    style: "max-width: 56rem; touch-action: none; font-family: sans-serif",
  });
  const write = (x, y, text, anchor = "middle", more = {}) => put(svg, "text", { x, y, "text-anchor": anchor, ...more }, text);
  const places = model.get("x");
  const last = Math.max(...places, 1e-9);
  const across = (x) => LEFT + (x / last) * (RIGHT - LEFT);
  const up = (share) => BOTTOM - share * (BOTTOM - TOP);
  let most = 0;  // the largest residual that its axis shows; it grows with them
  const off = (residual) => MIDDLE - (residual / most) * REACH;
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    put(svg, "line", { x1: LEFT, x2: RIGHT, y1: up(share), y2: up(share), stroke: "#ccc" });
    write(LEFT - 8, up(share) + 4, `${100 * share}`, "end");
  }
  const ends = [-1, 0, 1].map((end) => {
    const y = MIDDLE - end * REACH;
    put(svg, "line", { x1: LEFT, x2: RIGHT, y1: y, y2: y, stroke: end ? "#ccc" : "#555" });
    return write(LEFT - 8, y + 4, "0", "end", { class: "residual" });
  });
  write(14, 145, "right (%)", "middle", { transform: "rotate(-90 14 145)" });
  write(14, MIDDLE, "residual", "middle", { transform: `rotate(-90 14 ${MIDDLE})` });
  write((LEFT + RIGHT) / 2, HEIGHT - 4, "x");
  const legend = put(svg, "text", { x: LEFT, y: 16 });
  for (const [colour, text] of [[RED, "\u25cf drag a point  "], [BLUE, "\u2501 fitted decay, 95 % band"]]) {
    put(legend, "tspan", { fill: colour }, text);
  }
  const band = put(svg, "polygon", { fill: BLUE, opacity: 0.2 });
  const line = put(svg, "polyline", { fill: "none", stroke: BLUE, "stroke-width": 2 });

  let waiting = null;
  const move = (index, share) => {
    const values = [...model.get("y")];
    values[index] = Math.round(100 * Math.min(1, Math.max(0, share))) / 100;
    model.set("y", values);  // drawn at once; the kernel is told at most fifty times a second
    waiting ??= setTimeout(() => { waiting = null; model.save_changes(); }, 20);
  };
  const stems = places.map((x) => put(svg, "line", { x1: across(x), x2: across(x), y1: MIDDLE, stroke: RED, "stroke-width": 3 }));
  const circles = places.map((x, index) => {
    write(across(x), BOTTOM + 24, `${x}`);
    const circle = put(svg, "circle", {
      cx: across(x), r: 9, fill: RED, stroke: "#000", tabindex: 0, role: "slider", style: "cursor: ns-resize",
      "aria-label": `right at x = ${x}`, "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 1,
    });
    circle.addEventListener("pointerdown", (event) => circle.setPointerCapture(event.pointerId));
    circle.addEventListener("pointermove", (event) => {
      if (!circle.hasPointerCapture(event.pointerId)) return;
      const box = svg.getBoundingClientRect();
      move(index, (BOTTOM - ((event.clientY - box.top) / box.height) * HEIGHT) / (BOTTOM - TOP));
    });
    circle.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 0.01, ArrowDown: -0.01, PageUp: 0.1, PageDown: -0.1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      move(index, model.get("y")[index] + step);
    });
    return circle;
  });
  const draw = () => {
    const shares = model.get("y"), fitted = model.get("fitted"), curve = model.get("curve");
    const path = (rows, column) => rows.map((row) => `${across(row[0])},${up(row[column])}`);
    line.setAttribute("points", path(curve, 1).join(" "));
    band.setAttribute("points", [...path(curve, 2), ...path([...curve].reverse(), 3)].join(" "));
    const residuals = shares.map((share, index) => share - (fitted[index] ?? share));
    most = Math.max(2, Math.ceil(10 * Math.max(...residuals.map(Math.abs)))) / 10;
    [-1, 0, 1].forEach((end, index) => { ends[index].textContent = `${Math.round(100 * end * most)}`; });
    shares.forEach((share, index) => {
      circles[index].setAttribute("cy", up(share));
      circles[index].setAttribute("aria-valuenow", share);
      stems[index].setAttribute("y2", off(residuals[index]));
    });
  };
  for (const name of ["y", "curve", "fitted"]) model.on(`change:${name}`, draw);
  draw();
}

export default { render };
