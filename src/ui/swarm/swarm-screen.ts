/** A terminal that shows a swarm and nothing else, until somebody leaves it. */

import type { SessionStore } from '../../protocol/session/store.js';
import { listenToKeys } from '../../terminal/input/keyboard.js';
import type { Key } from '../../terminal/input/line-editor.js';
import type { TerminalHost } from '../../terminal/terminal-host.js';
import { QuestionWatch } from '../inbox/question-feed.js';
import { keyName } from '../screen/key-name.js';
import { SceneStack } from '../screen/scene-stack.js';
import { Screen } from '../screen/screen.js';
import { lookOn } from '../screen/terminal-style.js';
import { SwarmScene, type SwarmSceneOptions } from './swarm-scene.js';

export interface SwarmScreenOptions extends Omit<SwarmSceneOptions, 'look' | 'leave'> {
  /** Rejects with a defect of what is shown, which ends it. */
  readonly done: Promise<void>;
  /** Where questions of what is shown are answered; left out where nothing can be. */
  readonly store?: SessionStore;
}

/** How it was left: by a key, or by a signal. Rejects with a defect; the terminal is given back first. */
export const showSwarmScreen = async (
  machine: TerminalHost,
  options: SwarmScreenOptions,
): Promise<'left' | 'ended'> => {
  let leave: (how: 'left' | 'ended') => void = () => {};
  let fail: (defect: unknown) => void = () => {};
  const over = new Promise<'left' | 'ended'>((resolve, reject) => {
    [leave, fail] = [resolve, reject];
  });
  options.done.catch(fail);
  const screen = new Screen(machine, fail);
  const scenes = new SceneStack(screen);
  const { source, store } = options;
  const questions =
    store && new QuestionWatch({ machine, store, source, screen, scenes, onDefect: fail });
  const answering = questions && {
    press: (key: Key) => questions.press(key),
    line: (width: number) => questions.line(width),
    hints: [{ key: 'i', says: 'questions' }],
    help: [{ key: 'i', says: 'questions that wait for an answer' }],
  };
  const look = lookOn(machine);
  let stopListening = () => {};
  const listen = () => {
    stopListening = listenToKeys(machine, {
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
  /** The shell has the terminal as it left it, until it hands it back. */
  const suspend = () => {
    screen.giveBack();
    stopListening();
    machine.suspend();
    listen();
    screen.take();
  };
  const forgetSignals = machine.onSignal(() => leave('ended'));
  try {
    scenes.open(
      () => new SwarmScene({ ...options, ...answering, look, leave: () => leave('left') }),
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
