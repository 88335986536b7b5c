/** Law 7: journal before effect. Also checks law 3: the prompt is continued after every crash. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalRecord } from '../../../src/protocol/session/journal-record.js';
import { mapWithLimit } from '../../fakes/map-with-limit.js';
import type { Ended } from '../../fakes/skein-process.js';
import { KILLER, killPoints } from '../killed-run.js';
import { firstBreak } from '../prompts.js';
import { openPrintScene, type PrintScene } from '../workspace.js';

const RULES = ['--permission-mode', 'acceptEdits', '--allowed-tools', 'Bash(./bump.sh)'];

/** Parallel reads, a countable effect, an edit, another effect, and an answer. */
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

const bumps = ({ workspace }: PrintScene): number => {
  const log = join(workspace, 'effects.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
};

const resultOf = (stdout: string) => {
  return JSON.parse(stdout) as { subtype: string; num_turns: number; result: string };
};

/** Kills a run at a journal write, resumes it until it has ended, and returns the results. */
const killAndResume = async (at: number, when: string) => {
  const scene = await openPrintScene(script, files);
  try {
    const env = { ...KILLER, KILL_AT: String(at), KILL_WHEN: when };
    const killed = await scene.run(
      ['Do it.', '--session-id', 'kill', '--output-format', 'json', ...RULES],
      env,
    );
    const resume = ['--resume', 'kill', '--output-format', 'json', ...RULES];
    let after = await scene.run(resume);
    // A prompt that was not recorded was never accepted, so it is sent again.
    const isPromptMissing = !scene.journal('kill').some(({ type }) => type === 'letter.received');
    if (isPromptMissing) after = await scene.run(['Do it.', ...resume]);
    return {
      at,
      when,
      killed: killed.signal,
      code: after.code,
      result: after.code === 0 ? resultOf(after.stdout).result : after.stderr,
      bumps: bumps(scene),
      broken: firstBreak(scene.bodies()),
      edited: readFileSync(join(scene.workspace, 'a.txt'), 'utf8') === 'two\n',
      reported: scene.journal('kill').some(isReportedEdit),
      unrecorded: unrecordedEffects(scene.journal('kill')),
    };
  } finally {
    await scene.close();
  }
};

/**
 * The edit had started when the process died: the model is informed, and the edit is not repeated.
 */
const isReportedEdit = (record: JournalRecord): boolean =>
  record.type === 'call.ended' && record.tool === 'Edit' && record.outcome === 'interrupted';

/** Calls that ended without a record of their start. */
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
  let scene: PrintScene;
  let whole: Ended;

  beforeAll(async () => {
    scene = await openPrintScene(script, files);
    const count = join(scene.home, 'count');
    whole = await scene.run(
      ['Do it.', '--session-id', 'whole', '--output-format', 'json', ...RULES],
      { ...KILLER, KILL_COUNT_FILE: count },
    );
    writes = Number(readFileSync(count, 'utf8'));
  });

  afterAll(() => scene.close());

  test('an undisturbed run has each effect once', () => {
    expect(whole.stderr).toBe('');
    expect(resultOf(whole.stdout)).toMatchObject({ subtype: 'success', num_turns: 3 });
    expect(bumps(scene)).toBe(2);
    expect(unrecordedEffects(scene.journal('whole'))).toEqual([]);
    expect(writes).toBeGreaterThan(20);
  });

  test.each(['before', 'torn', 'after'].map((when, turn) => [when, turn] as const))(
    'a run that is killed %s any journal write resumes without a repeated effect',
    async (when, turn) => {
      const points = killPoints(1, writes, turn);
      const results = await mapWithLimit(points, WIDTH, (at) => killAndResume(at, when));
      const wrong = results.filter(
        (run) =>
          run.killed !== 'SIGKILL' ||
          run.code !== 0 ||
          run.result !== 'All done.' ||
          run.bumps > 2 ||
          run.broken !== undefined ||
          !(run.edited || run.reported) ||
          run.unrecorded.length > 0,
      );
      expect(wrong).toEqual([]);
    },
    300_000,
  );

  test('catches an effect without a record', () => {
    const journal = scene.journal('whole').filter(({ type }) => type !== 'call.started');
    expect(unrecordedEffects(journal)).not.toEqual([]);
  });

  test('catches an effect that happened twice', () => {
    appendFileSync(join(scene.workspace, 'effects.log'), 'bump\n');
    expect(bumps(scene)).toBeGreaterThan(2);
  });
});

/** Number of parallel runs, for a machine with two cores. */
const WIDTH = 4;
