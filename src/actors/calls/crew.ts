/**
 * Fills the slot `crew`: judges calls, asks about them and runs them, for the agent's whole life.
 * A call is journaled before it starts and after it ends (law 7).
 */
import type { CommonFailures } from '../../context/common-failures.js';
import type { Work } from '../../machines/slot.js';
import * as stops from '../../machines/stops.js';
import type { AgentEvent, CrewInput, CrewOrder } from '../../protocol/agent/agent.js';
import { StorageError } from '../../protocol/errors.js';
import type { Ids } from '../../protocol/ids.js';
import type { CallWatch, Checkpoints } from '../../protocol/session/checkpoint.js';
import type { CallOutcome, JournalBody } from '../../protocol/session/journal.js';
import type { ResultBlock, ToolOutcome } from '../../protocol/tools/tool.js';
import { writablePathsOf } from '../checkpoints/call-reach.js';
import { afterCall } from '../hooks/post-tool-hooks.js';
import { StopHooks, type StopHooksDeps } from '../hooks/stop-hooks.js';
import type { ValidCall } from '../permissions/judge-call.js';
import { endedRecord, startedRecord } from './call-records.js';
import { type DenialLimits, Denials } from './denial-limit.js';
import { type LoopLimits, LoopWatch } from './loop-detector.js';
import { endedItem, type PendingCall, pendingCall } from './pending-call.js';
import { type GateListener, PermissionGate, type PermissionGateDeps } from './permission-gate.js';
import { runTool, type ToolEnvironment } from './run-tool.js';
import {
  INTERRUPTED,
  isOverBound,
  LOST,
  MAX_RESULT_CHARS,
  prefixed,
  resultBlock,
} from './tool-result.js';

export interface CrewDeps
  extends ToolEnvironment,
    Pick<StopHooksDeps, 'hooks' | 'agentType' | 'teammate'>,
    Pick<PermissionGateDeps, 'toolbox' | 'parent' | 'askers'> {
  readonly agent: string;
  readonly ids: Ids;
  readonly limits: DenialLimits & LoopLimits;
  /** Of the whole swarm; left out where there is none. */
  readonly failures?: CommonFailures | undefined;
  /** Left out where nothing is kept of files that change. */
  readonly checkpoints?: Checkpoints | undefined;
  /** An error that is ours: it fails the agent, and whoever started it decides. */
  readonly defect: (error: unknown) => void;
  /** The attempt that calls belong to, as the machine counts it. */
  readonly attempt: () => { turn: number; attempt: number };
}

export const crew =
  (deps: CrewDeps): Work<CrewOrder, CrewInput> =>
  ({ input, receive, sendBack }) => {
    const members = new Crew(deps, sendBack);
    for (const id of input.unjudged) members.takeUp(id);
    receive((order) => members.obey(order));
    return () => members.dismiss();
  };

class Crew implements GateListener {
  private readonly jobs = new Map<string, PendingCall>();
  private readonly deps: CrewDeps;
  private readonly tell: (event: AgentEvent) => void;
  private readonly review: StopHooks;
  private readonly gate: PermissionGate;
  private readonly denials: Denials;
  private readonly loops: LoopWatch;
  private dismissed = false;

  constructor(deps: CrewDeps, tell: (event: AgentEvent) => void) {
    this.deps = deps;
    this.tell = tell;
    this.review = new StopHooks(deps, tell);
    this.gate = new PermissionGate(deps, this);
    this.denials = new Denials(deps.limits);
    this.loops = new LoopWatch(deps.agent, deps.notebook.history, deps.limits, deps.failures);
  }

  obey(order: CrewOrder): void {
    switch (order.type) {
      case 'call.judge':
        this.judge(order.id);
        break;
      case 'call.start':
        this.start(order.id);
        break;
      case 'calls.yield':
        this.show();
        break;
      case 'calls.discard':
        this.disband();
        break;
      case 'calls.interrupt':
        this.review.abort();
        for (const job of this.jobs.values()) this.interrupt(job);
        break;
      case 'run.review':
        this.review.begin(order);
    }
  }

