/**
 * A temporary directory tree with a home, a managed folder and projects, and the memory loader on
 * it.
 */
import { symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { onTestFinished } from 'vitest';
import { memoryDisk } from '../../src/host/files/memory-disk.js';
import { MemoryFiles, type MemoryPlaces } from '../../src/memory/memory-files.js';
import { isSecretFile } from '../../src/policy/paths/is-secret-file.js';
import type { ExternalInclude, Memory, MemoryDisk } from '../../src/protocol/tools/memory.js';

export type Tree = Readonly<Record<string, string | Uint8Array | { readonly link: string }>>;

export interface Machine {
  /** Absolute real path. */
  readonly root: string;
  at(path: string): string;
  add(tree: Tree): Promise<void>;
  memory(options?: MemoryOptions): MemoryFiles & MemoryCalls;
  load(options?: MemoryOptions): Promise<Memory>;
}

export interface MemoryOptions extends Partial<Omit<MemoryPlaces, 'cwd'>> {
  /** Path below the root. Default: `repo`. */
  readonly cwd?: string;
  readonly disk?: MemoryDisk;
  readonly mayInclude?: (include: ExternalInclude) => boolean;
  readonly isSensitive?: (path: string) => boolean;
}

interface MemoryCalls {
  readonly asked: readonly ExternalInclude[];
  readonly announced: readonly Memory[];
}

/** Writes the tree. `~~` in a link target is replaced with the root. */
export const machineWith = async (tree: Tree): Promise<Machine> => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'skein-memory-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const at = (path: string) => join(root, path);
  const add = async (more: Tree) => {
    const folders = new Set(Object.keys(more).map((name) => dirname(at(name))));
    for (const folder of folders) await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(more)) {
      if (typeof content === 'string' || content instanceof Uint8Array) {
        writeFileSync(at(name), content);
      } else symlinkSync(content.link.replace('~~', root), at(name));
    }
  };
  await add(tree);
  for (const folder of ['home', 'repo']) await mkdir(at(folder), { recursive: true });

  const memory = ({ cwd = 'repo', disk, mayInclude, isSensitive, ...rest }: MemoryOptions = {}) => {
    const asked: ExternalInclude[] = [];
    const announced: Memory[] = [];
    const files = new MemoryFiles({
      places: {
        cwd: at(cwd),
        home: at('home'),
        skeinHome: at('home/.skein'),
        managed: [at('etc/claude-code'), at('etc/skein')],
        roots: [],
        isBare: false,
        isDisabled: false,
        ...rest,
      },
      disk: disk ?? diskOf(root),
      ports: {
        mayInclude: (include) => {
          asked.push(include);
          return mayInclude?.(include) ?? false;
        },
        isSensitive: isSensitive ?? isSecretFile,
        onLoad: (loaded) => announced.push(loaded),
      },
    });
    return Object.assign(files, { asked, announced });
  };
  return { root, at, add, memory, load: (options) => memory(options).load() };
};

/** The real disk without memory files and repositories above the temporary directory. */
export const diskOf = (root: string): MemoryDisk => {
  const disk = memoryDisk();
  const isOutsideTree = (path: string) =>
    relative(root, path).startsWith('..') &&
    /\/(?:CLAUDE|AGENTS|\.claude|\.skein|\.git)/.test(path);
  return {
    ...disk,
    resolve: async (path) => (isOutsideTree(path) ? undefined : disk.resolve(path)),
  };
};

/** Paths below the root, in reading order. */
export const pathsOf = (machine: Machine, { files }: Pick<Memory, 'files'>): readonly string[] =>
  files.map(({ path }) => relative(machine.root, path));

export const textOf = ({ files, rules }: Memory): string =>
  [...files, ...rules].map(({ text }) => text).join('\n');
