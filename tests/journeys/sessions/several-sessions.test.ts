/** Commands about agents on a machine with several sessions: one that runs, former ones, broken ones. */
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

interface Kept {
  /** Names of the agents below the lead; `agents[0]` is `a_<id>_1`. */
  readonly agents?: readonly string[];
  readonly isRunning?: boolean;
}

const started: JournalBody = { type: 'run.started', run: 1 };

/** A scene with sessions on disk; those that run belong to this very process. */
const openPlace = async () => {
  const scene = await setScene();
  const root = join(scene.skeinHome, 'sessions');
  let age = 1_000;
  const keep = async (id: string, { agents = [], isRunning = false }: Kept = {}) => {
    const owner = { marker: ownerMarker(`owner-${id}`), pid: process.pid };
    const store = new FileSessionStore({
      root,
      owner,
      isOwnerAlive: ownerLives,
      clock: systemClock,
    });
    const lead = `a_${id}_lead`;
    age += 1_000;
    const session: OwnedSession = await store.create(
      meta({ id, lead, cwd: scene.workspace, updatedAt: age, title: `session ${id}` }),
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
  return { ...scene, root, keep, journalOf };
};

type Place = Awaited<ReturnType<typeof openPlace>>;

/** Of a skein that is not out yet: its index lags behind, so that the journal has to be read. */
const fromTheFuture = ({ root, journalOf }: Place, id: string, agent: string): void => {
  const path = journalOf(id, agent);
  rmSync(join(root, id, 'events.jsonl'), { force: true });
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('{"v":1,', '{"v":99,'));
};

const REASON = /old is left out: .*a_old_1\.jsonl was written by a newer skein/;

describe('a session that cannot be read', () => {
  test('does not keep the others out of ps, and is named there', async () => {
    const place = await openPlace();
    await place.keep('old', { agents: ['scout'] });
    await place.keep('live', { agents: ['helper'], isRunning: true });
    fromTheFuture(place, 'old', 'a_old_1');
    const text = await place.run(['ps', '--all']);
    expect(text).toMatchObject({ code: 0, stderr: expect.stringMatching(REASON) });
    expect(text.stdout).toContain('helper');
    const { swarms, unreadable } = JSON.parse((await place.run(['ps', '--all', '--json'])).stdout);
    expect(swarms.map(({ session }: Line) => session)).toEqual(['live']);
    expect(unreadable).toEqual([{ id: 'old', reason: expect.stringContaining('newer skein') }]);
    expect(await place.run(['ps', 'old'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('newer skein'),
    });
  });

  test('whatever is in the place of its journal', async () => {
    const place = await openPlace();
    await place.keep('old', { agents: ['scout'] });
    await place.keep('more');
    rmSync(join(place.root, 'old', 'events.jsonl'));
    rmSync(place.journalOf('old', 'a_old_1'));
    mkdirSync(place.journalOf('old', 'a_old_1'));
    const { code, stdout, stderr } = await place.run(['ps', '--all']);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('old is left out'),
    });
    expect(stdout).toContain('session more');
  });

  test('does not keep agents of others from being found by their names', async () => {
    const place = await openPlace();
    await place.keep('old', { agents: ['scout'] });
    await place.keep('live', { agents: ['helper'], isRunning: true });
    fromTheFuture(place, 'old', 'a_old_1');
    const found = await place.run(['logs', 'helper']);
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('called helper') });
    const none = await place.run(['logs', 'zzz']);
    expect(none.code).toBe(2);
    expect(none.stderr).toMatch(REASON);
    expect(none.stderr).toContain('There is no session "zzz"');
    expect(await place.run(['stop', 'zzz'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no agent "zzz". There is '),
    });
  });
});

describe('an agent that is asked for by a name', () => {
  test('lead is the lead of the session that runs, alone as it may be', async () => {
    const { keep, run } = await openPlace();
    await keep('former', { agents: ['scout'] });
    await keep('live', { isRunning: true });
    const { code, stdout } = await run(['logs', 'lead', '--json']);
    expect(code).toBe(0);
    const agents = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Line).agent);
    expect(new Set(agents)).toEqual(new Set(['a_live_lead']));
  });

  test('is told apart from its namesake by the id of the agent', async () => {
    const { keep, run } = await openPlace();
    await keep('live', { agents: ['scout', 'scout'], isRunning: true });
    expect(await run(['logs', 'scout'])).toMatchObject({
      code: 2,
      stderr:
        'skein: "scout" matches 2 agents: a_live_1 in live, a_live_2 in live. Give the id of the agent.\n',
    });
    expect(await run(['logs', 'a_live_2'])).toMatchObject({ code: 0 });
  });

  test.each(['send', 'stop', 'resume'])(
    'is found for skein %s when nobody runs its session, with what helps',
    async (command) => {
      const { keep, run } = await openPlace();
      await keep('gone', { agents: ['scout'] });
      await keep('live', { agents: ['helper'], isRunning: true });
      const words = command === 'send' ? ['go on'] : [];
      expect(await run([command, 'scout', ...words])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'skein: Session gone is not running; `skein --resume gone` resumes it.\n',
      });
    },
  );
});
