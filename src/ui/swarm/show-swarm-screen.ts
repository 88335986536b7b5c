/** Shows the swarm screen on the whole terminal until the person leaves it. */

import type { SessionStore } from '../../protocol/session/session-store.js';
import type { Key } from '../../terminal/input/line-editor.js';
import { listenToKeys } from '../../terminal/input/listen-to-keys.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { SwarmInbox } from '../inbox/swarm-inbox.js';
import { keyName } from '../screen/key-name.js';
import { SceneStack } from '../screen/scene-stack.js';
import { Screen } from '../screen/screen.js';
import { terminalStyle } from '../screen/terminal-style.js';
import { SwarmScene, type SwarmSceneOptions } from './swarm-scene.js';

interface SwarmScreenOptions extends Omit<SwarmSceneOptions, 'style' | 'leave'> {
  /** Rejects with a defect of the data source, which closes the screen. */
  readonly done: Promise<void>;
  /** Store through which questions are answered. Default: questions are not shown. */
  readonly store?: SessionStore;
}

/**
 * Resolves with `left` after a key, or `ended` after a signal. Rejects with a defect. Restores the terminal in both
 * cases.
 */
export const showSwarmScreen = async (
  host: TerminalHost,
  options: SwarmScreenOptions,
): Promise<'left' | 'ended'> => {
  let leave: (outcome: 'left' | 'ended') => void = () => {};
  let fail: (defect: unknown) => void = () => {};
  const over = new Promise<'left' | 'ended'>((resolve, reject) => {
    [leave, fail] = [resolve, reject];
  });
  options.done.catch(fail);
  const screen = new Screen(host, fail);
  const scenes = new SceneStack(screen);
  const { source, store } = options;
  const questions =
    store && new SwarmInbox({ host, store, source, screen, scenes, onDefect: fail });
  const answering = questions && {
    press: (key: Key) => questions.press(key),
    line: (width: number) => questions.line(width),
    hints: [{ key: 'i', text: 'questions' }],
    help: [{ key: 'i', text: 'questions that wait for an answer' }],
  };
  const style = terminalStyle(host);
  let stopListening = () => {};
  const listen = () => {
    stopListening = listenToKeys(host, {
      key: (key) => press(key),
      paste: (text) => scenes.paste(text),
      end: () => leave('ended'),
    });
  };
  const press = (key: Key) => {
    const name = keyName(key);
    if (name === 'C-l') screen.redraw();
    else if (name === 'C-z') suspend();
    else scenes.press(key);
  };
  /** Restores the terminal, suspends the process, and takes over again afterwards. */
  const suspend = () => {
    screen.release();
    stopListening();
    host.suspend();
    listen();
    screen.acquire();
  };
  const forgetSignals = host.onSignal(() => leave('ended'));
  try {
    scenes.open(
      () => new SwarmScene({ ...options, ...answering, style, leave: () => leave('left') }),
    );
    listen();
    return await over;
  } finally {
    forgetSignals();
    stopListening();
    questions?.close();
    scenes.close();
    screen.close();
  }
};
