/** A team in a real tmux: each teammate has its own pane that shows its activity. */
import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../fakes/eventually.js';
import { setScene } from '../../fakes/skein-process.js';
import { needs } from '../../setup/needs.js';

const PROGRAM = resolve(process.env.SKEIN_TEST_DIST ?? 'dist', 'skein.cjs');

needs.describe('tmux')('a session in tmux', () => {
  test('shows each teammate in its own pane with SKEIN_TEAMMATES=tmux', async () => {
    const teammate = (name: string) => ({
      name: 'Task',
      input: {
        description: `be ${name}`,
        prompt: `part-${name}`,
        subagent_type: 'explorer',
        name,
        team_name: 'geese',
      },
    });
    const scene = await setScene([
      { match: { firstUser: 'part-' }, reply: 'I rest.' },
      { match: { turn: 0 }, reply: { tool_use: [teammate('ada'), teammate('bob')] } },
      { reply: 'Done.' },
    ]);
    const server = `panes-${process.pid}`;
    const tmux = (...args: readonly string[]) =>
      execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { PATH: process.env.PATH, HOME: scene.home, TERM: 'screen', LANG: 'C.UTF-8' },
      });
    const variables = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: scene.home,
      SKEIN_HOME: scene.skeinHome,
      SKEIN_TEAMMATES: 'tmux',
      ANTHROPIC_API_KEY: 'sk-of-the-test',
      ANTHROPIC_BASE_URL: scene.simulator.url,
      IS_SANDBOX: '1',
    };
    const environment = Object.entries(variables).flatMap(([name, value]) => [
      '-e',
      `${name}=${value}`,
    ]);
    const where = ['-x', '120', '-y', '60', '-c', scene.workspace];
    tmux('new-session', '-d', ...where, ...environment, process.execPath, PROGRAM, '--plain');
    onTestFinished(() => void spawnSync('tmux', ['-L', server, 'kill-server']));
    const screen = (pane: string) => tmux('capture-pane', '-p', '-J', '-t', pane);
    await eventually('the prompt is shown', () => /^>/m.test(screen('%0')) || undefined);
    tmux('send-keys', '-t', '%0', 'Begin.', 'Enter');
    const panes = await eventually('there are three panes', () => {
      const ids = tmux('list-panes', '-F', '#{pane_id}').trim().split('\n');
      return ids.length === 3 ? ids : undefined;
    });
    const shown = await eventually('both panes show the end of a run', () => {
      const texts = panes.slice(1).map(screen);
      return texts.every((text) => text.includes('run ended')) ? texts.join('\n') : undefined;
    });
    expect(shown).toMatch(/explorer called ada/);
    expect(shown).toMatch(/explorer called bob/);
    tmux('send-keys', '-t', '%0', 'C-d');
    await eventually('the panes close with the session', () => {
      try {
        return tmux('list-panes', '-a').trim() === '' || undefined;
      } catch {
        return true;
      }
    });
  });
});
