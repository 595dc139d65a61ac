// The sentences of the walk, in English and Chinese.

import { ALONE } from "./alone";
import { JOURNEY } from "./journey";
import { LABELS } from "./labels";
import { STEPS } from "./steps";

export const words = { ...LABELS, ...STEPS, ...JOURNEY, ...ALONE };
