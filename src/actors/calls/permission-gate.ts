/**
 * Takes a call through law 5: schema, hooks, policy, and a person where one is needed. Without hooks
 * everything up to the question happens at once, so that a call may start while the model still speaks.
 */

import type { Ids } from '../../protocol/ids.js';
import type { WantedCall } from '../../protocol/model/wire.js';
import type { Decision } from '../../protocol/permission/answer.js';
import { type Hooks, type HookVerdict, NO_HOOKS } from '../../protocol/permission/hooks.js';
import type {
  Asker,
  HookOpinion,
  PermissionAnswer,
  PermissionQuestion,
  Ruling,
} from '../../protocol/permission/permission.js';
import type { JournalBody } from '../../protocol/session/journal.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { askSurfaces, questionAbout } from '../permissions/ask-surfaces.js';
import { GrantWatcher } from '../permissions/grant-watcher.js';
import {
  type Judgement,
  judgeCall,
  refusalNow,
  type ValidCall,
} from '../permissions/judge-call.js';
import { fileReplacedBy } from '../permissions/replaced-file.js';
import { answeredRecord, askedRecord, ruledRecord } from './call-records.js';
import type { PendingCall } from './pending-call.js';
import type { ToolEnvironment } from './run-tool.js';

export interface PermissionGateDeps
  extends Pick<ToolEnvironment, 'desk' | 'notebook' | 'feed' | 'clock' | 'agent' | 'workspace'> {
  readonly toolbox: Toolbox;
  readonly ids: Ids;
  readonly hooks?: Hooks;
  /** Whose policy may answer in a person's place. */
  readonly parent?: string | undefined;
  /** Itself and those that it works for, below the lead. */
  readonly askers?: readonly Asker[] | undefined;
  readonly defect: (error: unknown) => void;
}

/** Who keeps the gate: told what becomes of each call. */
export interface GateListener {
  admit(job: PendingCall): void;
  refuse(job: PendingCall, outcome: 'invalid' | 'denied', message: string): void;
  asking(job: PendingCall): void;
  /** Nobody is left to write anything for. */
  readonly isDismissed: boolean;
  /** The run is to end here. */
  halt(detail: string): void;
  /** False when the disk refused: nothing more may happen. */
  write(body: JournalBody): boolean;
}

type Judged = Extract<Judgement, { kind: 'judged' }>;

export class PermissionGate {
  private readonly deps: PermissionGateDeps;
  private readonly hooks: Hooks;
  private readonly keeper: GateListener;

  constructor(deps: PermissionGateDeps, keeper: GateListener) {
    this.deps = deps;
    this.hooks = deps.hooks ?? NO_HOOKS;
    this.keeper = keeper;
  }

  judge(job: PendingCall): void {
    const judgement = this.judged(job, job.wanted);
    if (judgement === undefined) return;
    if (this.hooks.has('PreToolUse', job.wanted.tool)) {
      this.hear(job, judgement.call).catch(this.deps.defect);
    } else this.settle(job, judgement);
  }

  /**
   * Of a call that had begun when a process died: whether it only joins again what it had begun. It was
   * allowed then, and what it began goes on under rulings of its own.
   */
  rejoins(job: PendingCall): boolean {
    const { toolbox, desk, notebook } = this.deps;
    const judgement = judgeCall(job.wanted, toolbox, desk, notebook.history.cwd);
    if (judgement.kind === 'invalid' || judgement.call.tool.rejoins === undefined) return false;
    job.call = judgement.call;
    job.answered = 'by person';
    return true;
  }

  /** False when a call that was allowed may not start after all. */
  mayStart(job: PendingCall, call: ValidCall): boolean {
    if (job.isFresh) return true;
    const { desk, notebook } = this.deps;
    const refusal = refusalNow(call, desk, notebook.history.cwd, job.answered !== 'no');
    if (refusal === undefined) return true;
    if (this.record(job, refusal)) this.keeper.refuse(job, 'denied', told(refusal));
    return false;
  }

