/**
 * Files with words for the prompt (agents, output styles): where they are, and how one is read.
 *
 * A workspace's files may come from anybody. One that is a link out of the workspace is not read: it
 * would send what it points at to the model.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { realPath } from '../workspace/real-path.js';
import type { Workspace } from '../workspace/workspace-root.js';

export interface PromptPlaces {
  readonly workspace: Workspace;
  readonly skeinHome: string;
  readonly home: string;
  /** Until a person trusts the workspace, its files stand behind the person's own. */
  readonly isTrusted: boolean;
  /** What the package itself brings. */
  readonly own?: string;
}

export type PromptFileSource = 'project' | 'user' | 'builtin';

export interface PromptFolder {
  readonly path: string;
  readonly source: PromptFileSource;
  /** Its files must lie in here, wherever links lead. */
  readonly within?: string;
}

const MOST_PROMPT_BYTES = 100 * 1024;

/** Strongest first: those of a trusted workspace, the user's, the package's. They need not exist. */
export const promptFolders = (
  kind: 'agents' | 'output-styles',
  { workspace, skeinHome, home, isTrusted, own }: PromptPlaces,
): readonly PromptFolder[] => {
  const ofUser = [join(skeinHome, kind), join(home, '.claude', kind)].map((path) => {
    return { path, source: 'user' as const };
  });
  const ofPackage =
    own === undefined ? [] : [{ path: join(own, kind), source: 'builtin' as const }];
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
  /** Completes the sentence "path …". */
  | { readonly trouble: string };

/** Undefined when there is no such file. */
export const readPromptFile = (path: string, { within }: PromptFolder): PromptFile | undefined => {
  let file: number;
  try {
    if (within !== undefined && !isInside(realPath(path), realPath(within))) {
      return { trouble: `leads out of ${within}; put a copy there instead of a link` };
    }
    // Without O_NONBLOCK, opening a pipe somebody left there would wait for ever.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { trouble: `cannot be read (${code}); make it readable or remove it` };
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return { trouble: 'is not a file; remove what is there' };
    if (stat.size > MOST_PROMPT_BYTES) {
      return { trouble: `has ${stat.size} bytes, and may have 100 KiB; shorten it` };
    }
    const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
    return { text: text.replaceAll('\r\n', '\n') };
  } catch (cause) {
    return { trouble: `cannot be read (${(cause as NodeJS.ErrnoException).code})` };
  } finally {
    closeSync(file);
  }
};

const isInside = (path: string, folder: string) =>
  path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
