/**
 * Law 9: a letter from one agent to another is read once, wherever the process dies that carries it, and
 * however often it is sent. One to nobody is an error for its sender.
 */
import { describe, expect, test } from 'vitest';
import type { Line } from '../../fakes/skein-process.js';
import { countedRun, killPoints, killThenResume, whenAt, wrongAt } from '../killed-run.js';
import { firstBreak } from '../prompts.js';
import { taskCall } from '../swarm-wire.js';
import { makePlace, type Place } from '../workspace.js';

const RULES = ['--output-format', 'json'];

const writes = (to: string, message: string) => ({ name: 'SendMessage', input: { to, message } });
const mate = (name: string) =>
  taskCall(`part-${name}`, { subagent_type: 'explorer', name, team_name: 'geese' });

/** Ada writes to bob and to the lead; bob answers her. */
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

/** Who reads what. */
const LETTERS = [
  ['bob', 'ALPHA-WORD'],
  ['lead', 'BETA-WORD'],
  ['ada', 'GAMMA-WORD'],
] as const;

const senderOf = (body: Buffer): string => {
  const { messages } = JSON.parse(body.toString()) as Line;
  const opening = JSON.stringify(messages[0]);
  return ['ada', 'bob'].find((who) => opening.includes(`part-${who}`)) ?? 'lead';
};

/** How often somebody has read a message, as the last request of theirs has it. */
const read = (bodies: readonly Buffer[], who: string, word: string): number => {
  const last = bodies.findLast((body) => senderOf(body) === who)?.toString() ?? '';
  return last.split(`<agent-message>\\n${word}`).length - 1;
};

const faultsOf = (place: Place): string[] => {
  const bodies = place.bodies();
  const faults: string[] = [];
  for (const [who, word] of LETTERS) {
    const times = read(bodies, who, word);
    if (times !== 1) faults.push(`${who} read ${word} ${times} times`);
  }
  for (const who of ['lead', 'ada', 'bob']) {
    const broken = firstBreak(bodies.filter((body) => senderOf(body) === who));
    if (broken !== undefined) faults.push(`${who}: ${broken}`);
  }
  return faults;
};

const killAndResume = async (at: number) => {
  const place = await makePlace(script, {});
  try {
    const { killed, after } = await killThenResume(place, at, RULES);
    const faults = faultsOf(place);
    if (after.code !== 0) faults.push(`ended with ${after.code}: ${after.stderr}`);
    return { at, when: whenAt(at), killed, faults };
  } finally {
    await place.close();
  }
};

describe('law 9, for agents that write to each other', () => {
  test('each letter is read once, also where the process is killed at any write to a journal', async () => {
    const place = await makePlace(script, {});
    const { ended, writes } = await countedRun(place, RULES);
    const { code, stderr } = ended;
    expect({ code, stderr, faults: faultsOf(place) }).toEqual({ code: 0, stderr: '', faults: [] });
    await place.close();
    expect(writes).toBeGreaterThan(40);
    // The last writes come in another order from run to run, and some of them not at all.
    const wrong = await wrongAt(killPoints(1, writes - 6), 4, killAndResume);
    expect(wrong).toEqual([]);
  }, 300_000);
});
