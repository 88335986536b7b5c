import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { replayKeys } from '../../../src/ui/replay/replay-keys.js';
import { ReplaySource } from '../../../src/ui/replay/replay-source.js';
import { TransportLine } from '../../../src/ui/replay/transport-line.js';
import { keyName } from '../../../src/ui/screen/key-name.js';
import { Screen } from '../../../src/ui/screen/screen.js';
import { SwarmScene } from '../../../src/ui/swarm/swarm-scene.js';
import { recordingHost } from '../../fakes/terminal/recording-host.js';
import { playedSwarm } from './played-swarm.js';

const style = { unicode: true, paint: paintFor(false) };

/** Opens the scene of `skein replay` on a recording terminal. */
const showOn = (source: ReplaySource, columns: number, rows: number) => {
  const host = recordingHost(columns, rows);
  const screen = new Screen(host, (error) => {
    throw error;
  });
  const transport = new TransportLine(source.clock, style, () => '');
  const scene = new SwarmScene({
    source,
    style,
    title: 'skein replay',
    hints: replayKeys.hints,
    help: replayKeys.help,
    leave: () => {},
    line: (width) => transport.text(width),
    press: (key) => {
      const isOwn = replayKeys.press(source.clock, keyName(key));
      if (isOwn) source.clockChanged();
      return isOwn;
    },
  });
  screen.showFullScreen(scene);
  const close = () => {
    screen.close();
    source.close();
  };
  const press = (sequence: string, name = sequence) => scene.press({ name, sequence });
  const text = () => {
    scene.content.notifyNow();
    return host.terminal.screen().join('\n');
  };
  /** Waits for text, because the transcript of a selected agent opens after a delay. */
  const waitForText = async (expected: string | RegExp) => {
    await expect.poll(text).toMatch(expected);
    return text();
  };
  return { press, waitForText, text, close, screen: () => host.terminal.screen() };
};

describe('the replay scene', () => {
  const open = async (columns = 160, rows = 40) => {
    const { store, log } = await playedSwarm();
    const source = new ReplaySource(store, log);
    const shown = showOn(source, columns, rows);
    onTestFinished(shown.close);
    return { ...shown, source };
  };

  test('shows agents, states and transcripts as of the selected time', async () => {
    const { press, waitForText } = await open();
    for (const key of ['n', 'n', 'j', 'j']) press(key);
    const asking = await waitForText('The agent asks for permission to run Edit a.ts: no rule');
    expect(asking).toMatch(/edit +\? +awaiting-permission/);
    expect(asking).toContain('[awaiting-permission]');
    expect(asking).toContain('+two');
    expect(asking).not.toContain('Replaced one passage');
    press('\u001b[F', 'end');
    const over = await waitForText('ok Edit a.ts: Replaced one passage.');
    expect(over).toMatch(/edit +✓ ended/);
    expect(over).toContain('event 22 of 22');
    for (const key of [',', ',', ',', ',', ',', ',', ',']) press(key);
    await waitForText('[awaiting-permission]');
    await expect.poll(() => waitForText('event 15')).not.toContain('Replaced');
  });

  test('lists its own keys first and no steering keys', async () => {
    const { press, screen } = await open();
    const footer = screen().at(-1) ?? '';
    expect(footer).toMatch(/^Space play {2}\+ - speed/);
    expect(footer).not.toMatch(/fold|filter|stop|message/);
    press('?');
    const help = screen().join('\n');
    expect(help).toContain('play or pause');
    expect(help).not.toMatch(/write to it|stop it/);
  });

  test('shows the transport line below a full-screen transcript', async () => {
    const { press, waitForText, screen } = await open(80, 24);
    press('\u001b[F', 'end');
    press('\r', 'return');
    await waitForText('It is mended.');
    expect(screen().at(-2)).toContain('event 22 of 22');
  });

  test.each([60, 80, 120, 160, 250])('fits into %i columns', async (columns) => {
    const { press, screen } = await open(columns, 30);
    press('n');
    const lines = screen();
    expect(lines).toHaveLength(30);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
    expect(lines.join('\n')).toMatch(/event +1\d of 22|\d:\d\d of \d+:\d\d/);
  });

  test('plays to the end and pauses there', async () => {
    const { source, press, screen } = await open();
    for (let times = 0; times < 12; times += 1) press('+');
    press(' ', 'space');
    await expect.poll(() => screen().join('\n')).toContain('‖ end');
    expect(source.clock.isPlaying).toBe(false);
  });

  test('pauses after a jump to the start or the end, in both directions', async () => {
    const { source, press } = await open();
    const { clock } = source;
    for (const isBackwards of [false, true]) {
      for (const key of ['end', 'home']) {
        clock.seek(10);
        clock.isBackwards = isBackwards;
        clock.isPlaying = true;
        press(key);
        const there = clock.position;
        expect([clock.isPlaying, clock.share]).toEqual([false, key === 'end' ? 1 : 0]);
        expect([clock.tick(500), clock.position]).toEqual([false, there]);
      }
    }
  });

  test('shows the same screen at a position for any path to it', async () => {
    const { store, log } = await playedSwarm();
    const keys = fc.constantFrom('.', ',', '<', '>', 'n', 'N', 'b');
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { minLength: 3, maxLength: 12 }), async (pressed) => {
        const walkedSource = new ReplaySource(store, log);
        const walked = showOn(walkedSource, 160, 40);
        for (const key of pressed) walked.press(key);
        const freshSource = new ReplaySource(store, log);
        const { position, isBackwards } = walkedSource.clock;
        freshSource.clock.seek(position);
        if (isBackwards) freshSource.clock.reverse();
        walkedSource.clock.seek(position);
        const fresh = showOn(freshSource, 160, 40);
        try {
          if (position > 0) await fresh.waitForText('The agent started in');
          await expect.poll(walked.text).toBe(fresh.text());
        } finally {
          walked.close();
          fresh.close();
        }
      }),
      { numRuns: 5 },
    );
  });
});
