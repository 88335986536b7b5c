/**
 * Placeholders: empty folders and files that stand for missing control files while a command runs.
 *
 * A missing path can be protected only as a mount point, which must exist on the disk. The placeholders are removed
 * when the last command that needs them has ended, in this process and in every other process that is recorded in
 * the register. A placeholder that a person has filled in the meantime stays.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJson } from '../../lib/json/parse-json.js';

/** `commondir` is the file of a git directory that points to this directory itself, because git refuses an empty file. */
export type PlaceholderKind = 'folder' | 'file' | 'commondir';

export interface Placeholder {
  readonly path: string;
  readonly kind: PlaceholderKind;
}

const CONTENTS = { file: '', commondir: '.\n' } as const;

interface Held {
  commands: number;
  readonly placeholders: Map<string, Placeholder>;
}

/** Placeholders that commands of this process need, by register folder. */
const held = new Map<string, Held>();

/** Placeholders of one writable folder. */
export class Placeholders {
  private readonly register: string;
  private readonly own: string;

  /** `folder` is the folder of all registers, and commands must not be able to write in it. */
  constructor(folder: string, root: string) {
    const digest = createHash('sha256').update(root).digest('hex').slice(0, 32);
    this.register = join(folder, digest);
    this.own = join(this.register, String(process.pid));
  }

  /**
   * Creates the missing paths. Returns the paths that no command can create either, because its user has no right
   * to. Throws if a path cannot be created for another reason.
   */
  hold(missing: readonly Placeholder[]): ReadonlySet<string> {
    const entry = held.get(this.register) ?? { commands: 0, placeholders: this.inherited() };
    const added = missing.filter(({ path }) => !entry.placeholders.has(path));
    for (const placeholder of added) entry.placeholders.set(placeholder.path, placeholder);
    if (entry.placeholders.size > 0 && (added.length > 0 || entry.commands === 0)) {
      mkdirSync(this.register, { recursive: true, mode: 0o700 });
      writeFileSync(this.own, JSON.stringify([...entry.placeholders.values()]), { mode: 0o600 });
    }
    entry.commands += 1;
    held.set(this.register, entry);
    try {
      return new Set(missing.filter((placeholder) => !create(placeholder)).map(({ path }) => path));
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Removes the placeholders, unless another command needs them. */
  release(): void {
    const entry = held.get(this.register);
    if (entry === undefined) return;
    entry.commands -= 1;
    if (entry.commands > 0) return;
    held.delete(this.register);
    if (entry.placeholders.size === 0) return;
    if (this.others().every(({ isAlive }) => !isAlive)) {
      // Remove the newest placeholder first, because a placeholder may lie in another.
      for (const placeholder of [...entry.placeholders.values()].reverse()) remove(placeholder);
    }
    rmSync(this.own, { force: true });
    attempt(() => rmdirSync(this.register));
  }

  /** Returns the placeholders of other processes, also of processes that were killed. */
  private inherited(): Map<string, Placeholder> {
    const all = this.others().flatMap(({ file, isAlive }) => {
      const listed = attempt(() => parseJson(readFileSync(file, 'utf8')));
      if (!isAlive) rmSync(file, { force: true });
      return Array.isArray(listed) ? listed.filter(isPlaceholder) : [];
    });
    return new Map(all.map((placeholder) => [placeholder.path, placeholder]));
  }

  private others(): readonly { readonly file: string; readonly isAlive: boolean }[] {
    const names = attempt(() => readdirSync(this.register)) ?? [];
    return names
      .map((name) => ({ file: join(this.register, name), isAlive: isRunning(Number(name)) }))
      .filter(({ file }) => file !== this.own);
  }
}

const create = ({ path, kind }: Placeholder): boolean => {
  try {
    if (kind === 'folder') mkdirSync(path);
    else writeFileSync(path, CONTENTS[kind], { flag: 'wx' });
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return true;
    // The owner of a folder can give itself the right to write.
    const isOwn = statSync(dirname(path)).uid === process.getuid?.();
    if (code === 'EROFS' || (!isOwn && (code === 'EACCES' || code === 'EPERM'))) return false;
    throw error;
  }
};

const remove = ({ path, kind }: Placeholder): void => {
  attempt(() => {
    if (kind === 'folder') rmdirSync(path);
    else if (readFileSync(path, 'utf8') === CONTENTS[kind]) unlinkSync(path);
  });
};

const isPlaceholder = (value: unknown): value is Placeholder => {
  const { path, kind } = (value ?? {}) as Partial<Placeholder>;
  return typeof path === 'string' && (kind === 'folder' || kind === 'file' || kind === 'commondir');
};

const isRunning = (pid: number): boolean => {
  try {
    return Number.isInteger(pid) && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const attempt = <Result>(action: () => Result): Result | undefined => {
  try {
    return action();
  } catch {
    return undefined;
  }
};
