/** Session of the REPL: opens at the first prompt, and can be replaced by an earlier session. */
import type { LeadSession } from '../../actors/session/lead-session.js';
import type { Stop } from '../../protocol/agent/stop.js';
import { randomIds } from '../../protocol/ids.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { SkeinError, UsageError } from '../../protocol/skein-error.js';
import { attachImages } from '../../sdk/api/messages/attach-images.js';
import { promptTitle, toWireBlocks } from '../../sdk/api/messages/prompt-content.js';
import type { AssemblyOptions, SessionAssembly } from '../../sdk/assembly/assemble-session.js';
import type { HostSession } from '../../sdk/assembly/open-host-session.js';
import { dryRun } from '../../sdk/assembly/open-host-session.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import { untilIdle } from '../../sdk/control/until-idle.js';
import {
  agentWindowReport,
  type ContextWindowReport,
} from '../../sdk/sessions/context-window-report.js';
import { openSessionRewind } from '../../sdk/sessions/session-rewind.js';
import { chartStyle } from '../../terminal/charts/chart-style.js';
import type { SessionFacts, SessionView } from '../../terminal/output/session-view.js';
import { wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { sessionCost } from '../../views/cost/session-cost.js';
import { newSessionWindow } from '../commands/inspect/context-command.js';
import { contextText } from '../commands/inspect/context-text.js';
import { shortCostText } from '../commands/inspect/cost-text.js';
import { rewindDoneText } from '../commands/rewind/rewind-plan-text.js';
import { openCliSession } from '../session/open-cli-session.js';
import type { RunFlags } from '../session/run-flags.js';
import { confirmRewind } from './confirm-rewind.js';
import { parsePermissionMode } from './parse-permission-mode.js';
import { askForSession, earlierSessions, pickSession } from './pick-session.js';
import { sendPrompt } from './send-prompt.js';
import { type HeaderFacts, lastExchange, sessionFooter, sessionHeader } from './session-header.js';
import { startupQuestions } from './startup-questions.js';

/** Time that an interrupted run has to end, in milliseconds. */
const IDLE_LIMIT_MS = 2_000;

interface ReplSessionOptions {
  readonly host: TerminalHost;
  readonly view: SessionView;
  readonly flags: RunFlags;
  readonly provider: Provider | undefined;
  /** Called when a run has ended. The agent may be idle now. */
  readonly onRunEnded: () => void;
  /** Called when the lead has stopped for good. */
  readonly onStopped: (stop: Stop) => void;
  readonly onDefect: (error: unknown) => void;
}

export class ReplSession {
  private readonly options: ReplSessionOptions;
  private flags: RunFlags;
  private hostSession: HostSession | undefined;
  store: SessionStore | undefined;
  private assembly: SessionAssembly | undefined;
  private cwd: string;

  constructor(options: ReplSessionOptions) {
    this.options = options;
    this.cwd = options.host.cwd;
    const { flags } = options;
    // A new session is saved at its first prompt, but its id is chosen now.
    const isNew = flags.resume === undefined && flags.continue !== true;
    this.flags = isNew ? { ...flags, sessionId: flags.sessionId ?? randomIds('session') } : flags;
  }

  get session(): LeadSession | undefined {
    return this.hostSession?.session;
  }

  get isRunning(): boolean {
    return this.session !== undefined && !this.session.isIdle;
  }

  /** True while an interrupt would stop a run or a compaction. */
  get isInterruptible(): boolean {
    return this.isRunning || this.session?.state === 'compacting';
  }

  /** Open session. Throws UsageError before the first prompt. */
  get startedSession(): LeadSession {
    return this.startedHostSession.session;
  }

  private get startedHostSession(): HostSession {
    if (this.hostSession === undefined) throw new UsageError('The session has no prompt yet.');
    return this.hostSession;
  }

  /** Model, mode and directory of the session. Available before the first prompt. */
  get facts(): SessionFacts {
    const { session, assembly, hostSession, cwd } = this;
    const settings = hostSession?.settings ?? assembly?.settings;
    return {
      model: session?.model ?? assembly?.options.modelName ?? assembly?.options.defaultModel ?? '',
      mode:
        session?.mode ??
        parsePermissionMode(this.flags.permissionMode ?? '') ??
        settings?.mode.value ??
        'default',
      cwd: session?.meta.cwd ?? cwd,
    };
  }

  /** Assembles the session, so that configuration errors show before the first prompt. Rejects with UsageError. */
  async prepare(): Promise<void> {
    const { flags } = this;
    const { host, view } = this.options;
    const assembly = await startupQuestions({
      host,
      flags,
      terminal: view.terminal,
      assemble: () => dryRun(this.assemblyOptions(flags, '')),
    });
    this.assembly = assembly;
    this.store = assembly.options.store;
    this.cwd = assembly.options.fresh.cwd;
    const isResumed = flags.resume !== undefined || flags.continue === true;
    if (isResumed) this.showAndStart(await this.open(flags, ''));
    else this.showNewHeader(assembly);
  }

  /** Sends a prompt. Opens the session first if it is new. */
  async submit(text: string): Promise<void> {
    const wasRunning = this.isRunning;
    if (this.hostSession === undefined) this.attach(await this.open(this.flags, promptTitle(text)));
    const { content, notices } = await attachImages(text, this.facts.cwd);
    for (const notice of notices) this.options.view.printer.remark(notice);
    const session = this.startedSession;
    const isWaiting = sendPrompt(session, toWireBlocks(content));
    session.start();
    if (wasRunning) this.options.view.promptQueued(text, isWaiting);
  }

  /** Changes the permission mode unless `name` is empty. Resolves with a sentence that states the mode. */
  async changeMode(name: string): Promise<string> {
    const permissionMode = parsePermissionMode(name);
    const flags = permissionMode === undefined ? this.flags : { ...this.flags, permissionMode };
    if (permissionMode !== undefined) this.session?.changeMode(permissionMode);
    const mode = this.session?.mode ?? (await this.modeWith(flags));
    this.flags = flags;
    return `The permission mode is ${mode}.`;
  }

  /** Resolves with the mode that a new session would start with. Rejects with UsageError if it is not allowed. */
  private async modeWith(flags: RunFlags): Promise<string> {
    const { settings, options } = await dryRun(this.assemblyOptions(flags, ''));
    await options.store.close();
    return settings.mode.value;
  }

  /** Replaces the session by an earlier session, which the person names or picks from a list. */
  async resume(query: string): Promise<void> {
    if (this.isRunning) throw new UsageError('A run is active: Ctrl-C interrupts it.');
    const all = (await this.store?.list()) ?? [];
    const listed = earlierSessions(all, this.session?.meta.cwd ?? this.cwd, this.session?.id);
    const choice = query === '' ? await askForSession(listed, this.options.view) : query;
    if (choice === '') return;
    const id = pickSession(choice, listed, all);
    if (id === this.session?.id) throw new UsageError('This session is already open.');
    const { sessionId: _id, continue: _continue, forkSession: _fork, ...flags } = this.flags;
    // Close the current session last, so that a failure to open keeps it.
    const next = await this.open({ ...flags, resume: id }, '');
    const previous = this.hostSession;
    this.hostSession = undefined;
    await previous?.close();
    this.showAndStart(next);
  }

  /** Rewinds the session to before a prompt: closes it, rewinds it, and opens it again. */
  async rewind(target: string): Promise<void> {
    if (this.isRunning) throw new UsageError('A run is active: Ctrl-C interrupts it.');
    const run = this.startedHostSession;
    if (this.flags.sessionPersistence === false) {
      throw new UsageError('This session is not saved, so it cannot be rewound.');
    }
    const { host } = this.options;
    const { terminal, printer } = this.options.view;
    const { session, store } = { ...run, store: this.store ?? run.store };
    const open = () => openSessionRewind(host, this.flags, store, session.meta);
    const confirmed = await confirmRewind(await open(), target, terminal, wantsColour(host));
    if (confirmed === undefined) return;
    this.hostSession = undefined;
    await run.close();
    try {
      const rewind = await open();
      const plan = confirmed.plan(rewind);
      const outcome = await rewind.apply(plan, confirmed.force);
      printer.remark(rewindDoneText(rewind, plan, outcome).trimEnd());
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      printer.remark(error.message);
    }
    const { sessionId: _id, continue: _continue, forkSession: _fork, ...flags } = this.flags;
    this.showAndStart(await this.open({ ...flags, resume: session.id }, ''));
  }

  /** Resolves with a short text about the cost so far. */
  async costText(): Promise<string> {
    const { store, session } = this.startedHostSession;
    const report = await sessionCost(store, session.id);
    return shortCostText(report, session.journal.history.turns, chartStyle(this.options.host));
  }

  /** Resolves with a chart of the context window of the next request. */
  async contextText(): Promise<string> {
    return contextText(await this.window(), chartStyle(this.options.host));
  }

  /** Reports on the open session, or on a new session before the first prompt. */
  private window(): Promise<ContextWindowReport> {
    if (this.hostSession === undefined) return newSessionWindow(this.flags, this.options.host);
    const { store, session, settings } = this.hostSession;
    const { contextWindow } = settings.skein;
    return agentWindowReport(store, session.meta, session.meta.lead, contextWindow);
  }

  async close(): Promise<void> {
    const { hostSession, session } = this;
    if (hostSession === undefined || session === undefined) return this.store?.close();
    if (!session.isIdle) {
      session.interrupt();
      await untilIdle(session, IDLE_LIMIT_MS);
    }
    const { terminal } = this.options.view;
    terminal.freshLine();
    terminal.write(sessionFooter(session, this.flags.sessionPersistence !== false));
    await hostSession.close('prompt_input_exit');
    await this.store?.close();
  }

  private showNewHeader({ options, settings, notices }: SessionAssembly): void {
    const { sessionId: id = '' } = this.flags;
    const model = options.modelName ?? options.defaultModel;
    this.showHeader({ id, model, cwd: options.fresh.cwd, mode: settings.mode.value }, notices);
  }

  private showHeader(facts: HeaderFacts, notices: readonly string[]): void {
    const { terminal, printer } = this.options.view;
    terminal.freshLine();
    terminal.write(sessionHeader(facts));
    for (const notice of notices) printer.remark(notice);
  }

  private assemblyOptions(flags: RunFlags, title: string): AssemblyOptions {
    const { host, view, provider } = this.options;
    return {
      host,
      flags,
      title,
      surfaces: { terminal: view.surface },
      staysIdle: true,
      wantsStreamEvents: true,
      ...(provider && { provider }),
    };
  }

  private open(flags: RunFlags, title: string): Promise<HostSession> {
    return openCliSession(this.assemblyOptions(flags, title));
  }

  /** Shows an earlier session and starts it, because a run may have been interrupted. */
  private showAndStart(run: HostSession): void {
    const { session, settings, notices } = run;
    const { id, model, meta } = session;
    this.showHeader({ id, model, cwd: meta.cwd, mode: settings.mode.value }, notices);
    this.options.view.terminal.write(`\n${lastExchange(session)}`);
    this.attach(run);
    session.start();
    if (this.isRunning) this.options.view.printer.remark('The interrupted run continues.');
  }

  private attach(run: HostSession): void {
    const { view, onRunEnded, onStopped, onDefect } = this.options;
    this.hostSession = run;
    view.reset();
    const { todos } = run.session.journal.history;
    const hasOpenTodos = todos.some(({ status }) => status !== 'completed');
    if (hasOpenTodos) view.printer.receive({ type: 'todos.changed', todos });
    run.session.listen((item) => {
      view.receive(item);
      view.printer.receive(item);
      if (item.type === 'run.ended') onRunEnded();
    });
    run.session.stopped.then(
      ({ stop }) => this.hostSession === run && onStopped(stop),
      (error: unknown) => this.hostSession === run && onDefect(error),
    );
  }
}
