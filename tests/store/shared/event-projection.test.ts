import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import type { JournalBody, JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { swarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { projectEvent } from '../../../src/store/shared/event-projection.js';

const eventFor = (body: JournalBody) =>
  projectEvent({ v: 1, seq: 7, ts: 5, epoch: 3, ...body } as JournalRecord);

const at = { turn: 2, attempt: 1 };
const usage = { ...NO_USAGE, input: 3, output: 4 };
const cites = { seq: 7 };
/** The first 16 hex digits of the sha256 of `[]`. */
const digest = '4f53cda18c2baa0c';

describe('the event of', () => {
  test.each<[string, JournalBody, Record<string, unknown>]>([
    [
      'a new agent has its folder, its model and the source of a fork',
      {
        type: 'agent.created',
        agent: 'a',
        parent: null,
        cwd: '/w',
        model: 'm',
        prompt: 'p',
        forkedFrom: { session: 's', agent: 'b' },
      },
      {
        type: 'agent.spawned',
        cites,
        cwd: '/w',
        model: 'm',
        forkedFrom: { session: 's', agent: 'b' },
      },
    ],
    [
      'a new owner has the epoch',
      { type: 'epoch.began', owner: 'o' },
      { type: 'epoch.began', cites, epoch: 3 },
    ],
    [
      'a run has its number',
      { type: 'run.started', run: 4 },
      { type: 'run.started', cites, run: 4 },
    ],
    [
      'a letter has its sender and a digest of its text',
      { type: 'letter.received', letter: 'l', from: 'user', raw: '[]' },
      { type: 'letter.delivered', cites: { seq: 7, digest }, letter: 'l', from: 'user' },
    ],
    [
      'an undelivered letter has its address and the reason',
      { type: 'letter.undelivered', letter: 'm_1', to: 'a_2', reason: 'refused' },
      { type: 'letter.undelivered', cites, letter: 'm_1', to: 'a_2', reason: 'refused' },
    ],
    [
      'a user message has the number of its parts',
      { type: 'user.sent', parts: [{ text: 'a' }, { call: 'c' }] },
      { type: 'message.sent', cites, parts: 2 },
    ],
    [
      'a request has its model, its tokens and its tools',
      {
        type: 'turn.started',
        ...at,
        model: 'm',
        estimatedTokens: 900,
        tools: 4,
        messages: 3,
      },
      {
        type: 'turn.started',
        cites,
        ...at,
        model: 'm',
        estimatedTokens: 900,
        tools: 4,
        messages: 3,
      },
    ],
    [
      'a response has its stop reason, its usage and its duration',
      {
        type: 'assistant.received',
        ...at,
        model: 'm',
        messageId: 'x',
        requestId: 'r',
        stopReason: 'tool_use',
        usage,
        cost: 0.5,
        durationMs: 80,
        raw: '[]',
      },
      {
        type: 'turn.ended',
        cites: { seq: 7, digest },
        ...at,
        model: 'm',
        requestId: 'r',
        stopReason: 'tool_use',
        usage,
        cost: 0.5,
        durationMs: 80,
      },
    ],
    [
      'a failed request has its kind, its status and its cost',
      {
        type: 'turn.failed',
        ...at,
        kind: 'overloaded',
        message: 'No.',
        status: 529,
        durationMs: 9,
        model: 'm',
        usage,
        cost: null,
      },
      {
        type: 'turn.failed',
        cites,
        ...at,
        kind: 'overloaded',
        message: 'No.',
        status: 529,
        durationMs: 9,
        model: 'm',
        usage,
        cost: null,
      },
    ],
    [
      'a retry has its number and its delay',
      { type: 'retry.scheduled', attempt: 2, attempts: 11, durationMs: 500 },
      { type: 'retry.scheduled', cites, attempt: 2, attempts: 11, durationMs: 500 },
    ],
    [
      'a question has the tool, the reason and the digest of the input',
      {
        type: 'question.asked',
        ...at,
        question: 'q',
        call: 'c',
        tool: 'Bash',
        inputDigest: 'd',
        description: 'Run ls',
        reason: 'Because.',
      },
      {
        type: 'permission.requested',
        cites,
        question: 'q',
        call: 'c',
        tool: 'Bash',
        inputDigest: 'd',
        description: 'Run ls',
        reason: 'Because.',
      },
    ],
    [
      'a decision has its behaviour and the rule that matched, with its file',
      {
        type: 'call.ruled',
        ...at,
        call: 'c',
        tool: 'Bash',
        behavior: 'deny',
        step: 'deny',
        reason: 'A rule.',
        rule: 'Bash(rm:*)',
        source: 'project',
        file: '/w/s.json',
      },
      {
        type: 'permission.ruled',
        cites,
        call: 'c',
        tool: 'Bash',
        behavior: 'deny',
        step: 'deny',
        reason: 'A rule.',
        rule: 'Bash(rm:*)',
        source: 'project',
        file: '/w/s.json',
        by: undefined,
      },
    ],
    [
      'a call has its tool and its description',
      {
        type: 'call.started',
        ...at,
        call: 'c',
        tool: 'Read',
        readOnly: true,
        inputDigest: 'd',
        description: 'Read a.ts',
      },
      {
        type: 'tool.started',
        cites,
        turn: 2,
        call: 'c',
        tool: 'Read',
        readOnly: true,
        inputDigest: 'd',
        description: 'Read a.ts',
      },
    ],
    [
      'an ended command has its exit code and its duration',
      {
        type: 'call.ended',
        ...at,
        call: 'c',
        tool: 'Bash',
        outcome: 'ok',
        durationMs: 40,
        facts: { exitCode: 1 },
        raw: '[]',
      },
      {
        type: 'tool.ended',
        cites: { seq: 7, digest },
        turn: 2,
        call: 'c',
        tool: 'Bash',
        outcome: 'ok',
        durationMs: 40,
        facts: { exitCode: 1 },
      },
    ],
    [
      'an edit has its path and the digest of the difference',
      {
        type: 'call.ended',
        ...at,
        call: 'c',
        tool: 'Edit',
        outcome: 'ok',
        durationMs: 1,
        facts: { path: '/w/a', diffDigest: 'abc' },
        raw: '[]',
      },
      {
        type: 'tool.ended',
        cites: { seq: 7, digest },
        turn: 2,
        call: 'c',
        tool: 'Edit',
        outcome: 'ok',
        durationMs: 1,
        facts: { path: '/w/a', diffDigest: 'abc' },
      },
    ],
    [
      'a truncation has the tokens before and after',
      {
        type: 'prompt.broken',
        reason: 'truncation',
        section: 'messages',
        dropped: 4,
        notice: 'Gone.',
        tokensBefore: 900,
        tokensAfter: 300,
      },
      {
        type: 'context.compacted',
        cites,
        reason: 'truncation',
        dropped: 4,
        tokensBefore: 900,
        tokensAfter: 300,
      },
    ],
    [
      'a change of model has both models',
      { type: 'prompt.broken', reason: 'model', section: 'model a → b' },
      { type: 'prompt.broken', cites, reason: 'model', section: 'model a → b' },
    ],
    [
      'a request shape has the shape unchanged',
      { type: 'request.shaped', shape: { model: 'm', 'tool Read': 'ab12' } },
      { type: 'request.shaped', cites, shape: { model: 'm', 'tool Read': 'ab12' } },
    ],
    [
      'a cache miss has its cause, its owner and the diagnosis of the server',
      {
        type: 'cache.broken',
        ...at,
        cause: 'tools',
        expected: false,
        owner: 'tool Read',
        change: 'changed',
        byte: 7,
        cachedTokens: 9,
        readTokens: 1,
        detail: 'It changed.',
        diagnosis: 'tools_changed',
      },
      {
        type: 'cache.broken',
        cites,
        ...at,
        cause: 'tools',
        expected: false,
        owner: 'tool Read',
        change: 'changed',
        byte: 7,
        cachedTokens: 9,
        readTokens: 1,
        detail: 'It changed.',
        diagnosis: 'tools_changed',
      },
    ],
    [
      'an ended run has its reason',
      { type: 'run.ended', reason: 'max_turns', detail: 'All used.', turns: 3, final: false },
      { type: 'run.ended', cites, reason: 'max_turns', detail: 'All used.', turns: 3 },
    ],
    [
      'the last run of an agent is agent.stopped',
      { type: 'run.ended', reason: 'end_turn', detail: null, turns: 3, final: true },
      { type: 'agent.stopped', cites, reason: 'end_turn', detail: null, turns: 3 },
    ],
    [
      'orders to the reader has their source and kinds, and no text',
      { type: 'orders.found', from: 'WebFetch', kinds: ['override', 'role'], call: 'c' },
      { type: 'orders.found', cites, from: 'WebFetch', kinds: 'override, role', call: 'c' },
    ],
    [
      'a reached limit has its name and its value',
      { type: 'bound.hit', what: 'tool-result', limit: 9, detail: 'Cut.' },
      { type: 'bound.hit', cites, what: 'tool-result', limit: 9, detail: 'Cut.' },
    ],
  ])('%s', (_, body, event) => {
    expect(eventFor(body)).toEqual(event);
    const head = { v: 1, seq: 1, ts: 5, swarm: 's', agent: 'a', parent: null };
    const line = JSON.stringify({ ...head, ...eventFor(body) });
    expect(swarmEvent.safeParse(JSON.parse(line)).success).toBe(true);
  });

  test('a letter has no text of the letter', () => {
    const raw = JSON.stringify([{ type: 'text', text: 'SECRET' }]);
    const letter = eventFor({ type: 'letter.received', letter: 'l', from: 'user', raw });
    expect(JSON.stringify(letter)).not.toContain('SECRET');
  });
});
