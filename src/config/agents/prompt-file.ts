/**
 * Finds and reads Markdown files for the prompt: agents and output styles.
 *
 * The files of a workspace are not trusted. A link out of the workspace is not read, because that would send
 * other files of the user to the model.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isPathInside } from '../../lib/paths/is-path-inside.js';
import type { LoadedSettings } from '../settings/load-settings.js';
import { realPath } from '../workspace/real-path.js';
import type { WorkspaceFolders } from '../workspace/workspace-folders.js';

export interface PromptSources {
  readonly workspace: WorkspaceFolders;
  readonly skeinHome: string;
  readonly home: string;
  /** If false, the files of the workspace are weaker than all others. */
  readonly isTrusted: boolean;
  /** Folder of the Skein package. Default: no files of the package. */
  readonly packageFolder?: string;
}

/** Returns the sources of agents and output styles for a run with these settings. */
export const promptSources = (
  { workspace, skeinHome, trust }: Pick<LoadedSettings, 'workspace' | 'skeinHome' | 'trust'>,
  home: string,
): PromptSources => {
  const packageFolder = findPackage();
  return {
    workspace,
    skeinHome,
    home,
    isTrusted: trust === 'trusted',
    ...(packageFolder !== undefined && { packageFolder }),
  };
};

/** Returns the folder of Skein's package.json, both from the sources and from the build. */
const findPackage = (): string | undefined => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
};

type PromptFileSource = 'project' | 'user' | 'builtin';

export interface PromptFolder {
  readonly path: string;
  readonly source: PromptFileSource;
  /** Folder that the real paths of its files must lie in. Default: no limit. */
  readonly within?: string;
}

const MAX_PROMPT_BYTES = 100 * 1024;

/** Returns the folders, strongest first: trusted workspace, user, package. They need not exist. */
export const promptFolders = (
  kind: 'agents' | 'output-styles',
  { workspace, skeinHome, home, isTrusted, packageFolder }: PromptSources,
): readonly PromptFolder[] => {
  const ofUser = [join(skeinHome, kind), join(home, '.claude', kind)].map((path) => {
    return { path, source: 'user' as const };
  });
  const ofPackage =
    packageFolder === undefined
      ? []
      : [{ path: join(packageFolder, kind), source: 'builtin' as const }];
  const ofProject = [...workspace.folders]
    .reverse()
    .flatMap((folder) =>
      ['.skein', '.claude'].map((name) => {
        return { path: join(folder, name, kind), source: 'project' as const, within: folder };
      }),
    )
    .filter(({ path }) => !ofUser.some((folder) => folder.path === path));
  return isTrusted
    ? [...ofProject, ...ofUser, ...ofPackage]
    : [...ofUser, ...ofPackage, ...ofProject];
};

export type PromptFile =
  | { readonly text: string }
  | {
      /** Predicate of a sentence whose subject is the path. */
      readonly problem: string;
      /** True if the file has no front matter, if that is known. */
      readonly isDocument?: boolean;
    };

/** Returns undefined if the file does not exist. */
export const readPromptFile = (path: string, { within }: PromptFolder): PromptFile | undefined => {
  let file: number;
  try {
    if (
      within !== undefined &&
      !isPathInside({ path: realPath(path), folder: realPath(within), orSame: false })
    ) {
      return { problem: `leads out of ${within}; put a copy there instead of a link` };
    }
    // Without O_NONBLOCK, opening a named pipe would block forever.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { problem: `cannot be read (${code}); make it readable or remove it` };
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return { problem: 'is not a regular file; remove it' };
    if (stat.size > MAX_PROMPT_BYTES) {
      const problem = `has ${stat.size} bytes; the limit is 100 KiB, so shorten it`;
      const start = Buffer.alloc(6);
      const length = readSync(file, start, 0, start.length, 0);
      const isDocument = !/^\uFEFF?---/.test(start.toString('utf8', 0, length));
      return { problem, isDocument };
    }
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    return { text: text.replaceAll('\r\n', '\n') };
  } catch (cause) {
    return { problem: `cannot be read (${(cause as NodeJS.ErrnoException).code})` };
  } finally {
    closeSync(file);
  }
};
