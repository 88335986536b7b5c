/** REPL: the interactive session. Reads prompts and commands, and prints what agents say and do. */
import { resolveSkeinHome, stateLayout } from '../../config/workspace/state-layout.js';
import { UsageError } from '../../protocol/skein-error.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import {
  explainUnknown,
  helpText,
  parseTypedLine,
  type TypedLine,
} from '../../terminal/input/slash-commands.js';
import type { FeedPrinter } from '../../terminal/output/feed-printer.js';
import type { OpenView, SessionView } from '../../terminal/output/session-view.js';
import { isCapableTerminal, isForScreenReader, type Terminal } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { echoLines } from '../../terminal/text/sanitize.js';
import { ExitCode, exitCodeFor } from '../session/exit-code.js';
import type { RunFlags } from '../session/run-flags.js';
import { closeInTime } from './close-in-time.js';
import { lineView } from './line-view.js';
import { nextPermissionMode } from './parse-permission-mode.js';
import { PromptHistory } from './prompt-history.js';
import { ReplSession } from './repl-session.js';

/** Time within which a second Ctrl-C quits, in milliseconds. */
const SECOND_INTERRUPT_MS = 5_000;

/** Resolves with the exit code. Rejects with UsageError, or with a defect. */
export const repl = async (
  prompt: string | undefined,
  flags: RunFlags,
  host: TerminalHost,
  provider?: Provider,
): Promise<number> => {
  const file = stateLayout(resolveSkeinHome(host)).history;
  const history = new PromptHistory(flags.sessionPersistence === false ? undefined : file);
  const openView = wantsLines(flags, host)
    ? lineView
    : (await import('../../ui/session/screen-view.js')).screenView;
  const repl = new Repl(host, openView, history, flags, provider);
  try {
    return await repl.run(prompt);
  } finally {
    repl.view.close();
  }
};

/** True for line output: by flag, for a screen reader, and on a terminal that cannot move the cursor. */
const wantsLines = (
  { plain = false, screenReader = false }: RunFlags,
  host: TerminalHost,
): boolean => plain || screenReader || isForScreenReader(host) || !isCapableTerminal(host);

const NOT_CLOSED =
  'The session could not be closed in its store. The store treats it as lost; it can be resumed.';

class Repl {
  readonly view: SessionView;
  private readonly host: TerminalHost;
  private readonly history: PromptHistory;
  private readonly replSession: ReplSession;
  /** Runs typed lines one after another. */
  private queue: Promise<void> = Promise.resolve();
  private pending = 0;
  private isIdle = false;
  private isInputEnded = false;
  private isInterrupted = false;
  private warnedAt = Number.NEGATIVE_INFINITY;
  private isLeaving = false;
  private finish: (code: number) => void = () => {};
  private fail: (error: unknown) => void = () => {};
  private readonly over: Promise<number>;

  constructor(
    host: TerminalHost,
    openView: OpenView,
    history: PromptHistory,
    flags: RunFlags,
    provider: Provider | undefined,
  ) {
    this.host = host;
    this.history = history;
    this.over = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
    this.view = openView({
      host,
      history: history.entries,
      isVerbose: flags.verbose === true,
      session: () => this.replSession.session,
      store: () => this.replSession.store,
      facts: () => this.replSession.facts,
      interruptRun: () => this.replSession.session?.interrupt(),
      nextMode: () => this.nextMode(),
      onDefect: (error) => this.fail(error),
    });
    const { printer } = this.view;
    this.replSession = new ReplSession({
      view: this.view,
      flags,
      provider,
      host: { ...host, notify: (sentence) => printer.remark(sentence) },
      onRunEnded: () => {
        this.isInterrupted = false;
        this.refresh();
      },
      onStopped: ({ reason }) => this.leave(exitCodeFor(reason)),
      onDefect: (error) => this.fail(error),
    });
  }

  async run(prompt: string | undefined): Promise<number> {
    const stopListening = this.host.onSignal((signal) => {
      if (signal === 'SIGINT') this.interrupt();
      else this.leave(ExitCode.interrupted);
    });
    this.terminal.open({
      line: (text) => this.enqueue(text),
      interrupt: () => this.interrupt(),
      escape: () => this.escape(),
      end: () => this.inputEnded(),
    });
    try {
      const prepared = this.start(prompt).then(() => this.over);
      return await Promise.race([prepared, this.over]);
    } finally {
      stopListening();
      // A closed terminal ends the input and sends SIGHUP, which must not cut off the close.
      const stopIgnoring = this.host.onSignal((signal) => {
        if (signal !== 'SIGHUP') this.host.quit(ExitCode.interrupted);
      });
      if (!(await closeInTime(this.replSession.close()))) this.printer.remark(NOT_CLOSED);
      stopIgnoring();
    }
  }

