// Sentences above pictures, in English and Chinese.

export const HEADLINES = {
  headlineAll: ["{where}, {list}.", "{where}，{list}。"],
  headlineFirst: ["{count} of {all} heads {does}", "{all} 个头中有 {count} 个{does}"],
  headlineCount: ["{count} {does}", "{count} 个{does}"],
  headlineCalled: ["{does} ({name})", "{does}（{name}）"],
  headlineOthers: ["{count} follow {names} other patterns", "另有 {count} 个符合其他 {names} 种模式"],
  headlineOther: ["{count} follow another pattern", "另有 {count} 个符合另一种模式"],
  headlineOtherOne: ["1 follows another pattern", "另有 1 个符合另一种模式"],
  headlineUnnamedOne: ["1 follows none", "1 个都不符合"],
  headlineUnnamed: ["{count} follow none", "{count} 个都不符合"],
  headlineAnd: ["; ", "；"],
  inText: ["In this text", "在这段文本中"],
  inInput: ["In this input", "在此输入中"],
  overInputs: ["Over {inputs} inputs", "在 {inputs} 个输入中"],
  inOneOf: ["In this input (1 of {inputs}), {text}", "在此输入（{inputs} 个之一）{text}中"],
  inOneUnsaid: ["In this input (1 of {inputs})", "在此输入（{inputs} 个之一）中"],
  headlineNone: [
    "None of the {all} heads follows a named pattern here.",
    "这里 {all} 个头都不符合任何已命名的模式。",
  ],
  headlinePointed: [
    "Of all {all} heads, {place} looks most at a single patch: {from} gives {value} of its attention to {to}.",
    "{all} 个头中，{place} 最集中于单个图块：{from}把 {value} 的注意力给了{to}。",
  ],
  headlineShort: [
    "This text is too short to name what heads do; a longer one shows more.",
    "这段文本太短，无法为各个头命名；更长的文本能看出更多。",
  ],
  headlineSome: ["{count} heads of layer {layer}: {list}.", "第 {layer} 层的 {count} 个头：{list}。"],
  headlineSomeNone: [
    "{count} heads of layer {layer}; none of them follows a named pattern here.",
    "第 {layer} 层的 {count} 个头；它们在这里都不符合任何已命名的模式。",
  ],
  headlineDoes: ["Head {place} {does}: {example}.", "头 {place} {does}：{example}。"],
  headlineOnly: ["Head {place} {does}.", "头 {place} {does}。"],
  headlineLook: ["{from} → {to} {value}", "{from} → {to} {value}"],
  headlineGives: ["{from} gives {to} {value} of its attention", "{from}把 {value} 的注意力给了{to}"],
  headlineAfter: ["{said}; {to} came after {before}", "{said}；{to}曾在{before}之后"],
  headlineCross: [
    "having said “{from}”, about to say “{next}”, it looks at “{to}” ({value})",
    "说出“{from}”之后、将要说“{next}”时，看向“{to}”（{value}）",
  ],
  headlineCrossLast: [
    "having said “{from}”, about to end, it looks at “{to}” ({value})",
    "说出“{from}”之后、将要结束时，看向“{to}”（{value}）",
  ],
  headlineNoName: [
    "Head {place} follows no named pattern here.",
    "头 {place} 在这里不符合任何已命名的模式。",
  ],
  headlineLink: ["Its strongest link: {example}.", "最强的连线：{example}。"],
  headlineMostly: [
    "Head {place}: {share}% of {whose} attention rests, mostly on {where}.",
    "头 {place}：{whose}注意力的 {share}% 在休息，主要停在{where}上。",
  ],
  headlineOne: [
    "{where}, 1 of {all} heads follows a named pattern: {place} {does}.",
    "{where}，{all} 个头中有 1 个符合已命名的模式：{place} {does}。",
  ],
  headlineHere: ["Head {place}: {example}.", "头 {place}：{example}。"],
  headlineHereMostly: [
    "Head {place} ({share}% of {whose} attention rests, mostly on {where}): {example}.",
    "头 {place}（{whose}注意力的 {share}% 在休息，主要停在{where}上）：{example}。",
  ],
  headlineMean: [
    "Mean of {count} heads of layer {layer}: {example}.",
    "第 {layer} 层 {count} 个头的平均：{example}。",
  ],
  looksMost: ["{from} looks most at {spot} ({value})", "{from}最多看向{spot}（{value}）"],
  looksAboutToSay: [
    "about to say “{next}”, it looks most at {spot} ({value})",
    "将要说“{next}”时，最多看向{spot}（{value}）",
  ],
  looksHavingSaid: [
    "having said “{from}”, about to say “{next}”, it looks most at {spot} ({value})",
    "说出“{from}”之后、将要说“{next}”时，最多看向{spot}（{value}）",
  ],
  headAboutToSay: [
    "About to say “{next}”, head {place} looks most at {spot} ({value})",
    "将要说“{next}”时，头 {place} 最多看向{spot}（{value}）",
  ],
  headHavingSaid: [
    "Having said “{from}”, about to say “{next}”, head {place} looks most at {spot} ({value})",
    "说出“{from}”之后、将要说“{next}”时，头 {place} 最多看向{spot}（{value}）",
  ],
  looksInPicture: ["{look}; in the picture, at {spot} ({value})", "{look}；在图中则是{spot}（{value}）"],
  looksMany: ["{from} together look most at {spot} ({value})", "{from}一起最多看向{spot}（{value}）"],
  lookedAtMost: ["{to} is looked at most by {spot} ({value})", "最多看向{to}的是{spot}（{value}）"],
  lookedAtMany: ["{to} together are looked at most by {spot} ({value})", "最多看向{to}的是{spot}（{value}）"],
  lookPair: ["{from} looks at {to} ({value})", "{from}看向{to}（{value}）"],
  spot: ["row {row}, column {column}", "第 {row} 行第 {column} 列"],
  spotWord: ["“{text}”", "“{text}”"],
  spots: ["{count} tokens", "{count} 个词元"],
  headlineElsewhere: ["Its strongest link elsewhere: {example}.", "此外最强的连线：{example}。"],
  headlineRests: ["Head {place}: {what}", "头 {place}：{what}"],
} as const;
