/** Asks a person, at the first interactive start, whether the settings of a workspace may apply. */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { trustWorkspace } from '../../config/trust/trust.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import type { Terminal } from '../../terminal/terminal.js';
import { exactText } from '../../terminal/text/sanitize.js';
import { askYesOrNo } from './ask-yes-or-no.js';

const LABEL = 'Trust this workspace? y yes, n no: ';

/** True when trust was given now, so that the settings must be read again. */
export const askForTrust = async (
  settings: LoadedSettings,
  terminal: Terminal,
): Promise<boolean> => {
  const { ignored, trust, workspace, skeinHome, projectFiles } = settings;
  if (ignored.length === 0 || trust === 'trusted' || !terminal.isPerson) return false;
  const why = trust === 'changed' ? 'has changed since you trusted it' : 'is not trusted yet';
  const lines = [
    `The workspace ${exactText(workspace.root)} ${why}.`,
    'Its settings could run programs and widen what agents may do, so these do not apply:',
    ...[...new Set(ignored.map(({ file, key }) => `  ${key} in ${exactText(file)}`))].slice(0, 30),
    'Look at these files first. Without trust they are left out; skein trust can give it later.',
  ];
  terminal.freshLine();
  terminal.write(`${lines.join('\n')}\n`);
  if ((await askYesOrNo(LABEL, terminal)) !== true) return false;
  trustWorkspace(stateLayout(skeinHome).trust, workspace, projectFiles);
  terminal.write('It is trusted until its settings change.\n');
  return true;
};
