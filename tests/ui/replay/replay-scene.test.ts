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
import { paperMachine } from '../../fakes/terminal/recording-host.js';
import { playedSwarm } from './played-swarm.js';

const look = { unicode: true, paint: paintFor(false) };

/** The scene as `skein replay` opens it, on paper. */
const showOn = (source: ReplaySource, columns: number, rows: number) => {
  const machine = paperMachine(columns, rows);
  const screen = new Screen(machine, (error) => {
    throw error;
  });
  const transport = new TransportLine(source.clock, look, () => '');
  const scene = new SwarmScene({
    source,
    style: look,
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
    return machine.paper.screen().join('\n');
  };
  /** Delay after which the transcript of a selected agent opens. */
  const shows = async (what: string | RegExp) => {
    await expect.poll(text).toMatch(what);
    return text();
  };
  return { press, shows, text, close, screen: () => machine.paper.screen() };
};

describe('the screen of a replay', () => {
  const open = async (columns = 160, rows = 40) => {
    const { store, log } = await playedSwarm();
    const source = new ReplaySource(store, log);
    const shown = showOn(source, columns, rows);
    onTestFinished(shown.close);
    return { ...shown, source };
  };

  test('shows agents, states and transcripts as they were at a moment', async () => {
    const { press, shows } = await open();
    for (const key of ['n', 'n', 'j', 'j']) press(key);
    const asking = await shows('The agent asks for permission to run Edit a.ts: no rule');
    expect(asking).toMatch(/edit +\? +awaiting-permission/);
    expect(asking).toContain('[awaiting-permission]');
    expect(asking).toContain('+two');
    expect(asking).not.toContain('Replaced one passage');
    press('\u001b[F', 'end');
    const over = await shows('ok Edit a.ts: Replaced one passage.');
    expect(over).toMatch(/edit +✓ ended/);
    expect(over).toContain('event 22 of 22');
    for (const key of [',', ',', ',', ',', ',', ',', ',']) press(key);
    await shows('[awaiting-permission]');
    await expect.poll(() => shows('event 15')).not.toContain('Replaced');
  });

  test('tells its own keys ahead of the others, and none that steer', async () => {
    const { press, screen } = await open();
    const footer = screen().at(-1) ?? '';
    expect(footer).toMatch(/^Space play {2}\+ - speed/);
    expect(footer).not.toMatch(/fold|filter|stop|message/);
    press('?');
    const help = screen().join('\n');
    expect(help).toContain('play or pause');
    expect(help).not.toMatch(/write to it|stop it/);
  });

  test('keeps the tape in sight of a transcript that has the whole screen', async () => {
    const { press, shows, screen } = await open(80, 24);
    press('\u001b[F', 'end');
    press('\r', 'return');
    await shows('It is mended.');
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

  test('plays by itself, and rests at the end', async () => {
    const { source, press, screen } = await open();
    for (let times = 0; times < 12; times += 1) press('+');
    press(' ', 'space');
    await expect.poll(() => screen().join('\n')).toContain('‖ end');
    expect(source.clock.isPlaying).toBe(false);
  });

  test('stays at the beginning and at the end when it is sent there, whichever way it runs', async () => {
    const { source, press } = await open();
    const { clock: tape } = source;
    for (const isBackwards of [false, true]) {
      for (const key of ['end', 'home']) {
        tape.seek(10);
        tape.isBackwards = isBackwards;
        tape.isPlaying = true;
        press(key);
        const there = tape.position;
        expect([tape.isPlaying, tape.share]).toEqual([false, key === 'end' ? 1 : 0]);
        expect([tape.tick(500), tape.position]).toEqual([false, there]);
      }
    }
  });

  test('shows the same at the same moment, however one got there', async () => {
    const { store, log } = await playedSwarm();
    const keys = fc.constantFrom('.', ',', '<', '>', 'n', 'N', 'b');
    await fc.assert(
      fc.asyncProperty(fc.array(keys, { minLength: 3, maxLength: 12 }), async (pressed) => {
        const one = new ReplaySource(store, log);
        const wanderer = showOn(one, 160, 40);
        for (const key of pressed) wanderer.press(key);
        const other = new ReplaySource(store, log);
        const { position, isBackwards } = one.clock;
        other.clock.seek(position);
        if (isBackwards) other.clock.reverse();
        one.clock.seek(position);
        const fresh = showOn(other, 160, 40);
        try {
          if (position > 0) await fresh.shows('The agent started in');
          await expect.poll(wanderer.text).toBe(fresh.text());
        } finally {
          wanderer.close();
          fresh.close();
        }
      }),
      { numRuns: 5 },
    );
  });
});
