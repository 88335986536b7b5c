/** The session that a person talks to: opened with the first prompt, or exchanged for a former one. */
import type { LeadSession } from '../../actors/session/session.js';
import type { Stop } from '../../protocol/agent/agent.js';
import { SkeinError, UsageError } from '../../protocol/errors.js';
import { randomIds } from '../../protocol/ids.js';
import type { SessionStore } from '../../protocol/session/store.js';
import { promptBlocks, titleOf } from '../../sdk/api/messages/prompt-blocks.js';
import { withImages } from '../../sdk/api/messages/prompt-images.js';
import type { AssemblyOptions, SessionAssembly } from '../../sdk/assembly/assemble-session.js';
import type { HostSession } from '../../sdk/assembly/open-host-session.js';
import { dryRun } from '../../sdk/assembly/open-host-session.js';
import type { Provider } from '../../sdk/assembly/options/provider.js';
import { externalIncludes } from '../../sdk/assembly/prompt/run-memory.js';
import { type WindowReport, windowOfAgent } from '../../sdk/sessions/context-window-report.js';
import { openRewind } from '../../sdk/sessions/rewind-session.js';
import type { SessionPlace, SessionView } from '../../terminal/output/session-view.js';
import { wantsColour } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { chartStyle } from '../../terminal/text/bar-chart.js';
import { costOfSession } from '../../views/cost/session-cost.js';
import { windowOfNew } from '../commands/inspect/context-command.js';
import { contextText } from '../commands/inspect/context-text.js';
import { costInShort } from '../commands/inspect/cost-text.js';
import { doneText } from '../commands/rewind/rewind-command.js';
import { openShownRun } from '../run/open-session.js';
import type { RunFlags } from '../run/run-flags.js';
import { askForIncludes } from './include-question.js';
import { modeOf } from './mode-command.js';
import { agreeOnRewind } from './repl-rewind.js';
import { farewellText, headerText, lastExchange } from './repl-text.js';
import { sendPrompt } from './send-prompt.js';
import { formerSessions, letChoose, pickSession } from './session-list.js';
import { windsDown } from './shutdown-timeout.js';
import { askForTrust } from './trust-question.js';

export interface ReplLeadOptions {
  readonly machine: TerminalHost;
  readonly face: SessionView;
  readonly flags: RunFlags;
  readonly provider: Provider | undefined;
  /** A run has ended; the agent may rest now. */
  readonly onRunEnded: () => void;
  /** The agent is over for good. */
  readonly onStopped: (stop: Stop) => void;
  readonly onDefect: (error: unknown) => void;
}

export class ReplLead {
  private readonly options: ReplLeadOptions;
  private flags: RunFlags;
  private run: HostSession | undefined;
  store: SessionStore | undefined;
  private bench: SessionAssembly | undefined;
  private cwd: string;

  constructor(options: ReplLeadOptions) {
    this.options = options;
    this.cwd = options.machine.cwd;
    const { flags } = options;
    // A session that nobody has spoken in is not worth keeping, but its name is known.
    const isNew = flags.resume === undefined && flags.continue !== true;
    this.flags = isNew ? { ...flags, sessionId: flags.sessionId ?? randomIds('session') } : flags;
  }

  get session(): LeadSession | undefined {
    return this.run?.session;
  }

  get isRunning(): boolean {
    return this.session !== undefined && !this.session.isResting;
  }

  /** A run is under way, or something else that an interrupt ends. */
  get isInterruptible(): boolean {
    return this.isRunning || this.session?.state === 'compacting';
  }

  /** Throws a UsageError where nothing has been said. */
  get spokenIn(): LeadSession {
    return this.spokenRun.session;
  }

  private get spokenRun(): HostSession {
    if (this.run === undefined) throw new UsageError('Nothing has been said yet.');
    return this.run;
  }

