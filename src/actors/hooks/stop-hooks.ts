/** Lets hooks look at a run before it ends: they may send it back with a reason. */
import { lastAnswer } from '../../context/history/last-answer.js';
import * as stops from '../../machines/stops.js';
import type { AgentEvent, CrewOrder } from '../../protocol/agent/agent.js';
import { StorageError } from '../../protocol/errors.js';
import type { Ids } from '../../protocol/ids.js';
import { rawText } from '../../protocol/model/wire.js';
import type { Hooks, HookVerdict } from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import type { JournaledState } from '../agent/journaled-state.js';

export interface StopHooksDeps {
  readonly hooks: Hooks;
  readonly notebook: JournaledState;
  readonly ids: Ids;
  readonly feed: Feed;
  readonly defect: (error: unknown) => void;
  /** What an agent that works for another is; left out, it is a lead. */
  readonly agentType?: string | undefined;
  /** Of a teammate, which only rests. */
  readonly teammate?: { readonly name: string; readonly team: string } | undefined;
}

type Reviewed = Pick<StopHooksDeps, 'hooks' | 'agentType' | 'teammate'>;

/** The end of a sub-agent is another event than that of a lead, and can be chosen by its type. */
export const hasStopHooks = ({ hooks, agentType, teammate }: Reviewed): boolean =>
  agentType === undefined
    ? hooks.has('Stop')
    : hooks.has(teammate === undefined ? 'SubagentStop' : 'TeammateIdle', agentType);

type ReviewOrder = CrewOrder & { readonly type: 'run.review' };

const LONGEST_REASON = 30_000;

export class StopHooks {
  private readonly deps: StopHooksDeps;
  private readonly tell: (event: AgentEvent) => void;
  private controller: AbortController | undefined;

  constructor(deps: StopHooksDeps, tell: (event: AgentEvent) => void) {
    this.deps = deps;
    this.tell = tell;
  }

  begin(order: ReviewOrder): void {
    const controller = new AbortController();
    this.controller = controller;
    this.look(order, controller.signal).catch((error: unknown) => {
      if (error instanceof StorageError) {
        this.tell({ type: 'storage.failed', detail: error.message });
      } else this.deps.defect(error);
    });
  }

  abort(): void {
    this.controller?.abort();
    this.controller = undefined;
  }

  private async look({ sentBack, isLast }: ReviewOrder, signal: AbortSignal): Promise<void> {
    const { hooks, notebook, feed, ids, agentType, teammate } = this.deps;
    const facts = {
      stop_hook_active: sentBack > 0,
      last_assistant_message: lastAnswer(notebook.history.messages),
    };
    const verdict =
      agentType === undefined
        ? await hooks.fire('Stop', facts, { signal })
        : await hooks.fire(
            teammate === undefined ? 'SubagentStop' : 'TeammateIdle',
            {
              ...facts,
              ...(teammate && { teammate_name: teammate.name, team_name: teammate.team }),
            },
            { subject: agentType, signal },
          );
    if (signal.aborted) return;
    // Whoever says that the run is over has the last word, also about sending it back.
    if (verdict.halt !== undefined) {
      this.tell({ type: 'agent.interrupt', stop: stops.denied(verdict.halt) });
      return;
    }
    const isBlocked = verdict.block !== undefined;
    if (isBlocked && !isLast) {
      const letter = ids('letter');
      const raw = `[${rawText(sentBackText(verdict))}]`;
      notebook.record({ type: 'letter.received', letter, from: 'stop-hook', raw });
    } else if (isBlocked) {
      const detail = 'The end of the run was blocked once too often, so it counts all the same.';
      notebook.record({
        type: 'bound.hit',
        what: 'sent-back',
        limit: sentBack,
        detail,
      });
      feed.emit({ type: 'notice', text: detail });
    }
    this.tell({ type: 'run.reviewed', sentBack: isBlocked && !isLast });
  }
}

const sentBackText = ({ block, context }: HookVerdict): string =>
  `Do not end here. A check of the finished work says: ${block?.reason}\n${context.join('\n')}`
    .trimEnd()
    .slice(0, LONGEST_REASON)
    .toWellFormed();
