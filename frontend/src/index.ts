// The front end's one door: all views of a payload, in an element, in a notebook's cell, or in a page with a walk.

import type { Transport } from "./data/transport";
import { type Handle, mountPage, mountViews, type Options } from "./mount";
import { VIEWS } from "./views";
import { widget } from "./widget";

export { given, http, inline, type Transport } from "./data/transport";
export type { Handle, Options } from "./mount";
export type { Selection } from "./state/selection";

/** Show a payload in an element. Errors become a sentence in the element, and reject. */
export const mount = (el: HTMLElement, transport: Transport, options: Options = {}): Promise<Handle> =>
  mountViews(VIEWS, el, transport, options);

export default widget(mount);

mountPage(VIEWS);
