/** `skein prompt`: the prompt that a new session here would begin with, block by block. */
import { promptReport } from '../sdk/prompt-report.js';
import { beginningOf } from '../sdk/run-beginning.js';
import { chartStyle } from '../terminal/bar-chart.js';
import { plainText } from '../terminal/harmless-text.js';
import type { Machine } from '../terminal/machine.js';
import { EXIT } from './exit-code.js';
import { promptView } from './prompt-view.js';
import type { RunFlags } from './run-flags.js';

export type PromptFlags = RunFlags & { readonly json?: boolean };

export const showPrompt = async (flags: PromptFlags, machine: Machine): Promise<number> => {
  const beginning = await beginningOf(machine, flags, flags.print === true);
  const report = promptReport(beginning, flags.agent ?? null);
  if (flags.json === true) machine.out(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const isFolded = machine.stdout.isTTY === true;
    const options = { isVerbose: flags.verbose === true, isFolded };
    machine.out(promptView(report, options, chartStyle(machine)));
    for (const notice of report.notices) machine.err(`skein: ${plainText(notice, 500)}\n`);
  }
  return EXIT.done;
};
