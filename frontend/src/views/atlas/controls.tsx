// What the atlas shows: kind of attention, tokens or words, and in which order.

import { MEASURES } from "../../compute/digest";
import { isKnown } from "../../data/report";
import { useSay, useStore } from "../../frame/context";
import { Kinds, Level } from "../../frame/controls";
import { wordFor } from "../../frame/report";
import { isKey } from "../../words";

export function Controls() {
  return (
    <>
      <Kinds />
      <Level />
      <Order />
    </>
  );
}

/** What the atlas is sorted by: measures that came with the page, or else those counted here. */
function Order() {
  const store = useStore();
  const tell = useSay();
  const given = [...new Set(store.page.sites.flatMap((site) => Object.keys(site.measures)))];
  const own = isKnown(store.page) ? [] : MEASURES.filter((measure) => !given.includes(measure));
  const name = (measure: string) => {
    const key = `measure_${measure}`;
    return isKey(key) ? tell(key) : wordFor(tell, measure);
  };
  return (
    <label>
      {tell("order")}{" "}
      <select
        value={store.order.value}
        data-control="order"
        onChange={(event) => (store.order.value = event.currentTarget.value)}
      >
        <option value="grid">{tell("orderGrid")}</option>
        {[...(store.look.value.worth ? ["worth"] : []), ...given, ...own].map((measure) => (
          <option key={measure} value={measure}>
            {name(measure)}
          </option>
        ))}
      </select>
    </label>
  );
}
