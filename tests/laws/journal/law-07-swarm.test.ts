/**
 * Law 7 for a swarm: after a crash at any point each Task call finds its child. No child starts
 * twice, no effect is repeated, and every report arrives once.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Line } from '../../fakes/skein-process.js';
import { countedRun, failuresAt, killThenResume, whenAt } from '../killed-run.js';
import { firstBreak } from '../prompts.js';
import { taskCall } from '../swarm-wire.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

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

/** A sync agent with a child of its own, a background agent, and a fork. */
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

const CHILDREN = ['deep', 'sync', 'back', 'fork'] as const;

/** Sender of a request, by the text of its task. */
const senderOf = (body: Buffer): string => {
  const text = body.toString();
  if (text.includes('<fork-task>')) return 'fork';
  const { messages } = JSON.parse(text) as Line;
  const opening = JSON.stringify(messages[0]);
  return CHILDREN.find((agent) => opening.includes(`part-${agent}`)) ?? 'lead';
};

const effectsOf = ({ workspace }: PrintScene): readonly string[] => {
  const log = join(workspace, 'effects.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
};

/** Number of times that a word is in the last request of an agent. */
const timesReceived = (bodies: readonly Buffer[], agent: string, word: string): number => {
  const last = bodies.findLast((body) => senderOf(body) === agent)?.toString() ?? '';
  return last.split(word).length - 1;
};

/** Faults of a run that has ended. Empty if the law holds. */
const faultsOf = (scene: PrintScene, session: string): string[] => {
  const bodies = scene.bodies();
  const journal = scene.journal(session);
  const faults: string[] = [];
  const created = journal.filter(({ type }) => type === 'agent.created');
  if (created.length !== 1 + CHILDREN.length) faults.push(`${created.length} agents started`);
  const effects = effectsOf(scene);
  if (new Set(effects).size !== effects.length) faults.push(`repeated: ${effects.join()}`);
  for (const [agent, word] of REPORTS) {
    const times = timesReceived(bodies, agent, word);
    if (times !== 1) faults.push(`${agent} received ${word} ${times} times`);
  }
  for (const agent of ['lead', ...CHILDREN]) {
    const broken = firstBreak(bodies.filter((body) => senderOf(body) === agent));
    if (broken !== undefined) faults.push(`${agent}: ${broken}`);
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
  const scene = await openPrintScene(script, FILES);
  try {
    const { killed, after } = await killThenResume(scene, at, RULES);
    const result = after.code === 0 ? after.result.result : after.stderr;
    const faults = faultsOf(scene, 'kill');
    if (after.code !== 0 || result !== 'All done.')
      faults.push(`ended with ${after.code}: ${result}`);
    return { at, when: whenAt(at), killed, faults };
  } finally {
    await scene.close();
  }
};

/** Every write while agents start, then some later writes. All writes would take minutes. */
const POINTS = [5, 13, 18, 19, 20, 21, 22, 23, 24, 25, 34, 43, 52, 61, 70, 79];

describe('law 7, for agents that work for each other', () => {
  test('an undisturbed run has each effect and each report once', async () => {
    const scene = await openPrintScene(script, FILES);
    try {
      const { ended, writes } = await countedRun(scene, RULES);
      const { code, stderr } = ended;
      const faults = faultsOf(scene, 'whole');
      expect({ code, stderr, faults }).toEqual({ code: 0, stderr: '', faults: [] });
      expect(new Set(effectsOf(scene))).toEqual(new Set(['back', 'fork', 'sync']));
      expect(writes).toBeGreaterThan(Math.max(...POINTS));
    } finally {
      await scene.close();
    }
  });

  test('a run that is killed at a journal write resumes, and every call finds its child', async () => {
    const failures = await failuresAt(POINTS, 4, killAndResume);
    expect(failures).toEqual([]);
  }, 300_000);
});
