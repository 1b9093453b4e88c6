function swapCase(text) {
  return Array.from(text, (letter) => {
    const upper = letter.toUpperCase();
    return letter === upper ? letter.toLowerCase() : upper;
  }).join("");
}

function replayEditor(commands, limit) {
  let text = "";
  const history = [];
  const undone = [];
  for (const command of commands) {
    const [verb, detail] = command.split(" ");
    if (verb === "type") {
      history.push(text);
      text = (text + detail).slice(0, limit);
    } else if (verb === "cut") {
      history.push(text);
      text = text.slice(0, Math.max(0, text.length - Number(detail)));
    } else if (verb === "flip") {
      history.push(text);
      text = swapCase(text);
    } else if (verb === "undo" && history.length > 0) {
      undone.push(text);
      text = history.pop();
    } else if (verb === "redo" && undone.length > 0) {
      history.push(text);
      text = undone.pop();
    } else {
      text += "?";
    }
  }
  return text;
}
