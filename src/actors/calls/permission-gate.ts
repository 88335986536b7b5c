/**
 * Takes a call through law 5: schema, hooks, policy, and a person if needed. Without hooks every
 * step before the question is synchronous, so a call may start while the model still streams.
 */
import type { Ids } from '../../protocol/ids.js';
import type { RequestedCall } from '../../protocol/model/wire-block.js';
import { type Hooks, type HookVerdict, NO_HOOKS } from '../../protocol/permission/hooks.js';
import type {
  Asker,
  PermissionAnswer,
  PermissionQuestion,
} from '../../protocol/permission/permission-question.js';
import type { HookOpinion, Ruling } from '../../protocol/permission/ruling.js';
import type { Decision } from '../../protocol/permission/signed-answer.js';
import type { JournalBody } from '../../protocol/session/journal-record.js';
import type { Toolbox } from '../../tools/toolbox.js';
import { askSurfaces, questionAbout } from '../permissions/ask-surfaces.js';
import { GrantWatcher } from '../permissions/grant-watcher.js';
import {
  type Judgement,
  judgeCall,
  refusalNow,
  type ValidCall,
} from '../permissions/judge-call.js';
import { replacedFile } from '../permissions/replaced-file.js';
import { callRecords } from './call-records.js';
import type { PendingCall } from './pending-call.js';
import type { ToolEnvironment } from './run-tool.js';

export interface PermissionGateDeps
  extends Pick<
    ToolEnvironment,
    'permissions' | 'journal' | 'feed' | 'clock' | 'agent' | 'workspace'
  > {
  readonly toolbox: Toolbox;
  readonly ids: Ids;
  readonly hooks?: Hooks;
  /** Id of the parent agent. Its policy may answer instead of a person. */
  readonly parent?: string | undefined;
  /** This agent and its ancestors below the lead. Undefined for the lead. */
  readonly askers?: readonly Asker[] | undefined;
  readonly onDefect: (error: unknown) => void;
}

/** Receives the outcome of each call. */
export interface GateListener {
  admit(pending: PendingCall): void;
  refuse(pending: PendingCall, outcome: 'invalid' | 'denied', message: string): void;
  asking(pending: PendingCall): void;
  /** True after the agent has ended: no record may be written. */
  readonly isDisposed: boolean;
  /** Stops the run. */
  stopRun(detail: string): void;
  /** Writes a record. Returns false if the store refused it; the call must not continue. */
  write(body: JournalBody): boolean;
}

type Judged = Extract<Judgement, { kind: 'judged' }>;

export class PermissionGate {
  private readonly deps: PermissionGateDeps;
  private readonly hooks: Hooks;
  private readonly listener: GateListener;

  constructor(deps: PermissionGateDeps, listener: GateListener) {
    this.deps = deps;
    this.hooks = deps.hooks ?? NO_HOOKS;
    this.listener = listener;
  }

  judge(pending: PendingCall): void {
    const judgement = this.judgeOrRefuse(pending, pending.requested);
    if (judgement === undefined) return;
    if (this.hooks.has('PreToolUse', pending.requested.tool)) {
      this.runPreToolHooks(pending, judgement.call).catch(this.deps.onDefect);
    } else this.settle(pending, judgement);
  }

  /**
   * True if a call that had started before a crash only rejoins its work, for example its child
   * agent. The call was allowed then, and the work has rulings of its own.
   */
  rejoins(pending: PendingCall): boolean {
    const { toolbox, permissions, journal } = this.deps;
    const judgement = judgeCall(pending.requested, toolbox, permissions, journal.history.cwd);
    if (judgement.kind === 'invalid' || judgement.call.tool.rejoins === undefined) return false;
    pending.call = judgement.call;
    pending.answered = 'by person';
    return true;
  }

  /** Returns false if an allowed call may not start any more; it has been refused. */
  mayStart(pending: PendingCall, call: ValidCall): boolean {
    if (pending.isFresh) return true;
    const { permissions, journal } = this.deps;
    const refusal = refusalNow(call, permissions, journal.history.cwd, pending.answered !== 'no');
    if (refusal === undefined) return true;
    if (this.record(pending, refusal))
      this.listener.refuse(pending, 'denied', refusalText(refusal));
    return false;
  }

