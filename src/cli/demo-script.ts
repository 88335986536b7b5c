/** What the simulated model says in `skein demo`. The tools it calls, and their results, are real. */
import { parseScript } from '../simulator/script.js';

export const DEMO_TASK = 'The tests of this repository fail. Find out why, and mend the code.';

const PACE = { delayMs: 250, chunkBytes: 12, chunkDelayMs: 15 };

export const demoScript = () =>
  parseScript({
    rules: [
      {
        match: { turn: 0 },
        reply: {
          ...PACE,
          text: 'I will run the tests first, to see what fails.',
          tool_use: [{ name: 'Bash', input: { command: 'node --test', description: 'Run tests' } }],
        },
      },
      {
        match: { turn: 1, toolResult: '/fail [1-9]/' },
        reply: {
          ...PACE,
          text: 'One test fails. I will read it and the code behind it, side by side.',
          tool_use: [
            { name: 'Read', input: { file_path: 'src/formation.js' } },
            { name: 'Read', input: { file_path: 'test/formation.test.js' } },
          ],
        },
      },
      {
        match: { turn: 2, toolResult: 'Math.floor(bird / 2)' },
        reply: {
          ...PACE,
          thinking: 'Birds 1 and 2 share row 1, so the row is the bird over two, rounded up.',
          text: 'Birds 1 and 2 belong in row 1, but the row is rounded down. It has to be rounded up.',
          tool_use: [
            {
              name: 'Edit',
              input: {
                file_path: 'src/formation.js',
                old_string: 'Math.floor(bird / 2)',
                new_string: 'Math.ceil(bird / 2)',
              },
            },
          ],
        },
      },
      {
        match: { turn: 3 },
        reply: {
          ...PACE,
          text: 'Now the tests again.',
          tool_use: [{ name: 'Bash', input: { command: 'node --test', description: 'Run tests' } }],
        },
      },
      {
        match: { turn: 4, toolResult: '/fail 0/' },
        reply: {
          ...PACE,
          text: 'All tests pass. src/formation.js:4 rounded the row down, so the second goose shared the row of the lead; it is rounded up now.',
        },
      },
      {
        reply: {
          ...PACE,
          text: 'This did not go as planned: the tests did not say what I expected.',
        },
      },
    ],
  });
