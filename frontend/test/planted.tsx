// Sentences outside the table, for the test that looks for them.

import type { Pen } from "../src/marks/pen";

export const planted = (open: boolean, pen: Pen) => {
  pen.text(0, 0, `drawn ${open}`, { colour: "#000" });
  return (
    <p title={open ? "Not in the table" : "x"} class="stage busy">
      Only here
      {open && "Neither"}
      {"另一句"}
    </p>
  );
};
