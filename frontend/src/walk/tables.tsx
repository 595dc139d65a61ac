// Steps that are tables: tokens and ids, the next word, the loss.

import type { Say } from "../frame/context";
import type { WalkData } from "./data";
import { softmax } from "./maths";
import type { StepId } from "./order";
import type { Words } from "./steps";

const LIKELY = 8; // words listed at a position
const SMOOTHING = 0.1;

/** A table as text, for a saved picture; `shares` are bars behind the first column. */
export interface Listed {
  head: string[];
  rows: string[][];
  shares?: number[];
}

const rowOf = (values: Float32Array, row: number, columns: number): Float32Array =>
  values.subarray(row * columns, (row + 1) * columns);

/** The words that are likeliest after a position. */
export function likely(data: WalkData, at: number, temperature: number): { id: number; chance: number }[] {
  const logits = data.get("logits");
  const row = { rows: 1, columns: logits.columns, values: rowOf(logits.values, at, logits.columns) };
  const chances = softmax(row, temperature).values;
  const best: number[] = []; // of tens of thousands: sorting them all would be felt
  chances.forEach((chance, id) => {
    if (best.length === LIKELY && chance <= chances[best[LIKELY - 1]]) return;
    const place = best.findIndex((other) => chances[other] < chance);
    best.splice(place < 0 ? best.length : place, 0, id);
    best.length = Math.min(best.length, LIKELY);
  });
  return best.map((id) => ({ id, chance: chances[id] }));
}

interface Costs {
  id: number;
  chance: number;
  plain: number;
  smoothed: number;
}

/** Loss at each position, plain and with label smoothing. */
export function losses(data: WalkData, temperature = 1): Costs[] {
  const logits = data.get("logits");
  const chances = softmax(logits, temperature);
  return data.header.targets.map((id, i) => {
    const p = rowOf(chances.values, i, logits.columns);
    const plain = -Math.log(p[id]);
    const even = p.reduce((all, value) => all - Math.log(Math.max(value, 1e-45)), 0) / p.length;
    return { id, chance: p[id], plain, smoothed: (1 - SMOOTHING) * plain + SMOOTHING * even };
  });
}

const mean = (rows: Costs[], pick: (row: Costs) => number): number =>
  rows.reduce((all, row) => all + pick(row), 0) / rows.length;

/** The losses that are told: translators are trained with smoothed labels, T5 and decoders alone are not. */
const costsOf = (data: WalkData): ("plain" | "smoothed")[] =>
  data.translates && !data.relative ? ["plain", "smoothed"] : ["plain"];

const costName = (name: "plain" | "smoothed", tell: Say): string =>
  name === "plain" ? tell("walk_loss") : [tell("walk_loss"), "ε = 0.1"].join(tell("comma"));

/** The table of a step; null where it has none. */
export function listed(
  data: WalkData,
  id: StepId,
  words: Words,
  position: number,
  temperature: number,
  tell: Say,
): Listed | null {
  if (id === "tokens")
    return {
      head: [tell("walk_token"), tell("walk_id")],
      rows: words.source.map((text, i) => [text, String(data.header.ids[i])]),
    };
  if (id === "predict") {
    const best = likely(data, position, temperature);
    return {
      head: [`… ${words.target[position]} →`, tell("walk_probability")],
      rows: best.map((one) => [data.word(one.id), one.chance.toFixed(4)]),
      shares: best.map((one) => one.chance),
    };
  }
  if (id !== "loss") return null;
  const rows = losses(data, temperature);
  const costs = costsOf(data);
  return {
    head: [
      ...[tell("walk_soFar"), tell("walk_following"), tell("walk_probability")],
      ...costs.map((name) => costName(name, tell)),
    ],
    rows: [
      ...rows.map((row, i) => [
        `… ${words.target[i]}`,
        data.word(row.id),
        row.chance.toFixed(4),
        ...costs.map((name) => row[name].toFixed(4)),
      ]),
      [tell("walk_mean"), "", "", ...costs.map((name) => mean(rows, (row) => row[name]).toFixed(4))],
    ],
  };
}

/** Each word and its number; the chosen one stands out. */
export function Tokens(props: { data: WalkData; words: Words; at: number; tell: Say }) {
  const { data, words, at, tell } = props;
  return (
    <div class="cell" data-cell="tokens">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone it scrolls, and keys must reach it */}
      <table class="numbers" data-table="tokens" tabIndex={0}>
        <tbody>
          <tr>
            <th scope="row">{tell("walk_token")}</th>
            {words.source.map((text, i) => (
              <td key={i} class={i === at ? "on" : ""}>
                <bdi>{text}</bdi>
              </td>
            ))}
          </tr>
          <tr>
            <th scope="row">{tell("walk_id")}</th>
            {data.header.ids.map((id, i) => (
              <td key={i} class={i === at ? "on" : ""}>
                {id}
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

interface PredictProps {
  data: WalkData;
  words: Words;
  temperature: number;
  at: number; // the position whose next word is asked for
  tell: Say;
}

/** The decoder word by word: what has been said, and how likely each next word is. */
export function Predict({ data, words, temperature, at, tell }: PredictProps) {
  return (
    <div class="cell predict" data-cell="predict">
      <p>
        {tell("walk_soFar")}
        {tell("colon")}
        <code>{words.target.slice(0, at + 1).join(data.translates ? " " : "")}</code> →{" "}
        {tell("walk_following")}
        {tell("colon")}
      </p>
      <table class="bars" data-table="predict">
        <tbody>
          {likely(data, at, temperature).map(({ id, chance }) => (
            <tr key={id} class={id === data.header.targets[at] ? "right" : ""}>
              <th scope="row">
                <bdi>{data.word(id)}</bdi>
              </th>
              <td>
                <i class="share" style={{ width: `${Math.max(1, 220 * chance)}px` }} />
              </td>
              <td class="number" title={String(chance)}>
                {chance.toFixed(4)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Loss(props: { data: WalkData; words: Words; temperature: number; tell: Say }) {
  const { data, words, tell } = props;
  const rows = losses(data, props.temperature);
  const costs = costsOf(data);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a phone it scrolls, and keys must reach it
    <table class="numbers" data-table="loss" tabIndex={0}>
      <thead>
        <tr>
          <th>{tell("walk_soFar")}</th>
          <th>{tell("walk_following")}</th>
          <th>{tell("walk_probability")}</th>
          {costs.map((name) => (
            <th key={name}>{costName(name, tell)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            <td>… {words.target[i]}</td>
            <td>
              <bdi>{data.word(row.id)}</bdi>
            </td>
            <td class="number">{row.chance.toFixed(4)}</td>
            {costs.map((name) => (
              <td key={name} class="number">
                {row[name].toFixed(4)}
              </td>
            ))}
          </tr>
        ))}
        <tr class="total">
          <th scope="row" colSpan={3}>
            {tell("walk_mean")}
          </th>
          {costs.map((name) => (
            <td key={name} class="number" data-loss={name}>
              {mean(rows, (row) => row[name]).toFixed(4)}
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}
