/**
 * Demo script: the replies of the simulated model in `skein demo`. Tools and their results are
 * real.
 */
import { parseScript, type ScriptInput } from '../../simulator/script.js';

export const DEMO_TASK =
  'The tests of this repository fail. Fix the code, and say how wide a formation is.';

/** Command that needs an answer of the person. */
export const DEMO_COMMAND = 'node --test';

/** Teammate after whose first idle report the process is killed. */
export const FIRST_TO_IDLE = 'ada';

const PACE = { delayMs: 250, chunkBytes: 12, chunkDelayMs: 15 };

type Rule = ScriptInput['rules'][number];
type Call = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

const ruleFor = (match: NonNullable<Rule['match']>, text: string, ...calls: Call[]): Rule => ({
  match,
  reply: { ...(text !== '' && { text }), tool_use: calls },
});

const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } });

const write = (file_path: string, content: string): Call => ({
  name: 'Write',
  input: { file_path, content },
});

const edit = (file_path: string, old_string: string, new_string: string): Call => ({
  name: 'Edit',
  input: { file_path, old_string, new_string },
});

const task = (name: string, description: string, prompt: string, more: object = {}): Call => ({
  name: 'Task',
  input: { ...more, name, description, prompt },
});

const message = (to: string, text: string): Call => ({
  name: 'SendMessage',
  input: { to, message: text },
});

const CODE = 'Say how src/formation.js finds the row of a bird.';
const TESTS = 'Say what test/formation.test.js wants of five geese.';
const ADA = 'Fix the row in src/formation.js, and tell bob how rows are counted.';
const BOB =
  'Write src/span.js, which says how wide a formation is, and a test. Ask ada about rows.';
const CHECK = `Run ${DEMO_COMMAND}, and say whether all tests pass.`;

const ROWS =
  'Row 0 is the lead alone, birds 1 and 2 are in row 1, and so on: the offset is the row.';

const SPAN = `import { formation } from './formation.js';

/** How wide a formation is: from the bird on the left end to the one on the right. */
export const span = (count) => 2 * Math.max(...formation(count).map(({ row }) => row));
`;

const SPAN_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { span } from '../src/span.js';

test('one goose is a point', () => assert.equal(span(1), 0));
test('five geese are four places wide', () => assert.equal(span(5), 4));
`;

const IMPLEMENTERS: readonly Rule[] = [
  ruleFor({ firstUser: ADA, turn: 0 }, '', read('src/formation.js')),
  ruleFor(
    { firstUser: ADA, toolResult: 'Math.floor(bird / 2)' },
    '',
    edit('src/formation.js', 'Math.floor(bird / 2)', 'Math.ceil(bird / 2)'),
  ),
  ruleFor({ firstUser: ADA, toolResult: 'Replaced one passage' }, '', message('bob', ROWS)),
  ruleFor(
    { firstUser: ADA, toolResult: '/^bob (has|was)/' },
    'src/formation.js:5 rounds up now, and bob knows how rows are counted.',
  ),
  ruleFor({ firstUser: ADA }, 'Bob has the answer.'),
  ruleFor({ firstUser: BOB, turn: 0 }, '', message('ada', 'How are the rows counted?')),
  ruleFor(
    { firstUser: BOB, lastUser: 'Row 0 is the lead alone' },
    '',
    write('src/span.js', SPAN),
    write('test/span.test.js', SPAN_TEST),
  ),
  ruleFor({ firstUser: BOB, toolResult: 'span' }, 'src/span.js is written, with two tests of it.'),
  ruleFor({ firstUser: BOB }, 'I wait for ada.'),
];

const TESTER: readonly Rule[] = [
  ruleFor({ firstUser: CHECK, toolResult: '/fail 0/' }, 'Passed: 4 tests, and none fails.'),
  // Matches again after a crash, when the result says that the command was interrupted.
  ruleFor({ firstUser: CHECK }, '', { name: 'Bash', input: { command: DEMO_COMMAND } }),
];

/** Forks share the conversation of the lead, so their rules match only the newest message. */
const FORKS: readonly Rule[] = [
  ruleFor({ lastUser: CODE }, '', read('src/formation.js')),
  ruleFor({ lastUser: TESTS }, '', read('test/formation.test.js')),
  ruleFor(
    { toolResult: 'Math.floor(bird / 2)' },
    'src/formation.js:5 rounds bird / 2 down, so bird 1 is in the row of the lead.',
  ),
  ruleFor(
    { toolResult: 'the rest follow in pairs' },
    'test/formation.test.js:10 wants birds 1 and 2 in row 1, birds 3 and 4 in row 2.',
  ),
];

const lead = (isIsolated: boolean): readonly Rule[] => {
  const mate = {
    subagent_type: 'implementer',
    team_name: 'flock',
    ...(isIsolated && { isolation: 'worktree' }),
  };
  const where = isIsolated ? ', each in its own worktree' : '';
  return [
    ruleFor(
      { turn: 0, firstUser: DEMO_TASK },
      'Two forks of me look at the code and the tests, side by side.',
      task('code', 'How rows are found', CODE),
      task('tests', 'What the tests want', TESTS),
    ),
    ruleFor(
      { toolResult: '/rounds bird[^]+birds 1 and 2 in row 1/' },
      `They agree: the row is rounded down, and has to be rounded up. Two teammates share the work${where}.`,
      task('ada', 'Fix the rows', ADA, mate),
      task('bob', 'How wide it is', BOB, mate),
    ),
    ruleFor({ lastUser: 'with two tests of it' }, 'Bob is done. And ada?', {
      name: 'TaskOutput',
      input: { task_id: 'ada' },
    }),
    ruleFor({ toolResult: 'Started the teammate' }, 'They report when they are done.'),
    ruleFor(
      { toolResult: '/Agent implementer ada/' },
      'Their work is in one tree now. A tester checks everything in the background.',
      task('check', 'Run all tests', CHECK, { subagent_type: 'tester', run_in_background: true }),
    ),
    ruleFor({ toolResult: 'Started in the background' }, 'I wait until it reports.'),
    ruleFor(
      { lastUser: 'Passed: 4 tests' },
      'The tester woke me: all tests pass. The geese fly in pairs, and five of them are four places wide.',
    ),
    ruleFor({ lastUser: 'I wait for ada' }, 'Bob waits for ada.'),
    ruleFor({ lastUser: 'teammate ada' }, 'Ada is done.'),
  ];
};

export const demoScript = (isIsolated: boolean) =>
  parseScript({
    defaults: PACE,
    rules: [
      ...IMPLEMENTERS,
      ...TESTER,
      ...FORKS,
      ...lead(isIsolated),
      { reply: 'This did not go as planned: no rule of the script matches.' },
    ],
  } satisfies ScriptInput);
