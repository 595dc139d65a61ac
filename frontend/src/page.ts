// What a saved page without a walk carries: every view but that one, whose words are long.

import { mountPage } from "./mount";
import { PAGE_VIEWS } from "./views/page";

mountPage(PAGE_VIEWS);
