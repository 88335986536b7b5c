/**
 * Playbook of the simulator for swarms. Rules match only the newest text or result, so that they also apply
 * to forks, which start with the messages of their parent.
 */

/** Files that a child reads. It has three turns: two files, then an answer. */
const FILES = ['f400.txt', 'f401.txt'] as const;
/** Number of files that the lead of a long conversation reads first. With its prompt about 50,000 tokens. */
const STUDIED = 75;
/** Delay of a real answer. */
export const MS_TO_FIRST_TOKEN = 200;
/** Five seconds at 50 deltas a second. */
export const DELTAS_PER_AGENT = 250;
const DELTA_LENGTH = 4;

export type ChildType = 'readers' | 'forks';

export const SWARM_PROMPTS = {
  fanOut: (width: number) => `Hand out ${width} parts to readers.`,
  queue: (width: number) => `Queue ${width} parts for readers.`,
  speak: (width: number) => `Have ${width} readers speak.`,
  answer: (width: number) => `Have ${width} readers answer.`,
  study: (width: number, type: ChildType) =>
    `Study the files, then hand out ${width} parts to ${type}.`,
} as const;

/** Every prompt contains the number of its part, so that no two children get the same prompt. */
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

/** Value of `--agents`. */
export const READERS = {
  [READER]: {
    description: 'Reads two files and says what is in them.',
    prompt: 'You read what you are told to read, and report in one sentence.',
    tools: ['Read'],
  },
};

const readCall = (file: string) => ({ name: 'Read', input: { file_path: file } });
/** Returns text that occurs only in the result of this file. */
const contentOf = (file: number | string) => `compute(${String(file).replaceAll(/\D/g, '')}, `;

const onPrompt = (lastUser: string, reply: object) => ({ match: { lastUser }, reply });
const onResult = (toolResult: string, reply: object, firstUser?: string) => ({
  match: { toolResult, ...(firstUser !== undefined && { firstUser }) },
  reply,
});

export const swarmPlaybook = (widths: readonly number[], delayMs = 0) => ({
  defaults: { delayMs },
  rules: [
    onPrompt('Look at part', { text: 'I look at the first file.', tool_use: readCall(FILES[0]) }),
    onResult(contentOf(FILES[0]), { text: 'Now the second one.', tool_use: readCall(FILES[1]) }),
    onResult(contentOf(FILES[1]), { text: 'Both files compute values, and nothing else.' }),
    onPrompt('Speak for part', {
      text: 'word'.repeat((DELTAS_PER_AGENT * DELTA_LENGTH) / 'word'.length),
      chunkBytes: DELTA_LENGTH,
      chunkDelayMs: 20,
    }),
    onPrompt('Answer for part', { text: 'There is nothing to report.' }),
    ...widths.flatMap((width) => [
      onPrompt(SWARM_PROMPTS.fanOut(width), { tool_use: tasks(width, 'readers', 'Look at') }),
      onPrompt(SWARM_PROMPTS.queue(width), { tool_use: tasks(width, 'readers', 'Look at', true) }),
      onPrompt(SWARM_PROMPTS.speak(width), { tool_use: tasks(width, 'readers', 'Speak for') }),
      onPrompt(SWARM_PROMPTS.answer(width), { tool_use: tasks(width, 'readers', 'Answer for') }),
      ...(['readers', 'forks'] as const).flatMap((type) => {
        const prompt = SWARM_PROMPTS.study(width, type);
        const files = Array.from({ length: STUDIED }, (_, file) => readCall(`f${file}.txt`));
        return [
          onPrompt(prompt, { text: 'I read what there is.', tool_use: files }),
          onResult(contentOf(STUDIED - 1), { tool_use: tasks(width, type, 'Look at') }, prompt),
        ];
      }),
    ]),
    { match: {}, reply: 'Done.' },
  ],
});
