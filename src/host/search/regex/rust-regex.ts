/**
 * Translates a Rust regular expression, as used by ripgrep, to JavaScript with the `v` flag. Throws
 * SearchError that names any unsupported syntax.
 */

import { badPattern, ONE_LINE_ONLY } from './bad-pattern.js';
import { rustRegexClass } from './rust-regex-class.js';
import { type RustRegexEscape, readEscape } from './rust-regex-escape.js';

export interface RegexOptions {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
}

const MAX_GROUP_DEPTH = 200;
const LOOK_AROUND =
  'look-around, including look-ahead and look-behind, is not supported; search for a simpler pattern and read the lines';

/** Returns a regular expression with the `g` flag, for `lastIndex`. Throws SearchError. */
export const rustRegex = (pattern: string, { ignoreCase, multiline }: RegexOptions): RegExp => {
  const { flags, rest } = leadingFlags(pattern);
  const dotAll = multiline || flags.includes('s');
  const source = new Translator(rest, multiline, dotAll).translate();
  const i = ignoreCase || flags.includes('i') ? 'i' : '';
  try {
    const regex = new RegExp(source, `gv${i}`);
    // A pattern that is too large fails on first use.
    regex.test('');
    return regex;
  } catch (error) {
    throw badPattern(error instanceof Error ? error.message.replace(/^.*: /, '') : 'it is broken');
  }
};

/** Leading flags such as `(?i)` apply to the whole pattern. */
const leadingFlags = (pattern: string): { readonly flags: string; readonly rest: string } => {
  const match = /^\(\?([imsu]+)\)/.exec(pattern);
  return { flags: match?.[1] ?? '', rest: pattern.slice(match?.[0].length ?? 0) };
};

class Translator {
  private readonly text: string;
  private readonly multiline: boolean;
  private readonly dotAll: boolean;
  private at = 0;
  private depth = 0;

  constructor(text: string, multiline: boolean, dotAll: boolean) {
    this.text = text;
    this.multiline = multiline;
    this.dotAll = dotAll;
  }

  translate(): string {
    const source = this.alternatives();
    if (this.at < this.text.length) throw badPattern('a group is closed but was never opened');
    return source;
  }

  /** Translates up to the end of the text or of the group. */
  private alternatives(): string {
    const translated: string[] = [];
    let atoms: { source: string; isRepeated: boolean }[] = [];
    const finish = () => {
      translated.push(atoms.map(({ source }) => source).join(''));
      atoms = [];
    };
    while (this.at < this.text.length && this.text[this.at] !== ')') {
      const repeat = this.repetition();
      const last = atoms.at(-1);
      if (repeat !== undefined) {
        if (last === undefined) throw badPattern('a repetition has nothing to repeat');
        // Ripgrep allows a repetition of a repetition, JavaScript does not.
        last.source = (last.isRepeated ? `(?:${last.source})` : last.source) + repeat;
        last.isRepeated = true;
      } else if (this.take('|')) finish();
      else atoms.push({ source: this.atom(), isRepeated: false });
    }
    finish();
    return translated.join('|');
  }

  private repetition(): string | undefined {
    const rest = this.text.slice(this.at, this.at + 40);
    const match = /^(?:[*+?]|\{\s*(\d+)\s*(,?)\s*(\d*)\s*\})\??/.exec(rest);
    if (match === null) {
      if (rest.startsWith('{')) throw badPattern('"{" begins a repetition; write \\{ for a brace');
      return undefined;
    }
    const [whole, min = '', comma = '', max = ''] = match;
    this.at += whole.length;
    if (!whole.startsWith('{')) return whole;
    return `{${min}${comma}${max}}${whole.endsWith('?') ? '?' : ''}`;
  }

  private atom(): string {
    const character = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0);
    switch (character) {
      case '(':
        return this.group();
      case '[': {
        const { source, end } = rustRegexClass(this.text, this.at, this.multiline);
        this.at = end;
        return source;
      }
      case '\\': {
        const escapeSequence = readEscape(this.text, this.at);
        this.at = escapeSequence.end;
        return this.escaped(escapeSequence);
      }
      case '\n':
        if (!this.multiline) throw badPattern(ONE_LINE_ONLY);
    }
    this.at += character.length;
    return this.plain(character);
  }

  private plain(character: string): string {
    if (character === '.') return this.dotAll ? '[\\s\\S]' : '[^\\n\\r]';
    if (character === '^') return this.multiline ? '(?:(?<![^\\n]))' : '(?:^)';
    if (character === '$') return this.multiline ? '(?:(?=\\r?\\n|\\r?$))' : '(?:$)';
    return /[\]}/]/.test(character) ? `\\${character}` : character;
  }

  private escaped({ source, isLineBreak }: RustRegexEscape): string {
    if (isLineBreak && !this.multiline) throw badPattern(ONE_LINE_ONLY);
    return source;
  }

  private group(): string {
    const opening = /^\((\?(:|P?<[A-Za-z_][\w.[\]]*>))?/.exec(this.text.slice(this.at))?.[0] ?? '';
    const isLookAround = /^\(\?[=!<]/.test(this.text.slice(this.at, this.at + 3));
    if (isLookAround && opening === '(') throw badPattern(LOOK_AROUND);
    if (this.text.startsWith('(?', this.at) && opening === '(') {
      throw badPattern('flags can be given only at the beginning, such as (?i)');
    }
    this.at += opening.length;
    this.depth += 1;
    if (this.depth > MAX_GROUP_DEPTH) throw badPattern('its groups are nested too deep');
    const inner = this.alternatives();
    if (!this.take(')')) throw badPattern('unclosed group');
    this.depth -= 1;
    return `(?:${inner})`;
  }

  private take(character: string): boolean {
    const isThere = this.text[this.at] === character;
    if (isThere) this.at += 1;
    return isThere;
  }
}
