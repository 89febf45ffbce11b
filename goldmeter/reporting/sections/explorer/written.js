// Texts as they are shown: folded when they are long, code and formulas in monospace, words marked that another text lacks.

/** A text as elements; against: mark the words that this other text lacks. */
function written(text, otherwise, against = "") {
  if (plain(text) === "") return [make("p", { className: "quiet" }, otherwise)];
  const whole = plain(text), isLong = whole.length > data.fold;
  const box = make("div", { className: "text", dir: "auto" });
  const fill = (shown) => box.replaceChildren(...(against ? marked(shown, against) : formatted(shown)));
  fill(isLong ? `${whole.slice(0, data.fold).replace(/[\ud800-\udbff]$/, "")}…` : whole);
  const more = isLong ? [button(`Show all ${count(whole.length)} characters`, (event) => {
    fill(whole);
    event.target.remove();
  })] : [];
  return [box, ...more, ...noted(isCut(text) && text[1])];
}

/** Blocks of code, `code`, **bold**, tables and formulas; all else as it is written, and never as markup. */
function formatted(text) {
  if (at("texts").value === "plain") return [text];
  return text.split(/^(```[^\n]*\n[\s\S]*?^```[^\S\n]*$\n?|(?:^[^\S\n]*\|[^\n]*\|[^\S\n]*(?:\n|$)){2,})/m).flatMap((part, i) => {
    if (i % 2 === 0) return inline(part);
    const block = part.startsWith("```") ? part.replace(/^```[^\n]*\n/, "").replace(/```\s*$/, "") : part;
    return [make("pre", {}, block.replace(/\n$/, ""))];
  });
}

const INLINE = /(`[^`\n]+`|\*\*(?=\S)[^*\n]+\*\*|\$\$[^$]+\$\$|\\\([^\n]+?\\\)|\\\[[\s\S]+?\\\]|\$(?=[^\s\d])[^$\n]*[^\s\\$]\$(?!\d))/;

function inline(text) {
  return text.split(INLINE).map((part, i) => {
    if (i % 2 === 0) return part;
    if (part.startsWith("**")) return make("strong", {}, part.slice(2, -2));
    return make("code", {}, part.startsWith("`") ? part.slice(1, -1) : part);
  });
}

// Words: numbers and letters together, single characters of scripts without spaces, signs.
const UNSPACED = "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}\\p{scx=Tibt}";
const WORDS = new RegExp(`[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}_])(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}_])*|\\s+|[^]`, "gu");
const IS_WORD = /[\p{L}\p{N}]/u;
const MOST_STEPS = 4_000_000;

/** A text with the words marked that a longest common subsequence with another text leaves over, whatever their case. */
function marked(text, other) {
  const [words, others] = [text, other].map((each) => each.match(WORDS) ?? []);
  const kept = inBoth(words.map(folded), others.map(folded));
  const nodes = [];
  words.forEach((word, i) => {
    const isMarked = !kept[i] && IS_WORD.test(word);
    nodes.push(isMarked ? make("mark", {}, word) : word);
  });
  return nodes;
}

const folded = (word) => word.normalize("NFKC").toLowerCase();

/** Which pieces of the first list stand in a longest common subsequence; none of middles that are too long to align. */
function inBoth(one, other) {
  const kept = new Array(one.length).fill(false);
  let start = 0, end = one.length, last = other.length;
  while (start < end && start < last && one[start] === other[start]) kept[start++] = true;
  while (end > start && last > start && one[end - 1] === other[last - 1]) { kept[--end] = true; last -= 1; }
  const rows = end - start, columns = last - start;
  if (rows * columns > MOST_STEPS) return kept;
  const length = new Uint16Array((rows + 1) * (columns + 1));
  const of = (i, j) => length[i * (columns + 1) + j];
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const same = one[start + i] === other[start + j];
      length[i * (columns + 1) + j] = same ? of(i + 1, j + 1) + 1 : Math.max(of(i + 1, j), of(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (one[start + i] === other[start + j]) { kept[start + i] = true; i += 1; j += 1; }
    else if (of(i + 1, j) >= of(i, j + 1)) i += 1;
    else j += 1;
  }
  return kept;
}
