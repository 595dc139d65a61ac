// Sentences about cutting looks.

export const CUT = {
  cutLook: ["Cut this look", "切断这条连线"],
  cutRow: ["Cut all looks of “{query}”", "切断“{query}”的所有连线"],
  cutColumn: ["Cut all looks at “{key}”", "切断看向“{key}”的所有连线"],
  cutBlock: ["Cut these looks", "切断这些连线"],
  cutHint: [
    "Run the model without what {head} takes from there",
    "去掉 {head} 从那里取来的内容，重新运行模型",
  ],
  cutRestore: ["Restore", "恢复"],
  cutRestoreAll: ["restore all", "全部恢复"],
  cutRestoreOne: ["Restore {name}", "恢复 {name}"],
  cutTitle: ["What the cut changes", "切断后的改变"],
  cutName: ["{head}: {line}", "{head}：{line}"],
  cutLine: ["{from} → {to}", "{from} → {to}"],
  cutAll: ["all", "全部"],
  cutShown: ["Shown, but cut: its line is dashed.", "仍然画出，但已切断：连线为虚线。"],
  cutIs: ["cut", "已切断"],
  cutHow: ["How", "方式"],
  cut_mask: ["hide", "遮住"],
  cut_zero: ["take out", "去掉"],
  cutMeans_mask: [
    "The word is hidden from this query in this head: its share goes to the other words.",
    "在此头中对这个查询遮住这个词：它的份额分给其他词。",
  ],
  cutMeans_zero: [
    "What comes from the word is left out; the other words keep their shares.",
    "只去掉来自这个词的内容；其他词的份额不变。",
  ],
  cutMeasuring: ["Running the model without it …", "正在去掉它运行模型……"],
  cutControl: [
    "Cutting random lines of the nearest weights, for comparison …",
    "正在切断权重最接近的随机连线作比较……",
  ],
  cutBeyond: ["More than any of {count} random lines does.", "超过全部 {count} 条随机连线的影响。"],
  cutUnclear: [
    "Not clearly more than chance: as much or more with {larger} of {count} random lines.",
    "不能说明超出偶然：{count} 条随机连线中有 {larger} 条影响不小于此。",
  ],
  cutBeyondMany: [
    "More than any of {count} random sets of {size} lines does.",
    "超过全部 {count} 组随机连线（每组 {size} 条）的影响。",
  ],
  cutUnclearMany: [
    "Not clearly more than chance: as much or more with {larger} of {count} random sets of {size} lines.",
    "不能说明超出偶然：{count} 组随机连线（每组 {size} 条）中有 {larger} 组影响不小于此。",
  ],
  cutStrip: ["This cut among random ones", "这次切断与随机切断的比较"],
  cutStripLower: ["← lowers", "← 降低"],
  cutStripHigher: ["raises →", "升高 →"],
  cutStripZero: ["0: no change", "0：不变"],
  cutStripOwn: ["this cut {value}", "这次切断 {value}"],
  cutStripKey: [
    "Small dots: {count} random lines of the nearest weights.",
    "小点：权重最接近的 {count} 条随机连线。",
  ],
  cutGhost: ["Dashed: before. Solid: after the cut.", "虚线：之前；实心：切断之后。"],
  cutSame: ["The same after the cut.", "切断后相同。"],
  cutOffNote: ["Measured with all heads switched on.", "在所有头都打开时测得。"],
} as const;
