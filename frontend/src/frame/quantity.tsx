// Weights, contributions (absolute or as shares of their row) or worth: the one switch of all views.

import { useSay, useStore } from "./context";
import { Choice } from "./controls";
import { told } from "./report";

/** The chosen one has its meaning beside it; `shares` are offered where a row's own sum says something. */
export function Quantity({ shares = true }: { shares?: boolean }) {
  const store = useStore();
  const tell = useSay();
  const site = store.site.value;
  const { relative } = store.selection.value;
  const { contributions } = store.look.value;
  const worth = store.judges && store.selection.value.worth;
  if (!site.norms && !store.judges) {
    const reason = site.why.text ? told(tell, "reason", site.why) : tell("reason_unrecorded");
    const why = tell("noNorms", { why: reason });
    return (
      <span class="quiet" title={why} data-contributions="none">
        {tell("weights")}
      </span>
    );
  }
  const options = [
    ["weights", tell("weights"), tell("means_weights")] as const,
    ...(site.norms ? [["contributions", tell("contributions"), tell("means_contributions")] as const] : []),
    ...(store.judges ? [["worth", tell("worthChoice"), tell("means_worth")] as const] : []),
  ];
  const value = worth ? "worth" : contributions ? "contributions" : "weights";
  return (
    <span class="quantity">
      <Choice
        label={tell("quantityHint")}
        value={value}
        options={options}
        choose={(value) => store.set({ contributions: value === "contributions", worth: value === "worth" })}
      />
      <span class="of-it">
        <span class="quiet meaning">{tell(`meaning_${value}`)}</span>
        {shares && value === "contributions" && (
          <label class="check">
            <input
              type="checkbox"
              data-control="relative"
              checked={relative}
              onChange={(event) => store.set({ relative: event.currentTarget.checked })}
            />{" "}
            {tell("shares")}
          </label>
        )}
      </span>
    </span>
  );
}
