// The sentences of the walk, in English and Chinese.

import { ALONE } from "./alone";
import { JOURNEY } from "./journey";
import { LABELS } from "./labels";
import { STEPS } from "./steps";
import { T5 } from "./t5";

export const words = { ...LABELS, ...STEPS, ...JOURNEY, ...ALONE, ...T5 };
