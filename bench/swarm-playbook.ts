/**
 * What the simulator answers where a lead hands parts of its work to others. Who asks is told by the
 * newest text or result alone, so that forks, which begin with their parent's words, fit as well.
 */

/** Children of three turns: two files, then an answer. */
const FILES = ['f400.txt', 'f401.txt'] as const;
/** What the lead of a long conversation reads first: with its prompt about 50,000 tokens. */
const STUDIED = 75;
/** What a model takes to begin its answer. */
export const MS_TO_FIRST_TOKEN = 200;
/** Five seconds of fifty a second. */
export const DELTAS_PER_AGENT = 250;
const DELTA_LENGTH = 4;

export type ChildType = 'readers' | 'forks';

export const SWARM_PROMPTS = {
  fanOut: (width: number) => `Hand out ${width} parts to readers.`,
  queue: (width: number) => `Queue ${width} parts for readers.`,
  speak: (width: number) => `Have ${width} readers speak.`,
  study: (width: number, type: ChildType) =>
    `Study the files, then hand out ${width} parts to ${type}.`,
} as const;

/** The part's number stands in every prompt: no two children are told the same. */
const tasks = (width: number, type: ChildType, verb: string, inBackground = false) =>
  Array.from({ length: width }, (_, part) => ({
    name: 'Task',
    input: {
      description: `part ${part}`,
      prompt: `${verb} part ${part} and report.`,
      ...(type === 'readers' && { subagent_type: READER }),
      ...(inBackground && { run_in_background: true }),
    },
  }));

const READER = 'reader';

/** For `--agents`. */
export const READERS = {
  [READER]: {
    description: 'Reads two files and says what is in them.',
    prompt: 'You read what you are told to read, and report in one sentence.',
    tools: ['Read'],
  },
};

const reads = (file: string) => ({ name: 'Read', input: { file_path: file } });
/** What stands in a result of the file with this number. */
const contentOf = (file: number | string) => `compute(${String(file).replaceAll(/\D/g, '')}, `;

const asked = (lastUser: string, reply: object) => ({ match: { lastUser }, reply });
const shown = (toolResult: string, reply: object, firstUser?: string) => ({
  match: { toolResult, ...(firstUser !== undefined && { firstUser }) },
  reply,
});

export const swarmPlaybook = (widths: readonly number[], delayMs = 0) => ({
  defaults: { delayMs },
  rules: [
    asked('Look at part', { text: 'I look at the first file.', tool_use: reads(FILES[0]) }),
    shown(contentOf(FILES[0]), { text: 'Now the second one.', tool_use: reads(FILES[1]) }),
    shown(contentOf(FILES[1]), { text: 'Both files compute values, and nothing else.' }),
    asked('Speak for part', {
      text: 'word'.repeat((DELTAS_PER_AGENT * DELTA_LENGTH) / 'word'.length),
      chunkBytes: DELTA_LENGTH,
      chunkDelayMs: 20,
    }),
    ...widths.flatMap((width) => [
      asked(SWARM_PROMPTS.fanOut(width), { tool_use: tasks(width, 'readers', 'Look at') }),
      asked(SWARM_PROMPTS.queue(width), { tool_use: tasks(width, 'readers', 'Look at', true) }),
      asked(SWARM_PROMPTS.speak(width), { tool_use: tasks(width, 'readers', 'Speak for') }),
      ...(['readers', 'forks'] as const).flatMap((type) => {
        const prompt = SWARM_PROMPTS.study(width, type);
        const files = Array.from({ length: STUDIED }, (_, file) => reads(`f${file}.txt`));
        return [
          asked(prompt, { text: 'I read what there is.', tool_use: files }),
          shown(contentOf(STUDIED - 1), { tool_use: tasks(width, type, 'Look at') }, prompt),
        ];
      }),
    ]),
    { match: {}, reply: 'Done.' },
  ],
});
