function decorate(line, number) {
  if (number % 3 === 0) {
    return line[0].toUpperCase() + line.slice(1).toLowerCase();
  } else if (number % 3 === 1) {
    return line.toUpperCase();
  }
  return line.replaceAll(" ", "_");
}

function chantLines(text, width, filler) {
  const lines = [];
  const words = text.split(" ");
  while (words.length > 0) {
    let line = words.shift();
    while (words.length > 0 && line.length + 1 + words[0].length <= width) {
      line += " " + words.shift();
    }
    lines.push(decorate(line, lines.length).padEnd(width, filler));
  }
  return lines;
}
