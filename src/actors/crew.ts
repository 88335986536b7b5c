/**
 * Fills the slot `crew`: judges calls, asks about them and runs them, for the agent's whole life.
 * A call is journaled before it starts and after it ends (law 7).
 */
import { fromCallback } from 'xstate';
import type { AgentEvent, CrewInput, CrewOrder } from '../protocol/agent.js';
import type { Decision } from '../protocol/answer.js';
import { StorageError } from '../protocol/errors.js';
import type { Ids } from '../protocol/ids.js';
import type { CallOutcome, JournalBody } from '../protocol/journal.js';
import type { Ruling } from '../protocol/permission.js';
import type { ResultBlock, ToolOutcome } from '../protocol/tool.js';
import type { WantedCall } from '../protocol/wire.js';
import type { Toolbox } from '../tools/toolbox.js';
import {
  answeredRecord,
  askedRecord,
  type CallPlace,
  endedRecord,
  ruledRecord,
  startedRecord,
} from './call-records.js';
import { INTERRUPTED, isOverBound, LOST, MAX_RESULT_CHARS, resultBlock } from './call-result.js';
import { judgeCall, refusalNow, type SoundCall } from './judge.js';
import { askSurface, questionAbout } from './question.js';
import { type ReviewDeps, StopReview } from './stop-review.js';
import { runTool, type ToolWorld } from './tool-run.js';

export interface CrewDeps extends ToolWorld, Pick<ReviewDeps, 'reviewStop'> {
  readonly agent: string;
  readonly toolbox: Toolbox;
  readonly ids: Ids;
  /** An error that is ours: it fails the agent, and whoever started it decides. */
  readonly defect: (error: unknown) => void;
  /** The attempt that calls belong to, as the machine counts it. */
  readonly attempt: () => { turn: number; attempt: number };
}

interface Job {
  readonly wanted: WantedCall;
  readonly at: CallPlace;
  readonly controller: AbortController;
  call: SoundCall | undefined;
  /** A person has looked at this very call and said yes. */
  approved: boolean;
  running: boolean;
  /** Its result is journaled, or nobody wants it any more. */
  over: boolean;
}

export const crew = (deps: CrewDeps) =>
  fromCallback<CrewOrder, CrewInput>(({ input, receive, sendBack }) => {
    const members = new Crew(deps, sendBack);
    for (const id of input.unjudged) members.takeUp(id);
    receive((order) => members.obey(order));
    return () => members.dismiss();
  });

class Crew {
  private readonly jobs = new Map<string, Job>();
  private readonly deps: CrewDeps;
  private readonly tell: (event: AgentEvent) => void;
  private readonly review: StopReview;
  private dismissed = false;