  private get terminal(): Terminal {
    return this.view.terminal;
  }

  private get printer(): FeedPrinter {
    return this.view.printer;
  }

  /** Switches to the next permission mode after all lines typed before. */
  private nextMode(): void {
    this.queue = this.queue
      .then(async () => {
        await this.replSession.changeMode(nextPermissionMode(this.replSession.facts.mode));
        this.refresh();
      })
      .catch((error: unknown) => this.showError(error));
  }

  /** Ends the session. Lines typed from now on are ignored. */
  private leave(code: number): void {
    this.isLeaving = true;
    this.terminal.setBusy(true);
    this.finish(code);
  }

  private async start(prompt: string | undefined): Promise<void> {
    this.pending += 1;
    await this.replSession.prepare();
    this.pending -= 1;
    if (prompt !== undefined && prompt.trim() !== '') {
      this.terminal.write(`\n> ${echoLines(prompt).join('\n  ')}\n`);
      this.enqueue(prompt);
    }
    this.refresh();
  }

  private enqueue(line: string): void {
    if (this.isLeaving) return;
    this.history.add(line);
    this.pending += 1;
    this.refresh();
    this.queue = this.queue
      .then(() => this.handle(parseTypedLine(line)))
      .catch((error: unknown) => this.showError(error))
      .finally(() => {
        this.pending -= 1;
        if (!this.replSession.isInterruptible) this.isInterrupted = false;
        this.refresh();
      });
  }

  /** Prints a UsageError. Any other error is a defect and ends the REPL. */
  private showError(error: unknown): void {
    if (error instanceof UsageError) this.printer.remark(error.message);
    else this.fail(error);
  }

  /** Shows whether a run or a command is active. Leaves if idle after the end of input. */
  private refresh(): void {
    const isIdle = this.pending === 0 && !this.replSession.isRunning;
    if (isIdle && this.isInputEnded) this.leave(ExitCode.done);
    if (this.isLeaving) return;
    if (isIdle && !this.isIdle) {
      this.terminal.freshLine();
      this.terminal.write('\n');
    }
    this.isIdle = isIdle;
    this.terminal.setBusy(!isIdle);
  }

  private async handle(line: TypedLine): Promise<void> {
    if (line.kind === 'prompt') return this.replSession.submit(line.text);
    if (line.kind === 'unknown') throw new UsageError(explainUnknown(line.name));
    switch (line.name) {
      case 'help':
        this.show(helpText(this.view.inputMode));
        break;
      case 'cost':
        this.show(await this.replSession.costText());
        break;
      case 'context':
        this.show(await this.replSession.contextText());
        break;
      case 'clear':
        this.replSession.startedSession.clear();
        this.printer.remark('The conversation is cleared.');
        break;
      case 'compact': {
        const session = this.replSession.startedSession;
        this.printer.remark('Summarising older messages; Ctrl-C cancels.');
        // The feed reports the result, as for an automatic compaction.
        await session.compact(line.rest);
        break;
      }
      case 'mode':
        this.printer.remark(await this.replSession.changeMode(line.rest));
        break;
      case 'resume':
        await this.replSession.resume(line.rest);
        break;
      case 'rewind':
        await this.replSession.rewind(line.rest);
        break;
      case 'exit':
        this.leave(ExitCode.done);
    }
  }

  /** Prints a text on its own lines, because the agent may be in the middle of a sentence. */
  private show(text: string): void {
    this.terminal.freshLine();
    this.terminal.write(text);
  }

  private escape(): void {
    if (!this.replSession.isInterruptible || this.isInterrupted) return;
    this.isInterrupted = true;
    this.printer.remark('Interrupting…');
    this.replSession.session?.interrupt();
  }

  private interrupt(): void {
    if (this.replSession.isInterruptible) {
      if (this.isInterrupted) this.leave(ExitCode.interrupted);
      else this.escape();
      return;
    }
    const now = performance.now();
    if (now - this.warnedAt < SECOND_INTERRUPT_MS) {
      this.leave(ExitCode.done);
      return;
    }
    this.warnedAt = now;
    this.terminal.setBusy(true);
    this.printer.remark('Press Ctrl-C again to quit.');
    this.refresh();
  }

  private inputEnded(): void {
    this.isInputEnded = true;
    if (this.replSession.isRunning) {
      this.printer.remark('Quitting when the run has ended; Ctrl-C interrupts it.');
    }
    this.refresh();
  }
}
