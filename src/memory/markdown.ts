/**
 * Markdown of a memory file: its text without block comments, and its includes outside of code.
 *
 * The lexer is marked's, restricted to blocks, code and tags. Emphasis, links and underlined
 * headings do not affect includes, and lexing emphasis takes half a minute in a paragraph of
 * `**_a`. Deeply nested quotes would overflow the stack. GitHub extensions are off, so that `~` is
 * a plain character, as in `@~/notes.md`.
 */
import type { MarkedToken, Token, Tokens } from 'marked';
import { includeNames } from './include-names.js';
import { MEMORY_LIMITS } from './memory-limits.js';

export interface Markdown {
  /** Source without block comments. */
  readonly text: string;
  /** Included names as written. */
  readonly includes: readonly string[];
  /** True if a paragraph was too long to be searched for includes. */
  readonly isPartial: boolean;
}

/** Returns undefined if the source is nested too deeply. Lines must end with a line feed. */
export const readMarkdown = async (source: string): Promise<Markdown | undefined> => {
  const plain = { text: source, includes: [], isPartial: false };
  if (!source.includes('@') && !source.includes('<!--')) return plain;
  const { lex, TooDeep } = await lexer();
  try {
    const tokens = lex(source);
    const texts = paragraphTexts(tokens);
    const isPartial = texts.some((text) => text === undefined);
    const includes = [...new Set(texts.flatMap((text = '') => includeNames(text)))];
    return { text: withoutComments(source, tokens), includes, isPartial };
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
};

/** Loads marked on first use, because most sessions do not need it. */
const lexer = async () => {
  const { Lexer, Tokenizer } = await import('marked');
  class TooDeep extends Error {}
  class BlockTokenizer extends Tokenizer {
    private depth = 0;
    /** Ignores lazy continuation lines: outside of the quote they contain the same includes. */
    override blockquote(source: string): Tokens.Blockquote | undefined {
      const raw = /^(?: {0,3}>[^\n]*(?:\n|$))+/.exec(source)?.[0];
      if (raw === undefined) return undefined;
      const text = raw.replaceAll(/^ {0,3}>[ \t]?/gm, '');
      const tokens = this.deeper(() => this.lexer.blockTokens(text, []));
      return { type: 'blockquote', raw, text, tokens };
    }
    override list(source: string) {
      return this.deeper(() => super.list(source));
    }
    override lheading() {
      return undefined;
    }
    override emStrong() {
      return undefined;
    }
    override link() {
      return undefined;
    }
    override reflink() {
      return undefined;
    }
    override autolink() {
      return undefined;
    }
    private deeper<Result>(read: () => Result): Result {
      if (this.depth === MEMORY_LIMITS.nesting) throw new TooDeep();
      this.depth += 1;
      const result = read();
      this.depth -= 1;
      return result;
    }
  }
  class BlockLexer extends Lexer {
    /** Skips text without `@` and text that is too long. */
    override inlineTokens(source: string, tokens: Token[] = []) {
      const mayInclude = source.includes('@') && source.length <= MEMORY_LIMITS.paragraphCharacters;
      return mayInclude ? super.inlineTokens(source, tokens) : tokens;
    }
  }
  const lex = (source: string) =>
    new BlockLexer({ gfm: false, tokenizer: new BlockTokenizer() }).lex(source);
  return { lex, TooDeep };
};

/** Returns the text of each paragraph outside of code and tags. Undefined for a paragraph not searched. */
const paragraphTexts = (tokens: readonly Token[]): readonly (string | undefined)[] =>
  tokens.flatMap((token): readonly (string | undefined)[] => {
    const markedToken = token as MarkedToken;
    switch (markedToken.type) {
      case 'list':
        return markedToken.items.flatMap((item) => paragraphTexts(item.tokens));
      case 'blockquote':
        return paragraphTexts(markedToken.tokens);
      case 'paragraph':
      case 'heading':
      case 'text':
        return markedToken.text.length > MEMORY_LIMITS.paragraphCharacters &&
          markedToken.text.includes('@')
          ? [undefined]
          : [(markedToken.tokens ?? []).map(inlineText).join('')];
      default:
        return [];
    }
  });

const inlineText = (token: Token): string => {
  const markedToken = token as MarkedToken;
  if (markedToken.type === 'text') return markedToken.escaped ? ' ' : markedToken.raw;
  // `\@` is no include, while `\_` is an underscore in a name.
  if (markedToken.type === 'escape')
    return markedToken.text === '@' ? markedToken.raw : markedToken.text;
  // Code, tags and comments separate the words around them.
  return markedToken.type === 'br' ? '\n' : ' ';
};

const withoutComments = (source: string, tokens: readonly Token[]): string => {
  if (!source.includes('<!--')) return source;
  // Keep the source unchanged if the lexer does not reproduce it exactly.
  if (tokens.map(({ raw }) => raw).join('') !== source) return source;
  return tokens
    .map(({ type, raw }) =>
      type === 'html' && /^\s*<!--/.test(raw) ? withoutClosedComments(raw) : raw,
    )
    .join('');
};

/** Returns the block without closed comments. An unclosed comment is kept. */
const withoutClosedComments = (raw: string): string => {
  const kept: string[] = [];
  for (let at = 0; ; ) {
    const start = raw.indexOf('<!--', at);
    const end = start < 0 ? -1 : raw.indexOf('-->', start + 4);
    if (end < 0) {
      kept.push(raw.slice(at));
      break;
    }
    kept.push(raw.slice(at, start));
    at = end + 3;
  }
  const left = kept.join('');
  return left.trim() === '' ? '' : left;
};
