// One table of words: both languages everywhere, and nothing that people read is written outside it. Words are in files of
// their own, or in what a view of one module exports as `words`.

import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";
import { afterAll, describe, expect, test } from "vitest";
import { sentenceOf } from "../src/app/context";
import { CUT } from "../src/app/cut/words";
import { EVIDENCE } from "../src/app/evidence/words";
import { LENS } from "../src/app/lens/words";
import { APP_VIEW_MODULES } from "../src/app/views";
import { WHY } from "../src/app/why/words";
import { FILM } from "../src/film/words";
import type { Say } from "../src/frame/context";
import { told } from "../src/frame/report";
import { VIEW_MODULES } from "../src/views";
import { add, isKey, preferred, say, together, type Words } from "../src/words";
import { APP } from "../src/words/app";
import { HEADLINES } from "../src/words/headlines";
import { PAGE } from "../src/words/page";
import { PATTERNS } from "../src/words/patterns";
import { REFUSALS, SENTENCES } from "../src/words/sentences";
import { golden } from "./golden";

const OF_VIEWS: Words[] = [...VIEW_MODULES, ...APP_VIEW_MODULES].map(({ words }) => words);
const PARTS: Words[] = [
  PAGE,
  HEADLINES,
  PATTERNS,
  APP,
  WHY,
  CUT,
  LENS,
  EVIDENCE,
  FILM,
  SENTENCES,
  REFUSALS,
  ...OF_VIEWS,
];
for (const part of [APP, REFUSALS, WHY, CUT, LENS, EVIDENCE, FILM]) add(part);
const HAN = /\p{Script=Han}/u;
const names = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

describe("the table", () => {
  test("no key is in two parts of it", () => {
    const keys = PARTS.flatMap((part) => Object.keys(part));
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
  });

  test("every key has both languages, with the same names to fill in", () => {
    for (const [key, pair] of PARTS.flatMap((part) => Object.entries(part))) {
      const [english, chinese] = pair;
      expect(pair.length, key).toBe(2);
      if (key !== "language") expect(english, key).not.toMatch(HAN); // the switch to Chinese is written in it
      expect(chinese.trim(), key).not.toBe("");
      expect(names(chinese), key).toEqual(names(english));
      // Formulas, names and signs are the same in both.
      const words = chinese.replace(/\{\w+\}|KL|nat|English|[AB]\b|[^\p{L}]/gu, "");
      if (english !== chinese && words) expect(chinese, key).toMatch(HAN);
    }
  });

  test("Chinese has Chinese marks", () => {
    for (const [key, [, chinese]] of PARTS.flatMap((part) => Object.entries(part)))
      expect(chinese, key).not.toMatch(/\p{Script=Han}\}?\s?[:;,!?]|\p{Script=Han}\.(\s|$)/u);
  });

  test("sentences are filled in", () => {
    expect(say("en", "layerHead", { layer: 1, head: 2 })).toBe("Head 1.2");
    expect(say("zh", "layerHead", { layer: 1, head: 2 })).toBe("头 1.2");
    expect(preferred(["zh-CN"])).toBe("zh");
  });

  test("Chinese has room around Latin letters that are filled in, and none between sentences", () => {
    const rest = { share: 11, whose: say("zh", "ofWords") };
    expect(say("zh", "ledeRests", { ...rest, place: "[CLS]" })).toBe(
      "各词注意力的 11% 在休息，主要停在 [CLS] 上（注意力汇）。",
    );
    expect(say("zh", "ledeRests", { ...rest, place: "第一个词元" })).toMatch(/主要停在第一个词元上（/);
    expect(together("前。", false, "后。")).toBe("前。后。");
    expect(together("One.", null, "Two.")).toBe("One. Two.");
  });
});

test("the position of a quoted token stands behind its quotation marks, in both languages", () => {
  const values = { query: "sat₉", key: ".₁₂", head: "18.6", value: "0.98" };
  add(WHY);
  expect(say("en", "whyTop", values)).toBe("18.6 looks from “sat”₉ to “.”₁₂: weight 0.98");
  expect(say("zh", "whyTop", values)).toContain("从“sat”₉看向“.”₁₂");
  expect(say("en", "looksAt", { text: "₂" })).toBe("“₂” looks at");
});

