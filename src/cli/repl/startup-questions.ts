/** Startup questions of an interactive session: trust in the workspace, and included files. */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { answerIncludes } from '../../config/trust/include-answers.js';
import { trustWorkspace } from '../../config/trust/trust-state.js';
import { stateLayout } from '../../config/workspace/state-layout.js';
import type { SessionAssembly } from '../../sdk/assembly/assemble-session.js';
import {
  externalIncludes,
  type IncludeStatus,
} from '../../sdk/assembly/prompt/make-memory-files.js';
import type { Terminal } from '../../terminal/terminal.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { exactText } from '../../terminal/text/sanitize.js';
import type { RunFlags } from '../session/run-flags.js';

interface StartupOptions {
  readonly host: TerminalHost;
  readonly flags: RunFlags;
  readonly terminal: Terminal;
  readonly assemble: () => Promise<SessionAssembly>;
}

/**
 * Assembles a session and asks the startup questions. Assembles again after the person trusted the
 * workspace, because other settings apply then.
 */
export const startupQuestions = async (options: StartupOptions): Promise<SessionAssembly> => {
  const { host, flags, terminal, assemble } = options;
  const first = await assemble();
  const isTrusted = await askForTrust(first.settings, terminal);
  if (isTrusted) await first.options.store.close();
  const assembly = isTrusted ? await assemble() : first;
  const { settings } = assembly;
  const { choice, fresh } = assembly.options;
  // A resumed session keeps its prompt, so included files matter for a new session only.
  if (terminal.isInteractive && choice.kind === 'new') {
    const includes = await externalIncludes({ host, flags, settings, cwd: fresh.cwd });
    await askForIncludes(includes, settings, terminal);
  }
  return assembly;
};

const MAX_LISTED_LINES = 30;

/** Returns true if the person trusted the workspace now. */
const askForTrust = async (settings: LoadedSettings, terminal: Terminal): Promise<boolean> => {
  const { ignored, trust, workspace, skeinHome, projectFiles } = settings;
  if (ignored.length === 0 || trust === 'trusted' || !terminal.isInteractive) return false;
  const reason = trust === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet';
  const keys = new Set(ignored.map(({ file, key }) => `  ${key} in ${exactText(file)}`));
  const lines = [
    `The workspace ${exactText(workspace.root)} ${reason}.`,
    'Its settings could run programs and extend what agents may do, so these do not apply:',
    ...[...keys].slice(0, MAX_LISTED_LINES),
    'Read these files first. Without trust they are ignored; skein trust can trust them later.',
  ];
  terminal.freshLine();
  terminal.write(`${lines.join('\n')}\n`);
  const isAgreed = await askYesOrNo('Trust this workspace? y yes, n no: ', terminal);
  if (isAgreed !== true) return false;
  trustWorkspace(stateLayout(skeinHome).trust, workspace, projectFiles);
  terminal.write('The workspace is trusted until its settings change.\n');
  return true;
};

/** Asks once whether instruction files may include files outside of the workspace, and saves the answer. */
const askForIncludes = async (
  includes: readonly IncludeStatus[],
  { skeinHome, workspace }: Pick<LoadedSettings, 'skeinHome' | 'workspace'>,
  terminal: Terminal,
): Promise<void> => {
  const open = includes.filter(({ answer }) => answer === undefined).slice(0, MAX_LISTED_LINES);
  if (open.length === 0 || !terminal.isInteractive) return;
  const lines = [
    'Instruction files here include files outside of the workspace, which are left out so far:',
    ...open.map(({ path, parent }) => `  ${exactText(path)}, included by ${exactText(parent)}`),
    'If included, their text is sent to the provider and the model reads it as instructions.',
  ];
  terminal.freshLine();
  terminal.write(`${lines.join('\n')}\n`);
  const isAllowed = await askYesOrNo('Include them? y yes, n no: ', terminal);
  if (isAllowed === undefined) return;
  const paths = open.map(({ path }) => path);
  answerIncludes(stateLayout(skeinHome).trust, workspace, paths, isAllowed ? 'yes' : 'no');
  terminal.write(
    isAllowed
      ? 'They are included from now on.\n'
      : 'They stay out; skein trust --include <file> includes a file later.\n',
  );
};

/** Repeats the question until the answer is yes or no. Returns undefined if the person left instead. */
const askYesOrNo = async (label: string, terminal: Terminal): Promise<boolean | undefined> => {
  for (let isExpected = false; ; isExpected = true) {
    const reply = await terminal.ask(label, new AbortController().signal, isExpected);
    if (reply.kind !== 'line') return undefined;
    const word = reply.text.trim().toLowerCase();
    if (word === 'n' || word === 'no') return false;
    if (word === 'y' || word === 'yes') return true;
    terminal.write('Please answer y or n.\n');
  }
};
