/**
 * Reads HTML as a stream of tokens. No tree is built, because a hostile page may nest a million
 * elements; the cost per byte is constant.
 */
import { setImmediate as nextTick } from 'node:timers/promises';

export interface HtmlListener {
  /** `isVoid` is true for a tag with a slash at its end. */
  open(name: string, attributes: Attributes, isVoid: boolean): void;
  close(name: string): void;
  text(text: string): void;
  /** True to stop reading. */
  readonly isFull: boolean;
}

export type Attributes = Readonly<Partial<Record<AttributeName, string>>>;

const ATTRIBUTES = ['href', 'src', 'alt', 'hidden', 'style', 'start', 'class'] as const;
type AttributeName = (typeof ATTRIBUTES)[number];

/** Characters to read before yielding to the event loop. */
const SLICE = 128 * 1024;
const MAX_ATTRIBUTE_LENGTH = 4_000;

/** Rejects with the signal's reason once aborted. */
export const readHtml = async (
  html: string,
  listener: HtmlListener,
  signal: AbortSignal,
): Promise<void> => {
  const { Tokenizer } = await import('htmlparser2');
  const tokenizer = new Tokenizer({ decodeEntities: true }, callbacks(html, listener));
  for (let at = 0; at < html.length && !listener.isFull; at += SLICE) {
    signal.throwIfAborted();
    tokenizer.write(html.slice(at, at + SLICE));
    await nextTick();
  }
  tokenizer.end();
};

/** Adapts the tokenizer's callbacks, which pass offsets from the start of the page. */
const callbacks = (html: string, listener: HtmlListener) => {
  let name = '';
  let attributes: Partial<Record<AttributeName, string>> = {};
  let attribute: AttributeName | undefined;
  let value = '';
  const end = (isVoid: boolean) => {
    listener.open(name, attributes, isVoid);
    attributes = {};
  };
  const add = (text: string) => {
    if (attribute !== undefined && value.length < MAX_ATTRIBUTE_LENGTH) value += text;
  };
  const ignore = () => {};
  return {
    onopentagname(from: number, to: number) {
      name = tagName(html, from, to);
      attributes = {};
    },
    onattribname(from: number, to: number) {
      const found = tagName(html, from, to);
      attribute = ATTRIBUTES.find((name) => name === found);
      value = '';
    },
    onattribdata: (from: number, to: number) =>
      add(html.slice(from, Math.min(to, from + MAX_ATTRIBUTE_LENGTH))),
    onattribentity: (code: number) => add(String.fromCodePoint(code)),
    onattribend() {
      if (attribute !== undefined) attributes[attribute] ??= value;
      attribute = undefined;
    },
    onopentagend: () => end(false),
    onselfclosingtag: () => end(true),
    onclosetag: (from: number, to: number) => listener.close(tagName(html, from, to)),
    ontext: (from: number, to: number) => listener.text(html.slice(from, to)),
    ontextentity: (code: number) => listener.text(String.fromCodePoint(code)),
    oncdata: ignore,
    oncomment: ignore,
    ondeclaration: ignore,
    onend: ignore,
    onprocessinginstruction: ignore,
  };
};

/** Cuts names to 32 characters, because all known names are shorter. */
const tagName = (html: string, from: number, to: number) =>
  html
    .slice(from, Math.min(to, from + 32))
    .trimEnd()
    .toLowerCase();
