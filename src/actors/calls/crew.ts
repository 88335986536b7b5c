/**
 * Fills the slot `crew`: judges, asks about and runs the calls of an agent for its whole life. A
 * call is journaled before it starts and after it ends (law 7).
 */
import type { CommonFailures } from '../../context/common-failures.js';
import { tokensOfText } from '../../context/window/text-weight.js';
import type { SlotWork } from '../../machines/slot.js';
import { stops } from '../../machines/stops.js';
import { defuseContent } from '../../prompt/messages/defuse-result.js';
import type { AgentEvent, CrewInput, CrewOrder } from '../../protocol/agent/agent-state.js';
import type { Ids } from '../../protocol/ids.js';
import type { CallWatch } from '../../protocol/session/checkpoints.js';
import type { CallOutcome, JournalBody } from '../../protocol/session/journal-record.js';
import { StorageError } from '../../protocol/skein-error.js';
import { contentText, type ResultBlock, type ToolOutcome } from '../../protocol/tools/tool.js';
import { postToolHooks } from '../hooks/post-tool-hooks.js';
import { StopHooks, type StopHooksDeps } from '../hooks/stop-hooks.js';
import type { ValidCall } from '../permissions/judge-call.js';
import { CallCheckpoints, type CallCheckpointsDeps } from './call-checkpoints.js';
import { callRecords } from './call-records.js';
import { DenialLimit, type DenialThresholds } from './denial-limit.js';
import { LoopDetector, type LoopLimits } from './loop-detector.js';
import { endedItem, type PendingCall, pendingCall } from './pending-call.js';
import { type GateListener, PermissionGate, type PermissionGateDeps } from './permission-gate.js';
import { resultOrders, withOrderWarning } from './result-orders.js';
import { runTool, type ToolEnvironment } from './run-tool.js';
import {
  excessResult,
  INTERRUPTED_RESULT,
  isOverBound,
  LOST_RESULT,
  MAX_RESULT_CHARS,
  MAX_RESULT_TOKENS,
  prefixed,
  toolResult,
} from './tool-result.js';

export interface CrewDeps
  extends ToolEnvironment,
    CallCheckpointsDeps,
    Pick<StopHooksDeps, 'hooks' | 'agentType' | 'teammate'>,
    Pick<PermissionGateDeps, 'toolbox' | 'parent' | 'askers'> {
  readonly agent: string;
  readonly ids: Ids;
  readonly limits: DenialThresholds & LoopLimits;
  /** Failures that agents of the swarm have in common. Undefined without a swarm. */
  readonly failures?: CommonFailures | undefined;
  /** Called for a defect of Skein: the agent fails, and its parent or host decides what to do. */
  readonly onDefect: (error: unknown) => void;
  /** Returns the current turn and attempt of the agent machine. */
  readonly attempt: () => { turn: number; attempt: number };
}

export const crew =
  (deps: CrewDeps): SlotWork<CrewOrder, CrewInput> =>
  ({ input, receive, sendBack }) => {
    const executor = new Crew(deps, sendBack);
    for (const id of input.unjudged) executor.recover(id);
    receive((order) => executor.execute(order));
    return () => executor.dispose();
  };

class Crew implements GateListener {
  private readonly calls = new Map<string, PendingCall>();
  private readonly deps: CrewDeps;
  private readonly send: (event: AgentEvent) => void;
  private readonly stopHooks: StopHooks;
  private readonly gate: PermissionGate;
  private readonly denials: DenialLimit;
  private readonly loops: LoopDetector;
  private readonly checkpoints: CallCheckpoints;
  private disposed = false;

  constructor(deps: CrewDeps, send: (event: AgentEvent) => void) {
    this.deps = deps;
    this.send = send;
    this.stopHooks = new StopHooks(deps, send);
    this.gate = new PermissionGate(deps, this);
    this.checkpoints = new CallCheckpoints(deps, (body) => this.write(body));
    this.denials = new DenialLimit(deps.limits);
    this.loops = new LoopDetector(deps.agent, deps.journal.history, deps.limits, deps.failures);
  }

