import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diskWorkspace } from '../../../src/host/files/disk-workspace.js';
import { openArtifactFile } from '../../../src/host/files/open-artifact-file.js';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { childEnvironment } from '../../../src/host/process/ownership/child-environment.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { readFile as readTool } from '../../../src/tools/files/read-file.js';
import { runCommand } from '../../../src/tools/shell/run-command.js';
import { WATCHDOG } from '../../host/process/processes.js';
import { toolContext } from '../tool-context.js';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'skein-bash-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const agent = () => {
  const marker = ownerMarker('bash-test');
  const watchdog = watchdogLink({ command: WATCHDOG, marker });
  const shell = hostShell({
    environment: childEnvironment(process.env, marker, tmpdir()),
    watchdog,
  });
  const artifact = (name: string) => openArtifactFile(join(directory, 'artifacts'), name);
  const context = toolContext(diskWorkspace(), { cwd: directory, shell, artifact });
  const bash = async (command: string, timeout = 60_000) =>
    context.applyNotes(await runCommand.call({ command, timeout }, context));
  return { context, bash };
};

describe('Bash with a real shell', () => {
  test('keeps the working directory from call to call', async () => {
    const { bash } = agent();
    await bash('mkdir -p deep/down && cd deep/down');
    expect((await bash('basename "$PWD"')).content).toBe('down\n');
  });

  test('continues if its directory was deleted', async () => {
    const { bash } = agent();
    await bash('mkdir gone && cd gone && rmdir ../gone');
    expect(await bash('pwd')).toMatchObject({ isError: true });
    expect((await bash('pwd')).content).toBe(`${directory}\n`);
  });

  test('shows both ends of a long output, and writes all of it to a file for Read', async () => {
    const { bash, context } = agent();
    const { content, facts } = await bash(
      "for i in 1 2 3; do yes 'é漢😀' | head -c 1000000; echo END >&2; done",
    );
    expect(facts).toMatchObject({ truncated: true, bytes: 3_000_012 });
    expect((content as string).length).toBeLessThanOrEqual(30_000);
    expect(content).toMatch(/\n\[stderr, 12 characters\]\nEND\nEND\nEND\n$/);
    const [, path = ''] = / in (\S+), which Read can open/.exec(content as string) ?? [];
    expect((await readFile(path)).length).toBe(3_000_012);
    const shown = await readTool.call({ file_path: path, limit: 1 }, context);
    expect(shown.content).toContain('     1\té漢😀');
  });

  test('accepts binary output', async () => {
    const { content } = await agent().bash('head -c 1000000 /dev/urandom');
    expect(JSON.parse(JSON.stringify(content))).toBe(content);
  });

  test('reports a time-out after the output', async () => {
    const { content, isError } = await agent().bash('echo before; sleep 1000', 500);
    expect(isError).toBe(true);
    expect(content).toMatch(/^before\n\n\[Stopped after 500 ms/);
  });
});
