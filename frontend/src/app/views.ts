// The views of the app: those of a page, and those that need a server.

import type { View } from "../state/view";
import { VIEWS } from "../views";
import { compare } from "./compare";
import { studies } from "./studies";

export const APP_VIEWS: readonly View[] = [...VIEWS, compare, studies];
