/**
 * Answers of the model in a chaos run: the lead starts all its agents in a few messages. Each agent reads a file,
 * appends a line to another file, writes to the lead and ends.
 */
import type { Rules } from '../fakes/skein-process.js';

export const PROMPT = 'Start the whole swarm.';
/** File with a line of each agent. */
export const EFFECTS = 'effects.txt';
export const NOTES = 'notes.txt';

const AGENTS_PER_MESSAGE = 20;

/** Identifies an agent in its task, in its line and in its message. */
export const tokenOf = (agent: number): string => `token-${String(agent).padStart(3, '0')}.`;

export const AGENTS_FLAG = JSON.stringify({
  hand: {
    description: 'Does one small thing.',
    prompt: 'You do one small thing.',
    tools: ['Read', 'Bash', 'SendMessage'],
  },
});

export const swarmRules = (agents: number, delayOf: (agent: number) => number): Rules => {
  const tokens = Array.from({ length: agents }, (_, at) => tokenOf(at));
  const messages = Math.ceil(agents / AGENTS_PER_MESSAGE);
  const starts = Array.from({ length: messages }, (_, turn) => ({
    match: { firstUser: PROMPT, turn },
    reply: {
      tool_use: tokens
        .slice(turn * AGENTS_PER_MESSAGE, (turn + 1) * AGENTS_PER_MESSAGE)
        .map((token) => ({
          name: 'Task',
          input: {
            description: token,
            prompt: `You are ${token}`,
            subagent_type: 'hand',
            run_in_background: true,
          },
        })),
    },
  }));
  return [
    ...starts,
    // A slow answer, so that the lead receives several reports at once.
    { match: { firstUser: PROMPT }, reply: { text: 'All were started.', delayMs: 1_000 } },
    ...tokens.flatMap((token, at) => {
      const delayMs = delayOf(at);
      const step = (turn: number, name: string, input: Record<string, unknown>) => ({
        match: { firstUser: token, turn },
        reply: { tool_use: { name, input }, delayMs },
      });
      return [
        step(0, 'Read', { file_path: NOTES }),
        step(1, 'Bash', { command: `sleep 0.05; echo ${token} >> ${EFFECTS}` }),
        step(2, 'SendMessage', { to: 'lead', message: `This is ${token}` }),
        { match: { firstUser: token }, reply: { text: `Done: ${token}`, delayMs } },
      ];
    }),
  ];
};
