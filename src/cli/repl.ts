/** `skein` on a terminal: prompts in, everything that agents say and do out, line by line. */
import { resolveSkeinHome, stateLayout } from '../config/state-directory.js';
import { UsageError } from '../protocol/errors.js';
import type { Provider } from '../sdk/provider.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import { exactText, firstLines } from './harmless-text.js';
import { KeyTerminal } from './key-terminal.js';
import { LineTerminal } from './line-terminal.js';
import type { Machine } from './machine.js';
import { Narration } from './narration.js';
import { PromptHistory } from './prompt-history.js';
import { ReplLead } from './repl-lead.js';
import type { RunFlags } from './run-flags.js';
import { explainUnknown, helpText, readLine, type TypedLine } from './slash-commands.js';
import { isCapableTerminal, type Terminal } from './terminal.js';
import { TerminalSurface } from './terminal-surface.js';

/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 5_000;

export const repl = async (
  given: string | undefined,
  flags: RunFlags,
  machine: Machine,
  provider?: Provider,
): Promise<number> => {
  const file = stateLayout(resolveSkeinHome(machine)).history;
  const history = new PromptHistory(flags.sessionPersistence === false ? undefined : file);
  const terminal = isCapableTerminal(machine)
    ? new KeyTerminal(machine, history.entries)
    : new LineTerminal(machine);
  try {
    return await new Repl(machine, terminal, history, flags, provider).live(given);
  } finally {
    terminal.close();
  }
};

class Repl {
  private readonly machine: Machine;
  private readonly terminal: Terminal;
  private readonly history: PromptHistory;
  private readonly narration: Narration;
  private readonly lead: ReplLead;
  /** Lines are dealt with one after another. */
  private turn: Promise<void> = Promise.resolve();
  private pending = 0;
  private isIdle = false;
  private isEnding = false;
  private isInterrupted = false;
  private warnedAt = Number.NEGATIVE_INFINITY;
  private isLeaving = false;
  private finish: (code: number) => void = () => {};
  private fail: (error: unknown) => void = () => {};
  private readonly over: Promise<number>;

  constructor(
    machine: Machine,
    terminal: Terminal,
    history: PromptHistory,
    flags: RunFlags,
    provider: Provider | undefined,
  ) {
    this.machine = machine;
    this.terminal = terminal;
    this.history = history;
    this.over = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
    this.narration = new Narration(terminal, flags.verbose === true);
    const surface = new TerminalSurface({
      terminal,
      say: (...lines) => this.narration.say(...lines),
      hold: () => this.narration.hold(),
      nameOf: (agent) => this.nameOf(agent),
      purposeOf: (agent) => this.narration.swarm.purposeOf(agent),
      interruptRun: () => this.lead.session?.interrupt(),
    });
    this.lead = new ReplLead({
      ...{ terminal, narration: this.narration, surface, flags, provider },
      machine: { ...machine, notify: (sentence) => this.narration.remark(sentence) },
      onRunEnded: () => {
        this.isInterrupted = false;
        this.refresh();
      },
      onStopped: ({ reason }) => this.leave(exitCodeOf(reason)),
      onDefect: (error) => this.fail(error),
    });
  }

  async live(given: string | undefined): Promise<number> {
    const forget = this.machine.onSignal((signal) => {
      if (signal === 'SIGINT') this.interrupt();
      else this.leave(EXIT.interrupted);
    });
    this.terminal.open({
      line: (text) => this.take(text),
      interrupt: () => this.interrupt(),
      escape: () => this.escape(),
      end: () => this.end(),
    });
    try {
      const prepared = this.begin(given).then(() => this.over);
      return await Promise.race([prepared, this.over]);
    } finally {
      forget();
      await this.lead.close();
    }
  }

  private nameOf(agent: string): string {
    if (agent === this.lead.session?.meta.lead) return 'The leader';
    return `Agent ${this.narration.swarm.nameOf(agent) ?? agent}`;
  }

  /** Whatever is typed from now on is not heard. */
  private leave(code: number): void {
    this.isLeaving = true;
    this.terminal.setBusy(true);
    this.finish(code);
  }

  private async begin(given: string | undefined): Promise<void> {
    this.pending += 1;
    await this.lead.prepare();
    this.pending -= 1;
    if (given !== undefined && given.trim() !== '') {
      this.terminal.write(`\n> ${firstLines(exactText(given), 12).join('\n  ')}\n`);
      this.take(given);
    }
    this.refresh();
  }

  private take(line: string): void {
    if (this.isLeaving) return;
    this.history.add(line);
    this.pending += 1;
    this.refresh();
    this.turn = this.turn
      .then(() => this.obey(readLine(line)))
      .catch((error: unknown) => this.complain(error))
      .finally(() => {
        this.pending -= 1;
        if (!this.lead.isInterruptible) this.isInterrupted = false;
        this.refresh();
      });
  }

  /** Wrong usage is said and survived; a defect of ours is not. */
  private complain(error: unknown): void {
    if (error instanceof UsageError) this.narration.remark(error.message);
    else this.fail(error);
  }

  /** Tells the terminal whether anything is under way, and leaves when nothing more can come. */
  private refresh(): void {
    const isIdle = this.pending === 0 && !this.lead.isRunning;
    if (isIdle && this.isEnding) this.leave(EXIT.done);
    if (this.isLeaving) return;
    if (isIdle && !this.isIdle) {
      this.terminal.freshLine();
      this.terminal.write('\n');
    }
    this.isIdle = isIdle;
    this.terminal.setBusy(!isIdle);
  }

  private async obey(line: TypedLine): Promise<void> {
    if (line.kind === 'prompt') return this.lead.submit(line.text);
    if (line.kind === 'unknown') throw new UsageError(explainUnknown(line.name));
    switch (line.name) {
      case 'help':
        this.terminal.write(helpText(this.terminal.isCapable));
        break;
      case 'cost':
        this.terminal.write(await this.lead.costText());
        break;
      case 'context':
        this.terminal.write(await this.lead.contextText());
        break;
      case 'clear':
        this.lead.spokenIn.clear();
        this.narration.remark('The conversation begins anew.');
        break;
      case 'compact': {
        const session = this.lead.spokenIn;
        this.narration.remark('Summarising the older messages; Ctrl-C gives it up.');
        // What came of it is told by the feed, as when it happens by itself.
        await session.compact(line.rest);
        break;
      }
      case 'mode':
        this.narration.remark(await this.lead.changeMode(line.rest));
        break;
      case 'resume':
        await this.lead.resume(line.rest);
        break;
      case 'rewind':
        await this.lead.rewind(line.rest);
        break;
      case 'exit':
        this.leave(EXIT.done);
    }
  }

  private escape(): void {
    if (!this.lead.isInterruptible || this.isInterrupted) return;
    this.isInterrupted = true;
    this.narration.remark('Interrupting…');
    this.lead.session?.interrupt();
  }

  private interrupt(): void {
    if (this.lead.isInterruptible) {
      if (this.isInterrupted) this.leave(EXIT.interrupted);
      else this.escape();
      return;
    }
    const now = performance.now();
    if (now - this.warnedAt < TWICE_MS) {
      this.leave(EXIT.done);
      return;
    }
    this.warnedAt = now;
    this.terminal.setBusy(true);
    this.narration.remark('Press Ctrl-C again to leave.');
    this.refresh();
  }

  private end(): void {
    this.isEnding = true;
    if (this.lead.isRunning) {
      this.narration.remark('Leaving when the run has ended; Ctrl-C interrupts it.');
    }
    this.refresh();
  }
}
