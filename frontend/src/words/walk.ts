// Short labels of the walk, in English and Chinese.

import type { Language } from "./page";

const LABELS = {
  step: ["Step {at} of {all}", "第 {at} 步，共 {all} 步"],
  back: ["Back", "上一步"],
  next: ["Next", "下一步"],
  keys: ["← → steps, ↑ ↓ heads.", "← → 换步，↑ ↓ 换头。"],
  hint: [
    "Point at a number to see what it is made of; blue is positive, orange negative.",
    "指向一个数，看它由什么组成；蓝为正，橙为负。",
  ],
  whatIf: ["What if …", "如果……"],
  scaling: ["scaling by √d", "除以 √d"],
  masking: ["mask", "掩码"],
  symmetric: ["K in place of Q", "用 K 代替 Q"],
  single: ["one head", "只有一个头"],
  permuted: ["other word order", "打乱词序"],
  positions: ["positions", "位置"],
  temperature: ["temperature", "温度"],
  changed: ["Changed: these are not the model's numbers.", "已改动：这些不是模型的数。"],
  reset: ["as in the model", "恢复模型"],
  pair: ["One pair", "一对词元"],
  pairHint: ["Click a cell of a map, or choose here.", "点击图中的一格，或在此选择。"],
  query: ["query", "查询"],
  key: ["key", "键"],
  scoreWeight: ["score {score}, weight {weight}", "得分 {score}，权重 {weight}"],
  neurons: ["Open in the neuron view", "在神经元视图中打开"],
  toWalk: ["Back to the walk", "返回步骤"],
  otherwise: ["Often said, and not quite so", "常见而不准确的说法"],
  token: ["token", "词元"],
  id: ["id", "编号"],
  soFar: ["so far", "已说"],
  following: ["next word", "下一个词"],
  probability: ["probability", "概率"],
  loss: ["loss", "损失"],
  mean: ["mean", "平均"],
  symmetricNote: [
    "With K in place of Q the scores are symmetric before the softmax, and a word's match with itself is never negative. After it they are not: each row is divided by its own sum. What is lost is the freedom to look at what does not look back; that such a model would also generalise worse is often said and not shown.",
    "用 K 代替 Q 时，softmax 之前得分对称，且词与自身的得分不为负。之后不再对称：每行除以自己的和。失去的是“看向不回看者”的自由；常说这样的模型泛化更差，但并无依据。",
  ],
  placelessNote: [
    "Without positions a permuted sentence gives the same rows in another order: to attention it is a bag of words.",
    "没有位置时，打乱的句子得到相同的行，只是次序不同：对注意力来说它只是一袋词。",
  ],
} as const;

export type Label = keyof typeof LABELS;

export function label(language: Language, key: Label, values: Record<string, string | number> = {}): string {
  const text: string = LABELS[key][language === "zh" ? 1 : 0];
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
