function label(joiner, ...parts) {
  return `${parts.length}:${parts.join(joiner)}`;
}

function skeletonGroups(words, joiner) {
  const groups = new Map();
  for (const word of words) {
    const skeleton = word.toLowerCase().replace(/[aeiou]/g, "");
    if (!groups.has(skeleton)) {
      groups.set(skeleton, []);
    }
    groups.get(skeleton).push(word);
  }
  const ordered = [...groups.keys()].sort();
  ordered.sort((a, b) => groups.get(b).length - groups.get(a).length);
  return ordered.map((skeleton) => label(joiner, ...groups.get(skeleton)));
}
