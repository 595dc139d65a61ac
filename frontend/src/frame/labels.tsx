// The labels that a classifier gave, as the trace has them: for pages without a model that could be asked.

import { hundredths } from "../marks/scales";
import { useSay, useStore } from "./context";

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

export function Labels() {
  const tell = useSay();
  const labels = useStore().page.facts.labels as Label[] | undefined;
  if (!labels?.length) return null;
  return (
    <section class="ranking" data-labels>
      <h3>{tell("says")}</h3>
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
