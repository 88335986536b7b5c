/** Projects journal records to events for viewers. Pure, so that the index can be rebuilt. */
import { hash } from 'node:crypto';
import type { JournalRecord } from '../../protocol/session/journal-record.js';
import type { EventType } from '../../protocol/session/swarm-event.js';

export interface EventProjection {
  readonly type: EventType;
  readonly cites: { readonly seq: number; readonly digest?: string };
  readonly [key: string]: unknown;
}

export const projectEvent = (record: JournalRecord): EventProjection => {
  const cites =
    'raw' in record ? { seq: record.seq, digest: digest(record.raw) } : { seq: record.seq };
  switch (record.type) {
    case 'agent.created': {
      const { cwd, model, forkedFrom, origin } = record;
      const from = { ...(forkedFrom && { forkedFrom }), ...(origin && { origin }) };
      return { type: 'agent.spawned', cites, cwd, model, ...from };
    }
    case 'epoch.began':
      return { type: 'epoch.began', cites, epoch: record.epoch };
    case 'run.started':
      return { type: 'run.started', cites, run: record.run };
    case 'letter.received':
      return { type: 'letter.delivered', cites, letter: record.letter, from: record.from };
    case 'user.sent':
      return { type: 'message.sent', cites, parts: record.parts.length };
    case 'turn.started': {
      const { turn, attempt, model, estimatedTokens, tools, messages } = record;
      return {
        type: 'turn.started',
        cites,
        turn,
        attempt,
        model,
        estimatedTokens,
        tools,
        messages,
      };
    }
    case 'assistant.received': {
      const { turn, attempt, model, stopReason, usage, cost, durationMs, requestId } = record;
      return {
        type: 'turn.ended',
        cites,
        turn,
        attempt,
        model,
        stopReason,
        usage,
        cost,
        durationMs,
        requestId,
      };
    }
    case 'turn.failed': {
      const { turn, attempt, model, kind, message, status, durationMs, usage, cost } = record;
      const failed = { turn, attempt, model, kind, message, status, durationMs, usage, cost };
      return { type: 'turn.failed', cites, ...failed };
    }
    case 'retry.scheduled': {
      const { attempt, attempts, durationMs } = record;
      return { type: 'retry.scheduled', cites, attempt, attempts, durationMs };
    }
    case 'consultation.started': {
      const { purpose, call, model } = record;
      return { type: 'consultation.started', cites, purpose, call, model };
    }
    case 'consultation.ended': {
      const { purpose, call, outcome, model, usage, cost, durationMs } = record;
      const spent = { purpose, call, outcome, model, usage, cost, durationMs };
      return { type: 'consultation.ended', cites, ...spent };
    }
    case 'question.asked': {
      const { question, call, tool, inputDigest, description, reason } = record;
      const request = { question, call, tool, inputDigest, description, reason };
      return { type: 'permission.requested', cites, ...request };
    }
    case 'question.answered': {
      const { question, call, surface, outcome, refusal, detail } = record;
      const answered = { question, call, surface, outcome, refusal, detail };
      return { type: 'permission.answered', cites, ...answered };
    }
    case 'call.ruled': {
      const { call, tool, behavior, step, reason, instead } = record;
      const { rule, source, file, line, hook, by, granted } = record;
      return {
        type: 'permission.ruled',
        cites,
        call,
        tool,
        behavior,
        step,
        reason,
        instead,
        rule,
        source,
        file,
        line,
        hook,
        by,
        granted,
      };
    }
    case 'call.started': {
      const { turn, call, tool, readOnly, inputDigest, description } = record;
      const type = 'tool.started';
      return { type, cites, turn, call, tool, readOnly, inputDigest, description };
    }
    case 'call.ended': {
      const { turn, call, tool, outcome, durationMs, facts, trace } = record;
      const repeated = trace?.told === undefined ? {} : { repeated: trace.told };
      const ended = { turn, call, tool, outcome, durationMs, facts };
      return { type: 'tool.ended', cites, ...ended, ...repeated };
    }
    case 'prompt.broken': {
      const { reason, section, dropped, tokensBefore, tokensAfter } = record;
      if (dropped === undefined) return { type: 'prompt.broken', cites, reason, section };
      return { type: 'context.compacted', cites, reason, dropped, tokensBefore, tokensAfter };
    }
    case 'request.shaped':
      return { type: 'request.shaped', cites, shape: record.shape };
    case 'cache.broken': {
      const { turn, attempt, cause, expected, owner, change, byte } = record;
      const { cachedTokens, readTokens, detail, diagnosis } = record;
      return {
        type: 'cache.broken',
        cites,
        turn,
        attempt,
        cause,
        expected,
        owner,
        ...(change && { change }),
        byte,
        cachedTokens,
        readTokens,
        detail,
        diagnosis,
      };
    }
    case 'run.ended': {
      const { reason, detail, turns, final } = record;
      return { type: final ? 'agent.stopped' : 'run.ended', cites, reason, detail, turns };
    }
    case 'hook.ran': {
      const { event, hook, outcome, durationMs, detail, call, exitCode } = record;
      return { type: 'hook.ran', cites, event, hook, outcome, durationMs, detail, call, exitCode };
    }
    case 'journal.repaired':
      return { type: 'journal.repaired', cites, gaps: record.lost.length, damage: record.damage };
    case 'files.watched':
      return { type: 'files.watched', cites, call: record.call };
    case 'files.changed':
      return { type: 'files.changed', cites, call: record.call, files: record.changes.length };
    case 'rewind.began':
      return { type: 'rewind.began', cites, to: record.to, files: record.changes.length };
    case 'session.rewound': {
      const { to, conversation, changes, undoes } = record;
      return { type: 'session.rewound', cites, to, conversation, files: changes.length, undoes };
    }
    case 'agent.requested': {
      const { call, child, kind, agentType, description } = record;
      return { type: 'agent.requested', cites, call, child, kind, agentType, description };
    }
    case 'agent.queued': {
      const { reason, worker, awaits } = record;
      return { type: 'agent.queued', cites, reason, worker, awaits };
    }
    case 'letter.sent': {
      const { letter, to, call, kind } = record;
      return { type: 'letter.sent', cites, letter, to, call, kind };
    }
    case 'letter.undelivered': {
      const { letter, to, reason } = record;
      return { type: 'letter.undelivered', cites, letter, to, reason };
    }
    case 'plan.approved':
      return { type: 'plan.approved', cites, by: record.by };
    case 'agent.restarted': {
      const { reason, attempt, delayMs } = record;
      return { type: 'agent.restarted', cites, reason, attempt, delayMs };
    }
    case 'records.lost':
      return { type: 'records.lost', cites, lost: record.lost, calls: record.calls.length };
    case 'agent.moved': {
      const { host, place, url, tip } = record.to;
      const { path, branch, base } = place;
      return { type: 'agent.moved', cites, host, path, branch, base, url, tip };
    }
    case 'worktree.settled': {
      const { outcome } = record;
      const files = 'files' in outcome ? outcome.files.length : 0;
      const conflicts = 'conflicts' in outcome ? outcome.conflicts.length : 0;
      const detail = 'why' in outcome ? outcome.why : 'url' in outcome ? outcome.url : undefined;
      return { type: 'worktree.settled', cites, outcome: outcome.kind, files, conflicts, detail };
    }
    case 'lock.awaited': {
      const { place, holder, child } = record;
      return { type: 'lock.awaited', cites, place, holder, child };
    }
    case 'fork.offered':
      return { type: 'fork.offered', cites };
    case 'request.queued': {
      const { purpose, call, why } = record;
      return { type: 'request.queued', cites, purpose, call, why };
    }
    case 'budget.reserved': {
      const { turn, attempt, usd, left, tokens, tokensLeft } = record;
      return { type: 'budget.reserved', cites, turn, attempt, usd, left, tokens, tokensLeft };
    }
    case 'orders.found': {
      const { from, kinds, call, letter } = record;
      return { type: 'orders.found', cites, from, kinds: kinds.join(', '), call, letter };
    }
    case 'bound.hit': {
      const { what, limit, detail } = record;
      return { type: 'bound.hit', cites, what, limit, detail };
    }
  }
};

const digest = (raw: string): string => hash('sha256', raw).slice(0, 16);
