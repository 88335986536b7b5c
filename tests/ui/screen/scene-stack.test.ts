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
  const heard: string[] = [];
  const closers = new Map<string, () => void>();
  const open = (name: string) =>
    scenes.open((close) => {
      closers.set(name, close);
      return {
        content: new Observable(),
        draw: () => null,
        press: (key) => heard.push(`${name} ${key.name}`),
        paste: (text) => heard.push(`${name} ${text}`),
      };
    });
  return { scenes, shown, heard, open, close: (name: string) => closers.get(name)?.() };
};

describe('scenes on top of each other', () => {
  test('give the keys to the top one', () => {
    const { scenes, heard, open } = setUp();
    open('first');
    open('second');
    expect(scenes.press({ name: 'x' })).toBe(true);
    scenes.paste('text');
    expect(heard).toEqual(['second x', 'second text']);
  });

  test('leave the keys to others when there is none', () => {
    const { scenes, open, close } = setUp();
    expect(scenes.press({ name: 'x' })).toBe(false);
    open('first');
    close('first');
    expect(scenes.press({ name: 'x' })).toBe(false);
    expect(scenes.isEmpty).toBe(true);
  });

  test('go with the one that they stand on', () => {
    const { shown, open, close } = setUp();
    open('first');
    open('second');
    close('first');
    expect(shown).toEqual([]);
  });

  test('are not opened by whoever thinks better of it', () => {
    const { scenes, shown } = setUp();
    scenes.open(() => undefined);
    expect(shown).toEqual([]);
  });
});
