// The sentences of the list of studies, in English and Chinese.

export const words = {
  studies: ["Studies", "研究"],
  noStudies: [
    "This server has no folder of studies. Start it with regard serve --studies FOLDER.",
    "服务器没有研究文件夹。用 regard serve --studies FOLDER 启动。",
  ],
  emptyStudies: [
    "There is no study in {folder} yet; regard study writes one there.",
    "{folder} 中还没有研究；可用 regard study 生成。",
  ],
  studiesOf: ["Studies in {folder}", "{folder} 中的研究"],
  study: ["Study", "研究"],
  corpus: ["Corpus", "语料"],
  inputs: ["Inputs", "输入数"],
  changed: ["Written", "写入时间"],
  files: ["Files", "文件"],
  fileCount: ["{count} files", "{count} 个文件"],
  newTab: ["open in a new tab", "在新标签页中打开"],
  back: ["Back to the list", "返回列表"],
  reload: ["Reload the folder", "重新读取文件夹"],
  report: ["Report of {name}", "{name} 的报告"],
} as const;
