/** Evaluates text as the shell would do a second time, and reads the commands in it. */

import type { CommandContext } from '../read-redirects.js';
import { UNKNOWN } from '../shell-word.js';
import { type EvaluationKind, expandedSource } from './node-evaluations.js';
import type { KnownText, ShellValues } from './shell-values.js';

export interface EvaluatorDeps {
  readonly values: ShellValues;
  read(source: string, context: CommandContext): void;
  doubt(sentence: string): void;
}

export class Evaluator {
  private readonly seen = new Set<string>();
  private readonly deps: EvaluatorDeps;

  constructor(deps: EvaluatorDeps) {
    this.deps = deps;
  }

  /** Reads each text once, so that the work is linear. */
  evaluate(kind: EvaluationKind, known: readonly KnownText[], context: CommandContext): void {
    for (const { text, isOpen } of known) {
      const isCommand = kind === 'source' && text.includes(UNKNOWN);
      if (isOpen || isCommand) this.deps.doubt(DOUBT);
      const key = `${kind} ${text}`;
      if (this.seen.has(key)) continue;
      this.seen.add(key);
      this.evaluateText(kind, text, context);
    }
  }

  private evaluateText(kind: EvaluationKind, text: string, context: CommandContext): void {
    if (kind === 'source') {
      this.deps.read(spellUnknown(text), context);
      return;
    }
    if (kind === 'name' && !text.includes('[')) return;
    if (/[$`]/.test(text)) this.deps.read(expandedSource(spellUnknown(text)), context);
    if (kind === 'expanded') return;
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
      const texts = this.deps.values.textsOf(name);
      if (texts !== undefined) this.evaluate('arithmetic', texts, context);
    }
  }
}

const DOUBT =
  'The shell evaluates text that is known only at run time, and such text can contain a command.';

/** Spells unknown text as a variable, so that the text around it can be parsed. */
export const spellUnknown = (text: string): string => text.replaceAll(UNKNOWN, '$__unknown__');
