import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAgentCatalog } from '../../../src/config/agents/agent-catalog.js';
import { findOutputStyle } from '../../../src/config/agents/output-style.js';
import { projectFiles } from '../../../src/config/workspace/project-files.js';
import { openStateDirectory, stateLayout } from '../../../src/config/workspace/state-layout.js';
import { findWorkspace } from '../../../src/config/workspace/workspace-folders.js';
import { externalIncludes } from '../../../src/sdk/assembly/prompt/make-memory-files.js';
import { temporaryFolder } from '../temporary-folder.js';

/** Creates files in all folders that are read. Each file is named after its folder. */
const setUp = () => {
  const folder = temporaryFolder();
  const skeinHome = join(folder.home, '.skein');
  const places = ['home/.claude', 'home/.skein', 'repo/.claude', 'repo/.skein'];
  for (const [index, place] of places.entries()) {
    folder.put(`${place}/settings.json`, { env: { [`S${index}`]: '1' } });
    folder.put(
      `${place}/agents/agent-${index}.md`,
      `---\nname: agent-${index}\ndescription: It\n---\n\nWords.\n`,
    );
    folder.put(`${place}/output-styles/style-${index}.md`, 'Words.');
  }
  folder.put('repo/.claude/settings.local.json', { env: { L2: '1' } });
  folder.put('repo/.skein/settings.local.json', { env: { L3: '1' } });
  const workspace = findWorkspace(folder.repo, folder.home);
  const promptPlaces = { workspace, skeinHome, home: folder.home, isTrusted: true };
  return { ...folder, skeinHome, workspace, promptPlaces };
};

describe('configuration files of the user and the repository', () => {
  test('include the settings of both, and the local settings of the repository', () => {
    const { load } = setUp();
    const { env } = load({ trust: true });
    expect(Object.keys(env).sort()).toEqual(['L2', 'L3', 'S0', 'S1', 'S2', 'S3']);
  });

  test('include agents and output styles', async () => {
    const { promptPlaces } = setUp();
    const names = (await readAgentCatalog(promptPlaces)).agents.map(({ name }) => name);
    expect(names).toEqual(['agent-0', 'agent-1', 'agent-2', 'agent-3']);
    for (const index of [0, 1, 2, 3]) {
      expect(findOutputStyle(`style-${index}`, promptPlaces).style?.text).toBe('Words.');
    }
  });

  test('include the files that trust depends on', () => {
    const { workspace, repo } = setUp();
    const names = projectFiles(workspace).map(({ path }) => path.replace(`${repo}/`, ''));
    expect(names).toEqual([
      '.claude/settings.json',
      '.skein/settings.json',
      '.claude/settings.local.json',
      '.skein/settings.local.json',
      '.mcp.json',
    ]);
  });

  test('include the notes of a project in a folder named by its real path', async () => {
    const { load, home, repo, skeinHome } = setUp();
    const settings = load({ env: { SKEIN_AUTO_MEMORY: '1' } });
    const flags = {};
    const host = { home, cwd: repo, platform: 'linux' as const };
    const folder = notesFolder(skeinHome, repo);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'MEMORY.md'), '@../../../outside.md\n');
    writeFileSync(join(home, 'outside.md'), 'Words.\n');
    const includes = await externalIncludes({ host, flags, settings, cwd: repo });
    expect(includes.map(({ path }) => path)).toEqual([realpathSync(join(home, 'outside.md'))]);
  });
});

const notesFolder = (skeinHome: string, cwd: string): string => {
  const digest = createHash('sha256').update(realpathSync(cwd)).digest('hex').slice(0, 16);
  return join(skeinHome, 'projects', digest);
};

describe('the state directory', () => {
  test('has only the folders that are written', () => {
    const { path } = temporaryFolder();
    const layout = openStateDirectory(join(path, 'state'));
    expect(readdirSync(layout.home).sort()).toEqual(['checkpoints', 'sessions', 'worktrees']);
    for (const name of readdirSync(layout.home)) {
      expect(statSync(join(layout.home, name)).mode & 0o777).toBe(0o700);
    }
    const named = Object.values(stateLayout('/s')).filter((path) => path !== '/s');
    expect(new Set(named.map((path) => dirname(path)))).toEqual(new Set(['/s']));
  });
});