  /** Returns undefined if the input is invalid; the call has been refused. */
  private judgeOrRefuse(
    pending: PendingCall,
    requested: RequestedCall,
    hook?: HookOpinion,
  ): Judged | undefined {
    const { toolbox, permissions, journal } = this.deps;
    const judgement = judgeCall(requested, toolbox, permissions, journal.history.cwd, hook);
    if (judgement.kind === 'judged') return judgement;
    this.listener.refuse(pending, 'invalid', judgement.message);
    return undefined;
  }

  /**
   * Runs PreToolUse hooks. Input that a hook changed is validated and judged again, but sent to no
   * further hook.
   */
  private async runPreToolHooks(pending: PendingCall, call: ValidCall): Promise<void> {
    const { id, tool } = pending.requested;
    const facts = { tool_name: tool, tool_input: call.input, tool_use_id: id };
    const verdict = await this.fireHook('PreToolUse', facts, pending);
    if (pending.isDone) return;
    pending.context.push(...verdict.context);
    if (verdict.halt !== undefined) this.listener.stopRun(verdict.halt);
    if (pending.isDone) return;
    const { updatedInput: input } = verdict;
    const requested = input === undefined ? pending.requested : { id, tool, input };
    const judgement = this.judgeOrRefuse(pending, requested, opinionOf(verdict));
    if (judgement !== undefined) this.settle(pending, judgement);
  }

  private fireHook(event: 'PreToolUse' | 'PermissionRequest', facts: object, pending: PendingCall) {
    const { id, tool } = pending.requested;
    const { signal } = pending.controller;
    return this.hooks.fire(event, { ...facts }, { subject: tool, call: id, signal });
  }

  private settle(pending: PendingCall, { call, ruling }: Judged): void {
    pending.call = call;
    if (!this.record(pending, ruling)) return;
    if (ruling.behavior === 'allow') {
      pending.isFresh = true;
      this.listener.admit(pending);
      pending.isFresh = false;
    } else if (ruling.behavior === 'deny')
      this.listener.refuse(pending, 'denied', refusalText(ruling));
    else this.ask(pending, call, ruling).catch(this.deps.onDefect);
  }

  private async ask(pending: PendingCall, call: ValidCall, ruling: Ruling): Promise<void> {
    const { permissions, feed, ids, agent, clock, parent, askers } = this.deps;
    const question = questionAbout(call, ruling, {
      id: ids('question'),
      agent,
      call: pending.requested.id,
      ...(call.mayLast && { grant: permissions.exactRuleFor(call.request) }),
      ...(this.isAlwaysAsked(call) && { isAlwaysAsked: true }),
      ...(askers !== undefined && { askers }),
    });
    if (!this.listener.write(callRecords.asked(pending.at, question))) return;
    this.listener.asking(pending);
    const hookAnswer = await this.askHooks(pending, call, question.grant);
    if (pending.isDone) return;
    if (hookAnswer !== undefined) {
      this.applyAnswer(pending, call, { ...hookAnswer, by: HOOK });
      return;
    }
    if (permissions.surfaces.length === 0) {
      this.applyAnswer(pending, call, { behavior: 'deny', reason: NO_ANSWERER });
      return;
    }
    const grants = this.watchGrants(pending, call);
    const shown = await this.withReplaced(question, call);
    if (pending.isDone) {
      grants.end();
      return;
    }
    feed.emit({ type: 'question.asked', question: shown });
    const answer = await askSurfaces(permissions.surfaces, shown, {
      signal: grants.signal,
      clock,
      timeoutMs: permissions.permissionTimeoutMs,
      parent,
      onAnswer: (outcome) => {
        if (!this.listener.isDisposed)
          this.listener.write(callRecords.answered(pending.at, question, outcome));
      },
    }).finally(() => grants.end());
    if (pending.isDone) return;
    if (grants.allowed === undefined) this.applyAnswer(pending, call, answer);
    else this.settle(pending, grants.allowed);
  }

  private async withReplaced(
    question: PermissionQuestion,
    call: ValidCall,
  ): Promise<PermissionQuestion> {
    const { workspace, permissions } = this.deps;
    const replaces = await replacedFile(call, workspace, permissions);
    return replaces === undefined ? question : { ...question, replaces };
  }