  /** Where it is and how it is set up, also before anything was said. */
  get place(): SessionPlace {
    const { session, bench, run, cwd } = this;
    const settings = run?.settings ?? bench?.settings;
    return {
      model: session?.model ?? bench?.options.modelName ?? bench?.options.defaultModel ?? '',
      mode:
        session?.mode ??
        modeOf(this.flags.permissionMode ?? '') ??
        settings?.mode.value ??
        'default',
      cwd: session?.meta.cwd ?? cwd,
    };
  }

  /** Everything that can be wrong is found before the first prompt is typed. */
  async prepare(): Promise<void> {
    const bench = await this.setUp();
    this.bench = bench;
    this.store = bench.options.store;
    this.cwd = bench.options.fresh.cwd;
    const { resume, continue: goesOn } = this.flags;
    if (resume !== undefined || goesOn === true) this.adopt(await this.open(this.flags, ''));
    else this.introduce(bench);
  }

  async submit(text: string): Promise<void> {
    const wasRunning = this.isRunning;
    if (this.run === undefined) this.attach(await this.open(this.flags, titleOf(text)));
    const { content, notices } = await withImages(text, this.place.cwd);
    for (const notice of notices) this.options.face.narration.remark(notice);
    const session = this.spokenIn;
    const isWaiting = sendPrompt(session, promptBlocks(content));
    session.start();
    if (wasRunning) this.options.face.queued(text, isWaiting);
  }

  /** Says which mode holds from now on; without a name, which one does. */
  async changeMode(name: string): Promise<string> {
    const permissionMode = modeOf(name);
    const flags = permissionMode === undefined ? this.flags : { ...this.flags, permissionMode };
    if (permissionMode !== undefined) this.session?.changeMode(permissionMode);
    const mode = this.session?.mode ?? (await this.modeWith(flags));
    this.flags = flags;
    return `The permission mode is ${mode}.`;
  }

  /** What a session would begin with. Throws a UsageError for what may not be used here. */
  private async modeWith(flags: RunFlags): Promise<string> {
    const { settings, options } = await dryRun(this.request(flags, ''));
    await options.store.close();
    return settings.mode.value;
  }

  /** Goes on with a former session: one that is named, or one that is picked from a list. */
  async resume(wanted: string): Promise<void> {
    if (this.isRunning) throw new UsageError('A run is under way: Ctrl-C interrupts it.');
    const all = (await this.store?.list()) ?? [];
    const listed = formerSessions(all, this.session?.meta.cwd ?? this.cwd, this.session?.id);
    const choice = wanted === '' ? await letChoose(listed, this.options.face) : wanted;
    if (choice === '') return;
    const id = pickSession(choice, listed, all);
    if (id === this.session?.id) throw new UsageError('That is the session you are in.');
    const { sessionId: _id, continue: _goesOn, forkSession: _fork, ...flags } = this.flags;
    // The old one is let go only when the new one is there.
    const next = await this.open({ ...flags, resume: id }, '');
    const former = this.run;
    this.run = undefined;
    await former?.close();
    this.adopt(next);
  }

  /** Takes the session back to before a prompt: let go of, taken back, and taken up again. */
  async rewind(wanted: string): Promise<void> {
    if (this.isRunning) throw new UsageError('A run is under way: Ctrl-C interrupts it.');
    const run = this.spokenRun;
    if (this.flags.sessionPersistence === false) {
      throw new UsageError('Nothing is kept of this session, so it cannot be taken back.');
    }
    const { machine } = this.options;
    const { terminal, narration } = this.options.face;
    const { session, store } = { ...run, store: this.store ?? run.store };
    const look = () => openRewind(machine, this.flags, store, session.meta);
    const agreed = await agreeOnRewind(await look(), wanted, terminal, wantsColour(machine));
    if (agreed === undefined) return;
    this.run = undefined;
    await run.close();
    try {
      const desk = await look();
      const plan = agreed.plan(desk);
      narration.remark(doneText(desk, plan, await desk.carryOut(plan, agreed.force)).trimEnd());
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      narration.remark(error.message);
    }
    const { sessionId: _id, continue: _goesOn, forkSession: _fork, ...flags } = this.flags;
    this.adopt(await this.open({ ...flags, resume: session.id }, ''));
  }

