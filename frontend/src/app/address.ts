// What was asked for, as a part of the page's address: a reload, or a friend, sees the same.

import type { Edges, Look } from "../state/edges";
import type { Place } from "../state/selection";

export type With = "text" | "model" | "on";

/** What is compared with what is shown. */
export interface Other {
  with: With;
  text: string;
  pair: string;
  model: string;
  layer: number | null; // of its head; null is the same as A's
  head: number | null;
}

/** The token or label whose log probability lines are judged by; null is the model's own prediction. */
export interface JudgedBy {
  position: number | null;
  token: string | null;
}

export interface Ask {
  model: string | null; // null is the server's default
  text: string;
  pair: string;
  target: string;
  chat: string; // a conversation in place of the text, or an answer that was given to it: a `Told` as JSON, or nothing
  generate: number;
  truncate: boolean;
  off: Place[];
  mode: string;
  judged: JudgedBy;
  why: Look[]; // looks whose reasons were asked for, one leading to the next
  cut: Edges[];
  how: How;
  other: Other;
}

/** How a look is cut: before the softmax, so that others take its share, or after it. */
export type How = "mask" | "zero";

export const NO_OTHER: Other = { with: "text", text: "", pair: "", model: "", layer: null, head: null };

export const NOT_JUDGED: JudgedBy = { position: null, token: null };

export const NOTHING_ASKED: Ask = {
  model: null,
  text: "",
  pair: "",
  target: "",
  chat: "",
  generate: 0,
  truncate: false,
  off: [],
  mode: "zero",
  judged: NOT_JUDGED,
  why: [],
  cut: [],
  how: "mask",
  other: NO_OTHER,
};

/** A head as people write it: encoder:5.4. */
export const placeName = ({ kind, layer, head }: Place): string => `${kind}:${layer}.${head}`;

function placeOf(name: string): Place[] {
  const found = /^([a-z]+):(\d+)\.(\d+)$/.exec(name);
  return found ? [{ kind: found[1], layer: Number(found[2]), head: Number(found[3]) }] : [];
}

/** Looks as an address has them: decoder:18.6:9-3; * stands for all tokens, a dot between several. */
export const edgesName = ({ queries, keys, ...place }: Edges): string =>
  `${placeName(place)}:${queries.join(".") || "*"}-${keys.join(".") || "*"}`;

function edgesOf(name: string): Edges[] {
  const found = /^([a-z]+:\d+\.\d+):([\d.]+|\*)-([\d.]+|\*)$/.exec(name);
  const list = (text: string) => (text === "*" ? [] : text.split(".").filter(Boolean).map(Number));
  return found
    ? placeOf(found[1]).map((place) => ({ ...place, queries: list(found[2]), keys: list(found[3]) }))
    : [];
}

export const LOOKS = 32; // looks that can be asked about at once

const CUTS = 256; // blocks that the server cuts at once

export const lookName = ({ query, key, ...place }: Look): string =>
  edgesName({ ...place, queries: [query], keys: [key] });

const lookOf = (name: string): Look[] =>
  edgesOf(name).flatMap(({ queries, keys, ...place }) =>
    queries.length === 1 && keys.length === 1 ? [{ ...place, query: queries[0], key: keys[0] }] : [],
  );

export interface Message {
  role: string;
  content: string;
}

/** What was said to a model, and the ids of the tokens that it answered with. */
export interface Told {
  messages?: Message[]; // without them, the text is what was said
  ids: number[];
  answer?: string; // their text
}

/** What an ask or an address has of a conversation; null where that is nothing, or not what the page writes. */
export function toldOf(chat: string): Told | null {
  try {
    const { messages, ids, answer } = JSON.parse(chat) as Told;
    const spoken = messages?.every(
      ({ role, content }) => typeof role === "string" && typeof content === "string",
    );
    return spoken !== false && Array.isArray(ids) ? { messages, ids, answer } : null;
  } catch {
    return null;
  }
}

/** The ask of a conversation: the text is what the user said last. */
export const asked = (told: Told, text = ""): Partial<Ask> => ({
  text: text || (told.messages?.filter(({ role }) => role === "user").at(-1)?.content ?? "…"),
  pair: "",
  target: "",
  generate: 0,
  truncate: false,
  chat: JSON.stringify(told),
});

/** The part of an address that says what was asked for. */
export function toAddress(ask: Ask): string {
  const { other } = ask;
  const parts = new URLSearchParams();
  const put = (name: string, value: string | number | null) => {
    if (value !== null && value !== "" && value !== 0) parts.set(name, String(value));
  };
  put("model", ask.model);
  put("text", ask.text);
  put("pair", ask.pair);
  put("target", ask.target);
  put("chat", ask.chat);
  put("generate", ask.generate);
  put("truncate", ask.truncate ? 1 : 0);
  put("off", ask.off.map(placeName).join(","));
  put("mode", ask.mode === NOTHING_ASKED.mode ? null : ask.mode);
  put("for", ask.judged.token);
  put("at", ask.judged.position === null ? null : String(ask.judged.position));
  put("why", ask.why.map(lookName).join(","));
  put("cut", ask.cut.map(edgesName).join(","));
  put("how", ask.how === NOTHING_ASKED.how ? null : ask.how);
  put("with", other.with === NO_OTHER.with ? null : other.with);
  put("otherText", other.text);
  put("otherPair", other.pair);
  put("otherModel", other.model);
  if (other.layer !== null && other.head !== null) put("otherHead", `${other.layer}.${other.head}`);
  return parts.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
}

/** The model that an address names, with or without a text. */
export const modelIn = (hash: string): string | null =>
  new URLSearchParams(hash.replace(/^#/, "")).get("model");

/** What an address asks for; null where it asks for nothing. */
export function fromAddress(hash: string): Ask | null {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  if (!parts.has("text")) return null;
  const text = (name: string) => parts.get(name) ?? "";
  const kind = text("with");
  const head = /^(\d+)\.(\d+)$/.exec(text("otherHead"));
  return {
    model: parts.get("model"),
    text: text("text"),
    pair: text("pair"),
    target: text("target"),
    chat: toldOf(text("chat")) ? text("chat") : "",
    generate: Math.max(0, Math.trunc(Number(text("generate")))) || 0,
    truncate: text("truncate") === "1",
    off: text("off").split(",").flatMap(placeOf),
    mode: text("mode") || NOTHING_ASKED.mode,
    judged: { position: /^\d+$/.test(text("at")) ? Number(text("at")) : null, token: parts.get("for") },
    why: text("why").split(",", LOOKS).flatMap(lookOf),
    cut: text("cut").split(",", CUTS).flatMap(edgesOf),
    how: text("how") === "zero" ? "zero" : "mask",
    other: {
      with: kind === "model" || kind === "on" ? kind : "text",
      text: text("otherText"),
      pair: text("otherPair"),
      model: text("otherModel"),
      layer: head ? Number(head[1]) : null,
      head: head ? Number(head[2]) : null,
    },
  };
}
