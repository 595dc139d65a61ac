// What a map says in words: a point in its sentence, and what a line goes around.

import { at, inputOf, type Points } from "./data";

const AROUND = 6; // tokens on either side
const TOKENS = 30; // in a list
const SENTENCES = 12;

/** A point in its sentence; the token itself stands out, and for queries what it looks at. */
export function sentence(points: Points, point: number): HTMLElement {
  const { side, place, key } = at(points, point);
  const input = inputOf(side, place);
  const [start, end] = [side.starts[input], side.starts[input + 1]];
  const text = (n: number) => points.texts[side.words[n]];
  const from = Math.max(start, place - AROUND);
  const to = Math.min(end, place + AROUND + 1);
  const words = (first: number, last: number) =>
    Array.from({ length: Math.max(0, last - first) }, (_, n) => text(first + n)).join(" ");
  const line = document.createElement("p");
  const token = document.createElement("b");
  token.textContent = text(place);
  line.append(`${from > start ? "… " : ""}${words(from, place)} `, token);
  line.append(` ${words(place + 1, to)}${to < end ? " …" : ""}`);
  const about = document.createElement("small");
  about.textContent = `${key ? "key" : "query"}, token ${place - start} of example ${side.examples[input] + 1}${looks(points, point, input)}`;
  line.append(about);
  return line;
}

function looks(points: Points, point: number, input: number): string {
  if (point >= points.queries || points.weight[point] === 0) return "";
  const [, keys] = points.sides;
  const place = keys.starts[input] + points.look[point];
  return `; beside resting, looks most at ${points.texts[keys.words[place]]}: ${points.weight[point].toFixed(2)}`;
}

/** The tokens of some points, and a few of them in their sentences. */
export function listed(points: Points, chosen: number[]): HTMLElement {
  const found = document.createElement("div");
  const title = document.createElement("p");
  const queries = chosen.filter((point) => point < points.queries).length;
  const count = (n: number, one: string, many: string) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
  title.textContent = `${count(queries, "query", "queries")}, ${count(chosen.length - queries, "key", "keys")}`;
  found.append(title, tokens(points, chosen));
  const step = Math.max(1, Math.floor(chosen.length / SENTENCES));
  for (let n = 0; n < chosen.length && n < step * SENTENCES; n += step)
    found.append(sentence(points, chosen[n]));
  return found;
}

function tokens(points: Points, chosen: number[]): HTMLElement {
  const counts = new Map<number, number>();
  for (const point of chosen) {
    const { side, place } = at(points, point);
    counts.set(side.words[place], (counts.get(side.words[place]) ?? 0) + 1);
  }
  const order = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0]);
  const list = document.createElement("ul");
  for (const [word, count] of order.slice(0, TOKENS)) {
    const item = document.createElement("li");
    const name = document.createElement("b");
    name.textContent = points.texts[word];
    item.append(name, ` ${count.toLocaleString("en")}`);
    list.append(item);
  }
  if (order.length > TOKENS) {
    const item = document.createElement("li");
    item.textContent = `and ${(order.length - TOKENS).toLocaleString("en")} other tokens`;
    list.append(item);
  }
  return list;
}
