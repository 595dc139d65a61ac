// The views of a page, in the order of their tabs. To add one: its folder, and a line here.

import type { View } from "../state/view";
import { walk } from "../walk";
import { atlas } from "./atlas";
import { heads } from "./heads";
import { matrix } from "./matrix";
import { neurons } from "./neurons";

export const VIEWS: readonly View[] = [atlas, heads, matrix, neurons, walk];
