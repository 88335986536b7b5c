/** What a person sends, calls back and looks for while the agent on the screen is at work. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Rules, setScene } from '../fakes/skein-process.js';
import { openScreen } from '../fakes/tmux-screen.js';
import { needs } from '../setup/needs.js';

const ENDLESS = { text: 'word '.repeat(2_000), chunkBytes: 5, chunkDelayMs: 40 };
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
