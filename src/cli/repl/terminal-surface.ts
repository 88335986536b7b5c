/** Terminal surface: asks the person at the terminal the questions of agents, one at a time. */
import {
  type AnswerScope,
  type PermissionAnswer,
  type PermissionQuestion,
  type PersonAnswer,
  type PersonOption,
  type PersonQuestion,
  SURFACE_CLOSED,
  type Surface,
} from '../../protocol/permission/permission-question.js';
import {
  denialText,
  formatQuestion,
  fullInputRows,
  purposeRows,
} from '../../terminal/format/format-question.js';
import type { Terminal, TerminalReply } from '../../terminal/terminal.js';
import { exactText, oneLine } from '../../terminal/text/sanitize.js';

const LABEL = 'Allow it? o once, s session, p project, d deny: ';
const LABEL_ONCE = 'Allow it? o once, d deny: ';
const REASON = 'Why not? (Enter to leave it out): ';
const AGAIN = 'Please answer o, s, p or d.';
const AGAIN_ONCE = 'Please answer o or d: this cannot be allowed for longer.';

const SCOPES: Readonly<Record<string, AnswerScope>> = {
  o: 'once',
  once: 'once',
  s: 'session',
  session: 'session',
  p: 'project',
  project: 'project',
};

interface TerminalSurfaceOptions {
  readonly terminal: Terminal;
  /** Prints lines, also while other output is held. */
  readonly print: (...lines: readonly string[]) => void;
  /** Holds back all output except `print`. Returns a function that releases it. */
  readonly holdOutput: () => () => void;
  /** Display name of an agent. */
  readonly nameOf: (agent: string) => string;
  /** Parents and task of an agent. Undefined for the lead. */
  readonly purposeOf?: (agent: string) => string | undefined;
  /** Rings the bell of the terminal. */
  readonly alert: () => void;
  readonly interruptRun: () => void;
}

export class TerminalSurface implements Surface {
  private readonly options: TerminalSurfaceOptions;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(options: TerminalSurfaceOptions) {
    this.options = options;
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return this.enqueue(() => this.askPermission(question, signal));
  }

  choose(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    return this.enqueue(() => this.askChoice(question, signal));
  }