  /** After a crash: what had begun and could have had an effect is reported, never repeated; or joined again. */
  takeUp(id: string): void {
    const started = this.deps.notebook.history.calls.get(id)?.started;
    const isLost = started != null && !started.readOnly;
    const job = this.employ(id);
    if (job === undefined) return;
    if (!isLost) this.gate.judge(job);
    else if (this.gate.rejoins(job)) this.admit(job);
    else this.end(job, 'interrupted', LOST);
  }

  dismiss(): void {
    this.dismissed = true;
    this.disband();
  }

  private disband(): void {
    this.review.abort();
    for (const job of this.jobs.values()) {
      job.over = true;
      job.controller.abort();
    }
    this.jobs.clear();
  }

  private employ(id: string): PendingCall | undefined {
    const wanted = this.deps.notebook.wantedCall(id);
    if (wanted === undefined) return undefined;
    const job = pendingCall(wanted, this.deps.attempt());
    this.jobs.set(id, job);
    return job;
  }

  private judge(id: string): void {
    const job = this.employ(id);
    if (job !== undefined) this.gate.judge(job);
  }

  admit({ wanted, call }: PendingCall): void {
    this.tell({ type: 'call.ruled', id: wanted.id, ...classOf(call) });
  }

  /** An answer may come when the agent is long over; its journal may be closed then. */
  get isDismissed(): boolean {
    return this.dismissed;
  }

  asking({ wanted, call }: PendingCall): void {
    this.tell({ type: 'call.asking', id: wanted.id, ...classOf(call) });
  }

  halt(detail: string): void {
    this.tell({ type: 'agent.interrupt', stop: stops.denied(detail) });
  }

  refuse(job: PendingCall, outcome: 'invalid' | 'denied', message: string): void {
    const { id, tool, input } = job.wanted;
    if (outcome === 'denied') {
      const denial = { tool, call: id, input, reason: message };
      this.deps.feed.emit({ type: 'call.denied', denial });
    }
    this.end(job, outcome, message);
    if (outcome !== 'denied') return;
    const { runs } = this.deps.notebook.history;
    const limit = this.denials.count(this.placeOf(job), runs, job.at.turn);
    if (limit !== undefined) this.halt(limit);
  }

  private placeOf({ call, wanted }: PendingCall): string {
    return call === undefined ? wanted.tool : (call.place ?? this.deps.desk.grantFor(call.request));
  }

  private start(id: string): void {
    const job = this.jobs.get(id);
    const call = job?.call;
    if (job === undefined || call === undefined || job.over) return;
    if (!this.gate.mayStart(job, call)) return;
    job.stage = 'running';
    const { checkpoints } = this.deps;
    const watched = checkpoints && writablePathsOf(call, this.deps);
    if (watched === undefined) this.begin(job, call, undefined);
    else {
      checkpoints
        ?.watch({ call: id, ...watched })
        .then((watch) => {
          // Keeping files took a while, in which a link may have been turned elsewhere.
          if (job.controller.signal.aborted) this.end(job, 'interrupted', INTERRUPTED);
          else if (!job.over && this.gate.mayStart(job, call)) this.begin(job, call, watch);
        })
        .catch(this.deps.defect);
    }
  }

  private begin(job: PendingCall, call: ValidCall, watch: CallWatch | undefined): void {
    const { id } = job.wanted;
    const { tool, input } = call;
    const record = startedRecord(job.at, id, call);
    if (!this.write(record)) return;
    job.digest = record.inputDigest;
    const { description } = record;
    this.deps.feed.emit({ type: 'tool.started', call: id, tool: tool.name, input, description });
    this.deps.notebook.whenWritten(
      () => void this.run(job, call, watch).catch(this.deps.defect),
      ({ message: detail }) => this.tell({ type: 'storage.failed', detail }),
    );
  }

