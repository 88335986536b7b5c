/** The lead that most tests with workers have: session `one`, and work for helpers in the background. */
import type { Reply, Rules } from '../skein-process.js';

/** Agents that a lead is told of with `--agents`. */
export const HELPERS = JSON.stringify({
  helper: { description: 'Helps', prompt: 'You help.', tools: 'Bash, Read, SendMessage' },
});

/** It knows the helpers, and nobody is asked about anything. */
export const FREE = ['--permission-mode', 'bypassPermissions', '--agents', HELPERS];

export const LEAD = ['-p', 'Begin', '--session-id', 'one', ...FREE];

export const bash = (command: string) => ({ name: 'Bash', input: { command } });

/** One call of Task for an agent in the background, as a script has it. */
export const backgroundTask = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: prompt, prompt, run_in_background: true, ...more },
});

export const helper = (prompt: string, more: Record<string, unknown> = {}) =>
  backgroundTask(prompt, { subagent_type: 'helper', ...more });

type Call = ReturnType<typeof backgroundTask>;

/** What the lead says: these calls, then whatever else is given, and `I see.` for ever after. */
export const begins = (calls: Call | Call[], ...then: readonly Reply[]): Rules => [
  { match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: calls } },
  ...then.map((reply, at) => ({ match: { firstUser: 'Begin', turn: at + 1 }, reply })),
  { match: { firstUser: 'Begin' }, reply: 'I see.' },
];