  constructor(deps: CrewDeps, tell: (event: AgentEvent) => void) {
    this.deps = deps;
    this.tell = tell;
    this.review = new StopReview(deps, tell);
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

  /** After a crash: what had begun and could have had an effect is reported, never repeated. */
  takeUp(id: string): void {
    const started = this.deps.notebook.history.calls.get(id)?.started;
    const isLost = started != null && !started.readOnly;
    const job = this.employ(id);
    if (job === undefined) return;
    if (isLost) this.end(job, 'interrupted', LOST);
    else this.rule(job);
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

  private employ(id: string): Job | undefined {
    const wanted = this.deps.notebook.wantedCall(id);
    if (wanted === undefined) return undefined;
    const job: Job = {
      ...{ wanted, at: this.deps.attempt(), controller: new AbortController() },
      ...{ call: undefined, approved: false, running: false, over: false },
    };
    this.jobs.set(id, job);
    return job;
  }

  private judge(id: string): void {
    const job = this.employ(id);
    if (job !== undefined) this.rule(job);
  }

  private rule(job: Job): void {
    const { toolbox, desk, notebook } = this.deps;
    const judgement = judgeCall(job.wanted, toolbox, desk, notebook.history.cwd);
    if (judgement.kind === 'invalid') {
      this.end(job, 'invalid', judgement.message);
      return;
    }
    job.call = judgement.call;
    const { ruling } = judgement;
    if (!this.recordRuling(job, ruling)) return;
    if (ruling.behavior === 'allow') this.admit(job);
    else if (ruling.behavior === 'deny') this.deny(job, `${ruling.reason} ${ruling.instead}`);
    else this.ask(job, ruling).catch(this.deps.defect);
  }

  private admit({ wanted, call }: Job): void {
    const { readOnly = false, safe = false } = call ?? {};
    this.tell({ type: 'call.ruled', id: wanted.id, readOnly, safe });
  }

  private deny(job: Job, reason: string): void {
    const { id, tool, input } = job.wanted;
    this.deps.feed.emit({ type: 'call.denied', denial: { tool, call: id, input, reason } });
    this.end(job, 'denied', reason);
  }

  private async ask(job: Job, ruling: Ruling): Promise<void> {
    const { call, wanted } = job;
    const { desk, feed } = this.deps;
    if (call === undefined || desk.surfaces.length === 0) {
      this.deny(job, ruling.reason);
      return;
    }
    const question = questionAbout(call, ruling, {
      id: this.deps.ids('question'),
      agent: this.deps.agent,
      call: wanted.id,
      grant: desk.grantFor(call.request),
    });
    if (!this.write(askedRecord(job.at, question))) return;
    this.tell({ type: 'call.asking', id: wanted.id, readOnly: call.readOnly, safe: call.safe });
    feed.emit({ type: 'question.asked', question });
    const answer = await askSurface(desk.surfaces, question, {
      signal: job.controller.signal,
      clock: this.deps.clock,
      timeoutMs: desk.permissionTimeoutMs,
      heard: (heard) => {
        // An answer may come when the agent is long over; its journal may be closed then.
        if (!this.dismissed) this.write(answeredRecord(job.at, question, heard));
      },
    });
    if (!job.over) this.takeAnswer(job, call, answer);
  }

  private takeAnswer(job: Job, call: SoundCall, answer: Decision): void {
    const { desk } = this.deps;
    if (answer.behavior === 'deny') {
      const ruling = {
        behavior: 'deny',
        step: 'callback',
        reason: answer.reason,
        ...ANSWERED,
      } as const;
      if (!this.recordRuling(job, ruling, answer.by)) return;
      this.deny(job, answer.reason);
      if (answer.interrupt === true) this.tell({ type: 'run.denied', detail: answer.reason });
      return;
    }
    const reason = 'A person allowed this call.';
    const allowed = { behavior: 'allow', step: 'callback', reason, ...ANSWERED } as const;
    if (answer.updatedInput !== undefined && !this.accept(job, answer.updatedInput)) return;
    if (!this.recordRuling(job, allowed, answer.by)) return;
    job.approved = true;
    // What is granted is the call that runs, not the one that the person changed.
    const { request } = job.call ?? call;
    if (answer.scope === 'session') desk.allowForSession(request);
    if (answer.scope === 'project') desk.allowForProject(request);
    this.admit(job);
  }

  /** Input that a person changed goes through schema and policy once more; it is not asked again. */
  private accept(job: Job, input: unknown): boolean {
    const { toolbox, desk, notebook } = this.deps;
    const wanted = { id: job.wanted.id, tool: job.wanted.tool, input };
    const judgement = judgeCall(wanted, toolbox, desk, notebook.history.cwd);
    if (judgement.kind === 'invalid') {
      this.end(job, 'invalid', judgement.message);
      return false;
    }
    job.call = judgement.call;
    if (judgement.ruling.behavior !== 'deny') return true;
    if (this.recordRuling(job, judgement.ruling)) this.deny(job, judgement.ruling.reason);
    return false;
  }

  private start(id: string): void {
    const job = this.jobs.get(id);
    const call = job?.call;
    if (job === undefined || call === undefined || job.over) return;
    const { desk, notebook } = this.deps;
    const refusal = refusalNow(call, desk, notebook.history.cwd, job.approved);
    if (refusal !== undefined && this.recordRuling(job, refusal)) this.deny(job, refusal.reason);
    if (refusal !== undefined) return;
    const { tool, input } = call;
    const record = startedRecord(job.at, id, call);
    if (!this.write(record)) return;
    const { description } = record;
    job.running = true;
    this.deps.feed.emit({ type: 'tool.started', call: id, tool: tool.name, input, description });
    this.run(job, call).catch(this.deps.defect);
  }

  private async run(job: Job, call: SoundCall): Promise<void> {
    const began = this.deps.clock.now();
    const { wanted, approved, controller } = job;
    const outcome = await runTool(call, this.deps, { id: wanted.id, approved }, controller.signal);
    const durationMs = this.deps.clock.now() - began;
    const interrupted = controller.signal.aborted && call.tool.interruptBehavior === 'cancel';
    if (interrupted) {
      const said = typeof outcome.content === 'string' ? outcome.content : '';
      this.end(job, 'interrupted', `${INTERRUPTED}\n\n${said}`.trimEnd(), durationMs, outcome);
    } else this.end(job, outcome.failed ? 'error' : 'ok', outcome.content, durationMs, outcome);
  }

  private interrupt(job: Job): void {
    if (job.over) return;
    if (!job.running) {
      this.end(job, 'interrupted', INTERRUPTED);
      job.controller.abort();
    } else if (job.call?.tool.interruptBehavior === 'cancel') job.controller.abort();
  }

  private end(
    job: Job,
    outcome: CallOutcome,
    content: string | readonly ResultBlock[],
    durationMs = 0,
    details: Partial<ToolOutcome> = {},
  ): void {
    if (job.over) return;
    job.over = true;
    const { id, tool } = job.wanted;
    const raw = resultBlock(id, content, details.isError === true || outcome !== 'ok');
    const { feed, notebook } = this.deps;
    const { todos } = notebook.history;
    const end = { outcome, durationMs, raw };
    if (!this.write(endedRecord(job.at, job.wanted, end, details))) return;
    feed.emit({ type: 'tool.ended', call: id, tool, outcome, raw });
    // The notes of a call may have waited for this one.
    if (notebook.history.todos !== todos) {
      feed.emit({ type: 'todos.changed', todos: notebook.history.todos });
    }
    if (isOverBound(content)) {
      const detail = `The result of ${tool} was cut to its head and tail.`;
      this.write({ type: 'bound.hit', what: 'tool-result', limit: MAX_RESULT_CHARS, detail });
    }
    this.tell({ type: 'call.ended', id, failed: outcome !== 'ok' && outcome !== 'interrupted' });
  }

  private show(): void {
    const { history } = this.deps.notebook;
    const results = [...history.calls.values()].flatMap(({ result }) => result?.raw ?? []);
    this.deps.feed.emit({ type: 'tool.results', content: `[${results.join(',')}]` });
    this.jobs.clear();
  }

  private recordRuling(job: Job, ruling: Ruling, by?: string): boolean {
    return this.write(ruledRecord(job.at, job.wanted, ruling, by));
  }

  /** False when the disk refused: the machine is told, and nothing more may happen. */
  private write(body: JournalBody): boolean {
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

const ANSWERED = { instead: 'Another answer would have.', risk: 'medium' } as const;
