/** The files of a workspace that can change what Skein does, read once for use and for trust. */
import { join } from 'node:path';
import { readSettingsText } from '../settings/settings-file.js';
import type { Workspace } from './workspace-root.js';

export interface ProjectFile {
  readonly role: 'project' | 'local' | 'mcp';
  /** The folder of the workspace that it belongs to. */
  readonly folder: string;
  readonly path: string;
  /** Undefined when there is no such file. */
  readonly text: string | undefined;
}

const NAMES = [
  { role: 'project', name: '.claude/settings.json' },
  { role: 'project', name: '.skein/settings.json' },
  { role: 'local', name: '.claude/settings.local.json' },
  { role: 'local', name: '.skein/settings.local.json' },
  { role: 'mcp', name: '.mcp.json' },
] as const;

export const projectFiles = ({ folders }: Workspace): readonly ProjectFile[] =>
  folders.flatMap((folder) =>
    NAMES.map(({ role, name }) => {
      const path = join(folder, name);
      return { role, folder, path, text: readSettingsText(path) };
    }),
  );
