/** What the simulated model says in `skein demo`. The tools that it calls, and their results, are real. */
import { parseScript, type ScriptInput } from '../simulator/script.js';

export const DEMO_TASK = 'The tests of this repository fail. Mend the code, and test it better.';

/** The one command that an agent asks for. */
export const DEMO_COMMAND = 'node --test';

const PACE = { delayMs: 250, chunkBytes: 12, chunkDelayMs: 15 };

type Rule = ScriptInput['rules'][number];
type Call = { readonly name: string; readonly input: Readonly<Record<string, unknown>> };

const says = (match: NonNullable<Rule['match']>, text: string, ...calls: Call[]): Rule => ({
  match,
  reply: { ...(text !== '' && { text }), tool_use: calls },
});

const read = (file_path: string): Call => ({ name: 'Read', input: { file_path } });

const edit = (file_path: string, old_string: string, new_string: string): Call => ({
  name: 'Edit',
  input: { file_path, old_string, new_string },
});

const task = (name: string, description: string, prompt: string, more: object = {}): Call => ({
  name: 'Task',
  input: { ...more, name, description, prompt },
});

const EXPLORER = { subagent_type: 'explorer' };
const CODE = 'Say how src/formation.js finds the row of a bird.';
const TESTS = 'Say what test/formation.test.js wants of five geese.';
const WORDS = 'Say what README.md promises about the flock.';
const PAIR = 'Add a test of two geese to test/formation.test.js.';
const ROWS = 'Say in README.md that the geese fly in pairs.';
const CHECK = `Run ${DEMO_COMMAND}, and say whether all tests pass.`;

const NEW_TEST = `import { formation } from '../src/formation.js';

test('the second goose is not beside the lead', () => {
  assert.equal(formation(2)[1].row, 1);
});`;

const EXPLORERS: readonly Rule[] = [
  says({ firstUser: CODE, turn: 0 }, '', read('src/formation.js')),
  says(
    { firstUser: CODE, toolResult: 'Math.floor(bird / 2)' },
    'src/formation.js:5 rounds bird / 2 down, so bird 1 is in the row of the lead.',
  ),
  says({ firstUser: TESTS, turn: 0 }, '', read('test/formation.test.js')),
  says(
    { firstUser: TESTS, toolResult: 'the rest follow in pairs' },
    'test/formation.test.js:10 wants birds 1 and 2 in row 1, birds 3 and 4 in row 2.',
  ),
  says({ firstUser: WORDS, turn: 0 }, '', read('README.md')),
  says(
    { firstUser: WORDS, toolResult: '# flock' },
    'README.md:3 promises a V behind one that leads; it says nothing of pairs.',
  ),
];

const TESTER: readonly Rule[] = [
  says({ firstUser: CHECK, turn: 0 }, '', { name: 'Bash', input: { command: DEMO_COMMAND } }),
  says({ firstUser: CHECK, toolResult: '/fail 0/' }, 'Passed: 3 tests, and none fails.'),
];

/** They go on from the words of the lead, so only what they have just heard tells them from it. */
const FORKS: readonly Rule[] = [
  says({ lastUser: PAIR }, '', read('test/formation.test.js')),
  says({ lastUser: ROWS }, '', read('README.md')),
  says(
    { toolResult: '/^Replaced .+formation\\.test\\.js/' },
    'test/formation.test.js:5 has a test of two geese now.',
  ),
  says({ toolResult: '/^Replaced .+README\\.md/' }, 'README.md:3 speaks of pairs now.'),
  says(
    { toolResult: 'the rest follow in pairs' },
    '',
    edit('test/formation.test.js', "import { formation } from '../src/formation.js';", NEW_TEST),
  ),
  says(
    { toolResult: '# flock' },
    '',
    edit('README.md', 'one leads, the rest follow in a V.', 'one leads, pairs follow in a V.'),
  ),
];

const LEAD: readonly Rule[] = [
  says(
    { turn: 0, firstUser: DEMO_TASK },
    'Three explorers look at the code, the tests and the README, side by side.',
    task('code', 'How rows are found', CODE, EXPLORER),
    task('tests', 'What the tests want', TESTS, EXPLORER),
    task('words', 'What the README says', WORDS, EXPLORER),
  ),
  says(
    { turn: 1, toolResult: '/rounds bird[^]+birds 1 and 2 in row 1/' },
    'They agree: the row is rounded down, and has to be rounded up.',
    read('src/formation.js'),
  ),
  says(
    { turn: 2, toolResult: 'Math.floor(bird / 2)' },
    '',
    edit('src/formation.js', 'Math.floor(bird / 2)', 'Math.ceil(bird / 2)'),
  ),
  says(
    { turn: 3, toolResult: 'Replaced one passage' },
    'Two forks of me know all this: one adds a test, one mends the README.',
    task('pair', 'A test of two geese', PAIR),
    task('rows', 'Pairs in the README', ROWS),
  ),
  says(
    { turn: 4, toolResult: '/test of two geese now[^]+speaks of pairs now/' },
    'A tester checks everything in the background.',
    task('check', 'Run all tests', CHECK, { subagent_type: 'tester', run_in_background: true }),
  ),
  says(
    { turn: { min: 5 }, lastUser: 'Passed: 3 tests' },
    'The tester woke me: all tests pass. The geese fly in pairs behind the lead.',
  ),
  says({ turn: 5, toolResult: 'Started in the background' }, 'I rest until it reports.'),
];

export const demoScript = () =>
  parseScript({
    defaults: PACE,
    rules: [
      ...[...EXPLORERS, ...TESTER, ...FORKS, ...LEAD],
      { reply: 'This did not go as planned: I did not hear what I expected.' },
    ],
  } satisfies ScriptInput);
