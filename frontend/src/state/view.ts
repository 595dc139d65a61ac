// A view: everything the frame, the keyboard, the inspector and saved pictures need to know about it.

import type { FunctionComponent } from "preact";
import type { Pen } from "../marks/pen";
import type { Key } from "../words";
import type { Store } from "./store";

/** A view of a page: it can be drawn into a file. */
export type PageView = View & Required<Pick<View, "picture">>;

export interface View {
  id: string; // in addresses, and in Python
  title: Key; // on its tab
  heads: "all" | "some" | "one"; // which heads it shows: of the whole model, or of the chosen layer
  Component: FunctionComponent;
  Controls?: FunctionComponent; // the row above it
  Shown?: FunctionComponent; // in the inspector, below the name of the head
  Report?: FunctionComponent; // what the inspector says of what is chosen; without it, where tokens look
  lists?: boolean; // lists where the chosen row looks, so that the inspector need not
  hint?: Key | ((store: Store) => Key); // what the inspector says where nothing is chosen
  pictures?: boolean; // over a picture, shows where one token looks, also where none is chosen
  help?: Key; // about its keys
  signed?: boolean; // can show numbers of both signs: what lines are worth
  folds?: boolean; // can show a segment as one position
  led?: boolean; // begins with a sentence of its own on what it shows
  wide?: boolean; // takes the whole width, without the inspector
  weighs?: boolean; // wide, and yet of weights or contributions: it has their switch
  here?: (store: Store) => boolean; // whether it can be shown; without it, always
  keys?: (store: Store) => Record<string, () => void>; // its arrow keys; without them, layer and head
  titled?: Key; // what a saved picture of it is called, where it does not show where heads look
  picture?: (pen: Pen, store: Store, width: number) => number | null; // draws it, and tells how high it became
}
