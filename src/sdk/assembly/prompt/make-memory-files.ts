/** Makes the memory files of a run, and lists the files outside the workspace that they include. */
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { managedSettingsFiles } from '../../../config/settings/settings-layers.js';
import { includeAnswers } from '../../../config/trust/include-answers.js';
import type { IncludeAnswer } from '../../../config/trust/trust-file.js';
import { realPath } from '../../../config/workspace/real-path.js';
import { stateLayout } from '../../../config/workspace/state-layout.js';
import { statePaths } from '../../../config/workspace/state-paths.js';
import { memoryDisk } from '../../../host/files/memory-disk.js';
import { MemoryFiles } from '../../../memory/memory-files.js';
import { isSecretFile } from '../../../policy/paths/is-secret-file.js';
import type { MemoryPorts } from '../../../protocol/tools/memory.js';
import type { HostEnvironment } from '../options/host-environment.js';
import type { RunOptions } from '../options/run-options.js';

interface MemoryFilesRequest {
  readonly host: Pick<HostEnvironment, 'home' | 'cwd' | 'platform'>;
  readonly flags: RunOptions;
  readonly settings: Pick<LoadedSettings, 'skein' | 'skeinHome' | 'workspace'>;
  /** Directory that the session works in. */
  readonly cwd: string;
}

/** Includes a file outside the workspace only if the person has allowed that file. */
export const makeMemoryFiles = (
  request: MemoryFilesRequest,
  loaded: MemoryPorts['onLoad'],
): MemoryFiles => {
  const { skeinHome, workspace } = request.settings;
  const answers = includeAnswers(stateLayout(skeinHome).trust, workspace);
  const mayInclude = ({ path }: { readonly path: string }) => answers[path] === 'yes';
  return new MemoryFiles(optionsFor(request, { mayInclude, onLoad: loaded }));
};

/** File outside the workspace that a memory file includes. */
export interface IncludeStatus {
  /** Real path, or the path as written if only that is outside. */
  readonly path: string;
  /** File that includes it, or the link that leads to it. */
  readonly parent: string;
  /** The person's answer. Undefined if not asked yet. */
  readonly answer: IncludeAnswer | undefined;
}

/** Returns the files that would be included if the person allowed all. Never lists files with secrets. */
export const externalIncludes = async (
  request: MemoryFilesRequest,
): Promise<readonly IncludeStatus[]> => {
  const { skeinHome, workspace } = request.settings;
  const answers = includeAnswers(stateLayout(skeinHome).trust, workspace);
  const found = new Map<string, IncludeStatus>();
  const mayInclude: MemoryPorts['mayInclude'] = ({ path, parent }) => {
    if (!found.has(path)) found.set(path, { path, parent, answer: answers[path] });
    return true;
  };
  await new MemoryFiles(optionsFor(request, { mayInclude, onLoad: () => {} })).load();
  return [...found.values()];
};

const optionsFor = (
  { host, flags, settings, cwd }: MemoryFilesRequest,
  ports: Omit<MemoryPorts, 'isSensitive'>,
) => {
  const { skein, skeinHome, workspace } = settings;
  return {
    places: {
      cwd,
      home: host.home,
      skeinHome,
      stateAliases: statePaths(skeinHome),
      managed: managedSettingsFiles(host.platform).map((file) => dirname(file)),
      roots: (flags.addDir ?? []).map((root) => resolve(host.cwd, root)),
      isBare: flags.bare ?? false,
      isDisabled: skein.disableMemoryFiles,
      ...(skein.autoMemory && { autoMemory: notesOf(skeinHome, cwd) }),
      ...(skein.teamMemory && { teamMemory: join(workspace.root, '.skein', 'team', NOTES) }),
    },
    disk: memoryDisk(),
    ports: { ...ports, isSensitive: isSecretFile },
  };
};

const NOTES = 'MEMORY.md';

/** Returns the notes file of the project, named after the digest of its real path. */
const notesOf = (skeinHome: string, cwd: string): string => {
  const digest = createHash('sha256').update(realPath(cwd)).digest('hex').slice(0, 16);
  return join(skeinHome, 'projects', digest, NOTES);
};
