/** Reads the files of a workspace that configure Skein, once for the settings and for trust. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readSettingsText } from '../json/settings-document.js';
import type { WorkspaceFolders } from './workspace-folders.js';

export interface ProjectFile {
  readonly role: 'project' | 'local' | 'mcp';
  /** Folder of the workspace that the file belongs to, absolute. */
  readonly folder: string;
  readonly path: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
}

const NAMES = [
  { role: 'project', name: '.claude/settings.json' },
  { role: 'project', name: '.skein/settings.json' },
  { role: 'local', name: '.claude/settings.local.json' },
  { role: 'local', name: '.skein/settings.local.json' },
  { role: 'mcp', name: '.mcp.json' },
] as const;

/** Throws UsageError if a file exists and cannot be read. */
export const projectFiles = ({ folders }: WorkspaceFolders): readonly ProjectFile[] =>
  folders.flatMap((folder) =>
    NAMES.map(({ role, name }) => {
      const path = join(folder, name);
      const text = role === 'mcp' && isEmptyFolder(path) ? undefined : readSettingsText(path);
      return { role, folder, path, text };
    }),
  );

/** An empty folder holds the place of a missing file while a sandboxed command runs. */
const isEmptyFolder = (path: string): boolean => {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
};
