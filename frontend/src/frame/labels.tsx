// The labels that a classifier gave, as the trace has them: for pages without a model that could be asked.

import { hundredths } from "../marks/scales";
import { useSay, useStore } from "./context";

export function Labels() {
  const tell = useSay();
  const labels = useStore().page.facts.labels as [name: string, chance: number][] | undefined;
  if (!labels?.length) return null;
  return (
    <section class="ranking" data-labels>
      <h3>{tell("says")}</h3>
      <ol>
        {labels.map(([name, chance]) => (
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
