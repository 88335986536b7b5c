/** A full disk and a read-only workspace: the error is reported and no record is lost. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Scene, setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const PROGRAM = `"${process.execPath}" "${resolve(process.env.SKEIN_TEST_DIST ?? 'dist', 'skein.cjs')}"`;

/** Runs a shell script in its own mount namespace, with `skein` as a function. */
const runInMountNamespace = ({ simulator, home, skeinHome, workspace }: Scene, script: string) =>
  new Promise<string>((done) => {
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      SKEIN_HOME: skeinHome,
      W: workspace,
      ANTHROPIC_BASE_URL: simulator.url,
      ANTHROPIC_API_KEY: 'key',
    };
    const prelude = `skein() { ${PROGRAM} "$@" </dev/null 2>&1; echo "exit $?"; }\n`;
    execFile('unshare', ['-m', 'sh', '-c', prelude + script], { env, cwd: workspace }, (_, out) =>
      done(out),
    );
  });

const reads = (turns: number) => [
  {
    match: { turn: { max: turns - 1 } },
    reply: { tool_use: [{ name: 'Read', input: { file_path: '{{turn}}/../big.txt' } }] },
  },
  { reply: 'All read.' },
];

needs.describe('root-mounts')('a run with a failing disk', () => {
  test('stops with a message when the disk is full, and resumes when there is space', async () => {
    const scene = await setScene(reads(12));
    mkdirSync(scene.skeinHome);
    writeFileSync(join(scene.workspace, 'big.txt'), 'a line of some length\n'.repeat(900));
    const out = await runInMountNamespace(
      scene,
      `mount -t tmpfs -o size=160k tmpfs "$SKEIN_HOME"
       skein -p "Read it all." --session-id full
       mount -o remount,size=64m "$SKEIN_HOME"
       skein -p --resume full`,
    );
    const [first = '', second = ''] = out.split(/(?<=exit \d+)\n/);
    expect(first).toContain('stopped (storage_failed)');
    expect(first).toContain('the disk is full; free some space and resume');
    expect(first).toMatch(/exit 1$/);
    expect(second).toBe('All read.\nexit 0');
    const turns = scene.bodies().map(({ messages }) => messages.length as number);
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
    expect(new Set(turns).size).toBe(13);
  });

  test('gives the model an error that names the read-only workspace', async () => {
    const scene = await setScene([
      {
        match: { turn: 0 },
        reply: {
          tool_use: [
            { name: 'Write', input: { file_path: 'new.txt', content: 'x' } },
            { name: 'Read', input: { file_path: 'old.txt' } },
          ],
        },
      },
      {
        match: { turn: 1 },
        reply: {
          tool_use: [
            { name: 'Edit', input: { file_path: 'old.txt', old_string: 'old', new_string: 'new' } },
          ],
        },
      },
      { reply: 'I could not write.' },
    ]);
    writeFileSync(join(scene.workspace, 'old.txt'), 'old\n');
    const out = await runInMountNamespace(
      scene,
      `mount --bind "$W" "$W" && mount -o remount,ro,bind "$W" && cd "$W"
     skein -p "Write it." --permission-mode acceptEdits`,
    );
    expect(out).toBe('I could not write.\nexit 0\n');
    const results = scene
      .bodies()
      .at(-1)
      ?.messages.flatMap(({ content }: { content: unknown }) => content);
    const texts = JSON.stringify(results);
    expect(texts.match(/read-only/g)?.length).toBeGreaterThanOrEqual(2);
  });
});
