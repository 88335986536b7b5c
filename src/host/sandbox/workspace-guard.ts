/**
 * Guards the control files of writable folders around each command of a sandbox.
 *
 * Mounts protect files and their parents. State that mounts cannot hold is compared after the command: symbolic links,
 * nested repositories in the index, and a folder that became a repository without a `.git`.
 */
import { readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type GuardedLink, type MountPlan, statOf } from './mount-plan.js';
import { type NestedControls, nestedControlFolders } from './nested-control-folders.js';
import { Placeholders } from './placeholders.js';
import { isBare, protectFolder, protectRepository } from './protect-folder.js';
import { RepositoryWatch, type RepositoryWatchOptions, setAside } from './repository-watch.js';

export interface GuardOptions extends RepositoryWatchOptions {
  /** Folder that records placeholders for other processes. Commands must not be able to write in it. */
  readonly registers: string;
}

interface GuardedCommand {
  /** Placeholders that no process can create, so that they need no mount. */
  readonly impossible: ReadonlySet<string>;
  /** Undoes planted changes. Returns a sentence for each. */
  end(): Promise<readonly string[]>;
}

export class WorkspaceGuard {
  private readonly roots: readonly string[];
  private readonly options: GuardOptions;
  private readonly watches = new Map<string, RepositoryWatch>();
  private readonly placeholders: Placeholders;
  private nested: Promise<readonly NestedControls[]> | undefined;
  private running = 0;
  private lastStep: Promise<unknown> = Promise.resolve();

  /** `roots` are real paths. */
  constructor(roots: readonly string[], options: GuardOptions) {
    this.roots = roots;
    this.options = options;
    this.placeholders = new Placeholders(options.registers, roots.join('\0'));
    for (const root of roots) this.watch(root);
  }

  /** Adds the protection to the plan and creates placeholders. */
  begin(plan: MountPlan): Promise<GuardedCommand> {
    return this.inTurn(async () => {
      const nested = await this.nestedControls();
      for (const watch of this.watches.values()) {
        await (this.running === 0 ? watch.accept() : watch.inspect());
      }
      this.protect(plan, nested);
      const { links } = plan;
      const bare = this.roots.filter(isBare);
      const impossible = this.placeholders.hold(plan.placeholders);
      this.running += 1;
      return { impossible, end: () => this.inTurn(() => this.end(links, bare)) };
    });
  }

  private protect(plan: MountPlan, nested: readonly NestedControls[]): void {
    for (const root of this.roots) protectFolder(plan, root);
    // The home folder is writable only if it is part of the workspace.
    for (const name of START_FILES) plan.protect(join(this.options.home, name), 'file');
    for (const { folder, names } of nested) {
      for (const name of names) {
        if (name === '.git') protectRepository(plan, folder);
        else plan.protect(join(folder, name), 'folder');
      }
    }
    for (const watch of this.watches.values()) {
      for (const folder of watch.nested) protectRepository(plan, folder);
      for (const { path, kind } of watch.targets) plan.protect(path, kind);
    }
  }

  private async end(
    links: readonly GuardedLink[],
    bare: readonly string[],
  ): Promise<readonly string[]> {
    this.running -= 1;
    const notes = [...links.flatMap(restoreLink), ...this.undoBare(bare)];
    this.placeholders.release();
    for (const watch of this.watches.values()) notes.push(...(await watch.inspect()));
    return notes;
  }

  /** Git takes a folder with `HEAD`, `objects` and `refs` for a repository if its `.git` is missing or damaged. */
  private undoBare(before: readonly string[]): readonly string[] {
    const planted = this.roots.filter((root) => !before.includes(root) && isBare(root));
    return planted.map((root) => {
      const path = join(root, 'HEAD');
      return `The sandbox moved ${path} to ${setAside(path)}, because git would take ${root} for a repository with its own configuration.`;
    });
  }

  private nestedControls(): Promise<readonly NestedControls[]> {
    this.nested ??= Promise.all(this.roots.map(nestedControlFolders)).then((lists) => {
      const all = lists.flat();
      for (const { folder, names } of all) if (names.includes('.git')) this.watch(folder);
      return all;
    });
    return this.nested;
  }

  private watch(folder: string): void {
    if (this.watches.has(folder)) return;
    this.watches.set(folder, new RepositoryWatch(folder, this.options));
  }

  /** Runs one step at a time, because a step compares the state that another step changes. */
  private inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const result = this.lastStep.then(step);
    this.lastStep = result.catch(() => undefined);
    return result;
  }
}

/** Files of the home folder that shells, git and the start of a session read or run. */
const START_FILES = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.config/fish/config.fish',
  '.config/git/config',
  '.gitconfig',
  '.bash_aliases',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.inputrc',
  '.vimrc',
  '.npmrc',
  '.xprofile',
  '.xinitrc',
  '.xsession',
  '.ssh/authorized_keys',
  '.ssh/config',
  '.ssh/rc',
  '.config/autostart',
  '.config/systemd',
];

const restoreLink = ({ path, target }: GuardedLink): readonly string[] => {
  if (targetOf(path) === target) return [];
  const kept = statOf(path) === undefined ? undefined : setAside(path);
  symlinkSync(target, path);
  const replaced = kept === undefined ? 'a command removed it' : `its replacement is now ${kept}`;
  return [`The sandbox restored the link ${path}, because ${replaced}.`];
};

const targetOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
};