  /** Undefined when the input is no good, and the call is refused for it. */
  private judged(job: PendingCall, wanted: WantedCall, hook?: HookOpinion): Judged | undefined {
    const { toolbox, desk, notebook } = this.deps;
    const judgement = judgeCall(wanted, toolbox, desk, notebook.history.cwd, hook);
    if (judgement.kind === 'judged') return judgement;
    this.keeper.refuse(job, 'invalid', judgement.message);
    return undefined;
  }

  /** PreToolUse. Input that a hook changed goes through the schema once more, and to no hook again. */
  private async hear(job: PendingCall, call: ValidCall): Promise<void> {
    const { id, tool } = job.wanted;
    const facts = { tool_name: tool, tool_input: call.input, tool_use_id: id };
    const verdict = await this.fire('PreToolUse', facts, job);
    if (job.over) return;
    job.context.push(...verdict.context);
    if (verdict.halt !== undefined) this.keeper.halt(verdict.halt);
    if (job.over) return;
    const { updatedInput: input } = verdict;
    const wanted = input === undefined ? job.wanted : { id, tool, input };
    const judgement = this.judged(job, wanted, opinionOf(verdict));
    if (judgement !== undefined) this.settle(job, judgement);
  }

  private fire(event: 'PreToolUse' | 'PermissionRequest', facts: object, job: PendingCall) {
    const { id, tool } = job.wanted;
    const { signal } = job.controller;
    return this.hooks.fire(event, { ...facts }, { subject: tool, call: id, signal });
  }

  private settle(job: PendingCall, { call, ruling }: Judged): void {
    job.call = call;
    if (!this.record(job, ruling)) return;
    if (ruling.behavior === 'allow') {
      job.isFresh = true;
      this.keeper.admit(job);
      job.isFresh = false;
    } else if (ruling.behavior === 'deny') this.keeper.refuse(job, 'denied', told(ruling));
    else this.ask(job, call, ruling).catch(this.deps.defect);
  }

  private async ask(job: PendingCall, call: ValidCall, ruling: Ruling): Promise<void> {
    const { desk, feed, ids, agent, clock, parent, askers } = this.deps;
    const question = questionAbout(call, ruling, {
      id: ids('question'),
      agent,
      call: job.wanted.id,
      ...(call.mayLast && { grant: desk.grantFor(call.request) }),
      ...(this.isAlwaysAsked(call) && { isAlwaysAsked: true }),
      ...(askers !== undefined && { askers }),
    });
    if (!this.keeper.write(askedRecord(job.at, question))) return;
    this.keeper.asking(job);
    const byHook = await this.askHooks(job, call, question.grant);
    if (job.over) return;
    if (byHook !== undefined) {
      this.takeAnswer(job, call, { ...byHook, by: HOOK });
      return;
    }
    if (desk.surfaces.length === 0) {
      this.takeAnswer(job, call, { behavior: 'deny', reason: NOBODY });
      return;
    }
    const rules = this.watchRules(job, call);
    const shown = await this.withReplaced(question, call);
    if (job.over) {
      rules.end();
      return;
    }
    feed.emit({ type: 'question.asked', question: shown });
    const answer = await askSurfaces(desk.surfaces, shown, {
      signal: rules.signal,
      clock,
      timeoutMs: desk.permissionTimeoutMs,
      parent,
      heard: (heard) => {
        if (!this.keeper.isDismissed) this.keeper.write(answeredRecord(job.at, question, heard));
      },
    }).finally(() => rules.end());
    if (job.over) return;
    if (rules.allowed === undefined) this.takeAnswer(job, call, answer);
    else this.settle(job, rules.allowed);
  }

  private async withReplaced(
    question: PermissionQuestion,
    call: ValidCall,
  ): Promise<PermissionQuestion> {
    const { workspace, desk } = this.deps;
    const replaces = await fileReplacedBy(call, workspace, desk);
    return replaces === undefined ? question : { ...question, replaces };
  }