describe("sentences of Python", () => {
  const tell: Say = (key, values) => say("zh", key, values);

  test("are said by their codes, with their values", () => {
    const one = { text: "The text was cut", code: "truncated", values: { tokens: "3" } };
    expect(told(tell, "caution", one)).toBe("文本被截断：略去了 3 个词元。");
  });

  test("stay as they came where the code is unknown, or there is none", () => {
    expect(told(tell, "reason", { text: "nobody knows", code: "toString" })).toBe("nobody knows");
    expect(told(tell, "reason", { text: "nobody knows" })).toBe("nobody knows");
  });

  test("come to the page with their codes", () => {
    expect(golden().cautions[0]).toMatchObject({ code: "faithful", values: {} });
  });

  test("a reason why there are no contributions is said by its code", () => {
    const [why] = golden().sites.flatMap(({ why }) => (why.text ? [why] : []));
    expect(told(tell, "reason", why)).toBe("注意力图来自别处，不含 value 向量");
  });

  test("a refusal is said by its code, or else by the server", () => {
    const absent = { code: "hub_empty", message: "a/b has no files ...", values: { name: "a/b" } };
    expect(sentenceOf(absent, tell)).toBe("Hub 上的 a/b 没有模型文件");
    const own = { code: "own_code", message: "", values: { name: "bert" } };
    expect(sentenceOf(own, tell)).toMatch(/^bert 需要/);
    expect(sentenceOf({ ...absent, code: "failed" }, tell)).toBe("a/b has no files ...");
    const long = { code: "long", message: "the text has ...", values: { tokens: 600, limit: 512 } };
    expect(sentenceOf(long, tell)).toBe("文本有 600 个词元，但模型最多接受 512 个。");
    expect(sentenceOf({ code: "input", message: "the text is empty" }, tell)).toBe("The text is empty");
  });
});

const READ = new Set(["title", "aria-label", "placeholder", "alt", "label", "aria-description"]);
const PLAIN = new Set(["regard"]); // the name of the program
const spoken = (text: string): boolean =>
  !PLAIN.has(text.trim()) && /[A-Za-z]{2,}|\p{Script=Han}/u.test(text);
const isText = ({ kind }: Node): boolean =>
  kind === SyntaxKind.StringLiteral ||
  kind === SyntaxKind.NoSubstitutionTemplateLiteral ||
  kind === SyntaxKind.TemplateHead ||
  kind === SyntaxKind.TemplateMiddle ||
  kind === SyntaxKind.TemplateTail ||
  kind === SyntaxKind.JsxText;

/** Literals below a node that reach the page as they are: not keys of the table, nor what is compared or called with. */
function literals(node: Node): string[] {
  if (isText(node)) return [(node as unknown as { text: string }).text];
  if (node.kind === SyntaxKind.CallExpression || node.kind === SyntaxKind.JsxAttribute) return [];
  if (node.kind === SyntaxKind.ConditionalExpression) {
    const { whenTrue, whenFalse } = node as unknown as { whenTrue: Node; whenFalse: Node };
    return [...literals(whenTrue), ...literals(whenFalse)];
  }
  if (node.kind === SyntaxKind.BinaryExpression) {
    const { right, operatorToken } = node as unknown as { right: Node; operatorToken: Node };
    const left = (node as unknown as { left: Node }).left;
    return operatorToken.kind === SyntaxKind.PlusToken
      ? [...literals(left), ...literals(right)]
      : literals(right);
  }
  const found: string[] = [];
  node.forEachChild((child) => {
    found.push(...literals(child));
  });
  return found;
}

/** Whether a node is `export const words = …`: the part of the table that a view of one module brings. */
function isWords(node: Node): boolean {
  if (node.kind !== SyntaxKind.VariableStatement || node.parent.kind !== SyntaxKind.SourceFile) return false;
  const { modifiers, declarationList } = node as unknown as {
    modifiers?: readonly Node[];
    declarationList: { declarations: readonly { name: { text?: string } }[] };
  };
  const [first, ...more] = declarationList.declarations;
  const exported = modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword);
  return Boolean(exported) && !more.length && first.name.text === "words";
}

