/** Asks a person, once, whether instruction files may include files outside of the workspace. */

import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { answerIncludes } from '../../config/trust/include-answers.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import type { ExternalInclude } from '../../sdk/assembly/prompt/run-memory.js';
import type { Terminal } from '../../terminal/terminal.js';
import { exactText } from '../../terminal/text/sanitize.js';
import { askYesOrNo } from './ask-yes-or-no.js';

const MOST_LISTED = 30;

export const askForIncludes = async (
  includes: readonly ExternalInclude[],
  { skeinHome, workspace }: Pick<LoadedSettings, 'skeinHome' | 'workspace'>,
  terminal: Terminal,
): Promise<void> => {
  const open = includes.filter(({ answer }) => answer === undefined).slice(0, MOST_LISTED);
  if (open.length === 0 || !terminal.isPerson) return;
  const lines = [
    'Instruction files here include files outside of the workspace, which are left out so far:',
    ...open.map(({ path, parent }) => `  ${exactText(path)}, of ${exactText(parent)}`),
    'What they say would be told to the model as instructions, and to the provider as text.',
  ];
  terminal.freshLine();
  terminal.write(`${lines.join('\n')}\n`);
  const isWelcome = await askYesOrNo('Include them? y yes, n no: ', terminal);
  if (isWelcome === undefined) return;
  const paths = open.map(({ path }) => path);
  answerIncludes(stateLayout(skeinHome).trust, workspace, paths, isWelcome ? 'yes' : 'no');
  terminal.write(
    isWelcome
      ? 'They are included from now on.\n'
      : 'They stay out; skein trust --includes tells how to include one.\n',
  );
};
