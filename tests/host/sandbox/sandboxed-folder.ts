/** Folder with a repository, and a shell in a real sandbox whose workspace is that repository. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { hostShell } from '../../../src/host/process/host-shell.js';
import { ownerMarker } from '../../../src/host/process/ownership/owner-marker.js';
import { watchdogLink } from '../../../src/host/process/ownership/watchdog-link.js';
import { sandboxOf } from '../../../src/host/sandbox/sandbox.js';
import { WATCHDOG } from '../process/processes.js';

const PATH = process.env.PATH ?? '';
const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];

export interface SandboxedFolder {
  /** Returns the path of a file below the folder. */
  at(path: string): string;
  /** Runs a command in the sandbox. */
  run(command: string, cwd?: string): Promise<{ readonly exitCode: number | null; output: string }>;
  write(path: string, text: string, mode?: number): void;
  /** Runs git as the person does, outside of the sandbox. */
  git(folder: string, ...args: readonly string[]): string;
  /**
   * Runs `git status` in every repository, as the person does. Returns the names of the workspaces whose planted
   * code has run outside of the sandbox: it leaves a mark that commands inside cannot leave.
   */
  planted(): readonly string[];
  /** Files below a folder with their contents, without objects, refs and the index of git. */
  listing(folder: string): Record<string, string>;
}

/** `writable` are the folders that commands may write in. Default: `repo`. */
export const sandboxedFolder = (writable: readonly string[] = ['repo']): SandboxedFolder => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'skein-escape-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true, maxRetries: 3 }));
  const at = (path: string) => join(top, path);
  for (const folder of [...writable, 'home', 'temp']) mkdirSync(at(folder), { recursive: true });
  const environment = { PATH, HOME: at('home'), TMPDIR: at('temp') };
  const watchdog = watchdogLink({ command: WATCHDOG, marker: ownerMarker('o_test') });
  onTestFinished(() => watchdog.dismiss());
  const sandbox = sandboxOf(
    { writable: writable.map(at), temporary: at('temp'), hidden: [at('registers')] },
    { environment, home: at('home'), registers: at('registers') },
  );
  const shell = hostShell({ environment, watchdog, sandbox });
  return {
    at,
    async run(command, cwd = writable[0] ?? '') {
      let output = '';
      const { exitCode } = await shell.run({
        command,
        cwd: at(cwd),
        signal: new AbortController().signal,
        onOutput: (_, chunk) => {
          output += Buffer.from(chunk).toString();
        },
      });
      return { exitCode, output };
    },
    write(path, text, mode) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
      if (mode !== undefined) chmodSync(at(path), mode);
    },
    git: (folder, ...args) =>
      execFileSync('git', [...IDENTITY, ...args], {
        cwd: at(folder),
        env: environment,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    planted() {
      const found = spawnSync('find', [top, '-name', '.git', '-prune'], { encoding: 'utf8' });
      const repositories = found.stdout.split('\n').map(dirname);
      for (const folder of new Set([...writable.map(at), ...repositories])) {
        if (!folder.startsWith(top) || OWN_RISK.test(folder)) continue;
        spawnSync('git', ['status'], { cwd: folder, env: environment, stdio: 'ignore' });
      }
      return readdirSync(top).flatMap((name) => /^ran\.(.+)$/.exec(name)?.[1] ?? []);
    },
    listing(folder) {
      const files: Record<string, string> = {};
      const read = (path: string) => {
        for (const entry of readdirSync(at(path), { withFileTypes: true })) {
          const name = join(path, entry.name);
          if (UNLISTED.test(name)) continue;
          if (entry.isDirectory()) {
            files[name] = 'folder';
            read(name);
          } else if (entry.isSymbolicLink()) files[name] = `link to ${readlinkSync(at(name))}`;
          else files[name] = readFileSync(at(name), 'utf8') + lstatSync(at(name)).mode;
        }
      };
      read(folder);
      return files;
    },
  };
};

/** Folders in which a command may make repositories of its own, that a person does not enter. */
const OWN_RISK = /\/(?:planted|scratch)(?:\/|$)/;

const UNLISTED = /\/(?:objects|refs|logs|index|ORIG_HEAD|COMMIT_EDITMSG|gc\.log)(?:\/|$)|\/scratch/;
