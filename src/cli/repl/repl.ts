/** `skein` on a terminal: prompts in, everything that agents say and do out, line by line. */
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-directory.js';
import { UsageError } from '../../protocol/errors.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import {
  explainUnknown,
  helpText,
  readLine,
  type TypedLine,
} from '../../terminal/input/slash-commands.js';
import type { FeedPrinter } from '../../terminal/output/feed-printer.js';
import type { OpenView, SessionView } from '../../terminal/output/session-view.js';
import { isCapableTerminal, isForScreenReader, type Terminal } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { echoOf } from '../../terminal/text/sanitize.js';
import { EXIT, exitCodeOf } from '../run/exit-code.js';
import type { RunFlags } from '../run/run-flags.js';
import { lineView } from './line-view.js';
import { modeAfter } from './mode-command.js';
import { PromptHistory } from './prompt-history.js';
import { ReplLead } from './repl-session.js';
import { closesInTime } from './shutdown-timeout.js';

/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 5_000;

export const repl = async (
  given: string | undefined,
  flags: RunFlags,
  machine: TerminalHost,
  provider?: Provider,
): Promise<number> => {
  const file = stateLayout(resolveSkeinHome(machine)).history;
  const history = new PromptHistory(flags.sessionPersistence === false ? undefined : file);
  const openFace = wantsLines(flags, machine)
    ? lineView
    : (await import('../../ui/session/screen-view.js')).screenView;
  const repl = new Repl(machine, openFace, history, flags, provider);
  try {
    return await repl.live(given);
  } finally {
    repl.face.close();
  }
};

/** A screen that is drawn again and again is of no use to who hears it, and impossible without a cursor. */
const wantsLines = (
  { plain = false, screenReader = false }: RunFlags,
  machine: TerminalHost,
): boolean => plain || screenReader || isForScreenReader(machine) || !isCapableTerminal(machine);

const NOT_CLOSED =
  'The session could not be closed where it is kept; it is taken for lost there, and can be resumed.';

class Repl {
  readonly face: SessionView;
  private readonly machine: TerminalHost;
  private readonly history: PromptHistory;
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
    machine: TerminalHost,
    openFace: OpenView,
    history: PromptHistory,
    flags: RunFlags,
    provider: Provider | undefined,
  ) {
    this.machine = machine;
    this.history = history;
    this.over = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
    this.face = openFace({
      machine,
      history: history.entries,
      isVerbose: flags.verbose === true,
      session: () => this.lead.session,
      store: () => this.lead.store,
      place: () => this.lead.place,
      interruptRun: () => this.lead.session?.interrupt(),
      nextMode: () => this.nextMode(),
      onDefect: (error) => this.fail(error),
    });
    const { narration } = this.face;
    this.lead = new ReplLead({
      face: this.face,
      flags,
      provider,
      machine: { ...machine, notify: (sentence) => narration.remark(sentence) },
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
      if (!(await closesInTime(this.lead.close()))) this.narration.remark(NOT_CLOSED);
    }
  }

  private get terminal(): Terminal {
    return this.face.terminal;
  }

  private get narration(): FeedPrinter {
    return this.face.narration;
  }

  /** What has been typed before is dealt with first. */
  private nextMode(): void {
    this.turn = this.turn
      .then(async () => {
        await this.lead.changeMode(modeAfter(this.lead.place.mode));
        this.refresh();
      })
      .catch((error: unknown) => this.complain(error));
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
      this.terminal.write(`\n> ${echoOf(given).join('\n  ')}\n`);
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
        this.show(helpText(this.face.typing));
        break;
      case 'cost':
        this.show(await this.lead.costText());
        break;
      case 'context':
        this.show(await this.lead.contextText());
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

  /** On lines of its own: the agent may be in the middle of a sentence, and the command comes first. */
  private show(text: string): void {
    this.terminal.freshLine();
    this.terminal.write(text);
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
