// Python's cautions, notes and reasons, by their codes: regard/trace/sentences.json holds them in both languages. What
// the app refuses, saved pages do not carry.

import { caution, note, reason, refusal } from "../../../src/regard/trace/sentences.json";

type Pair = readonly [string, string];
type Under<Kind extends string, Table> = Record<`${Kind}_${string & keyof Table}`, Pair>;

const under = <Kind extends string, Table extends Record<string, string[]>>(kind: Kind, table: Table) =>
  Object.fromEntries(
    Object.entries(table).map(([code, pair]) => [`${kind}_${code}`, pair]),
  ) as unknown as Under<Kind, Table>;

export const SENTENCES = { ...under("caution", caution), ...under("note", note), ...under("reason", reason) };

export const REFUSALS = /* @__PURE__ */ under("refusal", refusal);
