/** Agent commands on a machine with several sessions: running, ended and unreadable. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownerLives, ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { systemClock } from '../../../src/protocol/clock.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import type { OwnedSession } from '../../../src/protocol/session/owned-session.js';
import { FileSessionStore } from '../../../src/store/files/file-session-store.js';
import { type Line, setScene } from '../../fakes/skein-process.js';
import { createdFor, meta } from '../../store/contracts/records.js';

interface SessionSetup {
  /** Names of the agents below the lead; `agents[0]` is `a_<id>_1`. */
  readonly agents?: readonly string[];
  readonly isRunning?: boolean;
}

const started: JournalBody = { type: 'run.started', run: 1 };

/** A scene with sessions on disk. This process owns the running sessions. */
const setSessionsScene = async () => {
  const scene = await setScene();
  const root = join(scene.skeinHome, 'sessions');
  let updatedAt = 1_000;
  const addSession = async (id: string, { agents = [], isRunning = false }: SessionSetup = {}) => {
    const owner = { marker: ownerMarker(`owner-${id}`), pid: process.pid };
    const store = new FileSessionStore({
      root,
      owner,
      isOwnerAlive: ownerLives,
      clock: systemClock,
    });
    const lead = `a_${id}_lead`;
    updatedAt += 1_000;
    const session: OwnedSession = await store.create(
      meta({ id, lead, cwd: scene.workspace, updatedAt, title: `session ${id}` }),
    );
    const own = await session.journal(lead, null);
    for (const body of [createdFor(lead), started]) own.append(body);
    for (const [at, name] of agents.entries()) {
      const agent = `a_${id}_${at + 1}`;
      const journal = await session.journal(agent, lead);
      const origin = { kind: 'background', type: 'explorer', name, description: `the ${name}` };
      const more = { origin: { ...origin, call: `c${at}`, depth: 1 } };
      journal.append({ ...createdFor(agent, lead), ...more } as JournalBody);
      journal.append(started);
    }
    if (!isRunning) await session.close();
    else onTestFinished(() => session.close());
    return session;
  };
  const journalOf = (id: string, agent: string) => join(root, id, 'agents', `${agent}.jsonl`);
  return { ...scene, root, addSession, journalOf };
};

type SessionsScene = Awaited<ReturnType<typeof setSessionsScene>>;

/** Gives a journal a future version and removes the index, so that the journal must be read. */
const makeUnreadable = ({ root, journalOf }: SessionsScene, id: string, agent: string): void => {
  const path = journalOf(id, agent);
  rmSync(join(root, id, 'events.jsonl'), { force: true });
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('{"v":1,', '{"v":99,'));
};

const REASON = /old is left out: .*a_old_1\.jsonl was written by a newer skein/;

describe('an unreadable session', () => {
  test('is named by `skein ps`, which still lists the other sessions', async () => {
    const scene = await setSessionsScene();
    await scene.addSession('old', { agents: ['scout'] });
    await scene.addSession('live', { agents: ['helper'], isRunning: true });
    makeUnreadable(scene, 'old', 'a_old_1');
    const text = await scene.run(['ps', '--all']);
    expect(text).toMatchObject({ code: 0, stderr: expect.stringMatching(REASON) });
    expect(text.stdout).toContain('helper');
    const { swarms, unreadable } = JSON.parse((await scene.run(['ps', '--all', '--json'])).stdout);
    expect(swarms.map(({ session }: Line) => session)).toEqual(['live']);
    expect(unreadable).toEqual([{ id: 'old', reason: expect.stringContaining('newer skein') }]);
    expect(await scene.run(['ps', 'old'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('newer skein'),
    });
  });

  test('is named by `skein ps` if its journal is a folder', async () => {
    const scene = await setSessionsScene();
    await scene.addSession('old', { agents: ['scout'] });
    await scene.addSession('more');
    rmSync(join(scene.root, 'old', 'events.jsonl'));
    rmSync(scene.journalOf('old', 'a_old_1'));
    mkdirSync(scene.journalOf('old', 'a_old_1'));
    const { code, stdout, stderr } = await scene.run(['ps', '--all']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('old is left out'),
    });
    expect(stdout).toContain('session more');
  });

  test('does not prevent a look-up of agents of other sessions by name', async () => {
    const scene = await setSessionsScene();
    await scene.addSession('old', { agents: ['scout'] });
    await scene.addSession('live', { agents: ['helper'], isRunning: true });
    makeUnreadable(scene, 'old', 'a_old_1');
    const found = await scene.run(['logs', 'helper']);
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('called helper') });
    const none = await scene.run(['logs', 'zzz']);
    expect(none.code).toBe(2);
    expect(none.stderr).toMatch(REASON);
    expect(none.stderr).toContain('There is no session "zzz"');
    expect(await scene.run(['stop', 'zzz'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no agent "zzz". There is '),
    });
  });
});

describe('an agent that a command names', () => {
  test('as lead is the lead of the only running session', async () => {
    const { addSession, run } = await setSessionsScene();
    await addSession('former', { agents: ['scout'] });
    await addSession('live', { isRunning: true });
    const { code, stdout } = await run(['logs', 'lead', '--json']);
    expect(code).toBe(0);
    const agents = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Line).agent);
    expect(new Set(agents)).toEqual(new Set(['a_live_lead']));
  });

  test('must be given by id if two agents have the same name', async () => {
    const { addSession, run } = await setSessionsScene();
    await addSession('live', { agents: ['scout', 'scout'], isRunning: true });
    expect(await run(['logs', 'scout'])).toMatchObject({
      code: 2,
      stderr:
        'skein: "scout" matches 2 agents: a_live_1 in live, a_live_2 in live. Give the id of the agent.\n',
    });
    expect(await run(['logs', 'a_live_2'])).toMatchObject({ code: 0 });
  });

  test.each(['send', 'stop', 'resume'])(
    'is found by skein %s although its session is not running, and the error says how to resume',
    async (command) => {
      const { addSession, run } = await setSessionsScene();
      await addSession('gone', { agents: ['scout'] });
      await addSession('live', { agents: ['helper'], isRunning: true });
      const words = command === 'send' ? ['go on'] : [];
      expect(await run([command, 'scout', ...words])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'skein: Session gone is not running; `skein --resume gone` resumes it.\n',
      });
    },
  );
});
