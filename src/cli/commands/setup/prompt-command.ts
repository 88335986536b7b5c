/** `skein prompt`: prints the prompt of a new session here, block by block. */
import { dryRunPrompt } from '../../../sdk/sessions/dry-run-prompt.js';
import { promptReport } from '../../../sdk/sessions/prompt-report.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';
import { promptView } from './prompt-view.js';

export type PromptFlags = RunFlags & { readonly json?: boolean };

export const promptCommand = async (flags: PromptFlags, host: TerminalHost): Promise<number> => {
  const beginning = await dryRunPrompt(host, flags, flags.print === true);
  const report = promptReport(beginning, flags.agent ?? null);
  if (flags.json === true) host.out(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const isFolded = host.stdout.isTTY === true;
    const options = { isVerbose: flags.verbose === true, isFolded };
    host.out(promptView(report, options, chartStyle(host)));
    for (const notice of report.notices) host.err(`skein: ${plainText(notice, 500)}\n`);
  }
  return ExitCode.done;
};
