/** The memory files of a run, and those outside of its workspace that they would include. */
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { managedSettingsFiles } from '../../../config/settings/settings-layers.js';
import { includeAnswers } from '../../../config/trust/include-answers.js';
import type { IncludeAnswer } from '../../../config/trust/trust-file.js';
import { realPath } from '../../../config/workspace/real-path.js';
import { stateLayout } from '../../../config/workspace/state-directory.js';
import { memoryDisk } from '../../../host/files/memory-disk.js';
import { MemoryFiles } from '../../../memory/memory-files.js';
import { holdsSecrets } from '../../../policy/paths/sensitive-files.js';
import type { MemoryPorts } from '../../../protocol/tools/memory.js';
import type { HostEnvironment } from '../options/host-environment.js';
import type { RunOptions } from '../options/run-options.js';

export interface MemoryRequest {
  readonly machine: Pick<HostEnvironment, 'home' | 'cwd' | 'platform'>;
  readonly flags: RunOptions;
  readonly settings: Pick<LoadedSettings, 'skein' | 'skeinHome' | 'workspace'>;
  /** Where the session works. */
  readonly cwd: string;
}

/** What leads out of the workspace is read where a person has agreed to it, file by file. */
export const memoryFor = (request: MemoryRequest, loaded: MemoryPorts['loaded']): MemoryFiles => {
  const { skeinHome, workspace } = request.settings;
  const answers = includeAnswers(stateLayout(skeinHome).trust, workspace);
  const mayInclude = ({ path }: { readonly path: string }) => answers[path] === 'yes';
  return new MemoryFiles(optionsFor(request, { mayInclude, loaded }));
};

export interface ExternalInclude {
  /** Really, or as it is named where only the name leads out. */
  readonly path: string;
  /** The file that includes it; the link itself where it is one. */
  readonly parent: string;
  /** Undefined when nobody was asked yet. */
  readonly answer: IncludeAnswer | undefined;
}

/** Whatever would be read if a person agreed to all of it. What holds secrets never is. */
export const externalIncludes = async (
  request: MemoryRequest,
): Promise<readonly ExternalInclude[]> => {
  const { skeinHome, workspace } = request.settings;
  const answers = includeAnswers(stateLayout(skeinHome).trust, workspace);
  const found = new Map<string, ExternalInclude>();
  const mayInclude: MemoryPorts['mayInclude'] = ({ path, parent }) => {
    if (!found.has(path)) found.set(path, { path, parent, answer: answers[path] });
    return true;
  };
  await new MemoryFiles(optionsFor(request, { mayInclude, loaded: () => {} })).load();
  return [...found.values()];
};

const optionsFor = (
  { machine, flags, settings, cwd }: MemoryRequest,
  ports: Omit<MemoryPorts, 'isSensitive'>,
) => {
  const { skein, skeinHome, workspace } = settings;
  return {
    places: {
      cwd,
      home: machine.home,
      skeinHome,
      managed: managedSettingsFiles(machine.platform).map((file) => dirname(file)),
      roots: (flags.addDir ?? []).map((root) => resolve(machine.cwd, root)),
      isBare: flags.bare ?? false,
      isDisabled: skein.disableMemoryFiles,
      ...(skein.autoMemory && { autoMemory: notesOf(skeinHome, cwd) }),
      ...(skein.teamMemory && { teamMemory: join(workspace.root, '.skein', 'team', NOTES) }),
    },
    disk: memoryDisk(),
    ports: { ...ports, isSensitive: holdsSecrets },
  };
};

const NOTES = 'MEMORY.md';

/** One file for each project, by where it really is. */
const notesOf = (skeinHome: string, cwd: string): string => {
  const digest = createHash('sha256').update(realPath(cwd)).digest('hex').slice(0, 16);
  return join(skeinHome, 'projects', digest, NOTES);
};
