import { expect, test } from 'vitest';
import { capabilitiesOf } from '../../src/protocol/model/providers.js';
import { newSessionWindowReport } from '../../src/sdk/sessions/context-window-report.js';
import type { DryRunPrompt } from '../../src/sdk/sessions/dry-run-prompt.js';
import { promptReport } from '../../src/sdk/sessions/prompt-report.js';
import { SessionCostFold } from '../../src/views/cost/session-cost.js';
import { factsOf, reportOf } from '../views/swarm-facts.js';

/** Keys that programs read from `--json`. A new key is compatible, a removed key breaks these programs. */
const HEAD: DryRunPrompt['head'] = {
  tools: '[{"name":"Read"}]',
  system: '[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}]',
  sections: [{ name: 'intro', zone: 'static', source: 'skein', block: 0, start: 0, end: 8 }],
  ttl: '5m',
};
const PREAMBLE: DryRunPrompt['preamble'] = {
  text: 'Rules.',
  facts: {},
  files: [{ layer: 'project', path: '/a', parent: null, fate: 'told', text: 'Rules.' }],
};

/** All keys of a value with the types of their values. A list is represented by its first element. */
const keysOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? [] : [keysOf(value[0])];
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, keysOf(inner)]));
};

test('the keys of the cost report do not change', () => {
  const costs = new SessionCostFold();
  const head = { v: 1, ts: 1, swarm: 's', agent: 'a', parent: null, turn: 1, attempt: 1 } as const;
  costs.take({
    ...head,
    seq: 1,
    cites: { seq: 1 },
    type: 'turn.ended',
    model: 'claude-haiku-4-5',
    usage: { input: 9 },
    cost: 1,
  });
  costs.take({
    ...head,
    seq: 2,
    cites: { seq: 2 },
    type: 'cache.broken',
    cause: 'tools',
    owner: 'Read',
    expected: false,
    byte: 1,
    cachedTokens: 9,
    readTokens: 0,
    detail: 'd',
    diagnosis: 's',
  });
  const line = {
    requests: 'number',
    failedAttempts: 'number',
    consultations: 'number',
    inputTokens: 'number',
    outputTokens: 'number',
    cacheReadTokens: 'number',
    cacheWriteTokens: 'number',
    webSearches: 'number',
    costUsd: 'number',
    knownCostUsd: 'number',
    uncachedCostUsd: 'number',
    savedPercent: 'number',
  };
  expect(keysOf(costs.report())).toEqual({
    pricesVersion: 'string',
    models: [{ model: 'string', ...line }],
    total: line,
    agents: [
      {
        agent: 'string',
        parent: 'object',
        type: 'object',
        name: 'object',
        description: 'string',
        ...line,
        cacheMisses: 'number',
        accidents: 'number',
        lostTokens: 'number',
      },
    ],
    cache: {
      readTokens: 'number',
      writtenTokens: 'number',
      uncachedTokens: 'number',
      promptTokens: 'number',
      readPercent: 'number',
      missCount: 'number',
      accidentCount: 'number',
      lostTokens: 'number',
      extraCostUsd: 'number',
      causes: [
        {
          cause: 'string',
          expected: 'boolean',
          count: 'number',
          lostTokens: 'number',
          extraCostUsd: 'number',
          owners: [{ owner: 'string', count: 'number' }],
          detail: 'string',
          diagnoses: ['string'],
        },
      ],
      misses: [
        {
          agent: 'string',
          turn: 'number',
          attempt: 'number',
          cause: 'string',
          expected: 'boolean',
          owner: 'string',
          byte: 'number',
          cachedTokens: 'number',
          readTokens: 'number',
          lostTokens: 'number',
          extraCostUsd: 'number',
          detail: 'string',
          diagnosis: 'string',
        },
      ],
      missesLeftOut: 'number',
    },
    failedAttempts: { count: 'number', costUsd: 'number' },
    consultations: [],
    openRequests: 'number',
    inherited: 'object',
  });
});

test('the keys of the context window report do not change', () => {
  expect(keysOf(newSessionWindowReport('m', HEAD, PREAMBLE))).toEqual({
    session: 'object',
    agent: 'object',
    model: 'string',
    window: 'number',
    usable: 'number',
    warnAbove: 'number',
    compactAbove: 'number',
    usedTokens: 'number',
    countedTokens: 'number',
    freeTokens: 'number',
    usedPercent: 'number',
    parts: [{ kind: 'string', tokens: 'number', percent: 'number', estimatedTokens: 'number' }],
    exceeded: [],
    messages: 'number',
    turns: 'number',
    notices: [],
    sections: [{ name: 'string', tokens: 'number' }],
    tools: [{ name: 'string', tokens: 'number' }],
  });
});

