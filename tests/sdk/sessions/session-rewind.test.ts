import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { JournaledState } from '../../../src/actors/agent/journaled-state.js';
import type { FileState } from '../../../src/protocol/session/checkpoints.js';
import type { JournalBody } from '../../../src/protocol/session/journal-record.js';
import { openCheckpointBlobs } from '../../../src/sdk/assembly/session-checkpoints.js';
import { treeOf } from '../../host/worktrees/tree-hash.js';
import { bash, type Call, rewindScene } from './rewind-scene.js';

const BOTH = { files: true, conversation: true };

/** A session with one prompt in a small workspace. */
const worked = async (...calls: readonly Call[]) => {
  const scene = rewindScene('plain');
  onTestFinished(() => scene.close());
  const { root, folder } = scene;
  const put = (name: string, text: string) => {
    const path = join(root, name);
    fs.mkdirSync(join(path, '..'), { recursive: true });
    fs.writeFileSync(path, text);
    return path;
  };
  put('a', 'one\n');
  put('d/b', 'two\n');
  put('bin', 'x\0\xff');
  put('empty', '');
  const start = treeOf(root);
  const session = await scene.work([calls]);
  const end = treeOf(root);
  const rewind = async (force = false) => {
    const sessionRewind = await scene.openRewind(session);
    return sessionRewind.apply(sessionRewind.plan(BOTH), force);
  };
  const undo = async () => {
    const sessionRewind = await scene.openRewind(session);
    return sessionRewind.apply(sessionRewind.planUndo(), false);
  };
  const plan = async () => (await scene.openRewind(session)).plan(BOTH);
  return {
    ...scene,
    put,
    start,
    end,
    session,
    rewind,
    undo,
    plan,
    folder,
    tree: () => treeOf(root),
  };
};

const CHANGES = bash('echo more >> a; rm -r d; echo new > n');

describe('a manipulated journal', () => {
  const EVIL = 'evil\n';

  /** Records a forged change of another file, so that a rewind would write there. */
  const forged = async (
    path: (scene: { root: string; folder: string; skeinHome: string }) => string,
  ) => {
    const scene = await worked(bash('true'));
    const target = path(scene);
    const digest = openCheckpointBlobs(scene.skeinHome).put(Buffer.from(EVIL));
    const before: FileState = { kind: 'file', digest, mode: 0o755 };
    const body: JournalBody = {
      type: 'files.changed',
      call: 'c',
      changes: [{ path: target, before, after: { kind: 'absent' } }],
    };
    await scene.append(scene.session, body);
    return { ...scene, target };
  };

  test.each([
    [
      'outside of the workspace',
      ({ folder }: { folder: string }) => join(folder, 'elsewhere'),
      /outside/,
    ],
    [
      'above the workspace',
      ({ root }: { root: string }) => `${root}/../elsewhere`,
      /not normalised/,
    ],
    [
      'in the state of skein',
      ({ skeinHome }: { skeinHome: string }) => join(skeinHome, 'x'),
      /outside/,
    ],
    [
      'in a git directory',
      ({ root }: { root: string }) => join(root, '.git/hooks/post-commit'),
      /belongs to git/,
    ],
    ['relative', () => 'a', /outside/],
    ['with a zero byte', ({ root }: { root: string }) => `${root}/a\0b`, /not normalised/],
  ])('writes no file %s', async (_, path, why) => {
    const { rewind, plan, target } = await forged(path);
    expect((await plan()).files).toMatchObject([
      { verdict: 'refused', why: expect.stringMatching(why) },
    ]);
    await expect(rewind()).rejects.toThrow('--force');
    await rewind(true);
    expect(fs.existsSync(target.replace('\0', ''))).toBe(false);
  });

  test('writes no file through a link that now leads elsewhere', async () => {
    const { root, folder, rewind, plan } = await worked(bash('echo x > d/b'));
    fs.mkdirSync(join(folder, 'away'));
    fs.rmSync(join(root, 'd'), { recursive: true });
    fs.symlinkSync(join(folder, 'away'), join(root, 'd'));
    expect((await plan()).files).toMatchObject([
      { verdict: 'refused', why: expect.stringContaining('is a link now') },
    ]);
    await rewind(true);
    expect(fs.readdirSync(join(folder, 'away'))).toEqual([]);
  });
});

test('a plan is refused if the session has continued since', async () => {
  const { openRewind, append, session, end, tree } = await worked(CHANGES);
  const early = await openRewind(session);
  const plan = early.plan(BOTH);
  await append(session, { type: 'bound.hit', what: 'x', limit: 1, detail: 'Something happened.' });
  await expect(early.apply(plan, true)).rejects.toThrow('The session has continued since');
  expect(tree()).toEqual(end);
});