  private async run(
    job: PendingCall,
    call: ValidCall,
    watch: CallWatch | undefined,
  ): Promise<void> {
    const { clock, hooks } = this.deps;
    const began = clock.now();
    const { signal } = job.controller;
    const approved = job.answered === 'by person';
    const halts = (detail: string) => this.halt(detail);
    const how = { id: job.wanted.id, approved, answered: job.answered !== 'no', halt: halts };
    const ended = await runTool(call, this.deps, how, signal);
    const durationMs = clock.now() - began;
    const interrupted = signal.aborted && call.tool.interruptBehavior === 'cancel';
    const changes = (await watch?.changes()) ?? [];
    if (job.over) return;
    if (changes.length > 0) {
      if (!this.write({ type: 'files.changed', call: job.wanted.id, changes })) return;
    }
    job.stage = 'reported';
    if (job.controller.signal.aborted) job.controller = new AbortController();
    const report = { ...ended, interrupted, durationMs };
    const { outcome, halt } = await afterCall(hooks, job, call, report);
    if (interrupted) {
      const content = prefixed(`${INTERRUPTED}\n\n`, outcome.content);
      this.end(job, 'interrupted', content, durationMs, outcome);
    } else this.end(job, outcome.failed ? 'error' : 'ok', outcome.content, durationMs, outcome);
    if (halt !== undefined) this.halt(halt);
  }

  private interrupt(job: PendingCall): void {
    if (job.over) return;
    if (job.stage === 'ruling') {
      this.end(job, 'interrupted', INTERRUPTED);
      job.controller.abort();
    } else if (job.stage === 'reported' || job.call?.tool.interruptBehavior === 'cancel') {
      job.controller.abort();
    }
  }

  private end(
    job: PendingCall,
    outcome: CallOutcome,
    content: string | readonly ResultBlock[],
    durationMs = 0,
    details: Partial<ToolOutcome> = {},
  ): void {
    if (job.over) return;
    job.over = true;
    const { id, tool } = job.wanted;
    const failed = details.isError === true || outcome !== 'ok';
    const looked = this.loops.look(job, { outcome, content, failed, gist: details.gist });
    const { trace, stop } = looked;
    const raw = resultBlock(id, looked.content, failed);
    const { feed, notebook } = this.deps;
    const { todos } = notebook.history;
    const end = { outcome, durationMs, trace, raw };
    if (!this.write(endedRecord(job.at, job.wanted, end, details))) return;
    feed.emit(endedItem(job, this.deps.toolbox, outcome, raw));
    // The notes of a call may have waited for this one.
    if (notebook.history.todos !== todos) {
      feed.emit({ type: 'todos.changed', todos: notebook.history.todos });
    }
    if (isOverBound(content)) {
      const detail = `The result of ${tool} was cut to its head and tail.`;
      this.write({ type: 'bound.hit', what: 'tool-result', limit: MAX_RESULT_CHARS, detail });
    }
    // Before the last call of a turn ends, or the next turn would begin first.
    if (stop !== undefined) this.tell({ type: 'agent.interrupt', stop });
    this.tell({ type: 'call.ended', id, failed: outcome !== 'ok' && outcome !== 'interrupted' });
  }

  private show(): void {
    const { history } = this.deps.notebook;
    const results = [...history.calls.values()].flatMap(({ result }) => result?.raw ?? []);
    this.deps.feed.emit({ type: 'tool.results', content: `[${results.join(',')}]` });
    this.jobs.clear();
  }

  /** False when the disk refused: the machine is told, and nothing more may happen. */
  write(body: JournalBody): boolean {
    try {
      this.deps.notebook.record(body);
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.tell({ type: 'storage.failed', detail: error.message });
      return false;
    }
  }
}

const classOf = (call: ValidCall | undefined) => ({
  readOnly: call?.readOnly ?? false,
  safe: call?.safe ?? false,
  onlyWaits: call?.tool.onlyWaits ?? false,
});
