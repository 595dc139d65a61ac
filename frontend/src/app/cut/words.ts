// Sentences about cutting looks.

export const CUT = {
  cutLook: ["Cut this look", "剪断这条连线"],
  cutRow: ["Cut all looks of “{query}”", "剪断“{query}”的所有连线"],
  cutColumn: ["Cut all looks at “{key}”", "剪断看向“{key}”的所有连线"],
  cutBlock: ["Cut these looks", "剪断这些连线"],
  cutHint: [
    "Run the model without what {head} takes from there",
    "让模型在没有 {head} 从那里取来的内容的情况下运行",
  ],
  cutRestore: ["Restore", "恢复"],
  cutRestoreAll: ["restore all", "全部恢复"],
  cutRestoreOne: ["Restore {name}", "恢复 {name}"],
  cutTitle: ["What the cut changes", "剪断后的改变"],
  cutName: ["{head}: {line}", "{head}：{line}"],
  cutLine: ["{from} → {to}", "{from} → {to}"],
  cutAll: ["all", "全部"],
  cutShown: ["Shown, but cut: its line is dashed.", "仍然画出，但已剪断：连线为虚线。"],
  cutIs: ["cut", "已剪断"],
  cutHow: ["How", "方式"],
  cut_mask: ["hide", "遮住"],
  cut_zero: ["take out", "取出"],
  cutMeans_mask: [
    "The word is hidden from this head: its share goes to the other words.",
    "对此头遮住这个词：它的份额分给其他词。",
  ],
  cutMeans_zero: [
    "What comes from the word is left out; the other words keep their shares.",
    "只去掉来自这个词的内容；其他词的份额不变。",
  ],
  cutMeasuring: ["Running the model without it …", "正在去掉它运行模型……"],
  cutControl: [
    "Cutting random lines of the same weight, for comparison …",
    "正在剪断权重相同的随机连线作比较……",
  ],
  cutGhost: ["Dashed: before. Solid: after the cut.", "虚线：之前；实心：剪断之后。"],
  cutSame: ["The same after the cut.", "剪断后相同。"],
  cutOffNote: ["Asked of the model with all heads on.", "针对所有头都打开的模型。"],
} as const;