/** Whether a source file brings words of its own. */
function hasWords(file: Node): boolean {
  let found = false;
  file.forEachChild((node) => {
    found ||= isWords(node);
  });
  return found;
}

/** What a source file puts before a reader without the table. */
function outside(file: Node): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (isWords(node)) return;
    if (node.kind === SyntaxKind.JsxText) found.push((node as unknown as { text: string }).text);
    else if (node.kind === SyntaxKind.JsxAttribute) {
      const { name, initializer } = node as unknown as { name: { text: string }; initializer?: Node };
      if (READ.has(name.text) && initializer) found.push(...literals(initializer));
    } else if (node.kind === SyntaxKind.JsxExpression && isChild(node)) found.push(...literals(node));
    else if (node.kind === SyntaxKind.CallExpression) found.push(...penned(node));
    else if (isText(node))
      found.push(...[(node as unknown as { text: string }).text].filter((t) => HAN.test(t)));
    node.forEachChild((child) => {
      visit(child);
    });
  };
  visit(file);
  return [...new Set(found.filter(spoken).map((text) => text.trim()))];
}

const isChild = ({ parent }: Node): boolean =>
  parent.kind === SyntaxKind.JsxElement || parent.kind === SyntaxKind.JsxFragment;

/** What a pen is told to write. */
function penned(node: Node): string[] {
  const { expression, arguments: given } = node as unknown as { expression: Node; arguments: Node[] };
  const { name, expression: of } = expression as unknown as {
    name?: { text: string };
    expression?: { text: string };
  };
  return name?.text === "text" && of?.text === "pen" && given[2] ? literals(given[2]) : [];
}

describe("nothing that people read is written outside the table", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const api = new API({ cwd: root });
  afterAll(() => api.close());
  const { program } = api.updateSnapshot({ openProject: `${root}tsconfig.json` }).getProjects()[0];
  const files = program.getSourceFileNames().filter((name) => name.startsWith(`${root}src/`));
  const isTable = (name: string) => /\/words(\/\w+)?\.ts$/.test(name);
  const sources = files.filter((name) => !isTable(name) && /\.tsx?$/.test(name));

  test("all sources are looked at", () => expect(sources.length).toBeGreaterThan(80));

  test("every sentence in a file of words is in the table", async () => {
    add(APP);
    add(REFUSALS);
    const tables = files.filter(isTable);
    expect(tables.length).toBeGreaterThan(10);
    const lists = await Promise.all(tables.map((name) => import(/* @vite-ignore */ name)));
    const views = sources.filter((name) => hasWords(program.getSourceFile(name)!));
    const modules = await Promise.all(views.map((name) => import(/* @vite-ignore */ name)));
    const made = [
      ...lists.flatMap((list) => Object.values<object>(list)),
      ...modules.map(({ words }) => words),
    ];
    const known = new Set(PARTS.flatMap((part) => Object.keys(part)));
    for (const key of made.filter((one) => typeof one === "object").flatMap(Object.keys)) {
      expect(isKey(key), key).toBe(true);
      expect(known.has(key), key).toBe(true);
    }
  });

  test("no source has any of it", () => {
    for (const name of sources)
      expect(outside(program.getSourceFile(name)!), relative(root, name)).toEqual([]);
  });

  test("no colon or comma of one language is written after a word of the table", () => {
    for (const name of sources)
      expect(readFileSync(name, "utf8"), relative(root, name)).not.toMatch(
        /\b(tell|wordFor)\([^`\n]*\)\}(<\/\w+>)?[:,](\s|<)/,
      );
  });

  test("a planted sentence is found", () => {
    const planted = `${root}test/planted.tsx`;
    expect(outside(program.getSourceFile(planted)!)).toEqual([
      "drawn",
      "Not in the table",
      "Only here",
      "Neither",
      "另一句",
    ]);
  });

  test("a view of one module has its words in it, and a sentence beside them is found", () => {
    const planted = program.getSourceFile(`${root}test/planted-view.tsx`)!;
    expect(hasWords(planted)).toBe(true);
    expect(outside(planted)).toEqual(["Beside the words", "不是表中的词"]);
    expect(hasWords(program.getSourceFile(`${root}test/planted.tsx`)!)).toBe(false);
  });
});