describe('an interrupted rewind', () => {
  test('is finished by the next rewind', async () => {
    const { plan, append, session, rewind, start, root, tree } = await worked(CHANGES);
    const { files, to } = await plan();
    const changes = files.map(({ path, now, wanted }) => ({ path, before: now, after: wanted }));
    await append(session, { type: 'rewind.began', to, changes });
    // Only the first file was restored.
    fs.writeFileSync(join(root, 'a'), 'one\n');
    await rewind();
    expect(tree()).toEqual(start);
  });

  test('can be undone instead', async () => {
    const { plan, append, session, undo, end, root, tree, skeinHome } = await worked(CHANGES);
    const { files, to } = await plan();
    const blobs = openCheckpointBlobs(skeinHome);
    for (const { path, now } of files) if ('digest' in now) blobs.put(fs.readFileSync(path));
    const changes = files.map(({ path, now, wanted }) => ({ path, before: now, after: wanted }));
    await append(session, { type: 'rewind.began', to, changes });
    fs.writeFileSync(join(root, 'a'), 'one\n');
    fs.rmSync(join(root, 'n'));
    await undo();
    expect(tree()).toEqual(end);
  });

  test('is undone with the version that another program wrote before the rewind was finished', async () => {
    const { plan, append, session, rewind, undo, put, end, start, root, tree, skeinHome } =
      await worked(CHANGES);
    const { files, to } = await plan();
    const blobs = openCheckpointBlobs(skeinHome);
    for (const { path, now } of files) if ('digest' in now) blobs.put(fs.readFileSync(path));
    const changes = files.map(({ path, now, wanted }) => ({ path, before: now, after: wanted }));
    await append(session, { type: 'rewind.began', to, changes });
    fs.rmSync(join(root, 'n'));
    put('a', 'of a person\n');
    await rewind(true);
    expect(tree()).toEqual(start);
    await undo();
    expect(fs.readFileSync(join(root, 'a'), 'utf8')).toBe('of a person\n');
    const others = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('a '));
    expect(others(tree())).toEqual(others(end));
  });

  test('is undone as a whole although the session was opened before the rewind was finished', async () => {
    const { plan, append, session, rewind, undo, end, start, root, tree, skeinHome } =
      await worked(CHANGES);
    const { files, to } = await plan();
    const blobs = openCheckpointBlobs(skeinHome);
    for (const { path, now } of files) if ('digest' in now) blobs.put(fs.readFileSync(path));
    const changes = files.map(({ path, now, wanted }) => ({ path, before: now, after: wanted }));
    await append(session, { type: 'rewind.began', to, changes });
    fs.rmSync(join(root, 'n'));
    await append(session, { type: 'epoch.began', owner: 'a person who looked' });
    await rewind();
    expect(tree()).toEqual(start);
    await undo();
    expect(tree()).toEqual(end);
  });

  test('restores its own changes if the disk fails, and reports it', async () => {
    const { openRewind, session, end, root, tree, records } = await worked(CHANGES);
    const early = await openRewind(session);
    const plan = early.plan(BOTH);
    // Since the plan was made, a file is at the path of the folder.
    fs.writeFileSync(join(root, 'd'), 'in the way');
    fs.chmodSync(join(root, 'd'), 0o600);
    const mine = tree();
    const failing = { ...plan, files: plan.files.filter(({ path }) => !path.endsWith('/d')) };
    await expect(early.apply(failing, false)).rejects.toThrow(/Nothing was changed\.$/);
    expect(tree()).toEqual(mine);
    fs.rmSync(join(root, 'd'));
    expect(tree()).toEqual(end);
    expect((await records(session)).at(-1)?.type).toBe('rewind.began');
  });
});

describe('a rewind of unusual files', () => {
  test('restores binary and empty files', async () => {
    const { rewind, start, tree } = await worked(bash('printf y > bin; rm empty'));
    expect(tree()).not.toEqual(start);
    await rewind();
    expect(tree()).toEqual(start);
  });

  test('reports a file without a checkpoint as not restored', async () => {
    const { append, session, root, rewind, put } = await worked(bash('true'));
    const path = put('huge', 'now');
    const why = 'it is larger than 32 MiB';
    await append(session, {
      type: 'files.changed',
      call: 'c',
      changes: [{ path, before: { kind: 'unknown', why }, after: { kind: 'unknown', why } }],
    });
    const { left } = await rewind();
    expect(left).toMatchObject([{ path, verdict: 'lost', why }]);
    expect(fs.readFileSync(join(root, 'huge'), 'utf8')).toBe('now');
  });

  test('keeps a folder that contains other files', async () => {
    const { put, rewind, tree, root } = await worked(bash('mkdir made; echo x > made/x'));
    put('made/mine', 'mine');
    const { full } = await rewind();
    expect(full).toEqual([join(root, 'made')]);
    expect(tree()).toContainEqual(expect.stringMatching(/^made\/mine /));
    expect(tree().join()).not.toContain('made/x');
  });
});

describe('spending', () => {
  test('still counts after the conversation is rewound', async () => {
    const { session, rewind, records } = await worked(CHANGES);
    const spent = (await records(session)).filter(
      ({ type }) => type === 'assistant.received',
    ).length;
    await rewind();
    const { history } = new JournaledState(undefined as never, await records(session));
    expect(history.messages).toEqual([]);
    expect({ turns: history.turns, requests: history.requests }).toEqual({
      turns: spent,
      requests: spent,
    });
  });
});