  execute(order: CrewOrder): void {
    switch (order.type) {
      case 'call.judge':
        this.judge(this.register(order.id));
        break;
      case 'call.start':
        this.start(order.id);
        break;
      case 'calls.yield':
        this.emitResults();
        break;
      case 'calls.discard':
        this.abortAll();
        break;
      case 'calls.interrupt':
        this.stopHooks.abort();
        for (const pending of this.calls.values()) this.interrupt(pending);
        break;
      case 'run.review':
        this.stopHooks.begin(order);
    }
  }

  /**
   * Resumes a call after a crash. A call that may already have had an effect is rejoined or
   * reported as lost, never repeated (law 7).
   */
  recover(id: string): void {
    const started = this.deps.journal.history.calls.get(id)?.started;
    const isLost = started != null && !started.readOnly;
    const pending = this.register(id);
    if (pending === undefined) return;
    if (!isLost) this.judge(pending);
    else if (this.gate.rejoins(pending)) this.admit(pending);
    else this.end(pending, 'interrupted', LOST_RESULT);
  }

  dispose(): void {
    this.disposed = true;
    this.abortAll();
  }

  private abortAll(): void {
    this.stopHooks.abort();
    for (const pending of this.calls.values()) {
      pending.isDone = true;
      pending.controller.abort();
    }
    this.calls.clear();
  }

  private register(id: string): PendingCall | undefined {
    const requested = this.deps.journal.requestedCall(id);
    if (requested === undefined) return undefined;
    const pending = pendingCall(requested, requested.number, this.deps.attempt());
    this.calls.set(id, pending);
    return pending;
  }

  private judge(pending: PendingCall | undefined): void {
    if (pending === undefined) return;
    const { maxCallsPerMessage } = this.deps.limits;
    if (pending.number <= maxCallsPerMessage) this.gate.judge(pending);
    else this.refuseExcess(pending, maxCallsPerMessage);
  }

  /** Answers a call after the maximum of its message. No hook, rule or person sees such a call. */
  private refuseExcess(pending: PendingCall, limit: number): void {
    if (pending.number > limit + 1) {
      this.end(pending, 'invalid', excessResult.short);
      return;
    }
    this.end(pending, 'invalid', excessResult.first(limit));
    const detail = excessResult.notice(limit);
    if (this.write({ type: 'bound.hit', what: 'calls-per-message', limit, detail })) {
      this.deps.feed.emit({ type: 'notice', text: detail });
    }
  }

  admit({ requested, call }: PendingCall): void {
    this.checkpoints.prepare(call);
    this.send({ type: 'call.ruled', id: requested.id, ...classOf(call) });
  }

  /**
   * True after the agent has ended. Its journal may be closed, so late answers must not be written.
   */
  get isDisposed(): boolean {
    return this.disposed;
  }

  asking({ requested, call }: PendingCall): void {
    this.checkpoints.prepare(call);
    this.send({ type: 'call.asking', id: requested.id, ...classOf(call) });
  }

  stopRun(detail: string): void {
    this.send({ type: 'agent.interrupt', stop: stops.denied(detail) });
  }

  refuse(pending: PendingCall, outcome: 'invalid' | 'denied', message: string): void {
    const { id, tool, input } = pending.requested;
    if (outcome === 'denied') {
      const denial = { tool, call: id, input, reason: message };
      this.deps.feed.emit({ type: 'call.denied', denial });
    }
    this.end(pending, outcome, defuseContent(message));
    if (outcome !== 'denied') return;
    const { runs } = this.deps.journal.history;
    const limit = this.denials.count(this.denialSubject(pending), runs, pending.at.turn);
    if (limit !== undefined) this.stopRun(limit);
  }

  private denialSubject({ call, requested }: PendingCall): string {
    return call === undefined
      ? requested.tool
      : (call.judgedRule ?? this.deps.permissions.exactRuleFor(call.request));
  }

