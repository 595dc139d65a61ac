// What was asked for, as a part of the page's address: a reload, or a friend, sees the same.

import type { Place } from "../state/store";

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

export interface Ask {
  model: string | null; // null is the server's default
  text: string;
  pair: string;
  target: string;
  generate: number;
  truncate: boolean;
  off: Place[];
  mode: string;
  other: Other;
}

export const NO_OTHER: Other = { with: "text", text: "", pair: "", model: "", layer: null, head: null };

export const NOTHING_ASKED: Ask = {
  model: null,
  text: "",
  pair: "",
  target: "",
  generate: 0,
  truncate: false,
  off: [],
  mode: "zero",
  other: NO_OTHER,
};

/** A head as people write it: encoder:5.4. */
export const placeName = ({ kind, layer, head }: Place): string => `${kind}:${layer}.${head}`;

function placeOf(name: string): Place[] {
  const found = /^([a-z]+):(\d+)\.(\d+)$/.exec(name);
  return found ? [{ kind: found[1], layer: Number(found[2]), head: Number(found[3]) }] : [];
}

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
  put("generate", ask.generate);
  put("truncate", ask.truncate ? 1 : 0);
  put("off", ask.off.map(placeName).join(","));
  put("mode", ask.mode === NOTHING_ASKED.mode ? null : ask.mode);
  put("with", other.with === NO_OTHER.with ? null : other.with);
  put("otherText", other.text);
  put("otherPair", other.pair);
  put("otherModel", other.model);
  if (other.layer !== null && other.head !== null) put("otherHead", `${other.layer}.${other.head}`);
  return parts.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
}

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
    generate: Math.max(0, Math.trunc(Number(text("generate")))) || 0,
    truncate: text("truncate") === "1",
    off: text("off").split(",").flatMap(placeOf),
    mode: text("mode") || NOTHING_ASKED.mode,
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
