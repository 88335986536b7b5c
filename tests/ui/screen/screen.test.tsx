import { Box, Text } from 'ink';
import { describe, expect, test } from 'vitest';
import { Observable } from '../../../src/ui/screen/observable.js';
import { type Scene, Screen } from '../../../src/ui/screen/screen.js';
import { paperMachine } from '../../fakes/terminal/recording-host.js';

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
  const host = paperMachine();
  const defects: unknown[] = [];
  const screen = new Screen(host, (error) => defects.push(error));
  return { host, paper: host.paper, screen, defects };
};

describe('a screen', () => {
  test('shows its live part below the output', () => {
    const { screen, paper } = setUp();
    let text = 'prompt';
    const live = scene(() => text);
    screen.showInline(live);
    screen.print('hello\n');
    text = 'prompt 2';
    live.content.notifyNow();
    expect(paper.screen()).toEqual(['hello', 'prompt 2']);
  });

  test('draws no frames while its output is not read, and the current state afterwards', () => {
    const { screen, host, paper } = setUp();
    let text = 'prompt';
    const live = scene(() => text);
    screen.showInline(live);
    const before = paper.raw;
    host.read(false);
    for (let at = 1; at <= 1_000; at += 1) {
      text = `prompt ${at}`;
      screen.print(`line ${at}\n`);
      live.content.notifyNow();
    }
    expect(paper.raw).toBe(before);
    host.read(true);
    expect([...paper.history(), ...paper.screen()].slice(-3)).toEqual([
      'line 999',
      'line 1000',
      'prompt 1000',
    ]);
    expect(paper.history()[0]).toBe('line 1');
  });

  test('redraws below foreign output after the process was stopped', () => {
    const { screen, host, paper } = setUp();
    screen.showInline(scene(() => 'prompt\nstatus'));
    paper.write('\r\n[1]+ Stopped\r\n');
    host.goOn();
    expect(paper.screen()).toEqual(['prompt', 'status', '[1]+ Stopped', 'prompt', 'status']);
  });

  test('holds back output while a full-screen scene is open', () => {
    const { screen, paper } = setUp();
    const live = scene(() => 'prompt');
    screen.showInline(live);
    const close = screen.showFullScreen(scene(() => 'all of it'));
    screen.print('meanwhile\n');
    live.content.notifyNow();
    expect(paper.screen()).toEqual(['all of it']);
    close();
    expect(paper.screen()).toEqual(['meanwhile', 'prompt']);
  });

  test('keeps the newest held-back output and mentions the dropped output', () => {
    const { screen, paper } = setUp();
    screen.showInline(scene(() => 'prompt'));
    const close = screen.showFullScreen(scene(() => 'all of it'));
    for (let at = 0; at < 50; at += 1) screen.print(`${'x'.repeat(50_000)}\nline ${at}\n`);
    close();
    expect(paper.screen().slice(-2)).toEqual(['line 49', 'prompt']);
    expect(paper.history().join('\n')).toContain('Some output was dropped here');
  });

  test('returns to the scene below when the top scene closes', () => {
    const { screen, paper } = setUp();
    const closeFirst = screen.showFullScreen(scene(() => 'first'));
    const closeSecond = screen.showFullScreen(scene(() => 'second'));
    expect(paper.screen()).toEqual(['second']);
    closeSecond();
    expect(paper.screen()).toEqual(['first']);
    closeFirst();
    expect(paper.isAlternate).toBe(false);
  });

  test('restores the terminal if the process exits without closing it', () => {
    const { screen, host, paper } = setUp();
    screen.showInline(scene(() => 'prompt'));
    screen.print('said\n');
    screen.showFullScreen(scene(() => 'all of it'));
    host.crash();
    // Changes after the release are not shown.
    screen.redraw();
    screen.flush();
    expect(paper.isAlternate).toBe(false);
    expect(paper.cursor.isShown).toBe(true);
    expect(paper.screen()).toEqual(['said']);
  });

  test('shows its content again after release() and acquire()', () => {
    const { screen, paper } = setUp();
    screen.showInline(scene(() => 'prompt'));
    screen.release();
    expect(paper.screen()).toEqual([]);
    screen.acquire();
    expect(paper.screen()).toEqual(['prompt']);
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
