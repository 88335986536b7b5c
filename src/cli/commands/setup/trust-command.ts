/** `skein trust`: a person vouches for a workspace, or for files outside that its instructions include. */
import { resolve } from 'node:path';
import type { LoadedSettings } from '../../../config/settings/load-settings.js';
import { answerIncludes, forgetIncludes } from '../../../config/trust/include-answers.js';
import { trustWorkspace, untrustWorkspace } from '../../../config/trust/trust.js';
import { realPath } from '../../../config/workspace/real-path.js';
import { openStateDirectory } from '../../../config/workspace/state-directory.js';
import { UsageError } from '../../../protocol/errors.js';
import { settingsFor } from '../../../sdk/assembly/options/command-settings.js';
import { type ExternalInclude, externalIncludes } from '../../../sdk/assembly/prompt/run-memory.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { exactText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import type { RunFlags } from '../../run/run-flags.js';

export type TrustFlags = RunFlags & {
  readonly revoke?: boolean;
  readonly includes?: boolean;
  readonly include?: readonly string[];
  readonly json?: boolean;
};

export const changeTrust = async (flags: TrustFlags, machine: TerminalHost): Promise<number> => {
  const cwd = flags.cwd === undefined ? machine.cwd : resolve(machine.cwd, flags.cwd);
  const settings = settingsFor(machine, flags, cwd);
  const { workspace, projectFiles } = settings;
  const say = (value: object, text: string) =>
    machine.out(`${flags.json === true ? JSON.stringify(value) : text}\n`);
  if (flags.include !== undefined || flags.includes === true) {
    const includes = await changeIncludes(flags, machine, settings, cwd);
    say({ workspace: workspace.root, includes }, includesText(includes));
    return EXIT.done;
  }
  const { trust: file } = openStateDirectory(settings.skeinHome);
  if (flags.revoke === true) untrustWorkspace(file, workspace);
  else trustWorkspace(file, workspace, projectFiles);
  const [state, words] =
    flags.revoke === true
      ? ['untrusted', 'is no longer trusted']
      : ['trusted', 'is trusted until its settings change'];
  say({ workspace: workspace.root, state }, `${exactText(workspace.root)} ${words}.`);
  return EXIT.done;
};

/** What is included after the change, if one was asked for. */
const changeIncludes = async (
  { include, revoke, ...flags }: TrustFlags,
  machine: TerminalHost,
  settings: LoadedSettings,
  cwd: string,
): Promise<readonly ExternalInclude[]> => {
  const list = () => externalIncludes({ machine, flags, settings, cwd });
  if (include === undefined && revoke !== true) return list();
  const { trust: file } = openStateDirectory(settings.skeinHome);
  if (revoke === true) forgetIncludes(file, settings.workspace);
  else
    answerIncludes(file, settings.workspace, wantedOf(include ?? [], await list(), machine), 'yes');
  return list();
};

/** Only what is really included: an approval for later would be forgotten until it surprises. */
const wantedOf = (
  given: readonly string[],
  includes: readonly ExternalInclude[],
  { cwd }: TerminalHost,
): readonly string[] =>
  given.map((name) => {
    const path = resolve(cwd, name);
    const found = includes.find((it) => it.path === path || it.path === realPath(path));
    if (found !== undefined) return found.path;
    throw new UsageError(
      `No instruction file here includes ${path} from outside; skein trust --includes lists what they do.`,
    );
  });

const ANSWERS = { yes: 'included', no: 'left out', none: 'not asked yet' } as const;

const includesText = (includes: readonly ExternalInclude[]): string => {
  if (includes.length === 0) return 'No instruction file here includes a file from outside.';
  const rows = includes.map(
    ({ path, parent, answer }) =>
      `${ANSWERS[answer ?? 'none']}: ${exactText(path)}, of ${exactText(parent)}`,
  );
  const isOpen = includes.some(({ answer }) => answer !== 'yes');
  return [...rows, ...(isOpen ? ['skein trust --include <file> includes one.'] : [])].join('\n');
};
