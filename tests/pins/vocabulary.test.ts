import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/protocol/agent/agent-limits.js';
import { AGENT_STATES } from '../../src/protocol/agent/agent-state.js';
import { STOP_REASONS } from '../../src/protocol/agent/stop.js';
import { HOOK_EVENTS } from '../../src/protocol/permission/hooks.js';
import { PERMISSION_MODES } from '../../src/protocol/permission/permission-mode.js';
import { SETTING_SOURCES } from '../../src/protocol/permission/permission-rule.js';
import { ANSWER_OUTCOMES, ANSWER_REFUSALS } from '../../src/protocol/permission/signed-answer.js';
import {
  CALL_OUTCOMES,
  JOURNAL_VERSION,
  journalBody,
} from '../../src/protocol/session/journal-record.js';
import { SESSION_FORMAT } from '../../src/protocol/session/session-store.js';
import { EVENT_TYPES, EVENTS_VERSION } from '../../src/protocol/session/swarm-event.js';

test('the states of an agent do not change', () => {
  expect(AGENT_STATES).toEqual([
    'idle',
    'waking',
    'streaming',
    'tool-running',
    'awaiting-permission',
    'compacting',
    'retrying',
    'stopped',
  ]);
});

test('the stop reasons of an agent do not change', () => {
  expect(STOP_REASONS).toEqual([
    'end_turn',
    'max_turns',
    'budget',
    'time_limit',
    'interrupted',
    'stopped',
    'denied',
    'compaction_failed',
    'repeated_tool_failure',
    'loop',
    'refusal',
    'model_error',
    'storage_failed',
  ]);
});

test('the default limits of an agent do not change', () => {
  expect(DEFAULT_LIMITS).toEqual({
    maxTurns: null,
    maxRetries: 10,
    overloadsBeforeFallback: 3,
    maxContinuations: 3,
    maxPauses: 20,
    maxCompactions: 3,
    maxCallsPerMessage: 200,
    refusedTurnsBeforeWarning: 5,
    maxRefusedTurns: 15,
    maxSentBack: 8,
    maxSameDenials: 3,
    maxDeniedTurns: 20,
    roundsBeforeWarning: 3,
    maxRounds: 10,
  });
});

test('the record types of a journal do not change', () => {
  expect(journalBody.options.map(({ shape }) => shape.type.value)).toEqual([
    'agent.created',
    'epoch.began',
    'run.started',
    'letter.received',
    'user.sent',
    'turn.started',
    'assistant.received',
    'turn.failed',
    'request.shaped',
    'cache.broken',
    'consultation.started',
    'consultation.ended',
    'call.ruled',
    'hook.ran',
    'retry.scheduled',
    'journal.repaired',
    'files.changed',
    'files.watched',
    'rewind.began',
    'session.rewound',
    'agent.requested',
    'agent.queued',
    'agent.restarted',
    'letter.sent',
    'letter.undelivered',
    'plan.approved',
    'agent.moved',
    'worktree.settled',
    'lock.awaited',
    'fork.offered',
    'request.queued',
    'budget.reserved',
    'records.lost',
    'question.asked',
    'question.answered',
    'orders.found',
    'call.started',
    'call.ended',
    'prompt.broken',
    'run.ended',
    'bound.hit',
  ]);
});

test('the event types of a swarm do not change', () => {
  expect(EVENT_TYPES).toEqual([
    'agent.spawned',
    'epoch.began',
    'run.started',
    'letter.delivered',
    'message.sent',
    'turn.started',
    'turn.ended',
    'turn.failed',
    'retry.scheduled',
    'consultation.started',
    'consultation.ended',
    'permission.requested',
    'permission.answered',
    'permission.ruled',
    'tool.started',
    'tool.ended',
    'context.compacted',
    'cache.broken',
    'request.shaped',
    'prompt.broken',
    'run.ended',
    'agent.stopped',
    'bound.hit',
    'hook.ran',
    'files.watched',
    'files.changed',
    'rewind.began',
    'journal.repaired',
    'session.rewound',
    'agent.requested',
    'agent.queued',
    'agent.restarted',
    'letter.sent',
    'letter.undelivered',
    'plan.approved',
    'agent.moved',
    'lock.awaited',
    'worktree.settled',
    'fork.offered',
    'request.queued',
    'budget.reserved',
    'records.lost',
    'orders.found',
  ]);
});

test('the hook events do not change', () => {
  expect(HOOK_EVENTS).toEqual([
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'UserPromptSubmit',
    'Stop',
    'SubagentStop',
    'Notification',
    'PreCompact',
    'PostCompact',
    'SessionStart',
    'SessionEnd',
    'PermissionRequest',
    'InstructionsLoaded',
    'TaskCreated',
    'TaskCompleted',
    'TeammateIdle',
  ]);
});

test('the versions of journals, events and sessions do not change', () => {
  expect([JOURNAL_VERSION, EVENTS_VERSION, SESSION_FORMAT]).toEqual([1, 1, 1]);
});

test('the outcomes of a call, the permission modes and the sources of rules do not change', () => {
  expect(CALL_OUTCOMES).toEqual(['ok', 'error', 'invalid', 'denied', 'interrupted']);
  expect(PERMISSION_MODES).toEqual([
    'default',
    'acceptEdits',
    'plan',
    'dontAsk',
    'bypassPermissions',
  ]);
  expect(SETTING_SOURCES).toEqual([
    'user',
    'project',
    'local',
    'flag',
    'command',
    'session',
    'policy',
  ]);
});

test('the outcomes of an answer and the reasons of refusals do not change', () => {
  expect(ANSWER_OUTCOMES).toEqual(['accepted', 'refused', 'failed']);
  expect(ANSWER_REFUSALS).toEqual([
    'malformed',
    'unknown-surface',
    'not-the-parent',
    'forged',
    'other-question',
    'other-agent',
    'other-call',
    'other-input',
    'out-of-time',
    'already-answered',
    'withdrawn',
  ]);
});
