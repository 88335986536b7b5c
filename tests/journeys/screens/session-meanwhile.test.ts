/** What a person sends, calls back and looks for while the agent on the screen is at work. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { calls, type Rules, setScene } from '../../fakes/skein-process.js';
import { openScreen } from '../../fakes/terminal/tmux-screen.js';
import { needs } from '../../setup/needs.js';

const ENDLESS = { text: 'word '.repeat(2_000), chunkBytes: 5, chunkDelayMs: 40 };
const TURN_MS = 500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const READY = /─\n>\n\S+ · mode/;

const RULES: Rules = [
  { match: { lastUser: 'endless' }, reply: ENDLESS },
  { reply: 'You said {{lastUser}}!' },
];

const sit = async (rules = RULES, args: readonly string[] = []) => {
  const scene = await setScene(rules);
  const screen = openScreen(scene, args, { columns: 100, rows: 30 });
  await screen.shows(READY);
  return { scene, screen };
};

needs.describe('tmux')('a session on a screen, meanwhile', () => {
  test('answers a command on lines of its own, behind the command', async () => {
    const { screen } = await sit();
    screen.say('endless');
    await screen.shows('word word word');
    screen.say('/cost');
    await screen.shows(/word\n> \/cost\n\d+ turns?, cost [^\n]*\n(?:[^\n]*\n)*word/);
    expect(screen.text()).not.toMatch(/word \d+ turns?/);
  });

  test('forgets what there was to do with the conversation, and finds it again when resumed', async () => {
    const todos = [
      { content: 'Look', status: 'completed' },
      { content: 'Mend it', activeForm: 'Mending it', status: 'in_progress' },
    ];
    const { screen, scene } = await sit([
      { match: { toolResult: '/./' }, reply: 'Noted.' },
      { match: { lastUser: 'plan' }, reply: calls('TodoWrite', { todos }) },
      ...RULES,
    ]);
    const listed = /Things to do: 1 of 2 done\n {2}● Mending it\n/;
    screen.say('plan');
    await screen.shows(/Noted\.[\s\S]*Mending it\n─/);
    screen.press('C-d');
    expect(await screen.ended()).toBe(0);

    const again = openScreen(scene, ['--continue'], { columns: 100, rows: 30 });
    await again.shows(READY);
    await again.shows(listed);
    again.say('/rewind 1');
    await again.shows(/Rewind\? \[y\/N\]/);
    await pause(TURN_MS);
    again.say('y');
    await expect.poll(again.visible).not.toMatch(/Mending it\n─/);

    again.say('plan');
    await again.shows(/Noted\.[\s\S]*Mending it\n─/);
    again.say('/clear');
    await again.shows('The conversation is cleared.');
    await expect.poll(again.visible).not.toMatch(/Mending it\n─/);
  });

  test('shows that a prompt waits until it has been read, also while a request is sent again', async () => {
    const { screen } = await sit([
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

  test('says that it goes on with what was sent, when it is interrupted with that waiting', async () => {
    const { screen } = await sit();
    screen.say('endless');
    await screen.shows('word word word');
    screen.say('rather this');
    await screen.shows('waits for the next step: rather this');
    screen.press('Escape');
    await screen.shows(/\(Interrupted\. The agent continues with the messages that were sent/);
    await screen.shows('You said rather this!');
    expect(screen.text()).not.toContain('Say what to do instead');
  });

  test('shows the beginning of a long paste, and sends all of it', async () => {
    const { screen, scene } = await sit([{ reply: 'Read.' }]);
    screen.paste('x'.repeat(30_000));
    await screen.shows(/x{40}/);
    screen.press('Enter');
    await screen.shows(/\n {2}\(28,000 more characters\)\n\nRead\./);
    expect(screen.text().match(/x{40,}/g)?.length).toBeLessThan(30);
    expect(JSON.stringify(scene.bodies().at(-1))).toContain('x'.repeat(30_000));
  });

  test('goes back past commands and files in the history, and suggests nothing for them', async () => {
    const { screen, scene } = await sit();
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
