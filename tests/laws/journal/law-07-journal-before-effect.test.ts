/** Law 7: journal before effect. And law 3 on the way: whatever dies, the prompt goes on. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { aFewAtOnce } from '../../fakes/a-few-at-once.js';
import type { Ended } from '../../fakes/skein-process.js';
import { KILLER, killPoints } from '../killed-run.js';
import { firstBreak } from '../prompts.js';
import { makePlace, type Place } from '../workspace.js';

const RULES = ['--permission-mode', 'acceptEdits', '--allowed-tools', 'Bash(./bump.sh)'];

/** Reads in parallel, an effect that can be counted, an edit, an effect again, and an answer. */
const script = {
  rules: [
    {
      match: { turn: 0 },
      reply: {
        text: 'First I look.',
        tool_use: [
          { name: 'Read', input: { file_path: 'a.txt' } },
          { name: 'Read', input: { file_path: 'b.txt' } },
          { name: 'Bash', input: { command: './bump.sh' } },
        ],
      },
    },
    {
      match: { turn: 1 },
      reply: {
        tool_use: [
          { name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } },
          { name: 'Bash', input: { command: './bump.sh' } },
        ],
      },
    },
    { reply: 'All done.' },
  ],
};

const files = {
  'a.txt': 'one\n',
  'b.txt': 'other\n',
  'bump.sh': '#!/bin/sh\necho bump >> effects.log\n',
};

const bumps = ({ workspace }: Place): number => {
  const log = join(workspace, 'effects.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
};

const resultOf = (stdout: string) => {
  return JSON.parse(stdout) as { subtype: string; num_turns: number; result: string };
};

/** Kills a run at one journal write, resumes it until it has ended, and says what came of it. */
const killAndResume = async (at: number, when: string) => {
  const place = await makePlace(script, files);
  try {
    const env = { ...KILLER, KILL_AT: String(at), KILL_WHEN: when };
    const killed = await place.run(
      ['Do it.', '--session-id', 'kill', '--output-format', 'json', ...RULES],
      env,
    );
    const resume = ['--resume', 'kill', '--output-format', 'json', ...RULES];
    let after = await place.run(resume);
    // A prompt that was not written down was never accepted, so it is given again.
    const unheard = !place.journal('kill').some(({ type }) => type === 'letter.received');
    if (unheard) after = await place.run(['Do it.', ...resume]);
    return {
      at,
      when,
      killed: killed.signal,
      code: after.code,
      said: after.code === 0 ? resultOf(after.stdout).result : after.stderr,
      bumps: bumps(place),
      broken: firstBreak(place.bodies()),
      edited: readFileSync(join(place.workspace, 'a.txt'), 'utf8') === 'two\n',
      reported: place.journal('kill').some(isReportedEdit),
      unrecorded: unrecordedEffects(place.journal('kill')),
    };
  } finally {
    await place.close();
  }
};

/** The edit had begun when the process died: the model is told, and it is not tried again. */
const isReportedEdit = (record: JournalRecord): boolean =>
  record.type === 'call.ended' && record.tool === 'Edit' && record.outcome === 'interrupted';

/** Calls that ended without having been written down before they started. */
const unrecordedEffects = (journal: readonly JournalRecord[]): readonly string[] => {
  const started = new Set<string>();
  const missing: string[] = [];
  for (const record of journal) {
    if (record.type === 'call.started') started.add(record.call);
    const ran = record.type === 'call.ended' && ['ok', 'error'].includes(record.outcome);
    if (ran && !started.has(record.call)) missing.push(record.call);
  }
  return missing;
};

describe('law 7, journal before effect', () => {
  let writes = 0;
  let place: Place;
  let whole: Ended;

  beforeAll(async () => {
    place = await makePlace(script, files);
    const count = join(place.home, 'count');
    whole = await place.run(
      ['Do it.', '--session-id', 'whole', '--output-format', 'json', ...RULES],
      { ...KILLER, KILL_COUNT_FILE: count },
    );
    writes = Number(readFileSync(count, 'utf8'));
  });

  afterAll(() => place.close());

  test('an undisturbed run has each effect once', () => {
    expect(whole.stderr).toBe('');
    expect(resultOf(whole.stdout)).toMatchObject({ subtype: 'success', num_turns: 3 });
    expect(bumps(place)).toBe(2);
    expect(unrecordedEffects(place.journal('whole'))).toEqual([]);
    expect(writes).toBeGreaterThan(20);
  });

  test.each(['before', 'torn', 'after'].map((when, turn) => [when, turn] as const))(
    'a run that is killed %s any journal write goes on without a repeated effect',
    async (when, turn) => {
      const points = killPoints(1, writes, turn);
      const results = await aFewAtOnce(points, WIDTH, (at) => killAndResume(at, when));
      const wrong = results.filter(
        (one) =>
          one.killed !== 'SIGKILL' ||
          one.code !== 0 ||
          one.said !== 'All done.' ||
          one.bumps > 2 ||
          one.broken !== undefined ||
          !(one.edited || one.reported) ||
          one.unrecorded.length > 0,
      );
      expect(wrong).toEqual([]);
    },
    300_000,
  );

  test('catches an effect that nobody wrote down', () => {
    const journal = place.journal('whole').filter(({ type }) => type !== 'call.started');
    expect(unrecordedEffects(journal)).not.toEqual([]);
  });

  test('catches an effect that happened twice', () => {
    appendFileSync(join(place.workspace, 'effects.log'), 'bump\n');
    expect(bumps(place)).toBeGreaterThan(2);
  });
});

/** Two cores: more at once only wait for each other. */
const WIDTH = 4;
