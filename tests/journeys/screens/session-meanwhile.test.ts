/** Input to the session screen while the agent runs: commands, prompts, interrupts and history. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, type Rules, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const ENDLESS = { text: 'word '.repeat(2_000), chunkBytes: 5, chunkDelayMs: 40 };
/** Longer than the time in which a new question ignores keys. */
const KEY_DELAY_MS = 500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const READY = /─\n>\n\S+ · mode/;

const RULES: Rules = [
  { match: { lastUser: 'endless' }, reply: ENDLESS },
  { reply: 'You said {{lastUser}}!' },
];

const openSession = async (rules = RULES, args: readonly string[] = []) => {
  const scene = await setScene(rules);
  const screen = openScreen(scene, args, { columns: 100, rows: 30 });
  await screen.shows(READY);
  return { scene, screen };
};

needs.describe('tmux')('a session screen with a running agent', () => {
  test('prints the answer of a command on separate lines after the command', async () => {
    const { screen } = await openSession();
    screen.say('endless');
    await screen.shows('word word word');
    screen.say('/cost');
    await screen.shows(/word\n> \/cost\n\d+ turns?, cost [^\n]*\n(?:[^\n]*\n)*word/);
    expect(screen.text()).not.toMatch(/word \d+ turns?/);
  });

  test('shows the todo list again after a resume, and removes it after /rewind and /clear', async () => {
    const todos = [
      { content: 'Look', status: 'completed' },
      { content: 'Mend it', activeForm: 'Mending it', status: 'in_progress' },
    ];
    const { screen, scene } = await openSession([
      { match: { toolResult: '/./' }, reply: 'Noted.' },
      { match: { lastUser: 'plan' }, reply: calls('TodoWrite', { todos }) },
      ...RULES,
    ]);
    const listed = /Things to do: 1 of 2 done\n {2}● Mending it\n/;
    screen.say('plan');
    await screen.shows(/Noted\.[\s\S]*Mending it\n─/);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);

    const resumed = openScreen(scene, ['--continue'], { columns: 100, rows: 30 });
    await resumed.shows(READY);
    await resumed.shows(listed);
    resumed.say('/rewind 1');
    await resumed.shows(/Rewind\? \[y\/N\]/);
    await pause(KEY_DELAY_MS);
    resumed.say('y');
    await expect.poll(resumed.visible).not.toMatch(/Mending it\n─/);

    resumed.say('plan');
    await resumed.shows(/Noted\.[\s\S]*Mending it\n─/);
    resumed.say('/clear');
    await resumed.shows('The conversation is cleared.');
    await expect.poll(resumed.visible).not.toMatch(/Mending it\n─/);
  });

  test('shows a waiting prompt until the agent reads it, even during a retry', async () => {
    const { screen } = await openSession([
      {
        match: { lastUser: 'slow' },
        replies: [
          { error: { status: 529, retryAfter: 2 } },
          { text: 'At last. '.repeat(20), chunkBytes: 9, chunkDelayMs: 200 },
        ],
      },
      ...RULES,
    ]);
    screen.say('slow');
    await screen.shows('retrying');
    screen.say('and then');
    await screen.shows('waits for the next step: and then');
    await screen.shows('At last. At last.');
    expect(screen.visible()).toContain('waits for the next step: and then');
    await screen.shows('You said and then!');
    expect(screen.visible()).not.toContain('waits for its next step');
  });

  test('ends the wait for the next attempt on Escape', async () => {
    const busy = { error: { status: 529, retryAfter: 600 } };
    const { screen } = await openSession([{ match: { lastUser: 'busy' }, reply: busy }, ...RULES]);
    screen.say('busy');
    await screen.shows('Attempt 2 of 11 starts in 600 s.');
    screen.press('Escape');
    await screen.shows('(Interrupted. Say what to do instead');
    screen.say('rather this');
    await screen.shows('You said rather this!');
  });

  test('says after an interrupt that the agent continues with the waiting prompt', async () => {
    const { screen } = await openSession();
    screen.say('endless');
    await screen.shows('word word word');
    screen.say('rather this');
    await screen.shows('waits for the next step: rather this');
    screen.press('Escape');
    await screen.shows(/\(Interrupted\. The agent continues with the messages that were sent/);
    await screen.shows('You said rather this!');
    expect(screen.text()).not.toContain('Say what to do instead');
  });

  test('shows the start of a long paste and sends all of it', async () => {
    const { screen, scene } = await openSession([{ reply: 'Read.' }]);
    screen.paste('x'.repeat(30_000));
    await screen.shows(/x{40}/);
    screen.press('Enter');
    await screen.shows(/\n {2}\(28,000 more characters\)\n\nRead\./);
    expect(screen.text().match(/x{40,}/g)?.length).toBeLessThan(30);
    expect(JSON.stringify(scene.bodies().at(-1))).toContain('x'.repeat(30_000));
  });

  test('recalls prompts with commands and files from the history without suggestions', async () => {
    const { screen, scene } = await openSession();
    writeFileSync(join(scene.workspace, 'notes.md'), '');
    screen.say('first prompt');
    await screen.shows('You said first prompt!');
    screen.type('see @notes');
    await screen.shows('❯ @notes.md');
    screen.press('Tab', 'BSpace', 'Enter');
    await screen.shows('You said see @notes.md!');
    screen.say('/cost');
    await screen.shows(/cost \$/);
    screen.press('Up', 'Up');
    await screen.shows(/─\n> see @notes\.md\n\S+ · mode/);
    screen.press('Up');
    await screen.shows(/─\n> first prompt\n\S+ · mode/);
    screen.press('Down', 'Down');
    await screen.shows(/─\n> \/cost\n\S+ · mode/);
    screen.press('BSpace');
    await screen.shows(/❯ \/cost/);
  });
});
