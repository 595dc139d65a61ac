// What the model said, and what without a head, as the trace has it: for pages without a model that could be asked.

import type { Cell } from "../data/report";
import { hundredths, percent } from "../marks/scales";
import type { Store } from "../state/store";
import { type Say, useSay, useStore } from "./context";

type Label = [name: string, chance: number];

const TOLD = 0.99; // of all that is likely; what is less likely than the rest of it is not listed

/** The likeliest labels, until little is left; two at least. */
function told(labels: readonly Label[]): Label[] {
  let sum = 0;
  return labels.filter(([, chance], i) => {
    const listed = i < 2 || sum < TOLD;
    sum += chance;
    return listed;
  });
}

/** What the model says without a head, where the trace knows. */
export function labelsWithout({ page }: Store, { site, head }: Cell): readonly Label[] | null {
  const known = page.facts["labels without"] as Record<string, Label[]> | undefined;
  return known?.[`${site.kind} ${site.layer}.${head}`] ?? null;
}

const TELLING = 5; // percentage points by which a label changes at least, where it stays the likeliest

/** What the model says without a head, in a sentence: another label, or the same with another share; null where neither, or nobody knows. */
export function turnTold(store: Store, cell: Cell, tell: Say): string | null {
  const [before] = (store.page.facts.labels ?? []) as Label[];
  const [after] = labelsWithout(store, cell) ?? [];
  if (!before || !after) return null;
  const [place, label, chance] = [`${cell.site.layer}.${cell.head}`, after[0], hundredths(after[1])];
  if (before[0] !== label) return tell("saysInstead", { place, label, chance, before: before[0] });
  const change = percent(after[1]) - percent(before[1]);
  if (Math.abs(change) < TELLING) return null;
  return tell(change > 0 ? "saysMore" : "saysLess", { place, label, chance, before: hundredths(before[1]) });
}

export function Labels() {
  const store = useStore();
  const tell = useSay();
  const labels = store.page.facts.labels as Label[] | undefined;
  if (!labels?.length) return null;
  const cell = store.pointed.value ?? { site: store.site.value, head: store.lead };
  const without = labelsWithout(store, cell);
  const place = `${cell.site.layer}.${cell.head}`;
  return (
    <div class="labels">
      <Bars title={tell("says")} labels={labels} />
      {without && <Bars title={tell("saysWithout", { place })} labels={without} place={place} />}
    </div>
  );
}

function Bars({ title, labels, place }: { title: string; labels: readonly Label[]; place?: string }) {
  return (
    <section class="ranking" data-labels={place ? undefined : ""} data-labels-without={place}>
      <h3>{title}</h3>
      <ol>
        {told(labels).map(([name, chance]) => (
          <li key={name} data-bar={chance}>
            <span class="name" dir="auto" title={name}>
              {name}
            </span>
            <span class="bar" aria-hidden="true">
              <i style={{ width: `${100 * chance}%` }} />
            </span>
            <span class="value" title={String(chance)}>
              {hundredths(chance)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
