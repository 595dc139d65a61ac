// What the inspector says of one query and one key in the neuron view.

import { headOf, width } from "../../compute/attention";
import { attribution, mostOf, participation, productOf, riseOf } from "../../compute/pairs";
import { useSay, useStore } from "../../frame/context";
import { figure } from "../../marks/scales";

const LISTED = 6;

/** The neurons with the largest parts, with their parts. */
const largest = (parts: Float32Array): string =>
  Array.from(parts.keys())
    .sort((a, b) => Math.abs(parts[b]) - Math.abs(parts[a]))
    .slice(0, 4)
    .map((c) => `${c} (${figure(parts[c], 2)})`)
    .join(", ");

/** The pair under the pointer, or the last one pinned. */
function usePair(): [number, number] | null {
  const store = useStore();
  const { queries, pairs } = store.selection.value;
  const { key } = store.hover.value;
  const query = queries.at(-1);
  if (query !== undefined && key !== null) return [query, key];
  return pairs.at(-1) ?? null;
}

export function PairAbout() {
  const store = useStore();
  const tell = useSay();
  const pair = usePair();
  const site = store.site.value;
  if (!pair || !site.q) return <p class="hint">{tell("chooseQuery")}</p>;
  const [query, key] = pair;
  const head = headOf(site, site.heads.indexOf(store.lead));
  const products = productOf(head, query, key);
  const d = width(site);
  const rise = riseOf(head, query, key);
  const neuron = store.hover.value.key === null ? null : store.neuron.value;
  const order = Array.from(products.keys()).sort((a, b) => Math.abs(products[b]) - Math.abs(products[a]));
  const listed = neuron === null ? order.slice(0, LISTED) : [neuron];
  return (
    <section class="pair-about">
      <h3 dir="auto">
        {tell("cell", { query: store.rows.value.names[query], key: store.columns.value.names[key] })}
      </h3>
      <p>
        {tell("mostOfScore", { n: mostOf(products), d })}{" "}
        {tell("participation", { value: figure(participation(products), 2) })}
      </p>
      <p data-rise>
        {tell("rise", {
          value: figure(rise.reduce((sum, x) => sum + x, 0)),
          n: figure(participation(rise), 2),
          d,
        })}{" "}
        {tell("riseBy", { list: largest(rise) })}
      </p>
      <ul class="plain-list">
        {listed.map((c) => (
          <li key={c}>{neuronLine(c)}</li>
        ))}
      </ul>
      <AttributionTable query={query} keyToken={key} />
    </section>
  );

  function neuronLine(c: number): string {
    const q = site.q!.part(head.index)[query * d + c];
    return tell("neuron", {
      index: c,
      q: figure(q, 2),
      k: figure(q ? products[c] / q : 0, 2),
      p: figure(products[c], 2),
    });
  }
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