  /** What others are allowed while this one is asked about may cover it. */
  private watchRules(job: PendingCall, { input, hook }: ValidCall): GrantWatcher {
    const { toolbox, desk, notebook } = this.deps;
    const { id, tool } = job.wanted;
    const judge = () => judgeCall({ id, tool, input }, toolbox, desk, notebook.history.cwd, hook);
    return new GrantWatcher(desk, judge, job.controller.signal);
  }

  private isAlwaysAsked({ tool, input, request, hook }: ValidCall): boolean {
    const { desk } = this.deps;
    const finding = tool.checkPermissions?.(input, desk.mode);
    return !desk.heedsRule(request, { finding, hook });
  }

  private async askHooks(
    job: PendingCall,
    { tool, input }: ValidCall,
    grant: string | undefined,
  ): Promise<PermissionAnswer | undefined> {
    if (!this.hooks.has('PermissionRequest', tool.name)) return undefined;
    const { answer, block, halt } = await this.fire(
      'PermissionRequest',
      {
        tool_name: tool.name,
        tool_input: input,
        permission_suggestions: grant === undefined ? [] : [grant],
      },
      job,
    );
    if (halt !== undefined) this.keeper.halt(halt);
    if (block !== undefined) return { behavior: 'deny', reason: block.reason };
    return answer;
  }

  private takeAnswer(job: PendingCall, call: ValidCall, answer: Decision): void {
    const { desk } = this.deps;
    const { by } = answer;
    const { readOnly } = call;
    const step = { step: 'callback', instead: OTHER_ANSWER, risk: 'medium', readOnly } as const;
    if (answer.behavior === 'deny') {
      const { reason, interrupt = false } = answer;
      if (!this.record(job, { behavior: 'deny', reason, ...step }, by)) return;
      this.keeper.refuse(job, 'denied', reason);
      if (interrupt) this.keeper.halt(reason);
      return;
    }
    const { updatedInput, scope } = answer;
    if (updatedInput !== undefined && !this.accept(job, updatedInput)) return;
    const reason = by === HOOK ? 'A hook allowed this call.' : 'A person allowed this call.';
    // What is granted is the call that runs, not the one that the person changed.
    const { request, mayLast } = job.call ?? call;
    const granted = mayLast && scope === 'session' ? desk.grantFor(request) : undefined;
    if (!this.record(job, { behavior: 'allow', reason, ...step }, by, granted)) return;
    job.answered = by === HOOK ? 'by hook' : 'by person';
    const answerer = by === HOOK ? 'hook' : 'person';
    if (mayLast && scope === 'session') desk.allowForSession(request, answerer);
    if (mayLast && scope === 'project') desk.allowForProject(request, answerer);
    this.keeper.admit(job);
  }

  /** Input that a person changed goes through schema and policy once more; it is not asked again. */
  private accept(job: PendingCall, input: unknown): boolean {
    const { id, tool } = job.wanted;
    const judgement = this.judged(job, { id, tool, input });
    if (judgement === undefined) return false;
    const { call, ruling } = judgement;
    job.call = call;
    if (ruling.behavior !== 'deny') return true;
    if (this.record(job, ruling)) this.keeper.refuse(job, 'denied', told(ruling));
    return false;
  }

  private record(job: PendingCall, ruling: Ruling, by?: string, granted?: string): boolean {
    return this.keeper.write(ruledRecord(job.at, job.wanted, ruling, by, granted));
  }
}

/** Exit 2 and `decision: "block"` are a deny in this place. */
const opinionOf = ({ permission, block }: HookVerdict): HookOpinion | undefined =>
  block === undefined ? permission : { behavior: 'deny', reason: block.reason, hook: block.hook };

/** What the model reads of a refusal. */
const told = ({ reason, instead }: Ruling): string => `${reason} ${instead}`;

/** Who answered, where a hook did in a person's place. */
const HOOK = 'hook';

const OTHER_ANSWER = 'Another answer would have changed it.';

const NOBODY = 'No hook decided, and nobody can answer in this run, so it was denied.';
