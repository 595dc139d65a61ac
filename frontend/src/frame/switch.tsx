// Switching a head off in the model, where a model is at hand.

import { type Place, samePlace } from "../state/selection";
import { useSay, useStore } from "./context";

export function Switch({ place }: { place: Place }) {
  const store = useStore();
  const tell = useSay();
  const { switching } = store.powers;
  if (!switching) return null;
  const off = store.off.value.some((one) => samePlace(one, place));
  return (
    <button
      type="button"
      class="action"
      data-switch={off ? "on" : "off"}
      title={tell("switchHint")}
      onClick={() => switching(place)}
    >
      {tell(off ? "switchOn" : "switchOff")}
    </button>
  );
}