  private enqueue<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    // Wait an event-loop turn: a denial that interrupts the run withdraws the other questions first.
    const answer = this.queue
      .then(() => new Promise(setImmediate))
      .then(() => this.holdingOutput(ask));
    this.queue = answer.catch(() => undefined);
    return answer;
  }

  private async holdingOutput<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const release = this.options.holdOutput();
    try {
      return await ask();
    } finally {
      release();
    }
  }

  private async askPermission(
    question: PermissionQuestion,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    const { terminal, print, alert, nameOf, purposeOf } = this.options;
    if (signal.aborted) throw new Error(WITHDRAWN);
    alert();
    const { paint, columns } = terminal;
    const purpose = purposeOf?.(question.agent);
    const view = {
      asker: nameOf(question.agent),
      columns,
      ...(purpose !== undefined && { purpose }),
    };
    const [head = '', ...lines] = formatQuestion(question, view);
    const highlighted = lines.map((line) =>
      line.startsWith('  risk: high') ? paint.alarm(line) : line,
    );
    print('', paint.strong(head), ...highlighted);
    for (let isExpected = false; ; isExpected = true) {
      const mayLast = question.grant !== undefined;
      const reply = await terminal.ask(mayLast ? LABEL : LABEL_ONCE, signal, isExpected);
      if (reply.kind !== 'line') return this.permissionWithoutAnswer(reply);
      const [word = '', ...rest] = reply.text.trim().split(/\s+/);
      const scope = SCOPES[word.toLowerCase()];
      const isOffered = scope === 'once' || (scope !== undefined && mayLast);
      if (isOffered && rest.length === 0) return { behavior: 'allow', scope };
      if (/^(d|deny|n|no)$/i.test(word)) return this.deny(rest.join(' '), signal);
      if (/^(v|view)$/i.test(word)) print(...fullInputRows(question, terminal.columns));
      else print(mayLast ? AGAIN : AGAIN_ONCE);
    }
  }

  private async deny(typedReason: string, signal: AbortSignal): Promise<PermissionAnswer> {
    let reason = typedReason;
    if (reason === '') {
      const reply = await this.options.terminal.ask(REASON, signal, true);
      if (reply.kind === 'cancelled') return this.permissionWithoutAnswer(reply);
      if (reply.kind === 'line') reason = reply.text.trim();
    }
    return { behavior: 'deny', reason: denialText(reason) };
  }

  /** Denies after an interrupt. Throws if the question was withdrawn or the terminal is gone. */
  private permissionWithoutAnswer({ kind }: TerminalReply): PermissionAnswer {
    const { print } = this.options;
    if (kind === 'withdrawn') {
      print('(The question is withdrawn.)');
      throw new Error(WITHDRAWN);
    }
    if (kind === 'gone') throw new Error(SURFACE_CLOSED);
    print('(Denied, and the run is interrupted.)');
    return {
      behavior: 'deny',
      reason: `${denialText('')} The run was interrupted.`,
      interrupt: true,
    };
  }

  private async askChoice(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    const { terminal, print, alert, nameOf, purposeOf } = this.options;
    if (signal.aborted) throw new Error(WITHDRAWN);
    alert();
    const { options, multiple } = question;
    const head = `${nameOf(question.agent)} has a question.`;
    const purpose = purposeOf?.(question.agent);
    const rows = purpose === undefined ? [] : purposeRows(purpose, terminal.columns);
    print(
      '',
      terminal.paint.strong(head),
      ...rows,
      `  ${shownText(question.question)}`,
      ...options.map((option, index) => `  ${index + 1}. ${optionText(option)}`),
    );
    const label = `${labelFor(options.length, multiple)}: `;
    for (let isExpected = false; ; isExpected = true) {
      const reply = await terminal.ask(label, signal, isExpected);
      if (reply.kind !== 'line') throw this.choiceWithoutAnswer(reply);
      const answer = readChoice(reply.text, options, multiple);
      if (typeof answer !== 'string') return answer;
      print(answer);
    }
  }

  private choiceWithoutAnswer({ kind }: TerminalReply): Error {
    const { print, interruptRun } = this.options;
    if (kind === 'withdrawn') {
      print('(The question is withdrawn.)');
      return new Error(WITHDRAWN);
    }
    if (kind === 'gone') return new Error(SURFACE_CLOSED);
    print('(Not answered, and the run is interrupted.)');
    interruptRun();
    return new Error('The user did not want to answer.');
  }
}

const WITHDRAWN = 'The question was withdrawn.';

const shownText = (text: string): string =>
  exactText(text.slice(0, 4_000)).replaceAll('\n', '\n  ');

const optionText = ({ label, description }: PersonOption): string => {
  const more = description === undefined ? '' : ` (${oneLine(exactText(description))})`;
  return `${oneLine(exactText(label))}${more}`;
};

const labelFor = (count: number, isMultiple: boolean): string => {
  if (count === 0) return 'Your answer';
  return isMultiple ? 'Numbers with commas, or your own words' : 'A number, or your own words';
};

/** Returns the answer, or a sentence if the text is not a valid answer. */
const readChoice = (
  text: string,
  options: readonly PersonOption[],
  isMultiple: boolean,
): PersonAnswer | string => {
  const answer = text.trim();
  if (answer === '') return 'Please give an answer; Esc or Ctrl-C leaves the question.';
  if (options.length === 0 || !/^\d+(\s*[, ]\s*\d+)*$/.test(answer)) {
    return { chosen: [], text: answer };
  }
  const numbers = [...new Set(answer.split(/[\s,]+/).map(Number))];
  if (numbers.length > 1 && !isMultiple) return 'Please choose one number.';
  const chosen = numbers.map((number) => options[number - 1]?.label);
  if (chosen.includes(undefined)) return `The numbers go from 1 to ${options.length}.`;
  return { chosen: chosen.flatMap((label) => label ?? []) };
};