  /** Watches for session rules that allow the call while its question is open. */
  private watchGrants(pending: PendingCall, { input, hook }: ValidCall): GrantWatcher {
    const { toolbox, permissions, journal } = this.deps;
    const { id, tool } = pending.requested;
    const judge = () =>
      judgeCall({ id, tool, input }, toolbox, permissions, journal.history.cwd, hook);
    return new GrantWatcher(permissions, judge, pending.controller.signal);
  }

  private isAlwaysAsked({ tool, input, request, hook }: ValidCall): boolean {
    const { permissions } = this.deps;
    const finding = tool.checkPermissions?.(input, permissions.mode);
    return !permissions.wouldRuleAllow(request, { finding, hook });
  }

  private async askHooks(
    pending: PendingCall,
    { tool, input }: ValidCall,
    grant: string | undefined,
  ): Promise<PermissionAnswer | undefined> {
    if (!this.hooks.has('PermissionRequest', tool.name)) return undefined;
    const { answer, block, halt } = await this.fireHook(
      'PermissionRequest',
      {
        tool_name: tool.name,
        tool_input: input,
        permission_suggestions: grant === undefined ? [] : [grant],
      },
      pending,
    );
    if (halt !== undefined) this.listener.stopRun(halt);
    if (block !== undefined) return { behavior: 'deny', reason: block.reason };
    return answer;
  }

  private applyAnswer(pending: PendingCall, call: ValidCall, answer: Decision): void {
    const { permissions } = this.deps;
    const { by } = answer;
    const { readOnly } = call;
    const step = { step: 'callback', instead: OTHER_ANSWER, risk: 'medium', readOnly } as const;
    if (answer.behavior === 'deny') {
      const { reason, interrupt = false } = answer;
      if (!this.record(pending, { behavior: 'deny', reason, ...step }, by)) return;
      this.listener.refuse(pending, 'denied', reason);
      if (interrupt) this.listener.stopRun(reason);
      return;
    }
    const { updatedInput, scope } = answer;
    if (updatedInput !== undefined && !this.acceptInput(pending, updatedInput)) return;
    const reason = by === HOOK ? 'A hook allowed this call.' : 'A person allowed this call.';
    // Grant the call that runs, which may differ from the call that the person was shown.
    const { request, mayLast } = pending.call ?? call;
    const granted = mayLast && scope === 'session' ? permissions.exactRuleFor(request) : undefined;
    if (!this.record(pending, { behavior: 'allow', reason, ...step }, by, granted)) return;
    pending.answered = by === HOOK ? 'by hook' : 'by person';
    const answerer = by === HOOK ? 'hook' : 'person';
    if (mayLast && scope === 'session') permissions.allowForSession(request, answerer);
    if (mayLast && scope === 'project') permissions.allowForProject(request, answerer);
    this.listener.admit(pending);
  }

  /** Validates and judges input that a person changed. The person is not asked again. */
  private acceptInput(pending: PendingCall, input: unknown): boolean {
    const { id, tool } = pending.requested;
    const judgement = this.judgeOrRefuse(pending, { id, tool, input });
    if (judgement === undefined) return false;
    const { call, ruling } = judgement;
    pending.call = call;
    if (ruling.behavior !== 'deny') return true;
    if (this.record(pending, ruling)) this.listener.refuse(pending, 'denied', refusalText(ruling));
    return false;
  }

  private record(pending: PendingCall, ruling: Ruling, by?: string, granted?: string): boolean {
    return this.listener.write(
      callRecords.ruled(pending.at, pending.requested, ruling, by, granted),
    );
  }
}

/** Exit code 2 and `decision: "block"` of a PreToolUse hook mean deny. */
const opinionOf = ({ permission, block }: HookVerdict): HookOpinion | undefined =>
  block === undefined ? permission : { behavior: 'deny', reason: block.reason, hook: block.hook };

/** Returns the refusal as the model reads it. */
const refusalText = ({ reason, instead }: Ruling): string => `${reason} ${instead}`;

/** Value of `by` for an answer by a hook. */
const HOOK = 'hook';

const OTHER_ANSWER = 'Another answer would have changed it.';

const NO_ANSWERER =
  'No hook decided, and no person or program can answer in this run, so the call was denied.';
