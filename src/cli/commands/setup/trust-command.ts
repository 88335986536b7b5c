/** `skein trust`: trusts a workspace, or files outside that its instruction files include. */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { answerIncludes, forgetIncludes } from '../../../config/trust/include-answers.js';
import { trustWorkspace, untrustWorkspace } from '../../../config/trust/trust-state.js';
import { realPath } from '../../../config/workspace/real-path.js';
import { openStateDirectory } from '../../../config/workspace/state-layout.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import {
  externalIncludes,
  type IncludeStatus,
} from '../../../sdk/assembly/prompt/make-memory-files.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { exactText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';

export type TrustFlags = RunFlags & {
  readonly revoke?: boolean;
  readonly includes?: boolean;
  readonly include?: readonly string[];
  readonly json?: boolean;
};

export const trustCommand = async (flags: TrustFlags, host: TerminalHost): Promise<number> => {
  const cwd = flags.cwd === undefined ? host.cwd : resolve(host.cwd, flags.cwd);
  const settings = commandSettings(host, flags, cwd);
  const { workspace, projectFiles } = settings;
  const print = (value: object, text: string) =>
    host.out(`${flags.json === true ? JSON.stringify(value) : text}\n`);
  if (flags.include !== undefined || flags.includes === true) {
    const includes = await changeIncludes(flags, host, settings, cwd);
    print({ workspace: workspace.root, includes }, includesText(includes));
    return ExitCode.done;
  }
  const { trust: trustFile } = openStateDirectory(settings.skeinHome);
  if (flags.revoke === true) untrustWorkspace(trustFile, workspace);
  else trustWorkspace(trustFile, workspace, projectFiles);
  const [state, statement] =
    flags.revoke === true
      ? ['untrusted', 'is no longer trusted']
      : ['trusted', 'is trusted until its settings change'];
  print({ workspace: workspace.root, state }, `${exactText(workspace.root)} ${statement}.`);
  return ExitCode.done;
};

/** Applies `--include` or `--revoke`. Resolves with the includes after the change. */
const changeIncludes = async (
  { include, revoke, ...flags }: TrustFlags,
  host: TerminalHost,
  settings: LoadedSettings,
  cwd: string,
): Promise<readonly IncludeStatus[]> => {
  const list = () => externalIncludes({ host, flags, settings, cwd });
  if (include === undefined && revoke !== true) return list();
  const { trust: trustFile } = openStateDirectory(settings.skeinHome);
  if (revoke === true) forgetIncludes(trustFile, settings.workspace);
  else
    answerIncludes(
      trustFile,
      settings.workspace,
      includedPaths(include ?? [], await list(), host),
      'yes',
    );
  return list();
};

/** Returns the real paths. Throws UsageError for a file that no instruction file includes. */
const includedPaths = (
  names: readonly string[],
  includes: readonly IncludeStatus[],
  { cwd }: TerminalHost,
): readonly string[] =>
  names.map((name) => {
    const path = resolve(cwd, name);
    const found = includes.find(
      (include) => include.path === path || include.path === realPath(path),
    );
    if (found !== undefined) return found.path;
    throw new UsageError(
      `No instruction file here includes ${path} from outside the workspace; skein trust --includes lists the included files.`,
    );
  });

const ANSWERS = { yes: 'included', no: 'left out', none: 'not asked yet' } as const;

const includesText = (includes: readonly IncludeStatus[]): string => {
  if (includes.length === 0)
    return 'No instruction file here includes a file outside the workspace.';
  const rows = includes.map(
    ({ path, parent, answer }) =>
      `${ANSWERS[answer ?? 'none']}: ${exactText(path)}, included by ${exactText(parent)}`,
  );
  const isOpen = includes.some(({ answer }) => answer !== 'yes');
  return [...rows, ...(isOpen ? ['skein trust --include <file> includes a file.'] : [])].join('\n');
};
