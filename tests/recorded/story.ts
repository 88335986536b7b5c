/** The recorded session: prompts of the user, answers of the model, and the prompts of a resume. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reply, Rules } from '../fakes/skein-process.js';
import { SESSION } from './recorded-place.js';

/** The prompt of the resume. No text of Skein contains it, so a search finds it in a request body. */
export const NEXT_PROMPT = 'Task seven: say how many geese there are. ü🪿';

/** The prompt that makes the lead write to its ended agents. */
export const WAKE_PROMPT = 'Task eight: ask them again.';

/** The message from the lead to each of its agents. */
export const WAKE_MESSAGE = 'And the swans?';

export const RESUME = ['--resume', SESSION];

/** Rewinds the prompts that changed files and keeps the earlier prompts. */
export const REWIND = ['rewind', SESSION, '--to', '8', '--yes'];

/** Commands that show the past of the session, by the name of their output in the fixture. */
export const LOOKS = {
  sessions: ['sessions', '--json'],
  report: ['report', SESSION, '--json'],
  replay: ['replay', SESSION, '--json'],
  cost: ['cost', SESSION, '--json'],
  'rewind-points': ['rewind', SESSION, '--list', '--json'],
};

/** Prompts of an interactive session. Compaction keeps the newest messages, so it needs several. */
export const COUNTING = ['one', 'two', 'three', 'four', 'five', 'six'].map((at) => `Count ${at}.`);

export const PROMPTS = {
  read: 'Task one: read the notes.',
  change: 'Task two: change the notes.',
  share: 'Task three: share the work.',
  ask: 'Task four: ask before you run.',
  sum: 'Task five: sum up.',
};

/** Prompts of the agents that the lead starts, by name: a typed agent, a fork and a background agent. */
export const HELPERS = {
  scout: 'Find the geese.',
  half: 'Count a half.',
  watcher: 'Watch the geese.',
};

const task = (name: keyof typeof HELPERS, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: { name, description: `The ${name}`, prompt: HELPERS[name], ...more },
});
const explorer = { subagent_type: 'explorer' };
const bash = (command: string): Reply => ({ tool_use: { name: 'Bash', input: { command } } });
const read = (file_path: string): Reply => ({ tool_use: { name: 'Read', input: { file_path } } });

const LEAD: Rules = [
  {
    match: { lastUser: PROMPTS.read },
    reply: { thinking: 'Hm. ü🪿', text: 'I look.', ...read('notes.txt') },
  },
  {
    match: { lastUser: PROMPTS.change },
    reply: {
      thinking: 'First the notes.',
      tool_use: [
        { name: 'Read', input: { file_path: 'notes.txt' } },
        {
          name: 'Edit',
          input: { file_path: 'notes.txt', old_string: 'two', new_string: 'twenty' },
        },
        { name: 'Write', input: { file_path: 'made.txt', content: 'made\r\nü🪿\n' } },
      ],
    },
  },
  {
    match: { toolResult: 'made.txt' },
    reply: bash('mkdir sub && mv old.txt sub/new.txt && echo moved-it'),
  },
  { match: { toolResult: 'moved-it' }, reply: 'The notes are changed.' },
  {
    match: { lastUser: PROMPTS.share },
    reply: { thinking: 'So.', tool_use: [task('scout', explorer)] },
  },
  { match: { toolResult: 'The scout saw geese.' }, reply: { tool_use: [task('half')] } },
  {
    match: { toolResult: 'The half is counted.' },
    reply: { tool_use: [task('watcher', { ...explorer, run_in_background: true })] },
  },
  { match: { lastUser: 'The watcher saw geese.' }, reply: 'All have reported.' },
  { match: { lastUser: PROMPTS.ask }, reply: bash('touch allowed.txt && echo allowed-it') },
  { match: { toolResult: 'allowed-it' }, reply: bash('touch denied.txt') },
  { match: { toolResult: 'not on a Monday' }, reply: 'One was denied.' },
  {
    match: { lastUser: WAKE_PROMPT },
    reply: {
      tool_use: Object.keys(HELPERS).map((to) => {
        return { name: 'SendMessage', input: { to, message: WAKE_MESSAGE } };
      }),
    },
  },
];

const AGENTS: Rules = [
  { match: { lastUser: WAKE_MESSAGE }, reply: 'There are no swans.' },
  { match: { lastUser: HELPERS.scout }, reply: read('notes.txt') },
  {
    match: { lastUser: HELPERS.half },
    reply: { tool_use: { name: 'Write', input: { file_path: 'half.txt', content: 'half\n' } } },
  },
  { match: { toolResult: 'half.txt' }, reply: 'The half is counted.' },
  { match: { lastUser: HELPERS.watcher }, reply: read('sub/new.txt') },
  { match: { firstUser: HELPERS.scout }, reply: 'The scout saw geese.' },
  { match: { firstUser: HELPERS.watcher }, reply: 'The watcher saw geese.' },
];

export const RULES: Rules = [
  { match: { lastUser: '/summar/i' }, reply: '<summary>They counted geese.</summary>' },
  ...LEAD,
  ...AGENTS,
  { reply: 'Turn {{turn}} is done.' },
];

/** Writes the files that the workspace has before the session. */
export const writeWorkspace = async (workspace: string): Promise<void> => {
  const files = {
    'CLAUDE.md': 'Be brief. ü🪿\n',
    'notes.txt': 'one goose\ntwo geese\n',
    'old.txt': 'old\n',
  };
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(workspace, name), content);
  }
};
