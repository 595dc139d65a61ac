// The views of every page, in the order of their tabs. To add one: its module or folder, and its name here.

import type { PageView } from "../state/view";
import { add } from "../words";
import * as atlas from "./atlas";
import * as heads from "./heads";
import * as matrix from "./matrix";
import * as neurons from "./neurons";
import * as rollout from "./rollout";
import * as sound from "./sound";

/** Each brings a `view` and its `words`. */
export const PAGE_MODULES = [atlas, heads, matrix, neurons, rollout, sound] as const;

export const PAGE_VIEWS: readonly PageView[] = PAGE_MODULES.map(({ view }) => view);

for (const { words } of PAGE_MODULES) add(words);
