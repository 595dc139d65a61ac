// The sentences of the comparison, in English and Chinese.

export const words = {
  compare: ["Compare", "对比"],
  compareWith: ["Compare with", "对比对象"],
  compareNothing: [
    "Type another sentence above to see the same head on both, side by side, and where they differ.",
    "在上方输入另一个句子：同一个头在两句上的注意力会并排显示，并标出差异。",
  ],
  with_text: ["another input", "另一输入"],
  with_model: ["another model", "另一模型"],
  with_on: ["no head switched off", "不关闭任何头"],
  noneOff: ["all heads on", "所有头打开"],
  someOff: ["some heads off", "部分头已关闭"],
  withHint_on: [
    "Switch a head off first, in another view; this then shows what changes.",
    "请先在其他视图中关闭一个头；这里会显示改变了什么。",
  ],
  otherText: ["Other sentence", "另一句子"],
  otherPair: ["Its second sentence", "其第二句"],
  difference: ["A − B", "A − B"],
  otherHead: ["Compare with B's head", "与 B 的头比较"],
  sameHead: ["same", "同号"],
  legendDifference: ["Blue: A looks there more. Orange: B does.", "蓝色：A 看得更多。橙色：B 看得更多。"],
  legendOther: ["*: B has another token.", "*：B 在此是另一个词元。"],
  legendSide: ["Darker: looks there more. Grey: rests.", "颜色越深，看得越多。灰色：在休息。"],
  legendSideDark: ["Brighter: looks there more. Grey: rests.", "颜色越亮，看得越多。灰色：在休息。"],
  differMost: [
    "{head} differs most at {cell}: {a} in A, {b} in B.",
    "{head} 差异最大处：{cell}，A 为 {a}，B 为 {b}。",
  ],
  differsTop: [
    "Head {head} differs most: {own} of its attention moves.",
    "头 {head} 差异最大：{own} 的注意力转向别处。",
  ],
  differsOne: ["Head {head} differs: {own} of its attention moves.", "头 {head} 有 {own} 的注意力转向别处。"],
  differsLittle: [
    "Head {head} hardly differs: {own} of its attention moves.",
    "头 {head} 差异很小：只有 {own} 的注意力转向别处。",
  ],
  differsNot: ["Head {head} is the same in A and B.", "头 {head} 在 A 与 B 中相同。"],
  differsElsewhere: ["Most differs {head}: {share}", "差异最大：{head}，{share}"],
  eitherToken: ["{a} (B: {b})", "{a}（B：{b}）"],
  theSame: ["The same: no weight differs by 0.0001 or more.", "相同：没有权重相差 0.0001 或更多。"],
  same: ["the same", "相同"],
  noDifference_tokens: [
    "No difference: A has {a} tokens and B has {b}; both sides need the same number.",
    "没有差值：A 有 {a} 个词元，B 有 {b} 个；两边的数量必须相同。",
  ],
  noDifference_kind: ["No difference: B has no {kind} attention.", "没有差值：B 没有{kind}注意力。"],
  otherWords: [
    "The tokens differ at {count} of {all} positions; the difference is taken position by position.",
    "{all} 个位置中有 {count} 个词元不同；差值按位置计算。",
  ],
  otherModels: [
    "Heads of two models share nothing but their numbers: choose which head of B to compare.",
    "两个模型的头只是编号相同：请选择与 B 的哪个头比较。",
  ],
  byHead: ["How much each head differs", "每个头的差异"],
  byHeadHint: [
    "Share of its attention that goes to other tokens in B. Click a head to compare it.",
    "在 B 中转向其他词元的注意力份额。单击一个头进行对比。",
  ],
  byHeadBar: [
    "share of a token's attention that goes elsewhere, 0 to {top}",
    "每个词元转向别处的注意力份额，0 到 {top}",
  ],
  cellColumn: ["differ most at", "差异最大处"],
  pointed: ["{query} → {key}", "{query} → {key}"],
  readout: ["{cell}: A {a} · B {b} · A − B {difference}", "{cell}：A {a} · B {b} · A − B {difference}"],
  readoutOne: ["{cell}: {value}", "{cell}：{value}"],
  pointHint: ["Point at a cell to read its numbers.", "指向一个格子查看数值。"],
} as const;
