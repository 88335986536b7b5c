/** What a person sends, calls back and looks for while the agent on the screen is at work. */
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
});
