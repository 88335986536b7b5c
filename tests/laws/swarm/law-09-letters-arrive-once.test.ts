/**
 * Law 9: a letter between agents is read once, even if the process dies at any point and the letter
 * is sent repeatedly. A letter to an unknown agent is an error for its sender.
 */
import { describe, expect, test } from 'vitest';
import type { Line } from '../../fakes/skein-process.js';
import {
  countedRun,
  failuresAt,
  killPoints,
  killThenResume,
  someOf,
  whenAt,
} from '../killed-run.js';
import { firstBreak } from '../prompts.js';
import { taskCall } from '../swarm-wire.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const RULES = ['--output-format', 'json'];

const writes = (to: string, message: string) => ({ name: 'SendMessage', input: { to, message } });
const mate = (name: string) =>
  taskCall(`part-${name}`, { subagent_type: 'explorer', name, team_name: 'geese' });

/** Ada writes to bob and to the lead. Bob answers her. */
const script = {
  rules: [
    {
      match: { firstUser: 'part-ada', turn: 0 },
      reply: { tool_use: [writes('bob', 'ALPHA-WORD'), writes('lead', 'BETA-WORD')] },
    },
    { match: { firstUser: 'part-ada' }, reply: 'ADA-RESTS.' },
    {
      match: { firstUser: 'part-bob', lastUser: 'ALPHA-WORD' },
      reply: { tool_use: [writes('ada', 'GAMMA-WORD')] },
    },
    { match: { firstUser: 'part-bob' }, reply: 'BOB-RESTS.' },
    { match: { turn: 0 }, reply: { tool_use: [mate('ada'), mate('bob')] } },
    { reply: 'All done.' },
  ],
};

/** Readers and their letters. */
const LETTERS = [
  ['bob', 'ALPHA-WORD'],
  ['lead', 'BETA-WORD'],
  ['ada', 'GAMMA-WORD'],
] as const;

const senderOf = (body: Buffer): string => {
  const { messages } = JSON.parse(body.toString()) as Line;
  const opening = JSON.stringify(messages[0]);
  return ['ada', 'bob'].find((agent) => opening.includes(`part-${agent}`)) ?? 'lead';
};

/** Number of times that a message is in the last request of an agent. */
const timesRead = (bodies: readonly Buffer[], agent: string, word: string): number => {
  const last = bodies.findLast((body) => senderOf(body) === agent)?.toString() ?? '';
  return last.split(`<agent-message>\\n${word}`).length - 1;
};

const faultsOf = (scene: PrintScene): string[] => {
  const bodies = scene.bodies();
  const faults: string[] = [];
  for (const [agent, word] of LETTERS) {
    const times = timesRead(bodies, agent, word);
    if (times !== 1) faults.push(`${agent} read ${word} ${times} times`);
  }
  for (const agent of ['lead', 'ada', 'bob']) {
    const broken = firstBreak(bodies.filter((body) => senderOf(body) === agent));
    if (broken !== undefined) faults.push(`${agent}: ${broken}`);
  }
  return faults;
};

const killAndResume = async (at: number) => {
  const scene = await openPrintScene(script, {});
  try {
    const { killed, after } = await killThenResume(scene, at, RULES);
    const faults = faultsOf(scene);
    if (after.code !== 0) faults.push(`ended with ${after.code}: ${after.stderr}`);
    return { at, when: whenAt(at), killed, faults };
  } finally {
    await scene.close();
  }
};

describe('law 9, for agents that write to each other', () => {
  test('each letter is read once, even if the process is killed at any journal write', async () => {
    const scene = await openPrintScene(script, {});
    const { ended, writes } = await countedRun(scene, RULES);
    const { code, stderr } = ended;
    expect({ code, stderr, faults: faultsOf(scene) }).toEqual({ code: 0, stderr: '', faults: [] });
    await scene.close();
    expect(writes).toBeGreaterThan(40);
    // The order of the last writes varies, and some of them may be missing.
    const failures = await failuresAt(someOf(killPoints(1, writes - 6), 2), 4, killAndResume);
    expect(failures).toEqual([]);
  }, 300_000);
});
