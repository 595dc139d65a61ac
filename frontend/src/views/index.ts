// All views, in the order of their tabs: those of every page, and the walk.

import type { View } from "../state/view";
import * as walk from "../walk";
import { add } from "../words";
import { PAGE_MODULES } from "./page";

export const VIEW_MODULES = [...PAGE_MODULES, walk] as const;

export const VIEWS: readonly View[] = VIEW_MODULES.map(({ view }) => view);

add(walk.words);
