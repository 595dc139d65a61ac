// The matrix view, as the frame knows it.

import type { PageView } from "../../state/view";
import "./matrix.css";
import { Controls } from "./controls";
import { Matrix } from "./matrix";
import { picture } from "./plot";

export { words } from "./words";

export const view: PageView = {
  id: "matrix",
  title: "matrix",
  heads: "one",
  signed: true,
  folds: true,
  lists: true,
  Component: Matrix,
  Controls,
  hint: "matrixHint",
  picture,
};
