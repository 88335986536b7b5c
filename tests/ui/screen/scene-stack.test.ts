import { describe, expect, test } from 'vitest';
import { Observable } from '../../../src/ui/screen/observable.js';
import { type FullScreenScene, SceneStack } from '../../../src/ui/screen/scene-stack.js';

const setUp = () => {
  const shown: FullScreenScene[] = [];
  const scenes = new SceneStack({
    showFullScreen: (scene) => {
      shown.push(scene as FullScreenScene);
      return () => void shown.splice(shown.indexOf(scene as FullScreenScene), 1);
    },
  });
  const received: string[] = [];
  const closers = new Map<string, () => void>();
  const open = (name: string) =>
    scenes.open((close) => {
      closers.set(name, close);
      return {
        content: new Observable(),
        draw: () => null,
        press: (key) => received.push(`${name} ${key.name}`),
        paste: (text) => received.push(`${name} ${text}`),
      };
    });
  return { scenes, shown, received, open, close: (name: string) => closers.get(name)?.() };
};

describe('the scene stack', () => {
  test('passes keys to the top scene', () => {
    const { scenes, received, open } = setUp();
    open('first');
    open('second');
    expect(scenes.press({ name: 'x' })).toBe(true);
    scenes.paste('text');
    expect(received).toEqual(['second x', 'second text']);
  });

  test('accepts no keys without a scene', () => {
    const { scenes, open, close } = setUp();
    expect(scenes.press({ name: 'x' })).toBe(false);
    open('first');
    close('first');
    expect(scenes.press({ name: 'x' })).toBe(false);
    expect(scenes.isEmpty).toBe(true);
  });

  test('closes the scenes above a closed scene', () => {
    const { shown, open, close } = setUp();
    open('first');
    open('second');
    close('first');
    expect(shown).toEqual([]);
  });

  test('shows no scene if the opener returns undefined', () => {
    const { scenes, shown } = setUp();
    scenes.open(() => undefined);
    expect(shown).toEqual([]);
  });
});
