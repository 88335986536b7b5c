/** Puts the questions of agents to the person at the terminal, one after another. */
import type {
  AnswerScope,
  PermissionAnswer,
  PermissionQuestion,
  PersonAnswer,
  PersonOption,
  PersonQuestion,
  Surface,
} from '../../protocol/permission/permission.js';
import {
  denialOf,
  purposeRows,
  questionLines,
  wholeInput,
} from '../../terminal/format/format-question.js';
import type { Reply, Terminal } from '../../terminal/terminal.js';
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

export interface TerminalSurfaceOptions {
  readonly terminal: Terminal;
  /** Puts lines on the screen, beside whatever else is told there. */
  readonly say: (...lines: readonly string[]) => void;
  /** From now on only `say` puts anything there, until what it returns is called. */
  readonly hold: () => () => void;
  /** How people call an agent. */
  readonly nameOf: (agent: string) => string;
  /** Whom it works for, and on what; undefined for the lead. */
  readonly purposeOf?: (agent: string) => string | undefined;
  /** Somebody should look. */
  readonly ring: () => void;
  readonly interruptRun: () => void;
}

export class TerminalSurface implements Surface {
  private readonly options: TerminalSurfaceOptions;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(options: TerminalSurfaceOptions) {
    this.options = options;
  }

  ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
    return this.inTurn(() => this.putQuestion(question, signal));
  }

  choose(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    return this.inTurn(() => this.putChoice(question, signal));
  }

  private inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    // Whoever said no to everything has not been heard everywhere yet.
    const mine = this.turn.then(() => new Promise(setImmediate)).then(() => this.undisturbed(work));
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  private async undisturbed<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const release = this.options.hold();
    try {
      return await work();
    } finally {
      release();
    }
  }

  private async putQuestion(
    question: PermissionQuestion,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    const { terminal, say, ring, nameOf, purposeOf } = this.options;
    if (signal.aborted) throw new Error(WITHDRAWN);
    ring();
    const { paint, columns } = terminal;
    const purpose = purposeOf?.(question.agent);
    const view = {
      asker: nameOf(question.agent),
      columns,
      ...(purpose !== undefined && { purpose }),
    };
    const [head = '', ...lines] = questionLines(question, view);
    const alarmed = lines.map((line) =>
      line.startsWith('  risk: high') ? paint.alarm(line) : line,
    );
    say('', paint.strong(head), ...alarmed);
    for (let isExpected = false; ; isExpected = true) {
      const mayLast = question.grant !== undefined;
      const reply = await terminal.ask(mayLast ? LABEL : LABEL_ONCE, signal, isExpected);
      if (reply.kind !== 'line') return this.withoutAnswer(reply);
      const [word = '', ...rest] = reply.text.trim().split(/\s+/);
      const scope = SCOPES[word.toLowerCase()];
      const isOffered = scope === 'once' || (scope !== undefined && mayLast);
      if (isOffered && rest.length === 0) return { behavior: 'allow', scope };
      if (/^(d|deny|n|no)$/i.test(word)) return this.deny(rest.join(' '), signal);
      if (/^(v|view)$/i.test(word)) say(...wholeInput(question, terminal.columns));
      else say(mayLast ? AGAIN : AGAIN_ONCE);
    }
  }

  private async deny(given: string, signal: AbortSignal): Promise<PermissionAnswer> {
    let reason = given;
    if (reason === '') {
      const reply = await this.options.terminal.ask(REASON, signal, true);
      if (reply.kind === 'cancelled') return this.withoutAnswer(reply);
      if (reply.kind === 'line') reason = reply.text.trim();
    }
    return { behavior: 'deny', reason: denialOf(reason) };
  }

  /** A permission that nobody gave is none. Throws where there is no answer: another may have one. */
  private withoutAnswer({ kind }: Reply): PermissionAnswer {
    const { say } = this.options;
    if (kind === 'withdrawn') {
      say('(The question is withdrawn.)');
      throw new Error(WITHDRAWN);
    }
    if (kind === 'gone') throw new Error(GONE);
    say('(Denied, and the run is interrupted.)');
    return {
      behavior: 'deny',
      reason: `${denialOf('')} The run was interrupted.`,
      interrupt: true,
    };
  }

  private async putChoice(question: PersonQuestion, signal: AbortSignal): Promise<PersonAnswer> {
    const { terminal, say, ring, nameOf, purposeOf } = this.options;
    if (signal.aborted) throw new Error(WITHDRAWN);
    ring();
    const { options, multiple } = question;
    const head = `${nameOf(question.agent)} has a question.`;
    const purpose = purposeOf?.(question.agent);
    const rows = purpose === undefined ? [] : purposeRows(purpose, terminal.columns);
    say(
      '',
      terminal.paint.strong(head),
      ...rows,
      `  ${shownText(question.question)}`,
      ...options.map((option, index) => `  ${index + 1}. ${optionText(option)}`),
    );
    const label = `${labelFor(options.length, multiple)}: `;
    for (let isExpected = false; ; isExpected = true) {
      const reply = await terminal.ask(label, signal, isExpected);
      if (reply.kind !== 'line') throw this.refusal(reply);
      const answer = readChoice(reply.text, options, multiple);
      if (typeof answer !== 'string') return answer;
      say(answer);
    }
  }

  private refusal({ kind }: Reply): Error {
    const { say, interruptRun } = this.options;
    if (kind === 'withdrawn') {
      say('(The question is withdrawn.)');
      return new Error(WITHDRAWN);
    }
    if (kind === 'gone') return new Error(GONE);
    say('(Not answered, and the run is interrupted.)');
    interruptRun();
    return new Error('The user did not want to answer.');
  }
}

const WITHDRAWN = 'The question was withdrawn.';
const GONE = 'Nobody is there to answer any more.';

const shownText = (text: string): string =>
  exactText(text.slice(0, 4_000)).replaceAll('\n', '\n  ');

const optionText = ({ label, description }: PersonOption): string => {
  const more = description === undefined ? '' : ` (${oneLine(exactText(description))})`;
  return `${oneLine(exactText(label))}${more}`;
};

const labelFor = (count: number, multiple: boolean): string => {
  if (count === 0) return 'Your answer';
  return multiple ? 'Numbers with commas, or your own words' : 'A number, or your own words';
};

/** A sentence when the answer cannot be used. */
const readChoice = (
  text: string,
  options: readonly PersonOption[],
  multiple: boolean,
): PersonAnswer | string => {
  const answer = text.trim();
  if (answer === '') return 'Please give an answer; Esc or Ctrl-C leaves the question.';
  if (options.length === 0 || !/^\d+(\s*[, ]\s*\d+)*$/.test(answer)) {
    return { chosen: [], text: answer };
  }
  const numbers = [...new Set(answer.split(/[\s,]+/).map(Number))];
  if (numbers.length > 1 && !multiple) return 'Please choose one number.';
  const chosen = numbers.map((number) => options[number - 1]?.label);
  if (chosen.includes(undefined)) return `The numbers go from 1 to ${options.length}.`;
  return { chosen: chosen.flatMap((label) => label ?? []) };
};
