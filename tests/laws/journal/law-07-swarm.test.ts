/**
 * Law 7 for a swarm: whatever dies while agents work for each other, each call finds its child again. No
 * child begins twice, no effect is repeated, and every report arrives once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Line } from '../../fakes/skein-process.js';
import { countedRun, killThenResume, whenAt, wrongAt } from '../killed-run.js';
import { firstBreak } from '../prompts.js';
import { taskCall } from '../swarm-wire.js';
import { makePlace, type Place } from '../workspace.js';

const AGENTS = JSON.stringify({
  worker: { description: 'Works.', prompt: 'You work.', tools: 'Read, Bash, Task' },
});
const RULES = [
  '--output-format',
  'json',
  '--allowed-tools',
  'Bash(./bump.sh *)',
  '--agents',
  AGENTS,
];

const bump = (name: string) => ({ name: 'Bash', input: { command: `./bump.sh ${name}` } });
const WORKER = { subagent_type: 'worker' };

/** One that is waited for, with one below it; one in the background; and a fork. */
const script = {
  rules: [
    {
      match: { firstUser: 'part-deep', turn: 0 },
      reply: { tool_use: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    },
    { match: { firstUser: 'part-deep' }, reply: 'DEEP-REPORT.' },
    {
      match: { firstUser: 'part-sync', turn: 0 },
      reply: { tool_use: [bump('sync'), taskCall('part-deep', { subagent_type: 'explorer' })] },
    },
    { match: { firstUser: 'part-sync' }, reply: 'SYNC-REPORT.' },
    { match: { firstUser: 'part-back', turn: 0 }, reply: { tool_use: [bump('back')] } },
    { match: { firstUser: 'part-back' }, reply: 'BACK-REPORT.' },
    { match: { lastUser: '<fork-task>' }, reply: { text: 'I go on.', tool_use: [bump('fork')] } },
    {
      match: { turn: 0 },
      reply: {
        thinking: 'Hm.',
        tool_use: [
          taskCall('part-sync', WORKER),
          taskCall('part-fork'),
          taskCall('part-back', { ...WORKER, run_in_background: true }),
        ],
      },
    },
    { match: { toolResult: 'agent-report' }, reply: 'All done.' },
    { match: { lastUser: 'agent-report' }, reply: 'All done.' },
    { reply: 'FORK-REPORT.' },
  ],
};

const FILES = {
  'a.txt': 'one\n',
  'bump.sh': '#!/bin/sh\necho $1 >> effects.log\necho bumped $1\n',
};

const WHO = ['deep', 'sync', 'back', 'fork'] as const;

/** Whose request it is, by the words of its task. */
const senderOf = (body: Buffer): string => {
  const text = body.toString();
  if (text.includes('<fork-task>')) return 'fork';
  const { messages } = JSON.parse(text) as Line;
  const opening = JSON.stringify(messages[0]);
  return WHO.find((who) => opening.includes(`part-${who}`)) ?? 'lead';
};

const effectsOf = ({ workspace }: Place): readonly string[] => {
  const log = join(workspace, 'effects.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
};

/** How often a word was said to somebody, as the last request of theirs has it. */
const heard = (bodies: readonly Buffer[], who: string, word: string): number => {
  const last = bodies.findLast((body) => senderOf(body) === who)?.toString() ?? '';
  return last.split(word).length - 1;
};

/** What is wrong with a run that has ended, in words; empty when nothing is. */
const faultsOf = (place: Place, session: string): string[] => {
  const bodies = place.bodies();
  const journal = place.journal(session);
  const faults: string[] = [];
  const created = journal.filter(({ type }) => type === 'agent.created');
  if (created.length !== 1 + WHO.length) faults.push(`${created.length} agents began`);
  const effects = effectsOf(place);
  if (new Set(effects).size !== effects.length) faults.push(`repeated: ${effects.join()}`);
  for (const [who, word] of REPORTS) {
    const times = heard(bodies, who, word);
    if (times !== 1) faults.push(`${who} heard ${word} ${times} times`);
  }
  for (const who of ['lead', ...WHO]) {
    const broken = firstBreak(bodies.filter((body) => senderOf(body) === who));
    if (broken !== undefined) faults.push(`${who}: ${broken}`);
  }
  return faults;
};

const REPORTS = [
  ['sync', 'DEEP-REPORT'],
  ['lead', 'SYNC-REPORT'],
  ['lead', 'FORK-REPORT'],
  ['lead', 'BACK-REPORT'],
] as const;

const killAndResume = async (at: number) => {
  const place = await makePlace(script, FILES);
  try {
    const { killed, after } = await killThenResume(place, at, RULES);
    const said = after.code === 0 ? after.result.result : after.stderr;
    const faults = faultsOf(place, 'kill');
    if (after.code !== 0 || said !== 'All done.') faults.push(`ended with ${after.code}: ${said}`);
    return { at, when: whenAt(at), killed, faults };
  } finally {
    await place.close();
  }
};

/** Every write while agents begin, and from there on some: all of them together would take minutes. */
const POINTS = [5, 13, 18, 19, 20, 21, 22, 23, 24, 25, 34, 43, 52, 61, 70, 79];

describe('law 7, for agents that work for each other', () => {
  test('an undisturbed run has each effect and each report once', async () => {
    const place = await makePlace(script, FILES);
    try {
      const { ended, writes } = await countedRun(place, RULES);
      const { code, stderr } = ended;
      const faults = faultsOf(place, 'whole');
      expect({ code, stderr, faults }).toEqual({ code: 0, stderr: '', faults: [] });
      expect(new Set(effectsOf(place))).toEqual(new Set(['back', 'fork', 'sync']));
      expect(writes).toBeGreaterThan(Math.max(...POINTS));
    } finally {
      await place.close();
    }
  });

  test('one that is killed at a journal write goes on, and every call finds its child', async () => {
    const wrong = await wrongAt(POINTS, 4, killAndResume);
    expect(wrong).toEqual([]);
  }, 300_000);
});
