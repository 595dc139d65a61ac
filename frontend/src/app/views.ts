// The views of the app: those of a page, and those that need a server.

import type { View } from "../state/view";
import { VIEWS } from "../views";
import { add } from "../words";
import * as chat from "./chat";
import * as compare from "./compare";
import * as studies from "./studies";

export const APP_VIEW_MODULES = [chat, compare, studies] as const;

export const APP_VIEWS: readonly View[] = [...VIEWS, ...APP_VIEW_MODULES.map(({ view }) => view)];

for (const { words } of APP_VIEW_MODULES) add(words);
