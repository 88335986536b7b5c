import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseRecord } from '../../../src/protocol/session/journal-record.js';
import { swarmEvent } from '../../../src/protocol/session/swarm-event.js';
import { calls, type Line, STREAM, setScene } from '../../fakes/skein-process.js';

/** A run with all kinds of records: calls, a denial, a failed attempt, a large output. */
const runWithAllRecords = async (flags: readonly string[] = []) => {
  const large = 'seq 1 20000';
  const scene = await setScene([
    {
      replies: [
        { error: { status: 529, retryAfter: 0 } },
        calls('Read', { file_path: 'notes.txt' }),
        { tool_use: [{ name: 'Bash', input: { command: large } }] },
        { tool_use: [{ name: 'Write', input: { file_path: 'x', content: 'y' } }] },
        { text: 'Done.' },
      ],
    },
  ]);
  await writeFile(join(scene.workspace, 'notes.txt'), 'a note\n');
  const args = ['-p', 'go', ...STREAM, '--allowed-tools', `Bash(${large})`];
  const ended = await scene.run([...args, ...flags]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const session = join(scene.skeinHome, 'sessions', ended.result.session_id as string);
  return { ...scene, ...ended, session };
};

const filesUnder = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true })).map((name) => join(folder, name));

const modeOf = async (path: string) => {
  const stats = await stat(path);
  return `${stats.isDirectory() ? 'd' : 'f'}${(stats.mode & 0o777).toString(8)}`;
};

describe('the state of a session', () => {
  test('is readable by its owner only', async () => {
    const { skeinHome, session } = await runWithAllRecords();
    const places = [skeinHome, session, ...(await filesUnder(skeinHome))];
    const modes = await Promise.all(places.map(modeOf));
    expect(new Set(modes)).toEqual(new Set(['d700', 'f600']));
    expect(modes.length).toBeGreaterThan(8);
  });

  test('has the documented files', async () => {
    const { session } = await runWithAllRecords();
    expect(await readdir(session)).toEqual(
      expect.arrayContaining(['agents', 'artifacts', 'events.jsonl', 'session.json']),
    );
    const meta = JSON.parse(await readFile(join(session, 'session.json'), 'utf8')) as Line;
    expect(meta).toMatchObject({ format: 1, title: 'go', parentId: null, entrypoint: 'cli' });
    expect(await readdir(join(session, 'agents'))).toEqual([`${meta.lead}.jsonl`]);
  });

  test('has a journal of records and an index whose events cite the records', async () => {
    const { session } = await runWithAllRecords();
    const [name = ''] = await readdir(join(session, 'agents'));
    const lines = async (path: string) =>
      (await readFile(join(session, path), 'utf8')).trimEnd().split('\n');
    const records = (await lines(`agents/${name}`)).map((line) => parseRecord(line));
    expect(records.every((record) => record !== undefined)).toBe(true);
    const events = (await lines('events.jsonl')).map((line) => swarmEvent.parse(JSON.parse(line)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ cites }) => cites.seq)).toEqual(records.map((record) => record?.seq));
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'agent.spawned',
        'epoch.began',
        'run.started',
        'letter.delivered',
        'message.sent',
        'turn.started',
        'turn.ended',
        'turn.failed',
        'permission.ruled',
        'tool.started',
        'tool.ended',
        'agent.stopped',
      ]),
    );
  });

  test('contains no API key', async () => {
    const { skeinHome } = await runWithAllRecords();
    for (const path of await filesUnder(skeinHome)) {
      if ((await stat(path)).isDirectory()) continue;
      expect(await readFile(path, 'utf8')).not.toContain('sk-of-the-test');
    }
  });
});

describe('--no-session-persistence', () => {
  test('writes no files', async () => {
    const { home, tmp, lines } = await runWithAllRecords(['--no-session-persistence']);
    expect(lines.at(-1)).toMatchObject({ type: 'result', result: 'Done.' });
    expect(await readdir(home)).toEqual([]);
    expect(await readdir(tmp)).toEqual([]);
  });
});

describe('SKEIN_HOME', () => {
  test('defaults to ~/.skein', async () => {
    const { run, home } = await setScene();
    await run(['-p', 'go'], { env: { SKEIN_HOME: undefined } });
    expect(existsSync(join(home, '.skein', 'sessions'))).toBe(true);
  });
});