  private start(id: string): void {
    const pending = this.calls.get(id);
    const call = pending?.call;
    if (pending === undefined || call === undefined || pending.isDone) return;
    if (!this.gate.mayStart(pending, call)) return;
    pending.stage = 'running';
    const kept = this.checkpoints.before(id, call);
    if (kept === undefined) this.begin(pending, call, undefined);
    else this.beginLater(pending, call, kept).catch(this.deps.onDefect);
  }

  /** Begins a call when its files are kept. */
  private async beginLater(
    pending: PendingCall,
    call: ValidCall,
    kept: Promise<CallWatch | undefined>,
  ): Promise<void> {
    let watch: CallWatch | undefined;
    try {
      watch = await kept;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.send({ type: 'storage.failed', detail: error.message });
      return;
    }
    // Meanwhile the run may have been interrupted, or a link redirected.
    const { aborted } = pending.controller.signal;
    if (!aborted && !pending.isDone && this.gate.mayStart(pending, call)) {
      this.begin(pending, call, watch);
      return;
    }
    if (!this.disposed && !this.checkpoints.cancel(pending.requested.id, watch)) return;
    if (aborted) this.end(pending, 'interrupted', INTERRUPTED_RESULT);
  }

  private begin(pending: PendingCall, call: ValidCall, watch: CallWatch | undefined): void {
    const { id } = pending.requested;
    const { tool, input } = call;
    const record = callRecords.started(pending.at, id, call);
    if (!this.write(record)) return;
    pending.digest = record.inputDigest;
    const { description } = record;
    this.deps.feed.emit({ type: 'tool.started', call: id, tool: tool.name, input, description });
    this.deps.journal.whenWritten(
      () => void this.run(pending, call, watch).catch(this.deps.onDefect),
      ({ message: detail }) => this.send({ type: 'storage.failed', detail }),
    );
  }

  private async run(
    pending: PendingCall,
    call: ValidCall,
    watch: CallWatch | undefined,
  ): Promise<void> {
    const { clock, hooks } = this.deps;
    const startedAt = clock.now();
    const { signal } = pending.controller;
    const approved = pending.answered === 'by person';
    const options = {
      id: pending.requested.id,
      approved,
      answered: pending.answered !== 'no',
      stopRun: (detail: string) => this.stopRun(detail),
    };
    const ended = await runTool(call, this.deps, options, signal);
    const durationMs = clock.now() - startedAt;
    const interrupted = signal.aborted && call.tool.interruptBehavior === 'cancel';
    const { id } = pending.requested;
    if (!(await this.checkpoints.after(id, watch, () => pending.isDone)) || pending.isDone) return;
    pending.stage = 'reported';
    if (pending.controller.signal.aborted) pending.controller = new AbortController();
    const report = { ...ended, interrupted, durationMs };
    const { outcome, stopReason } = await postToolHooks(hooks, pending, call, report, (ended) =>
      this.shownResult(pending, call, ended),
    );
    if (interrupted) {
      const content = prefixed(`${INTERRUPTED_RESULT}\n\n`, outcome.content);
      this.end(pending, 'interrupted', content, durationMs, outcome);
    } else this.end(pending, outcome.failed ? 'error' : 'ok', outcome.content, durationMs, outcome);
    if (stopReason !== undefined) this.stopRun(stopReason);
  }

  /** Returns the result as the model reads it: with a preview of a long text, and a warning about orders. */
  private async shownResult<Outcome extends ToolOutcome>(
    pending: PendingCall,
    call: ValidCall,
    outcome: Outcome,
  ): Promise<Outcome> {
    const orders = resultOrders(call, outcome);
    if (orders.length > 0 && !pending.isDone) {
      const found = { from: call.tool.name, kinds: [...orders], call: pending.requested.id };
      this.write({ type: 'orders.found', ...found });
    }
    return withOrderWarning(await this.withoutLongText(pending, outcome), orders);
  }

