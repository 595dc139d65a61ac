// What the inspector says of one query and one key in the neuron view.

import { type Head, headOf } from "../../compute/attention";
import { attribution, halfOf, mostOf, movers, participation, productOf, riseOf } from "../../compute/pairs";
import { useSay, useStore } from "../../frame/context";
import { brief, figure } from "../../marks/scales";
import type { Store } from "../../state/store";
import { LISTED } from "./table";

type Pair = [query: number, key: number];

/** The pair under the pointer, or the last one pinned. */
export function pairOf(store: Store): Pair | null {
  const { queries, pairs } = store.selection.value;
  const { key } = store.hover.value;
  const query = queries.at(-1);
  if (query !== undefined && key !== null) return [query, key];
  return pairs.at(-1) ?? null;
}

export function PairAbout() {
  const store = useStore();
  const tell = useSay();
  const pair = pairOf(store);
  const site = store.site.value;
  if (!pair || !site.q) return <p class="hint">{tell("chooseQuery")}</p>;
  const [query, key] = pair;
  const head = headOf(site, site.heads.indexOf(store.lead));
  const rise = riseOf(head, query, key);
  const names = { query: store.rows.value.names[query], key: store.columns.value.names[key] };
  return (
    <section class="pair-about">
      <h3 dir="auto">{tell("cell", names)}</h3>
      <Rise rise={rise} names={names} weight={store.lens(store.lead).row(query)[key]} />
      <Parts head={head} pair={pair} rise={rise} />
      <AttributionTable query={query} keyToken={key} />
    </section>
  );
}

interface RiseProps {
  rise: Float32Array;
  names: { query: string; key: string };
  weight: number;
}

/** How much the pair gets, and how few neurons make its score. */
function Rise({ rise, names, weight }: RiseProps) {
  const store = useStore();
  const tell = useSay();
  const total = rise.reduce((sum, x) => sum + x, 0);
  const said = { value: figure(Math.abs(total), 2), n: halfOf(rise).length, d: rise.length };
  return (
    <>
      {!store.look.value.contributions && (
        <p dir="auto">{tell("pairGets", { ...names, value: brief(weight) })}</p>
      )}
      <p data-rise>{tell(total < 0 ? "fall" : "rise", said)}</p>
    </>
  );
}

/** The neurons that move the score most, as bars; their numbers are folded. */
function Parts({ head, pair: [query, key], rise }: { head: Head; pair: Pair; rise: Float32Array }) {
  const store = useStore();
  const tell = useSay();
  const d = rise.length;
  const products = productOf(head, query, key);
  const size = (c: number) => Math.abs(rise[c]);
  const pointed = store.hover.value.key === null ? null : store.neuron.value;
  const listed = movers(rise, LISTED);
  const longest = size(listed[0]);
  if (pointed !== null && !listed.includes(pointed)) listed[LISTED - 1] = pointed;
  const line = (c: number) => {
    const q = head.site.q!.part(head.index)[query * d + c];
    const k = q ? products[c] / q : 0;
    return tell("neuron", { index: c, q: figure(q, 2), k: figure(k, 2), p: figure(products[c], 2) });
  };
  return (
    <section class="ranking parts">
      <ol>
        {listed.map((c) => (
          <li key={c} class={c === pointed ? "lit" : ""} title={line(c)}>
            <span>{tell("neuronName", { index: c })}</span>
            <span class="bar">
              <i
                class={rise[c] < 0 ? "negative" : "positive"}
                style={{ width: `${(100 * size(c)) / longest}%` }}
              />
            </span>
            <span class="value">{figure(rise[c], 2)}</span>
          </li>
        ))}
      </ol>
      <details>
        <summary>{tell("numbers")}</summary>
        <p>
          {tell("mostOfScore", { n: mostOf(products), d })}{" "}
          {tell("participation", { value: figure(participation(products), 2) })}
        </p>
        <ul class="plain-list">
          {listed.map((c) => (
            <li key={c}>{line(c)}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function AttributionTable({ query, keyToken }: { query: number; keyToken: number }) {
  const store = useStore();
  const tell = useSay();
  const site = store.site.value;
  const table = attribution(headOf(site, site.heads.indexOf(store.lead)), query, keyToken);
  if (!table) return null;
  return (
    <table class="attribution">
      <caption title={tell("attributionHint")}>{tell("attribution")}</caption>
      <thead>
        <tr>
          <th scope="col">q \ k</th>
          {table.columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((name, a) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {table.values[a].map((value, b) => (
              <td key={table.columns[b]} class={value < 0 ? "negative" : "positive"} title={String(value)}>
                {figure(value, 2)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{tell("sum")}</th>
          <td colSpan={table.columns.length}>{figure(table.sum)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