  /** What the session has used so far, in short. */
  async costText(): Promise<string> {
    const { store, session } = this.spokenRun;
    const report = await costOfSession(store, session.id);
    return costInShort(report, session.notebook.history.turns, chartStyle(this.options.machine));
  }

  /** What fills the window, as the next request will have it. */
  async contextText(): Promise<string> {
    return contextText(await this.window(), chartStyle(this.options.machine));
  }

  /** Before the first prompt, what it will begin with. */
  private window(): Promise<WindowReport> {
    if (this.run === undefined) return windowOfNew(this.flags, this.options.machine);
    const { store, session, settings } = this.run;
    const { contextWindow } = settings.skein;
    return windowOfAgent(store, session.meta, session.meta.lead, contextWindow);
  }

  async close(): Promise<void> {
    const { run, session } = this;
    if (run === undefined || session === undefined) return this.store?.close();
    if (!session.isResting) {
      session.interrupt();
      await windsDown(session);
    }
    const { terminal } = this.options.face;
    terminal.freshLine();
    terminal.write(farewellText(session, this.flags.sessionPersistence !== false));
    await run.close('prompt_input_exit');
    await this.store?.close();
  }

  /** Once more when a person has just trusted the workspace: other settings apply then. */
  private async setUp(): Promise<SessionAssembly> {
    const { machine } = this.options;
    const { terminal } = this.options.face;
    const set = () => dryRun(this.request(this.flags, ''));
    const first = await set();
    const isTrusted = await askForTrust(first.settings, terminal);
    if (isTrusted) await first.options.store.close();
    const bench = isTrusted ? await set() : first;
    const { settings, options } = bench;
    // A former session keeps what it was told at first.
    if (terminal.isPerson && options.choice.kind === 'new') {
      const request = { machine, flags: this.flags, settings, cwd: options.fresh.cwd };
      await askForIncludes(await externalIncludes(request), settings, terminal);
    }
    return bench;
  }

  private introduce({ options, settings, notices }: SessionAssembly): void {
    const { sessionId: id = '' } = this.flags;
    const model = options.modelName ?? options.defaultModel;
    this.head({ id, model, cwd: options.fresh.cwd, mode: settings.mode.value }, notices);
  }

  private head(place: Parameters<typeof headerText>[0], notices: readonly string[]): void {
    const { terminal, narration } = this.options.face;
    terminal.freshLine();
    terminal.write(headerText(place));
    for (const notice of notices) narration.remark(notice);
  }

  private request(flags: RunFlags, title: string): AssemblyOptions {
    const { machine, face, provider } = this.options;
    return {
      machine,
      flags,
      title,
      surfaces: { terminal: face.surface },
      lingers: true,
      wantsStreamEvents: true,
      ...(provider && { provider }),
    };
  }

  private open(flags: RunFlags, title: string): Promise<HostSession> {
    return openShownRun(this.request(flags, title));
  }

  /** A former session, shown and set going: it may have been in the middle of something. */
  private adopt(run: HostSession): void {
    const { session, settings, notices } = run;
    const { id, model, meta } = session;
    this.head({ id, model, cwd: meta.cwd, mode: settings.mode.value }, notices);
    this.options.face.terminal.write(`\n${lastExchange(session)}`);
    this.attach(run);
    session.start();
    if (this.isRunning) this.options.face.narration.remark('It goes on with what was under way.');
  }

  private attach(run: HostSession): void {
    const { face, onRunEnded, onStopped, onDefect } = this.options;
    this.run = run;
    face.forget();
    const { todos } = run.session.notebook.history;
    const isLeft = todos.some(({ status }) => status !== 'completed');
    if (isLeft) face.narration.tell({ type: 'todos.changed', todos });
    run.session.listen((item) => {
      face.hear(item);
      face.narration.tell(item);
      if (item.type === 'run.ended') onRunEnded();
    });
    run.session.stopped.then(
      ({ stop }) => this.run === run && onStopped(stop),
      (error: unknown) => this.run === run && onDefect(error),
    );
  }
}
