/** Playbook of the simulator: its answers to the prompts of the benchmark. */

export const LOOP_TURNS = 50;
export const LONG_TURNS = 500;
/** Many, so that the cost of the deltas exceeds the noise of a start. */
export const DELTAS = 20_000;
const DELTA_LENGTH = 4;

export const PROMPTS = {
  loop: `Read ${LOOP_TURNS} files.`,
  long: `Read ${LONG_TURNS} files.`,
  /** Same text as `oneDelta`, so that only the number of deltas differs. */
  manyDeltas: 'Answer in many small pieces.',
  oneDelta: 'Answer in one piece.',
} as const;

const answer = 'word'.repeat((DELTAS * DELTA_LENGTH) / 'word'.length);

const loop = (firstUser: string, turns: number) => ({
  match: { firstUser, turn: { max: turns - 1 } },
  reply: {
    text: 'I look at the next file to see what it holds.',
    tool_use: [{ name: 'Read', input: { file_path: 'f{{turn}}.txt' } }],
  },
});

export const PLAYBOOK = {
  rules: [
    loop(PROMPTS.loop, LOOP_TURNS),
    loop(PROMPTS.long, LONG_TURNS),
    {
      match: { firstUser: PROMPTS.manyDeltas },
      reply: { text: answer, chunkBytes: DELTA_LENGTH },
    },
    {
      match: { firstUser: PROMPTS.oneDelta },
      reply: { text: answer, chunkBytes: answer.length },
    },
    { reply: 'Done.' },
  ],
};