  /** Stores a result with too much text as an artifact and replaces it by its preview. */
  private async withoutLongText<Outcome extends ToolOutcome>(
    pending: PendingCall,
    outcome: Outcome,
  ): Promise<Outcome> {
    const text = contentText(outcome.content);
    if (tokensOfText(text) <= MAX_RESULT_TOKENS) return outcome;
    const { id, tool } = pending.requested;
    const { previewResult } = await import('../results/preview-result.js');
    const content = await previewResult(outcome.content, {
      openArtifact: (name) => this.deps.openArtifact(`${id}-${name}`),
      why: `a result may have ${MAX_RESULT_TOKENS} tokens`,
    });
    const detail = `The result of ${tool} was stored as an artifact, and the model read a preview.`;
    if (!pending.isDone) {
      this.write({ type: 'bound.hit', what: 'tool-result', limit: MAX_RESULT_TOKENS, detail });
    }
    // The path of the artifact is never the same twice, so the text is compared instead.
    return { ...outcome, content, gist: outcome.gist ?? text };
  }

  private interrupt(pending: PendingCall): void {
    if (pending.isDone) return;
    if (pending.stage === 'ruling') {
      this.end(pending, 'interrupted', INTERRUPTED_RESULT);
      pending.controller.abort();
    } else if (pending.stage === 'reported' || pending.call?.tool.interruptBehavior === 'cancel') {
      pending.controller.abort();
    }
  }

  private end(
    pending: PendingCall,
    outcome: CallOutcome,
    content: string | readonly ResultBlock[],
    durationMs = 0,
    details: Partial<ToolOutcome> & { readonly crashed?: true } = {},
  ): void {
    if (pending.isDone) return;
    pending.isDone = true;
    const { id, tool } = pending.requested;
    const failed = outcome !== 'ok';
    const finding = this.loops.observe(pending, { outcome, content, failed, gist: details.gist });
    const { trace, stop } = finding;
    const raw = toolResult(id, finding.content, failed);
    const { feed, journal } = this.deps;
    const { todos } = journal.history;
    const end = { outcome, durationMs, trace, raw };
    if (!this.write(callRecords.ended(pending.at, pending.requested, end, details))) return;
    feed.emit(endedItem(pending, this.deps.toolbox, outcome, raw));
    // The todos of an earlier call may apply only now, because results count in call order.
    if (journal.history.todos !== todos) {
      feed.emit({ type: 'todos.changed', todos: journal.history.todos });
    }
    if (isOverBound(content)) {
      const detail = `The result of ${tool} was cut to its head and tail.`;
      this.write({ type: 'bound.hit', what: 'tool-result', limit: MAX_RESULT_CHARS, detail });
    }
    // Send the stop first: after the last `call.ended` the next turn would start.
    if (stop !== undefined) this.send({ type: 'agent.interrupt', stop });
    this.send({ type: 'call.ended', id, refused: isRefusal(outcome, details) });
  }

  private emitResults(): void {
    const { history } = this.deps.journal;
    const results = [...history.calls.values()].flatMap(({ result }) => result?.raw ?? []);
    this.deps.feed.emit({ type: 'tool.results', content: `[${results.join(',')}]` });
    this.calls.clear();
  }

  /**
   * Writes a record. Returns false if the store refused it; the machine has been notified and the
   * call must not continue.
   */
  write(body: JournalBody): boolean {
    try {
      this.deps.journal.record(body);
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.send({ type: 'storage.failed', detail: error.message });
      return false;
    }
  }
}

/** True if the runtime did not let the call do its work. Failed work of a tool is no refusal. */
const isRefusal = (outcome: CallOutcome, { crashed = false }: { readonly crashed?: boolean }) =>
  outcome === 'invalid' || outcome === 'denied' || (outcome === 'error' && crashed);

const classOf = (call: ValidCall | undefined) => ({
  readOnly: call?.readOnly ?? false,
  safe: call?.safe ?? false,
  onlyWaits: call?.tool.onlyWaits ?? false,
});
