// The views of a page, in the order of their tabs. To add one: its folder, and its name here.

import type { View } from "../state/view";
import * as walk from "../walk";
import { add } from "../words";
import * as atlas from "./atlas";
import * as heads from "./heads";
import * as matrix from "./matrix";
import * as neurons from "./neurons";
import * as rollout from "./rollout";
import * as sound from "./sound";

/** Each brings a `view` and its `words`. */
export const VIEW_MODULES = [atlas, heads, matrix, neurons, rollout, sound, walk] as const;

export const VIEWS: readonly View[] = VIEW_MODULES.map(({ view }) => view);

for (const { words } of VIEW_MODULES) add(words);