test('the keys of the prompt report do not change', () => {
  const capabilities = capabilitiesOf('firstParty');
  const prompt = {
    cwd: '/',
    model: 'm',
    head: HEAD,
    preamble: PREAMBLE,
    capabilities,
    notices: [],
  };
  const settings = {} as DryRunPrompt['settings'];
  const measured = { tokens: 'number', digest: 'string' };
  const mark = { ttl: 'string', scope: 'object' };
  expect(keysOf(promptReport({ ...prompt, settings }, null))).toEqual({
    cwd: 'string',
    model: 'string',
    agent: 'object',
    ttl: 'string',
    notices: [],
    tools: [{ name: 'string', ...measured, mark: 'object', text: 'string' }],
    system: [
      {
        block: 'number',
        zones: ['string'],
        mark,
        ...measured,
        text: 'string',
        sections: [
          {
            name: 'string',
            zone: 'string',
            source: 'string',
            path: 'object',
            mayChange: 'object',
            ...measured,
            text: 'string',
          },
        ],
      },
    ],
    opening: {
      mark,
      ...measured,
      text: 'string',
      files: [{ layer: 'string', path: 'string', parent: 'object', fate: 'string', ...measured }],
    },
    marks: [{ ...mark, after: 'string', tokens: 'number' }],
    tokens: {
      tools: 'number',
      system: 'number',
      opening: 'number',
      shared: 'number',
      all: 'number',
    },
  });
});

test('the keys of the session report do not change', () => {
  const { begun, started, ended, asked, ruled, over } = factsOf();
  const again = [started(99_000), ended(99_900, 'end_turn'), over(99_990)];
  const asks = [asked(120, 'c'), ruled(130, 'c', 'allow', { by: 'inbox' }), over(140)];
  const report = reportOf([...begun(0), started(10), ended(100, 'tool_use'), ...asks, ...again]);
  const line = expect.objectContaining({ requests: 'number', costUsd: 'number' });
  const cause = {
    step: 'string',
    rule: 'object',
    source: 'object',
    file: 'object',
    line: 'object',
    hook: 'object',
  };
  const tokens = {
    inputTokens: 'number',
    outputTokens: 'number',
    cacheReadTokens: 'number',
    cacheWriteTokens: 'number',
  };
  expect(keysOf(report)).toEqual({
    session: 'string',
    title: 'string',
    cwd: 'string',
    model: 'string',
    version: 'string',
    continues: 'object',
    isRunning: 'boolean',
    writtenAt: 'number',
    from: 'number',
    to: 'number',
    pauses: [{ from: 'number', to: 'number' }],
    activeMs: 'number',
    turns: 'number',
    cost: {
      pricesVersion: 'string',
      models: [line],
      total: line,
      cache: expect.objectContaining({ readPercent: 'number', causes: [] }),
    },
    agents: [
      {
        id: 'string',
        name: 'object',
        kind: 'string',
        type: 'object',
        parent: 'object',
        depth: 'number',
        description: 'string',
        model: 'string',
        status: 'string',
        state: 'string',
        turns: 'number',
        stop: { reason: 'string', detail: 'object' },
        startedAt: 'number',
        endedAt: 'number',
        ...tokens,
        costUsd: 'number',
        times: {
          streaming: 'number',
          'tool-running': 'number',
          'awaiting-permission': 'number',
          idle: 'number',
        },
        spans: [{ state: 'string', from: 'number', to: 'number' }],
      },
    ],
    atWork: {
      most: 'number',
      pieces: [{ from: 'number', to: 'number', agents: { streaming: 'number' } }],
    },
    spending: [{ at: 'number', costUsd: 'number', uncachedCostUsd: 'number', ...tokens }],
    permissions: {
      questions: 'number',
      waitedMs: 'number',
      denials: 'number',
      entriesLeftOut: 'number',
      entries: [
        {
          agent: 'string',
          call: 'string',
          question: 'string',
          tool: 'string',
          description: 'string',
          reason: 'string',
          askedAt: 'number',
          outcome: 'string',
          ruledAt: 'number',
          waitedMs: 'number',
          by: 'string',
          ruling: 'string',
          scope: 'object',
          granted: 'object',
          ...cause,
        },
      ],
      rulings: [{ behavior: 'string', ...cause, count: 'number' }],
      rulingsLeftOut: 'number',
    },
    thinned: { spans: 'number', shortestSpanMs: 'number', points: 'number' },
  });
});
