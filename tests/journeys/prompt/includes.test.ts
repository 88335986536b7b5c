import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Line, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

/** A workspace whose instructions include a file outside, which includes a second file, and a secret file. */
const setIncludesScene = async () => {
  const scene = await setScene();
  const { root, workspace } = scene;
  await mkdir(join(root, 'shared'));
  const [style, deep] = [join(root, 'shared/style.md'), join(root, 'shared/deep.md')];
  await writeFile(style, 'Write SHORT-SENTENCES.\n@deep.md\n');
  await writeFile(deep, 'Write DEEP-THOUGHTS.\n');
  await mkdir(join(root, '.ssh'));
  await writeFile(join(root, '.ssh/id_rsa.md'), 'The KEY-OF-ALL-DOORS.\n');
  await writeFile(
    join(workspace, 'CLAUDE.md'),
    'Be kind.\n@../shared/style.md\n@../.ssh/id_rsa.md\n',
  );
  /** Runs a new session and returns stderr and the last request body. */
  const runPrompt = async (cwd = workspace, env = {}) => {
    const { stderr } = await scene.run(['-p', 'go'], { cwd, env });
    return { stderr, body: JSON.stringify(scene.bodies().at(-1)) };
  };
  const listed = async (...args: string[]): Promise<Line[]> => {
    const { code, stdout } = await scene.run(['trust', ...args, '--json']);
    expect(code).toBe(0);
    return (JSON.parse(stdout) as Line).includes as Line[];
  };
  return { ...scene, style, deep, runPrompt, listed };
};

describe('instruction files that include files outside of the workspace', () => {
  test('are sent without these files, and a notice says how to include them', async () => {
    const { runPrompt, style, workspace } = await setIncludesScene();
    for (const SKEIN_TRUST of ['0', '1']) {
      const { stderr, body } = await runPrompt(workspace, { SKEIN_TRUST });
      expect(body).toContain('Be kind.');
      expect(body).not.toContain('SHORT-SENTENCES');
      expect(stderr).toContain(
        `skein: ${style}, which ${join(workspace, 'CLAUDE.md')} includes, is not read: it leads out of the workspace and is not approved; see skein trust --includes.\n`,
      );
    }
  });

  test('are listed, and each file is included by its real path after approval', async () => {
    const { runPrompt, listed, style, deep, run, root, workspace, skeinHome } =
      await setIncludesScene();
    const parent = join(workspace, 'CLAUDE.md');
    expect(await listed('--includes')).toEqual([
      { path: style, parent },
      { path: deep, parent: style },
    ]);
    await symlink(style, join(root, 'link.md'));
    expect(await listed('--include', join(root, 'link.md'))).toMatchObject([
      { path: style, answer: 'yes' },
      { path: deep },
    ]);
    const { body, stderr } = await runPrompt();
    expect(body).toContain('SHORT-SENTENCES');
    expect(body).not.toContain('DEEP-THOUGHTS');
    expect(stderr).toContain(`${deep}, which ${style} includes, is not read`);
    await listed('--include', deep);
    expect((await runPrompt()).body).toContain('DEEP-THOUGHTS');
    const trustFile = JSON.parse(await readFile(join(skeinHome, 'trust.json'), 'utf8')) as Line;
    expect(trustFile).toEqual({
      version: 1,
      workspaces: {},
      includes: { [workspace]: { [style]: 'yes', [deep]: 'yes' } },
    });
    const plain = await run(['trust', '--includes']);
    expect(plain.stdout).toBe(
      `included: ${style}, included by ${parent}\nincluded: ${deep}, included by ${style}\n`,
    );

    await listed('--includes', '--revoke');
    expect((await runPrompt()).body).not.toContain('SHORT-SENTENCES');
  });

  test('never include secret files, and an approval does not apply to other workspaces', async () => {
    const { runPrompt, listed, run, root, style, workspace } = await setIncludesScene();
    const key = join(root, '.ssh/id_rsa.md');
    const refused = await run(['trust', '--include', key]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `skein: No instruction file here includes ${key} from outside the workspace; skein trust --includes lists the included files.\n`,
    ]);
    await listed('--include', style);
    const trustFile = join(root, 'home/.skein/trust.json');
    const text = await readFile(trustFile, 'utf8');
    await writeFile(
      trustFile,
      text.replace(`"${style}": "yes"`, `"${style}": "yes", "${key}": "yes"`),
    );
    expect((await runPrompt()).body).not.toContain('KEY-OF-ALL-DOORS');
    const other = join(root, 'other');
    await mkdir(other);
    await writeFile(join(other, 'CLAUDE.md'), await readFile(join(workspace, 'CLAUDE.md')));
    expect((await runPrompt(other)).body).not.toContain('SHORT-SENTENCES');
  });
});

needs.describe('tmux')('the first interactive start with outside includes', () => {
  test('asks once whether to include the files', async () => {
    const scene = await setIncludesScene();
    const screen = openScreen(scene, ['--plain']);
    await screen.shows(
      /Instruction files here include files outside[\s\S]*Include them\? y yes, n no: *$/,
    );
    // The terminal wraps the line.
    const shown = screen.text().replaceAll('\n', '');
    expect(shown).toContain(`${scene.style}, included by ${join(scene.workspace, 'CLAUDE.md')}`);
    screen.say('y');
    await screen.shows(/They are included from now on\.[\s\S]*^>$/m);
    screen.say('hello');
    await screen.shows('Done.');
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);
    expect(JSON.stringify(scene.bodies())).toContain('DEEP-THOUGHTS');
    const again = openScreen(scene, ['--plain']);
    await again.shows(/^>$/m);
    expect(again.text()).not.toContain('Include them?');
  });

  test('does not ask again after a no', async () => {
    const scene = await setIncludesScene();
    const screen = openScreen(scene, ['--plain']);
    await screen.shows('Include them?');
    screen.say('n');
    await screen.shows(/They stay out;[\s\S]*^>$/m);
    expect((await scene.listed('--includes')).map(({ answer }) => answer)).toEqual(['no', 'no']);
    expect((await scene.runPrompt()).body).not.toContain('SHORT-SENTENCES');
    const again = openScreen(scene, ['--plain']);
    await again.shows(/^>$/m);
    expect(again.text()).not.toContain('Include them?');
  });
});
