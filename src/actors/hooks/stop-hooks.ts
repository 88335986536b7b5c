/**
 * Runs Stop hooks before a run ends. A hook may block the end and send the agent back with a
 * reason.
 */
import { lastAnswer } from '../../context/history/last-answer.js';
import { stops } from '../../machines/stops.js';
import { escapeTags } from '../../prompt/escape-tags.js';
import type { AgentEvent, CrewOrder } from '../../protocol/agent/agent-state.js';
import type { Ids } from '../../protocol/ids.js';
import { rawText } from '../../protocol/model/wire-block.js';
import type { Hooks, HookVerdict } from '../../protocol/permission/hooks.js';
import type { Feed } from '../../protocol/session/feed.js';
import { StorageError } from '../../protocol/skein-error.js';
import type { JournaledState } from '../agent/journaled-state.js';

export interface StopHooksDeps {
  readonly hooks: Hooks;
  readonly journal: JournaledState;
  readonly ids: Ids;
  readonly feed: Feed;
  readonly onDefect: (error: unknown) => void;
  /** Agent type of a child. Undefined for a lead. */
  readonly agentType?: string | undefined;
  /** Name and team of a teammate, which becomes idle instead of stopping. */
  readonly teammate?: { readonly name: string; readonly team: string } | undefined;
}

type ReviewDeps = Pick<StopHooksDeps, 'hooks' | 'agentType' | 'teammate'>;

/**
 * True if hooks check the end of a run. The event of a sub-agent differs from that of a lead and is
 * matched by its type.
 */
export const hasStopHooks = ({ hooks, agentType, teammate }: ReviewDeps): boolean =>
  agentType === undefined
    ? hooks.has('Stop')
    : hooks.has(teammate === undefined ? 'SubagentStop' : 'TeammateIdle', agentType);

type ReviewOrder = CrewOrder & { readonly type: 'run.review' };

const MAX_REASON_LENGTH = 30_000;

export class StopHooks {
  private readonly deps: StopHooksDeps;
  private readonly send: (event: AgentEvent) => void;
  private controller: AbortController | undefined;

  constructor(deps: StopHooksDeps, send: (event: AgentEvent) => void) {
    this.deps = deps;
    this.send = send;
  }

  begin(order: ReviewOrder): void {
    const controller = new AbortController();
    this.controller = controller;
    this.run(order, controller.signal).catch((error: unknown) => {
      if (error instanceof StorageError) {
        this.send({ type: 'storage.failed', detail: error.message });
      } else this.deps.onDefect(error);
    });
  }

  abort(): void {
    this.controller?.abort();
    this.controller = undefined;
  }

  private async run({ sentBack, isLast }: ReviewOrder, signal: AbortSignal): Promise<void> {
    const { hooks, journal, feed, ids, agentType, teammate } = this.deps;
    const facts = {
      stop_hook_active: sentBack > 0,
      last_assistant_message: lastAnswer(journal.history.messages),
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
    // A hook that stops the run overrides a hook that blocks its end.
    if (verdict.halt !== undefined) {
      this.send({ type: 'agent.interrupt', stop: stops.denied(verdict.halt) });
      return;
    }
    const isBlocked = verdict.block !== undefined;
    if (isBlocked && !isLast) {
      const letter = ids('letter');
      const raw = `[${rawText(sendBackText(verdict))}]`;
      journal.record({ type: 'letter.received', letter, from: 'stop-hook', raw });
    } else if (isBlocked) {
      const detail = 'Stop hooks blocked the end of the run too often, so the run ends now.';
      journal.record({
        type: 'bound.hit',
        what: 'sent-back',
        limit: sentBack,
        detail,
      });
      feed.emit({ type: 'notice', text: detail });
    }
    this.send({ type: 'run.reviewed', sentBack: isBlocked && !isLast });
  }
}

const sendBackText = ({ block, context }: HookVerdict): string =>
  escapeTags(
    `Do not end here. A check of the finished work says: ${block?.reason}\n${context.join('\n')}`,
  )
    .trimEnd()
    .slice(0, MAX_REASON_LENGTH)
    .toWellFormed();
