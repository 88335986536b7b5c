/** Lead of most worker tests: session `one`, with tasks for background helpers. */
import type { Reply, Rules } from '../skein-process.js';

/** Agents for the flag `--agents`. */
export const HELPERS = JSON.stringify({
  helper: { description: 'Helps', prompt: 'You help.', tools: 'Bash, Read, SendMessage' },
});

/** Flags of a lead with helpers and without permission questions. */
export const FREE = ['--permission-mode', 'bypassPermissions', '--agents', HELPERS];

export const LEAD = ['-p', 'Begin', '--session-id', 'one', ...FREE];

export const bash = (command: string) => ({ name: 'Bash', input: { command } });

/** Task call for a background agent, as a script contains it. */
export const backgroundTask = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { description: prompt, prompt, run_in_background: true, ...more },
});

export const helper = (prompt: string, more: Record<string, unknown> = {}) =>
  backgroundTask(prompt, { subagent_type: 'helper', ...more });

type Call = ReturnType<typeof backgroundTask>;

/** Script of the lead: these calls, then the given replies, then always `I see.`. */
export const begins = (calls: Call | Call[], ...then: readonly Reply[]): Rules => [
  { match: { firstUser: 'Begin', turn: 0 }, reply: { tool_use: calls } },
  ...then.map((reply, at) => ({ match: { firstUser: 'Begin', turn: at + 1 }, reply })),
  { match: { firstUser: 'Begin' }, reply: 'I see.' },
];
