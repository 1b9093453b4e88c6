// Points of a curve to drag with the mouse, or to move with the arrow keys. Draws itself; asks nothing from outside.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 600, HEIGHT = 220, LEFT = 52, RIGHT = 580, TOP = 12, BOTTOM = 180;

function put(parent, name, attributes, text = "") {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  parent.append(node);
  return node;
}

function render({ model, el }) {
  const svg = put(el, "svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: "100%", style: "max-width: 40rem; touch-action: none" });
  const places = model.get("x");
  const last = Math.max(...places, 1e-9);
  const across = (x) => LEFT + (x / last) * (RIGHT - LEFT);
  const up = (share) => BOTTOM - share * (BOTTOM - TOP);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    put(svg, "line", { x1: LEFT, x2: RIGHT, y1: up(share), y2: up(share), stroke: "#ccc" });
    put(svg, "text", { x: LEFT - 8, y: up(share) + 4, "text-anchor": "end", "font-size": 12 }, `${100 * share}`);
  }
  put(svg, "text", { x: 14, y: 100, "font-size": 12, transform: "rotate(-90 14 100)", "text-anchor": "middle" }, "right (%)");
  put(svg, "text", { x: (LEFT + RIGHT) / 2, y: HEIGHT - 6, "font-size": 12, "text-anchor": "middle" }, "x");

  let waiting = null;
  const move = (index, share) => {
    const values = [...model.get("y")];
    values[index] = Math.round(100 * Math.min(1, Math.max(0, share))) / 100;
    model.set("y", values);  // drawn at once; the kernel is told at most fifty times a second
    waiting ??= setTimeout(() => { waiting = null; model.save_changes(); }, 20);
  };
  const circles = places.map((x, index) => {
    put(svg, "text", { x: across(x), y: BOTTOM + 16, "font-size": 12, "text-anchor": "middle" }, `${x}`);
    const circle = put(svg, "circle", {
      cx: across(x), r: 8, fill: "#D55E00", stroke: "#000", tabindex: 0, role: "slider", style: "cursor: ns-resize",
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
  const draw = () => model.get("y").forEach((share, index) => {
    circles[index].setAttribute("cy", up(share));
    circles[index].setAttribute("aria-valuenow", share);
  });
  model.on("change:y", draw);
  draw();
}

export default { render };
