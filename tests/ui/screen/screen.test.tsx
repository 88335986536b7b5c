import { Box, Text } from 'ink';
import { describe, expect, test } from 'vitest';
import { Observable } from '../../../src/ui/screen/observable.js';
import { type Scene, Screen } from '../../../src/ui/screen/screen.js';
import { recordingHost } from '../../fakes/terminal/recording-host.js';

const scene = (text: () => string): Scene & { readonly content: Observable } => ({
  content: new Observable(),
  draw: ({ columns }) => (
    <Box flexDirection="column" width={columns}>
      {text()
        .split('\n')
        .map((line) => (
          <Text key={line}>{line}</Text>
        ))}
    </Box>
  ),
});

const setUp = () => {
  const host = recordingHost();
  const defects: unknown[] = [];
  const screen = new Screen(host, (error) => defects.push(error));
  return { host, terminal: host.terminal, screen, defects };
};

describe('a screen', () => {
  test('shows its live part below the output', () => {
    const { screen, terminal } = setUp();
    let text = 'prompt';
    const live = scene(() => text);
    screen.showInline(live);
    screen.print('hello\n');
    text = 'prompt 2';
    live.content.notifyNow();
    expect(terminal.screen()).toEqual(['hello', 'prompt 2']);
  });

  test('draws no frames while its output is not read, and the current state afterwards', () => {
    const { screen, host, terminal } = setUp();
    let text = 'prompt';
    const live = scene(() => text);
    screen.showInline(live);
    const before = terminal.raw;
    host.read(false);
    for (let at = 1; at <= 1_000; at += 1) {
      text = `prompt ${at}`;
      screen.print(`line ${at}\n`);
      live.content.notifyNow();
    }
    expect(terminal.raw).toBe(before);
    host.read(true);
    expect([...terminal.history(), ...terminal.screen()].slice(-3)).toEqual([
      'line 999',
      'line 1000',
      'prompt 1000',
    ]);
    expect(terminal.history()[0]).toBe('line 1');
  });

  test('redraws below foreign output after the process was stopped', () => {
    const { screen, host, terminal } = setUp();
    screen.showInline(scene(() => 'prompt\nstatus'));
    terminal.write('\r\n[1]+ Stopped\r\n');
    host.resume();
    expect(terminal.screen()).toEqual(['prompt', 'status', '[1]+ Stopped', 'prompt', 'status']);
  });

  test('holds back output while a full-screen scene is open', () => {
    const { screen, terminal } = setUp();
    const live = scene(() => 'prompt');
    screen.showInline(live);
    const close = screen.showFullScreen(scene(() => 'all of it'));
    screen.print('meanwhile\n');
    live.content.notifyNow();
    expect(terminal.screen()).toEqual(['all of it']);
    close();
    expect(terminal.screen()).toEqual(['meanwhile', 'prompt']);
  });

  test('keeps the newest held-back output and mentions the dropped output', () => {
    const { screen, terminal } = setUp();
    screen.showInline(scene(() => 'prompt'));
    const close = screen.showFullScreen(scene(() => 'all of it'));
    for (let at = 0; at < 50; at += 1) screen.print(`${'x'.repeat(50_000)}\nline ${at}\n`);
    close();
    expect(terminal.screen().slice(-2)).toEqual(['line 49', 'prompt']);
    expect(terminal.history().join('\n')).toContain('Some output was dropped here');
  });

  test('returns to the scene below when the top scene closes', () => {
    const { screen, terminal } = setUp();
    const closeFirst = screen.showFullScreen(scene(() => 'first'));
    const closeSecond = screen.showFullScreen(scene(() => 'second'));
    expect(terminal.screen()).toEqual(['second']);
    closeSecond();
    expect(terminal.screen()).toEqual(['first']);
    closeFirst();
    expect(terminal.isAlternate).toBe(false);
  });

  test('restores the terminal if the process exits without closing it', () => {
    const { screen, host, terminal } = setUp();
    screen.showInline(scene(() => 'prompt'));
    screen.print('said\n');
    screen.showFullScreen(scene(() => 'all of it'));
    host.crash();
    // Changes after the release are not shown.
    screen.redraw();
    screen.flush();
    expect(terminal.isAlternate).toBe(false);
    expect(terminal.cursor.isShown).toBe(true);
    expect(terminal.screen()).toEqual(['said']);
  });

  test('shows its content again after release() and acquire()', () => {
    const { screen, terminal } = setUp();
    screen.showInline(scene(() => 'prompt'));
    screen.release();
    expect(terminal.screen()).toEqual([]);
    screen.acquire();
    expect(terminal.screen()).toEqual(['prompt']);
  });

  test('reports a component that throws', async () => {
    const { screen, defects } = setUp();
    const shown = new Observable();
    let isBroken = false;
    screen.showInline({ content: shown, draw: () => <Fragile isBroken={isBroken} /> });
    isBroken = true;
    shown.notifyNow();
    await expect.poll(() => defects).toEqual([new Error('broken')]);
  });
});

const Fragile = ({ isBroken }: { readonly isBroken: boolean }) => {
  if (isBroken) throw new Error('broken');
  return <Text>fine</Text>;
};
