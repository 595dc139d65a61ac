// Sentences about why a head looks where it looks.

export const WHY = {
  whyAsk: ["Why this link?", "为什么有这条连线？"],
  whyAskHint: [
    "Which words, earlier heads and MLPs made this head look from “{query}” to “{key}”",
    "哪些词、更早的头和 MLP 使这个头从“{query}”看向“{key}”",
  ],
  whyGoOn: ["why?", "为什么？"],
  whyGoOnHint: ["Why did {head} look from “{query}” to “{key}”?", "{head} 为什么从“{query}”看向“{key}”？"],
  whyPending: ["Taking the score of {head} apart …", "正在拆分 {head} 的分数……"],
  whyTitle: ["Why this link", "为什么有这条连线"],
  whyOffNote: [
    "Measured with all heads switched on and nothing cut.",
    "在所有头都打开、没有切断任何连线时测得。",
  ],
  whyBefore: [
    "{head} looks from “{query}” to “{key}” above all because head {cause} had copied “{source}”, the token before it, into “{key}”.",
    "{head} 从“{query}”看向“{key}”，首先是因为头 {cause} 已把它前面的词元“{source}”写进了“{key}”。",
  ],
  whyInduction: [
    "{head} looks from “{query}” to “{key}” above all because head {cause} had copied “{source}”, the token before it, into “{key}”: induction.",
    "{head} 从“{query}”看向“{key}”，首先是因为头 {cause} 已把它前面的词元“{source}”写进了“{key}”：这就是归纳（induction）。",
  ],
  whyBrought: [
    "{head} looks from “{query}” to “{key}” above all because head {cause} had brought “{source}” to “{key}”.",
    "{head} 从“{query}”看向“{key}”，首先是因为头 {cause} 已把“{source}”带到了“{key}”。",
  ],
  whyMade: [
    "{head} looks from “{query}” to “{key}” above all because of what {cause} made of “{key}”.",
    "{head} 从“{query}”看向“{key}”，首先是因为 {cause} 对“{key}”的加工。",
  ],
  whyWord: [
    "{head} looks from “{query}” to “{key}” above all because of the word itself.",
    "{head} 从“{query}”看向“{key}”，首先是因为这个词本身。",
  ],
  whyPlace: [
    "{head} looks from “{query}” to “{key}” above all because of where “{key}” stands.",
    "{head} 从“{query}”看向“{key}”，首先是因为“{key}”所在的位置。",
  ],
  whySegment: [
    "{head} looks from “{query}” to “{key}” above all because of the sentence “{key}” is in.",
    "{head} 从“{query}”看向“{key}”，首先是因为“{key}”所属的句子。",
  ],
  whyMany: [
    "{head} looks from “{query}” to “{key}” for many small reasons; the largest is {cause}.",
    "{head} 从“{query}”看向“{key}”有许多小原因；最大的是 {cause}。",
  ],
  whyAlone: [
    "“{query}” can see nothing but “{key}”: all attention of {head} goes there, whatever made the score.",
    "“{query}”只能看到“{key}”：无论分数如何得来，{head} 的全部注意力都在那里。",
  ],
  whyBelow: [
    "Nothing draws {head} from “{query}” to “{key}”: its score is below the mean of the row.",
    "没有什么让 {head} 从“{query}”看向“{key}”：其分数低于该行的平均值。",
  ],
  whyBroughtHere: ["Head {cause} brought “{source}” here.", "头 {cause} 把“{source}”带到了这里。"],
  whyCarries: [
    "Head {cause} brought “{source}” here: “{key}” carries what stood before it.",
    "头 {cause} 把“{source}”带到了这里：“{key}”带着它前面的内容。",
  ],
  whyActs: [
    "Here {head} acts as an induction head: it looks for what followed “{token}” before. In a short text too few tokens may show it for the head to be named.",
    "在这里，{head} 的作用就是归纳头：它找的是“{token}”上次之后的内容。一段文本中这样的词元可能太少，不足以让它得名。",
  ],
  whyKeySide: ["What drew the head to “{token}”", "是什么把头引向“{token}”"],
  whyQuerySide: ["What “{token}” was looking for", "“{token}”在找什么"],
  whyOthers: ["{count} others", "其他 {count} 项"],
  whyBars: [
    "Shares of the score, each less its mean over the {count} tokens that “{query}” can see. All together: {total}.",
    "分数的各部分，各减去它在“{query}”能看到的 {count} 个词元上的平均值。合计：{total}。",
  ],
  whySum: [
    "All shares add up to {sum}; the model's own score is {score} (in this row they differ by at most {error} of the largest score).",
    "各部分之和为 {sum}；模型自己的分数为 {score}（在此行中最多相差最大分数的 {error}）。",
  ],
  whyFrozen: [
    "Norms are held as they were in this run: this is how the score was made, not what would happen without a part.",
    "归一化保持本次运行时的值：这说明分数是如何得来的，而不是去掉某一部分会怎样。",
  ],
  whyCheck: ["Check by removing", "逐一去掉来检验"],
  whyCheckHint: [
    "Run the model again without each of the largest parts, which takes some seconds",
    "逐一去掉最大的部分，重新运行模型，需要几秒钟",
  ],
  whyChecking: ["Removing parts one by one …", "正在逐一去掉各部分……"],
  whyAgrees: [
    "Each of {parts} parts was removed for real at this token: the rank correlation with what they add to its score is {value} (1 is the same order).",
    "在此词元上实际逐一去掉 {parts} 个部分：与它们在分数中所加之量的等级相关系数为 {value}（1 为顺序相同）。",
  ],
  whyFalls: [" The score falls most without {part}: by {fall}.", "去掉 {part} 时分数降得最多：降 {fall}。"],
  whyAgreesNot: [
    "Removing {parts} parts for real changes nothing that could be ranked.",
    "实际逐一去掉 {parts} 个部分，没有可以排序的变化。",
  ],
  why_word: ["the word", "词本身"],
  why_position: ["position", "位置"],
  why_segment: ["segment", "片段"],
  why_biases: ["biases", "偏置"],
  why_bias: ["distance", "距离"],
  whySource: ["from “{token}”", "来自“{token}”"],
  whyBack: ["Links back through the layers", "穿过各层往回的连线"],
  whyBackHint: [
    "Arcs: where a head looks. Dashed: what it read there is carried up to the link above. Choose a head to see it in the view.",
    "弧线：头看向哪里。虚线：它在那里读到的内容传到上面的连线。点选一个头，在视图中查看它。",
  ],
  whyPoints: [
    "{head} adds {value} of the {all} points by which the score above it exceeds its row's average.",
    "它上方的分数比同行平均高 {all}，其中 {value} 来自 {head}。",
  ],
  whyLayer: ["layer {layer}", "第 {layer} 层"],
  whyLayerOf: ["{kind} {layer}", "{kind} {layer}"],
  whyBetween: ["layer {layer} not drawn", "第 {layer} 层未画"],
  whyBetweenMany: ["layers {first}–{layer} not drawn", "第 {first}–{layer} 层未画"],
  whyStem: ["carries “{token}”", "带着“{token}”"],
  whyWeight: ["weight {value}", "权重 {value}"],
  whyAdds: ["{value} to the score", "分数 {value}"],
  whyAddsOf: ["{value} of {all}", "{value}（共 {all}）"],
  whyHidden: ["{count} more", "另 {count} 个"],
  whyOpenHint: ["Show {head} and this link in the view", "在视图中显示 {head} 和这条连线"],
  whySave: ["Save picture", "保存此图"],
  whyTop: [
    "{head} looks from “{query}” to “{key}”: weight {value}",
    "{head} 从“{query}”看向“{key}”：权重 {value}",
  ],
  whyLine: [
    "{head} looked from “{query}” to “{key}”, which adds {value}",
    "{head} 曾从“{query}”看向“{key}”，贡献 {value}",
  ],
} as const;
