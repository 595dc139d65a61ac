// The matrix view: one head as a map.

import { useSignal } from "@preact/signals";
import { useQuantity, useSay, useStore } from "../../frame/context";
import { Choice, SignButton } from "../../frame/controls";
import { foldSentence } from "../../frame/folds";
import { together } from "../../words";
import { ColourBar } from "./colourbar";
import { FindToken } from "./find";
import { Plot, type PlotState } from "./plot";
import { RowBars } from "./rowbars";

const FEW = 8; // bars of a row below the map, on a phone

export function Matrix() {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const state = useSignal<PlotState | null>(null);
  const { log } = store.selection.value;
  const signed = store.look.value.worth !== undefined;
  const scales = [["linear", tell("linear")] as const, ["log", tell("log")] as const];
  const shown = state.value;
  const narrow = store.narrow.value;
  const shape = Math.max(0.5, Math.min(2.5, store.columns.value.count / store.rows.value.count));
  return (
    <div class="stage">
      <div class="legend with-tools">
        <p>
          {shown &&
            together(
              tell(signed ? "legendMatrixWorth" : narrow ? "legendMatrixShort" : "legendMatrix", {
                what: quantity,
              }),
              store.site.value.kind === "cross" && tell("legendCross"),
              shown.rests && tell("legendResting"),
              foldSentence(store),
              shown.pool > 1 && tell("legendPooled", { n: shown.pool }),
            )}
        </p>
        <span class="tools">
          <FindToken plot={shown} />
          {!signed && (
            <Choice
              label={tell("scale")}
              value={log ? "log" : "linear"}
              options={scales}
              choose={(value) => store.set({ log: value === "log" })}
            />
          )}
          <SignButton sign="−" words={tell("zoomOut")} data-zoom="out" onClick={() => shown?.by(1 / 1.6)} />
          <SignButton sign="+" words={tell("zoomIn")} data-zoom="in" onClick={() => shown?.by(1.6)} />
          <button type="button" class="plain" data-zoom="fit" onClick={() => shown?.reset()}>
            {tell("fit")}
          </button>
        </span>
      </div>
      <div class="spread">
        <div class="square" style={narrow ? {} : { aspectRatio: String(shape) }}>
          <Plot state={state} />
        </div>
        {shown && <ColourBar top={shown.top} log={log} above={shown.above} high={shown.high} flat={narrow} />}
        <RowBars most={narrow ? FEW : undefined} />
      </div>
    </div>
  );
}
